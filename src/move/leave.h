/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leave.h - servers that do not serve and may still have a user of ours: those that left the fleet,
 * and those that were to join and did not. Each has a note in the store, written before our user is
 * made on a newcomer, and in the transaction that ends a move for a server that leaves by it. So a
 * process killed at any moment leaves no user that is forgotten. A note goes when our users there
 * are gone, when the server serves, or when the operator says so.
 *
 * Threads: the notes in memory are under the mover's lock. The mover's thread sees to them while no
 * move is under way or prepared, and at the end of one; the admin's after a refused pre-check.
 */
#ifndef GY_MOVE_LEAVE_H
#define GY_MOVE_LEAVE_H

#include "base/json.h"
#include "control/store.h"
#include "move/view.h"

struct gy_mover;

#define GY_LEAVE_PREFIX "leave/"

struct gy_left {
    char *key; /* in the store: the prefix and the address */
    char *name, *address;
    int64_t since; /* Unix seconds */
    bool weak;     /* begun with weak fencing: where ACL is forbidden there is no user either */
    /* of this process */
    bool promised;   /* by a pre-check that has not met it so far: there is nothing yet */
    int64_t next_at; /* monotonic ms */
    uint32_t tries;  /* failures in a row */
    char why[240];   /* the last of them */
};

/* Takes what the store has; what is known of a note already stays. Under the lock. */
GYRE_NODISCARD int gy_leave_load(struct gy_mover *m, gyre_error_t *e);
void gy_leave_fini(struct gy_mover *m);

struct gy_left *gy_leave_find(const struct gy_mover *m, const char *address);
/* l goes, in the store too. Under the lock. */
GYRE_NODISCARD int gy_leave_drop(struct gy_mover *m, struct gy_left *l, gyre_error_t *e);

/* The notes of some servers, to go into a transaction. */
struct gy_leave_ops {
    struct gy_store_op *op;
    char **key;
    struct gy_buf *doc;
    size_t n;
};
/* Of those of the n servers that goes[] names and that have none yet. Under the lock. */
GYRE_NODISCARD int gy_leave_ops_init(const struct gy_mover *m, const struct gy_server *servers,
                                     uint32_t n, const bool *goes, bool weak,
                                     struct gy_leave_ops *out, gyre_error_t *e);
void gy_leave_ops_fini(struct gy_leave_ops *o);
/* The same in a transaction of its own. Takes the lock itself. */
GYRE_NODISCARD int gy_leave_promise(struct gy_mover *m, const struct gy_server *servers, uint32_t n,
                                    const bool *goes, bool weak, gyre_error_t *e);

/* The move has ended, its notes are written, and the view after it, `seq`, is published. */
void gy_leave(struct gy_mover *m, const struct gy_view *was, uint64_t seq);
/* The pre-check has met it: our user may be there. Takes the lock itself. */
void gy_leave_met(struct gy_mover *m, const char *address);
/* The pre-check has refused: the newcomers are left as they were found. */
void gy_leave_refused(struct gy_mover *m);
/* Tries those that are due; ms until the next one is, -1: none. */
int64_t gy_leave_turn(struct gy_mover *m);
void gy_leave_write(const struct gy_mover *m,
                    struct gy_json *w); /* for the status; under the lock */

#endif
