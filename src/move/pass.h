/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - one pass over the keys of some servers, for all units that are at one step. pass.c scans
 * and sorts keys into batches; carry.c and sweep.c do what is to be done with a batch. Threads: the
 * mover's.
 */
#ifndef GY_MOVE_PASS_H
#define GY_MOVE_PASS_H

#include "move/keyset.h"
#include "move/state.h"

struct gy_pass {
    struct gy_mover *m;
    struct gy_job *j;
    enum gy_step step;
    struct gy_set *set;
    uint32_t *at;  /* unit -> index in set + 1; 0: not of this pass */
    uint8_t *down; /* server: it failed in this pass */
    struct gy_seen seen;
    bool near_src; /* the side that is scanned is the source's */
};

/* A run of keys of one batch whose far server is the same. */
struct gy_run {
    struct gy_keyset *keys;
    size_t from, to;
    uint32_t near, far; /* servers */
    struct gy_sync *nearc, *farc;
};

/* Connections; on failure the server is down for this pass and its units fail. */
struct gy_sync *gy_pass_link(struct gy_pass *p, uint32_t server);
/* A read of this server failed: likewise. */
void gy_pass_lost_server(struct gy_pass *p, uint32_t server, const gyre_error_t *e);
void gy_pass_fail_run(struct gy_pass *p, const struct gy_run *r); /* all its units: again */
size_t gy_run_unit_end(const struct gy_run *r, size_t i); /* end of the keys of item i's unit */
void gy_pass_fail_unit(struct gy_pass *p, uint32_t unit, enum gy_event ev);
enum gy_event gy_pass_event(const struct gy_pass *p, uint32_t unit);
/* An error reply about a key of this unit. */
void gy_pass_refused(struct gy_pass *p, uint32_t server, uint32_t unit, const struct gy_reply *r);
/* Waits for the throttle, then takes n keys; true: a wish came in between, stop the pass. */
bool gy_pass_throttle(struct gy_pass *p, uint64_t keys, uint64_t bytes);

/* ---- carry.c ---- */
void gy_carry_run(struct gy_pass *p, struct gy_run *r);
/* Ms that two servers may be silent over a slice of so many bytes; 0: no longer than ever. */
uint32_t gy_carry_patience(uint64_t bytes);
void gy_verify_run(struct gy_pass *p, struct gy_run *r);
/* ---- sweep.c ---- */
void gy_sweep_run(struct gy_pass *p, struct gy_run *r);

#endif
