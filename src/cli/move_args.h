/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_args.h - the subcommands of `gyre move`, their options and their help, as tables. Threads:
 * main only.
 */
#ifndef GY_CLI_MOVE_ARGS_H
#define GY_CLI_MOVE_ARGS_H

#include "base/buf.h"
#include "cli/change.h"
#include "cli/opt.h"

enum gy_move_sub {
    GY_MOVE_START,
    GY_MOVE_STATUS,
    GY_MOVE_WATCH,
    GY_MOVE_PAUSE,
    GY_MOVE_RESUME,
    GY_MOVE_RATE,
    GY_MOVE_ABORT,
    GY_MOVE_HISTORY,
    GY_MOVE_TOPOLOGY,
    GY_MOVE_FORGET,
    GY_MOVE_SUBS
};

struct gy_move_args {
    const char *admin, *config, *to;
    const char *output; /* a file for the topology */
    const char *server; /* to forget */
    bool json, yes, detach, purge_destination, same_data, weak_fencing;
    bool has_keys, has_bytes;         /* a rate was given */
    uint64_t keys_per_s, bytes_per_s; /* 0: at the start the proxy's own, later unlimited */
    uint64_t chunks, wave;            /* 0: the proxy chooses */
    struct gy_changes changes;
};

const char *gy_move_sub_name(enum gy_move_sub sub);
const char *gy_move_sub(unsigned i, const char **summary); /* for struct gy_cmd */
/* GY_GO_ON, or the exit status to return now; whatever was wrong has been told. argv[0] is the
 * subcommand. Fini in every case. */
int gy_move_args_parse(enum gy_move_sub sub, int argc, char **argv, struct gy_move_args *out);
void gy_move_args_fini(struct gy_move_args *a);

/* The page of `gyre move --help`. */
void gy_move_overview(struct gy_buf *out);

#endif
