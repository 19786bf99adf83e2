/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_args.h - the options of `gyre move ...`: one table says which of them each subcommand takes.
 * One thread.
 */
#ifndef GY_CLI_MOVE_ARGS_H
#define GY_CLI_MOVE_ARGS_H

#include "cli/change.h"
#include "move/mover.h"

/* A bit each, so that an option can name those that take it. */
enum gy_move_sub {
    GY_MOVE_START = 1,
    GY_MOVE_STATUS = 2,
    GY_MOVE_WATCH = 4,
    GY_MOVE_PAUSE = 8,
    GY_MOVE_RESUME = 16,
    GY_MOVE_RATE = 32,
    GY_MOVE_ABORT = 64,
    GY_MOVE_HISTORY = 128,
};

struct gy_move_args {
    enum gy_move_sub sub;
    const char *admin, *config, *to;
    bool json, yes, detach, help;
    bool has_keys, has_bytes; /* a rate was given */
    struct gy_move_options options;
    struct gy_changes changes;
};

/* argv[0] is the subcommand's name. Errors: INVALID, UNKNOWN, RANGE, NOMEM; the message says which
 * option. With --help nothing else is looked at. */
GYRE_NODISCARD int gy_move_args_parse(enum gy_move_sub sub, int argc, char **argv,
                                      struct gy_move_args *out, gyre_error_t *e);
void gy_move_args_fini(struct gy_move_args *a);

/* The page of `gyre move --help` (sub 0) or of a subcommand. */
const char *gy_move_help(int sub);

#endif
