/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_args.c - see move_args.h. Words and pages only; what is done with them is elsewhere.
 */
#include "cli/move_args.h"

#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"

static int take_change(void *into, enum gyre_change_kind kind, const char *value)
{
    struct gy_move_args *a = into;
    gyre_error_t e = {0};
    return gy_changes_add(&a->changes, kind, value, &e) == GYRE_OK ? 0 : gy_complain_error(&e);
}

static int take_add(void *into, const char *value)
{
    return take_change(into, GYRE_ADD, value);
}

static int take_remove(void *into, const char *value)
{
    return take_change(into, GYRE_REMOVE, value);
}

static int take_weight(void *into, const char *value)
{
    return take_change(into, GYRE_WEIGHT, value);
}

static int take_replace(void *into, const char *value)
{
    return take_change(into, GYRE_REPLACE, value);
}

/* The proxy's JSON has signed numbers. */
#define RATE_MAX ((uint64_t)INT64_MAX)

static int take_keys(void *into, const char *value)
{
    struct gy_move_args *a = into;
    char q[GY_QUOTE];
    if (gy_num_uint(gy_str(value), &a->keys_per_s) != GYRE_OK || a->keys_per_s > RATE_MAX) {
        gy_complain("--keys-per-second is %s; it must be a whole number",
                    gy_utf8_quote(q, gy_str(value)));
        return GY_EXIT_USAGE;
    }
    a->has_keys = true;
    return 0;
}

static int take_bytes(void *into, const char *value)
{
    struct gy_move_args *a = into;
    char q[GY_QUOTE];
    if (gy_num_size(gy_str(value), &a->bytes_per_s) != GYRE_OK || a->bytes_per_s > RATE_MAX) {
        gy_complain("--bytes-per-second is %s; it must be a size such as 500000, 512KB or 10MB",
                    gy_utf8_quote(q, gy_str(value)));
        return GY_EXIT_USAGE;
    }
    a->has_bytes = true;
    return 0;
}

#define AT(member) offsetof(struct gy_move_args, member)
#define FLAG(letter, name, member, help)                              \
    {                                                                 \
        letter, name, NULL, help, GY_OPT_FLAG, AT(member), 0, 0, NULL \
    }
#define TEXT(name, arg, member, help)                           \
    {                                                           \
        0, name, arg, help, GY_OPT_TEXT, AT(member), 0, 0, NULL \
    }
#define CALL(name, arg, take, help)                    \
    {                                                  \
        0, name, arg, help, GY_OPT_CALL, 0, 0, 0, take \
    }
#define COUNT(name, member, help)                                   \
    {                                                               \
        0, name, "N", help, GY_OPT_UINT, AT(member), 1, 65536, NULL \
    }

/* Zero: at the start what the topology file says, later none. */
#define RATES(zero)                                                                          \
    CALL("keys-per-second", "N", take_keys, "limit of copying in the background; 0: " zero), \
        CALL("bytes-per-second", "N", take_bytes, "the same in bytes: 512KB, 10MB, ...")
#define JSON_END FLAG(0, "json", json, "the final status as one line of JSON on stdout")
#define DETACH   FLAG(0, "detach", detach, "return at once, without progress")
/* Every table ends with these. */
#define WHICH_PROXY                                                                  \
    TEXT("admin", "ADDRESS", admin, "the proxy's admin: unix:/path or host:port"),   \
        TEXT("config", "TOPOLOGY", config, "take it from proxy.admin of this file"), \
    {                                                                                \
        0                                                                            \
    }

static const struct gy_opt start_opts[] = {
    CALL("add", "NAME=ADDRESS", take_add, "a new node; may go on ,weight=W,zone=Z"),
    CALL("remove", "NAME", take_remove, "empty a node and let it go"),
    CALL("weight", "NAME=W", take_weight, "give a node more or fewer of the keys"),
    CALL("replace", "NAME=ADDRESS", take_replace, "another machine under the same name"),
    TEXT("to", "FILE", to, "the wished topology, whole, instead of changes"),
    FLAG('y', "yes", yes, "do not ask; needed where there is no terminal"),
    DETACH,
    JSON_END,
    RATES("the proxy's own"),
    FLAG(0, "purge-destination", purge_destination,
         "delete what a node that gains keys holds of others'"),
    FLAG(0, "same-data", same_data, "the new address has the data already (a promoted replica)"),
    FLAG(0, "weak-fencing", weak_fencing,
         "move also where the proxy may not use ACL (docs/migration.md 3.7)"),
    COUNT("chunks", chunks, "hash chunks to move by; default: by the number of keys"),
    COUNT("wave", wave, "chunks of a source that move at a time; default 4"),
    WHICH_PROXY,
};
static const struct gy_opt rate_opts[] = {RATES("none"), WHICH_PROXY};
static const struct gy_opt abort_opts[] = {DETACH, JSON_END, WHICH_PROXY};
static const struct gy_opt watch_opts[] = {JSON_END, WHICH_PROXY};
static const struct gy_opt show_opts[] = {
    FLAG(0, "json", json, "the proxy's own JSON on one line"),
    WHICH_PROXY,
};
static const struct gy_opt topology_opts[] = {
    {'o', "output", "FILE", "write it to FILE, whose proxy section stays", GY_OPT_TEXT, AT(output),
     0, 0, NULL},
    FLAG(0, "json", json, "as one JSON object, on stdout"),
    WHICH_PROXY,
};
static const struct gy_opt plain_opts[] = {WHICH_PROXY};

