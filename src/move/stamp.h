/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamp.h - what a server remembers of the moves it took part in. The function library stays there
 * when a move is over, so the lines behind its first one say it, one a pool:
 *     -- pool main epoch 3 from 2 to 3 [ended]
 * A state directory that was lost, or is an older copy, knows less than the servers: to serve its
 * view would hide acknowledged writes, so such a start is refused (migration.md 3.8).
 * Threads: any; the functions that take a mover or a connection, that one's.
 */
#ifndef GY_MOVE_STAMP_H
#define GY_MOVE_STAMP_H

#include "net/sync.h"

struct gy_mover;

struct gy_stamp {
    uint64_t epoch, from, to; /* epoch 0: none; from, to: versions */
    bool ended;
};

/* The stamp of `pool` in a library's code; epoch 0 when there is none. Of several the
 * newest. False: out of memory. */
bool gy_stamp_find(struct gy_slice code, const char *pool, struct gy_stamp *out);
/* The function library with this stamp and, from the code it replaces, those of other pools. */
void gy_stamp_library(struct gy_buf *out, const char *pool, const struct gy_stamp *s,
                      struct gy_slice old_code);

/* The value behind `field` in one entry of FUNCTION LIST (a flat list in RESP2). */
struct gy_slice gy_stamp_field(const struct gy_reply *entry, const char *field);
GYRE_NODISCARD int gy_stamp_ask(struct gy_sync *c, const char *pool, struct gy_stamp *out,
                                gyre_error_t *e);
/* FUNCTION LOAD REPLACE of the library with the stamp. */
GYRE_NODISCARD int gy_stamp_load(struct gy_sync *c, const char *pool, const struct gy_stamp *s,
                                 gyre_error_t *e);

/* What a state directory knows. */
struct gy_known {
    const char *pool;
    uint64_t epoch;   /* of the last move; raised above a stamp that is to be forgotten */
    uint64_t version; /* that it would serve */
    bool under_way;   /* that last move has not ended */
};
/* REFUSED when the server knows of a later move, unless the environment has GYRE_FORGET_MOVES=1.
 * A server that cannot tell (no functions, not allowed) knows nothing. */
GYRE_NODISCARD int gy_stamp_admit(struct gy_sync *c, const char *server, struct gy_known *k,
                                  gyre_error_t *e);
/* The same for every server that answers soon; before the first view is handed out. */
GYRE_NODISCARD int gy_stamp_check(struct gy_mover *m, gyre_error_t *e);

#endif
