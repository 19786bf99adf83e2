/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_help.c - what `gyre move [SUBCOMMAND] --help` prints: what it does, its options, examples
 * that can be pasted.
 */
#include "cli/move_args.h"

#define WHERE_TO_FIND                                                             \
    "Which proxy:\n"                                                              \
    "  --admin ADDRESS    unix:/path or host:port; otherwise the environment's\n" \
    "                     GYRE_ADMIN\n"                                           \
    "  --config TOPOLOGY  read proxy.admin of this file instead\n"

static const char overview[] =
    "gyre move - move keys between the nodes of a running gyre proxy, live\n"
    "\n"
    "  gyre move start    plan a change, show it, ask, carry it out with progress\n"
    "  gyre move status   where the move stands\n"
    "  gyre move watch    progress until the end\n"
    "  gyre move pause    stop copying in the background; clients go on\n"
    "  gyre move resume   go on copying\n"
    "  gyre move rate     change the limits while it runs\n"
    "  gyre move abort    take everything back; no acknowledged write is lost\n"
    "  gyre move history  the moves so far\n"
    "\n"
    "Only the keys whose node changes are moved. Clients read and write all the while.\n"
    "A proxy that dies in the middle resumes when it is started again.\n"
    "\n" WHERE_TO_FIND "\n"
    "Exit status: 0 done, 1 the proxy says no or the move did not end well, 2 bad usage,\n"
    "3 no answer, 130 left by Ctrl-C while the move goes on.\n"
    "\n"
    "Examples:\n"
    "  gyre move start --config gyre.yaml --add cache-4=10.0.0.5:6379\n"
    "  GYRE_ADMIN=unix:/run/gyre/admin.sock gyre move status\n"
    "  gyre move start --help\n";

static const char start[] =
    "gyre move start [CHANGES | --to FILE] [OPTIONS]\n"
    "\n"
    "Plans the change against the topology that serves now, shows which share of the keys\n"
    "moves where and the least that any placement could move, asks, and carries it out.\n"
    "Ctrl-C leaves the move running: `gyre move watch` looks again, `gyre move abort` takes\n"
    "it back.\n"
    "\n"
    "Changes, as often as wanted, applied in order:\n"
    "  --add NAME=ADDRESS[,weight=W][,zone=Z]   a new node\n"
    "  --remove NAME                            empties a node\n"
    "  --weight NAME=W                          more or less of the keys\n"
    "  --replace NAME=ADDRESS                   another machine under the same name\n"
    "  --to FILE                                the wished topology, whole, instead\n"
    "\n"
    "Options:\n"
    "  -y, --yes              do not ask; needed where there is no terminal\n"
    "  --detach               return once the move is under way\n"
    "  --json                 the final status as one line of JSON; the rest goes to stderr\n"
    "  --keys-per-second N    limits of the background mover (bytes: 10MB, 512KB, ...);\n"
    "  --bytes-per-second N   0: unlimited\n"
    "  --purge-destination    delete what a joining node holds that is not its own;\n"
    "                         otherwise such keys are named and nothing is moved\n"
    "  --same-data            with --replace: the new machine has the data already\n"
    "                         (a promoted replica; this is checked)\n"
    "  --chunks N             hash chunks to move by; default: by the number of keys\n"
    "  --wave N               chunks of a source that move at a time; default 4\n"
    "\n" WHERE_TO_FIND "\n"
    "Examples:\n"
    "  gyre move start --config gyre.yaml --add cache-4=10.0.0.5:6379,weight=2,zone=eu/b/r4\n"
    "  gyre move start --config gyre.yaml --remove cache-1 --bytes-per-second 20MB\n"
    "  gyre move start --admin unix:/run/gyre/admin.sock --replace cache-3=10.0.0.9:6379 --yes\n"
    "  gyre plan gyre.yaml --add cache-4=10.0.0.5:6379      the same plan, nothing moved\n";

static const char status[] =
    "gyre move status [--json]\n"
    "\n"
    "Where the move stands: units by state, keys, bytes, rate, time to go, the keys too big\n"
    "to be moved without being noticed, the last error.\n"
    "\n"
    "  --json   the proxy's own JSON (docs/admin.md has the fields)\n"
    "\n" WHERE_TO_FIND "\n"
    "Examples:\n"
    "  gyre move status --config gyre.yaml\n"
    "  gyre move status --json | jq .eta_s\n";

static const char watch[] =
    "gyre move watch [--json]\n"
    "\n"
    "Progress until the move ends: exit 0 if it arrived, 1 if it was aborted or failed.\n"
    "Ctrl-C stops watching, not the move.\n"
    "\n"
    "  --json   the final status as one line of JSON; progress goes to stderr\n"
    "\n" WHERE_TO_FIND "\n"
    "Examples:\n"
    "  gyre move watch --config gyre.yaml\n"
    "  gyre move start --yes --detach --add c4=10.0.0.5:6379 && gyre move watch\n";

static const char pause_page[] =
    "gyre move pause\n"
    "\n"
    "Stops copying in the background. Clients read and write as before; a key that is\n"
    "written while its unit is under way still moves with the write. `gyre move resume` goes\n"
    "on.\n"
    "\n" WHERE_TO_FIND "\n"
    "Example:\n"
    "  gyre move pause --config gyre.yaml\n";

static const char resume[] = "gyre move resume\n"
                             "\n"
                             "Goes on after `gyre move pause`, or tries again after a failure.\n"
                             "\n" WHERE_TO_FIND "\n"
                             "Example:\n"
                             "  gyre move resume --config gyre.yaml\n";

static const char rate[] =
    "gyre move rate [--keys-per-second N] [--bytes-per-second N]\n"
    "\n"
    "Changes the limits of the background mover at once. What is not given stays; 0 lifts a\n"
    "limit. Bytes may have a unit: 512KB, 10MB, 1GB (powers of 1024).\n"
    "\n" WHERE_TO_FIND "\n"
    "Examples:\n"
    "  gyre move rate --config gyre.yaml --keys-per-second 2000\n"
    "  gyre move rate --config gyre.yaml --bytes-per-second 10MB --keys-per-second 0\n";

static const char abort_page[] =
    "gyre move abort [--detach] [--json]\n"
    "\n"
    "Takes the move back: what was moved travels to where it came from, writes made since\n"
    "included. Shows progress; Ctrl-C leaves it going on. Units that are being cleaned already\n"
    "have no way back; then the proxy refuses.\n"
    "\n"
    "  --detach    return once it is under way\n"
    "  --json      the final status as one line of JSON; progress goes to stderr\n"
    "\n" WHERE_TO_FIND "\n"
    "Exit status 0: everything is back.\n"
    "\n"
    "Example:\n"
    "  gyre move abort --config gyre.yaml\n";

static const char history[] =
    "gyre move history [--json]\n"
    "\n"
    "The moves so far, newest first: versions, how they ended, keys, bytes, time.\n"
    "\n" WHERE_TO_FIND "\n"
    "Example:\n"
    "  gyre move history --config gyre.yaml\n";

const char *gy_move_help(int sub)
{
    static const struct {
        int sub;
        const char *page;
    } pages[] = {
        {GY_MOVE_START, start},      {GY_MOVE_STATUS, status},   {GY_MOVE_WATCH, watch},
        {GY_MOVE_PAUSE, pause_page}, {GY_MOVE_RESUME, resume},   {GY_MOVE_RATE, rate},
        {GY_MOVE_ABORT, abort_page}, {GY_MOVE_HISTORY, history},
    };
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (pages[i].sub == sub) {
            return pages[i].page;
        }
    }
    return overview;
}
