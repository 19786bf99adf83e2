/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mover.h - carries a migration out: coordinator and background copier in one thread, driven by the
 * pure machine (machine.h). All truth is in the store, in the records and in the marks: starting it
 * again is resuming.
 */
#ifndef GY_MOVE_MOVER_H
#define GY_MOVE_MOVER_H

#include "control/store.h"
#include "formats/config.h"
#include "move/host.h"
#include "net/fence.h"

struct gy_mover;

struct gy_move_options {
    bool purge_destination;
    bool same_data;    /* replace: the new address already holds the data (a promoted replica) */
    bool weak_fencing; /* predecessors need not be fenced by ACL users */
    uint64_t keys_per_s, bytes_per_s; /* 0: unlimited */
    uint32_t chunks;                  /* 0: chosen from the number of keys */
    uint32_t wave;                    /* chunks per source and wave; 0: 4 */
};

/* Opens the state of `conf`'s store: the stored view wins over the file's topology (0a.7). *note
 * gets one line when they differ (which version serves, what share of keys the file would place
 * elsewhere, the command that does it properly); malloc'ed, may be NULL. The first view is ready
 * for the workers, in the middle of a migration where one was under way. */
GYRE_NODISCARD int gy_mover_create(const struct gy_config *conf, struct gy_store *store,
                                   struct gy_mover **out, struct gy_view **first, char **note,
                                   gyre_error_t *e);
/* Starts the thread; resumes what was under way. host must stay until gy_mover_destroy. */
GYRE_NODISCARD int gy_mover_start(struct gy_mover *m, const struct gy_move_host *host,
                                  gyre_error_t *e);
void gy_mover_stop(
    struct gy_mover *m); /* finishes the batch in hand, leaves the state for the next start */
void gy_mover_destroy(struct gy_mover *m);
/* Who this process is to the servers, numbered durably by gy_mover_create; constant from then on,
 * for any thread, until gy_mover_destroy. */
const struct gy_fence *gy_mover_fence(const struct gy_mover *m);
/* At a clean end, when no connection is needed any more: our users go from every server that
 * answers soon. */
void gy_mover_retire(struct gy_mover *m);

/* The calls below are for the admin thread; each is answered by the mover's state under its lock.
 */
/* next: the wished topology (taken over). Pre-checks run first (REFUSED with the reason, nothing
 * moved); then the move is durable and under way. */
GYRE_NODISCARD int gy_mover_begin(struct gy_mover *m, gyre_topology_t *next,
                                  const struct gy_move_options *o, gyre_error_t *e);
GYRE_NODISCARD int gy_mover_pause(struct gy_mover *m, gyre_error_t *e);
GYRE_NODISCARD int gy_mover_resume(struct gy_mover *m, gyre_error_t *e);
GYRE_NODISCARD int gy_mover_rate(struct gy_mover *m, uint64_t keys_per_s, uint64_t bytes_per_s,
                                 gyre_error_t *e);
/* Whoever takes a move back wants it over: its limits, meant for the way there, are lifted; a rate
 * given from then on counts. */
GYRE_NODISCARD int gy_mover_abort(struct gy_mover *m, gyre_error_t *e);
/* A server that left is gone for good, or somebody else cleans it up: REFUSED if it does not wait
 * for it. */
GYRE_NODISCARD int gy_mover_forget(struct gy_mover *m, const char *address, gyre_error_t *e);
void gy_mover_status(struct gy_mover *m, struct gy_buf *json); /* docs/admin.md has the fields */
GYRE_NODISCARD int gy_mover_history(struct gy_mover *m, struct gy_buf *json, gyre_error_t *e);
/* The current topology as gyre YAML with its version (for `gyre move` to plan against). */
GYRE_NODISCARD int gy_mover_topology(struct gy_mover *m, struct gy_buf *yaml, gyre_error_t *e);

#endif
