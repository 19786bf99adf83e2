/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.h - the parts of `gyre move` that its files share. One thread.
 */
#ifndef GY_CLI_MOVE_H
#define GY_CLI_MOVE_H

#include "cli/cmd.h"
#include "cli/move_args.h"
#include "cli/move_client.h"

enum { GY_EXIT_LEFT = 130 }; /* by Ctrl-C, beside those of cmd.h: as a shell tells SIGINT */

/* On stderr; the message may be the proxy's, so control bytes are shown as \xNN. */
void gy_move_complain(const gyre_error_t *e);
/* The same, and the exit status that fits. */
int gy_move_failed(const struct gy_client *c, const gyre_error_t *e);

/* The topology that serves now. The caller frees it. */
GYRE_NODISCARD int gy_move_current(struct gy_client *c, gyre_topology_t **out, gyre_error_t *e);

/* From here on Ctrl-C is noted (and drops c's request in flight) instead of ending us. */
void gy_move_catch_interrupt(struct gy_client *c);
bool gy_move_interrupted(void);

enum gy_move_goal { GY_MOVE_FORTH, GY_MOVE_BACK };
/* Shows progress on stderr until the move to to_version (0: whichever is under way) is over, then
 * how it ended and what to do next. Exit status: 0 if it ended as the goal says. */
int gy_move_follow(struct gy_client *c, enum gy_move_goal goal, uint64_t to_version,
                   const struct gy_move_args *a);

/* The nodes that come (+), change (~) and go (-); nothing when they are the same. */
void gy_move_show_nodes(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b);
/* What the change from a to b moves, for people. GY_EXIT_OK or GY_EXIT_USAGE after reporting. */
int gy_move_show_plan(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b,
                      bool same_data);

/* The topology that serves: printed, or written to a->output. */
int gy_move_topology(struct gy_client *c, const struct gy_move_args *a);
/* After a move: the command that brings the file up to date. The exit status. */
int gy_move_say_topology(const struct gy_move_args *a, uint64_t version);

int gy_move_start(struct gy_client *c, const struct gy_move_args *a);

/* Writes JSON text as one line; the exit status. */
int gy_move_print_json(struct gy_buf *json);

#endif