#define EXITS_ASK "0 done; 1 the proxy says no; " GY_EXITS_BAD ";\n3 no answer from the proxy"
#define EXITS_START                                                                                  \
    "0 moved (--detach: begun); 1 not wished, refused, nothing to do, or taken back;\n" GY_EXITS_BAD \
    ";\n3 no answer from the proxy; 130 Ctrl-C"
#define EXITS_WATCH                                                       \
    "0 it arrived, or nothing moves; 1 it was taken back;\n" GY_EXITS_BAD \
    ";\n3 no answer from the proxy; 130 left by Ctrl-C"
#define EXITS_ABORT                                            \
    "0 everything is back; 1 the proxy says no; " GY_EXITS_BAD \
    ";\n3 no answer from the proxy; 130 left by Ctrl-C"

#define EXAMPLES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct {
    const char *name, *summary;
    struct gy_usage usage;
} subs[GY_MOVE_SUBS] = {
    [GY_MOVE_START] =
        {"start",
         "plan a change, show it, ask, carry it out with progress",
         {"gyre move start", "[CHANGES | --to FILE] [OPTIONS]",
          "Plans changes, in the order given, against the topology that serves now; shows which\n"
          "share of the keys moves where, and the least that any placement could move; asks; and\n"
          "carries it out while clients read and write. Ctrl-C at the question moves\n"
          "nothing; later it leaves the move going on: `gyre move watch` looks again, `gyre move\n"
          "abort` takes it back. The proxy checks every node first, and refuses before anything has\n"
          "moved. Afterwards `gyre move topology -o FILE` brings your file up to date.",
          start_opts,
          EXAMPLES("gyre move start --config gyre.yaml --add cache-4=10.0.0.5:6379,weight=2",
                   "gyre move start --config gyre.yaml --remove cache-1 --bytes-per-second 20MB",
                   "gyre move start --config gyre.yaml --replace cache-3=10.0.0.9:6379 --yes",
                   "gyre plan gyre.yaml --add cache-4=10.0.0.5:6379    (a plan only)"),
          0, 0, EXITS_START}},
    [GY_MOVE_STATUS] =
        {"status",
         "where the move stands",
         {"gyre move status", "[--json]",
          "Where the move stands: units by state, keys, bytes, rate, time to go, keys so big that\n"
          "their move could be noticed, the last error. docs/admin.md has the fields of --json.",
          show_opts,
          EXAMPLES("gyre move status --config gyre.yaml",
                   "gyre move status --admin unix:/run/gyre/admin.sock --json | jq .eta_s"),
          0, 0, EXITS_ASK}},
    [GY_MOVE_WATCH] = {"watch",
                       "progress until the end",
                       {"gyre move watch", "[--json]",
                        "Shows progress until the move ends. Ctrl-C stops watching, not the move.",
                        watch_opts,
                        EXAMPLES("gyre move watch --config gyre.yaml",
                                 "GYRE_ADMIN=127.0.0.1:7380 gyre move watch --json 2>/dev/null"),
                        0, 0, EXITS_WATCH}},
    [GY_MOVE_PAUSE] =
        {"pause",
         "stop copying in the background; clients go on",
         {"gyre move pause", "[OPTIONS]",
          "Stops copying in the background. Clients read and write as before; a key that is\n"
          "written while its unit is under way still moves with the write.",
          plain_opts, EXAMPLES("gyre move pause --config gyre.yaml"), 0, 0, EXITS_ASK}},
    [GY_MOVE_RESUME] = {"resume",
                        "go on copying",
                        {"gyre move resume", "[OPTIONS]",
                         "Goes on after `gyre move pause`, or tries again after a failure.",
                         plain_opts, EXAMPLES("gyre move resume --config gyre.yaml"), 0, 0,
                         EXITS_ASK}},
    [GY_MOVE_RATE] =
        {"rate",
         "change the limits while it runs",
         {"gyre move rate", "[--keys-per-second N] [--bytes-per-second N]",
          "Changes the limits of copying in the background, at once. What is not given stays.",
          rate_opts,
          EXAMPLES("gyre move rate --config gyre.yaml --keys-per-second 2000",
                   "gyre move rate --config gyre.yaml --bytes-per-second 10MB --keys-per-second 0"),
          0, 0, EXITS_ASK}},
    [GY_MOVE_ABORT] =
        {"abort",
         "take everything back; no acknowledged write is lost",
         {"gyre move abort", "[--detach] [--json]",
          "Takes the move back: what was moved travels to where it came from, with all that was\n"
          "written since, as fast as the servers go: the limits of the way there are lifted, and\n"
          "`gyre move rate` sets new ones. Ctrl-C leaves it going on. A move that has begun to\n"
          "clean its sources has no way back; the proxy then refuses.\n\n"
          "It needs the destination. If that is lost for good, start an empty Redis at its address:\n"
          "the keys come back as they were at their sources, and the move ends aborted. What was\n"
          "written to the lost server since its keys began to move is lost with it.",
          abort_opts, EXAMPLES("gyre move abort --config gyre.yaml"), 0, 0, EXITS_ABORT}},
    [GY_MOVE_HISTORY] =
        {"history",
         "the moves so far",
         {"gyre move history", "[--json]",
          "The moves so far, newest first: versions, how they ended, keys, bytes, time.", show_opts,
          EXAMPLES("gyre move history --config gyre.yaml"), 0, 0, EXITS_ASK}},
    [GY_MOVE_TOPOLOGY] =
        {"topology",
         "the topology that serves, to keep in your file",
         {"gyre move topology", "[-o FILE] [--json]",
          "Prints the topology that serves, as YAML. With -o it is written to FILE: where that is "
          "a\ntopology file with a proxy section, the section stays and version, placement and "
          "nodes are\nreplaced (comments are not kept).",
          topology_opts,
          EXAMPLES("gyre move topology --config fleet.yaml -o fleet.yaml",
                   "gyre move topology --admin unix:/run/gyre/admin.sock --json"),
          0, 0,
          "0 done; 2 bad input or usage, or the answer or FILE cannot be written;\n3 no answer from the proxy"}},
    [GY_MOVE_FORGET] =
        {"forget",
         "give up on a server that left and is gone for good",
         {"gyre move forget", "[OPTIONS] ADDRESS",
          "A server that left, or was to join and did not, on which the proxy's users could not be\n"
          "deleted is tried again and again; `gyre move status` lists those. If the one at ADDRESS\n"
          "is gone for good, this ends it. Where it lives on, delete the users there: ACL DELUSER.",
          plain_opts, EXAMPLES("gyre move forget --config gyre.yaml 10.0.0.5:6379"), 1, 1,
          EXITS_ASK}},
};

