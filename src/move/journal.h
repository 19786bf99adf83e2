/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - a move in the store: begun, changed by compare-and-set, ended, read back. Durable
 * when a call returns. Threads: under the mover's lock.
 */
#ifndef GY_MOVE_JOURNAL_H
#define GY_MOVE_JOURNAL_H

#include "control/store.h"
#include "net/fence.h"

struct gy_job;
struct gy_mover;
struct gy_view;

/* The topology that serves. get: UNKNOWN when the store is new. */
GYRE_NODISCARD int gy_journal_get_view(struct gy_store *s, gyre_topology_t **out, gyre_error_t *e);
GYRE_NODISCARD int gy_journal_put_view(struct gy_store *s, const gyre_topology_t *t,
                                       gyre_error_t *e);
/* Who this process is to the servers: the name of the state directory, made once at random
 * (GY_FENCE_ID hex digits), and a number that each process raises. *kept false: the disk is full,
 * so the number is the time in ms, above any that were kept and that earlier processes took
 * likewise; it is to be raised when there is room. */
GYRE_NODISCARD int gy_journal_identity(struct gy_store *s, char id[GY_FENCE_ID + 1],
                                       uint64_t *generation, bool *kept, gyre_error_t *e);
GYRE_NODISCARD int gy_journal_raise_generation(struct gy_store *s, uint64_t generation,
                                               gyre_error_t *e);
/* Of the last move that began, or that a server knew of and that was forgotten; 0: none. */
GYRE_NODISCARD int gy_journal_epoch(struct gy_store *s, uint64_t *out, gyre_error_t *e);
GYRE_NODISCARD int gy_journal_raise_epoch(struct gy_store *s, uint64_t epoch, gyre_error_t *e);
GYRE_NODISCARD int gy_journal_next_epoch(struct gy_mover *m, uint64_t *out, gyre_error_t *e);

GYRE_NODISCARD int gy_journal_begin(struct gy_mover *m, struct gy_job *j, gyre_error_t *e);
/* Writes the job's document again (phase, paused, rates). */
GYRE_NODISCARD int gy_journal_update(struct gy_mover *m, struct gy_job *j, gyre_error_t *e);
/* What the CAS steps of these units (all at the same step) write, in one transaction; at
 * TO_COMPLETING what was counted of each goes with it. CONFLICT: somebody changed one of them. */
GYRE_NODISCARD int gy_journal_cas(struct gy_mover *m, struct gy_job *j, const uint32_t *units,
                                  size_t n, gyre_error_t *e);
/* The end: the new view (if moved), the history entry, notes of the servers that serve no more in
 * the view `after`, and the move's keys gone. */
GYRE_NODISCARD int gy_journal_finish(struct gy_mover *m, struct gy_job *j, bool moved,
                                     const struct gy_view *after, gyre_error_t *e);
/* Sets every unit's machine and counts to what the store says. */
GYRE_NODISCARD int gy_journal_read_units(struct gy_mover *m, struct gy_job *j, gyre_error_t *e);
GYRE_NODISCARD int gy_journal_history(struct gy_mover *m, struct gy_buf *json, gyre_error_t *e);

/* ---- job.c: the document ---- */
void gy_job_write(const struct gy_mover *m, const struct gy_job *j, struct gy_buf *out);
void gy_job_write_history(const struct gy_job *j, bool moved, int64_t ended_at, struct gy_buf *out);
/* Reads it back: sets m->servers, the wishes and rates, and makes the job without its units'
 * states. */
GYRE_NODISCARD int gy_job_read(struct gy_mover *m, struct gy_slice doc, struct gy_job **out,
                               gyre_error_t *e);

#endif
