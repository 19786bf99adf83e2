/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_history.h - the JSON of GET /v1/move/history: as a table, and how one move ended. Pure.
 */
#ifndef GY_CLI_MOVE_HISTORY_H
#define GY_CLI_MOVE_HISTORY_H

#include "base/buf.h"
#include "gyre.h"

/* SYNTAX when it is no such JSON. */
GYRE_NODISCARD int gy_move_history_table(const char *text, size_t len, struct gy_buf *out,
                                         gyre_error_t *e);

struct gy_move_end {
    bool moved;      /* false: taken back */
    uint64_t serves; /* the version, after it */
    uint64_t keys, bytes, longest_hold_ms;
    double seconds;
};
/* How the newest move to this version ended. UNKNOWN: it is not there; SYNTAX. */
GYRE_NODISCARD int gy_move_history_end(const char *text, size_t len, uint64_t to_version,
                                       struct gy_move_end *out, gyre_error_t *e);
/* Adds that move's entry to a status object, as its member "last"; leaves the status as it is where
 * either is not what it should be. */
void gy_move_history_join(struct gy_buf *status, struct gy_buf *history, uint64_t to_version);

#endif