const char *gy_move_sub_name(enum gy_move_sub sub)
{
    return subs[sub].name;
}

const char *gy_move_sub(unsigned i, const char **summary)
{
    *summary = i < GY_MOVE_SUBS ? subs[i].summary : NULL;
    return i < GY_MOVE_SUBS ? subs[i].name : NULL;
}

void gy_move_overview(struct gy_buf *out)
{
    gy_buf_puts(out, "usage: gyre move COMMAND [OPTIONS]\n\n"
                     "Moves keys between the nodes of a running gyre proxy while clients read and "
                     "write. Only keys\nwhose node changes are moved. A proxy that dies in the "
                     "middle resumes when it starts again.\n\ncommands:\n");
    for (unsigned i = 0; i < GY_MOVE_SUBS; i++) {
        gy_buf_printf(out, "  %-9s %s\n", subs[i].name, subs[i].summary);
    }
    gy_buf_puts(
        out,
        "\nWhich proxy: --admin ADDRESS, else --config TOPOLOGY (its proxy.admin), else "
        "the environment's\nGYRE_ADMIN.\n\n"
        "exit status: 0 done; 1 the proxy says no, or the move did not end as wished;\n" GY_EXITS_BAD
        ";\n3 no answer from the proxy; 130 left by Ctrl-C: before the move "
        "began nothing was moved, later\nit goes on\n\nexamples:\n"
        "  gyre move start --config gyre.yaml --add cache-4=10.0.0.5:6379\n"
        "  GYRE_ADMIN=unix:/run/gyre/admin.sock gyre move status\n"
        "  gyre move start --help\n");
}

/* What the options say together. */
static const char *contradiction(enum gy_move_sub sub, const struct gy_move_args *a)
{
    if (sub == GY_MOVE_START && !a->to && a->changes.count == 0) {
        return "what is to change? Give --add, --remove, --weight, --replace, or --to FILE";
    }
    if (a->to && a->changes.count) {
        return "--to FILE is the whole wish; it does not go with --add, --remove, --weight or "
               "--replace";
    }
    if (sub == GY_MOVE_RATE && !a->has_keys && !a->has_bytes) {
        return "give --keys-per-second, --bytes-per-second or both";
    }
    return NULL;
}

int gy_move_args_parse(enum gy_move_sub sub, int argc, char **argv, struct gy_move_args *out)
{
    char **words;
    int count;
    *out = (struct gy_move_args){0};
    int rc = gy_opt_parse(&subs[sub].usage, argc, argv, out, &words, &count);
    const char *wrong = rc == GY_GO_ON ? contradiction(sub, out) : NULL;
    if (wrong) {
        gy_complain("move %s: %s", subs[sub].name, wrong);
        return GY_EXIT_USAGE;
    }
    if (rc == GY_GO_ON && count) {
        out->server = words[0];
    }
    return rc;
}

void gy_move_args_fini(struct gy_move_args *a)
{
    gy_changes_fini(&a->changes);
}
