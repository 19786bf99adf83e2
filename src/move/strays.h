/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strays.h - a source that comes back with an older copy of its data, after its keys had moved away
 * and were removed there, brings strays: keys that live elsewhere now, or were deleted there
 * (docs/migration.md 0a.8). The end of a move leaves a note in the store for each of its sources
 * that still serves; while nothing moves, the mover's thread looks whether the server has gone back
 * behind that end, and if so removes what the note covers: keys that the old view placed on this
 * server and the new one on a destination of that move, unless the view of now wants them here.
 * Anything else that is not this server's own stays, and is reported.
 *
 * It is looked at when its run_id is not the noted one. That its data are of after the end is told
 * by the stamp in its function library, which is part of them. The note goes when the server has
 * saved since, has left the fleet, or after 30 days.
 *
 * Threads: the mover's; gy_strays_note under the mover's lock; gy_strays_settled any.
 */
#ifndef GY_MOVE_STRAYS_H
#define GY_MOVE_STRAYS_H

#include "base/buf.h"
#include "gyre.h"

struct gy_mover;
struct gy_job;
struct gy_server;
struct gy_strays;

#define GY_STRAYS_PREFIX "strays/" /* of the store's keys; then epoch, "/", a number */

/* Cleaning begins: who are the sources? */
void gy_strays_begin(const struct gy_mover *m, struct gy_job *j);
/* Is the source still the process it was then? If not, older copies may have come back already. */
bool gy_strays_same(const struct gy_mover *m, const struct gy_job *j, uint32_t server);
/* The note about one of the job's servers, for the transaction that ends it; false: it needs none.
 */
bool gy_strays_note(const struct gy_mover *m, const struct gy_job *j, uint32_t server,
                    struct gy_buf *doc);
/* Have all notes about this server been looked at since it is this process? Waits a little. */
bool gy_strays_settled(struct gy_mover *m, const struct gy_server *s, const char *run_id);
/* Looks after all notes; milliseconds until it is to be called again, -1: there are none. */
int64_t gy_strays_turn(struct gy_mover *m);
/* What is known of them is read from the store again. */
void gy_strays_forget(struct gy_mover *m);

#endif
