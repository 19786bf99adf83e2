/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the mover's insides, shared by its files and by nobody else.
 *
 * Who may touch what: `lock` guards everything below it and every use of the store. The mover's
 * thread alone changes job->unit[], the view and the links; it takes the lock to change what the
 * admin thread reads. The admin thread sets wishes (paused, abort, stop, rates), and brings a new
 * job in when there is none.
 */
#ifndef GY_MOVE_STATE_H
#define GY_MOVE_STATE_H

#include "base/fail.h"
#include "move/leave.h"
#include "move/link.h"
#include "move/machine.h"
#include "move/mover.h"
#include "move/strays.h"
#include "move/throttle.h"

#include <pthread.h>

enum gy_phase {
    GY_PHASE_MOVE,  /* waves of units go to COMPLETE */
    GY_PHASE_CLEAN, /* all are there: no way back */
    GY_PHASE_ABORT, /* all go back */
};

#define GY_BIGKEYS 100 /* remembered by name; more are only counted */
struct gy_bigkey {
    char *name; /* as far as it fits */
    size_t len;
    uint64_t size;
};

/* Exact, of a unit when it is verified: written with COMPLETING; or, without a minimum, when it has
 * gone back unverified: with PURGING; or of all. */
struct gy_totals {
    uint64_t keys;  /* installed at the destination with a value */
    uint64_t bytes; /* as serialised */
    uint64_t
        minimum; /* that had to be: at the source when it was frozen, and did not expire first */
};

/* What the last verification found of a unit at its source, frozen since before any key of it was
 * moved: the keys without an expiry are those of the freeze, of the others some are gone. */
struct gy_census {
    uint64_t lasting, expiring;
};

/* One move. */
struct gy_job {
    /* constant */
    uint64_t epoch, from_version, to_version;
    int64_t started_at; /* Unix seconds */
    gyre_topology_t *next;
    struct gy_migration *mig;
    struct gy_pair *pairs;
    size_t npairs;
    uint32_t wave;
    bool purge_destination, same_data;
    bool weak_fencing; /* servers where ACL cannot fence are good enough */
    double plan_moved, plan_minimum, plan_ratio;
    uint64_t estimate; /* keys that will move, guessed beforehand */
    /* of the mover's thread */
    struct gy_machine *unit;
    int64_t *retry_at;         /* a unit rests until then (monotonic ms) */
    uint32_t *tries;           /* failures in a row, for the back-off */
    struct gy_census *census;  /* of each unit */
    struct gy_totals *counted; /* of each unit, when it was last asked for */
    char (
        *cleaned_run_id)[48]; /* by server: when cleaning began; NULL: by another process of ours */
    /* under the lock */
    enum gy_phase phase;
    struct gy_totals *own; /* of each unit, as the store has them; settled is their sum */
    struct gy_totals settled;
    uint64_t live_keys, live_bytes; /* by the mover, in units not settled yet */
    uint64_t access_start;          /* the host's counter when this process took the job up */
    uint64_t access_base_keys, access_base_bytes; /* of the host's counters, already settled */
    uint64_t scanned, cleaned, returned;
    uint64_t audited, audit_equal;
    struct gy_bigkey *bigkeys;
    size_t nbigkeys, bigkeys_more;
    uint64_t longest_hold_ms; /* of a write, in this move; what the store has of it: */
    uint64_t stored_hold_ms;
};

struct gy_mover {
    /* constant after create */
    char *pool, *prefix;
    uint64_t bigkey_bytes;
    struct gy_link_conf link_conf;
    const struct gy_move_host *host;
    pthread_t thread;
    bool started;
    /* of the mover's thread */
    struct gy_links links; /* tells of restarts */
    struct gy_bucket keys, bytes;
    uint64_t charged_keys, charged_bytes; /* of the host's on-access counters */
    unsigned seed;                        /* of the jitter */
    bool kept;                            /* our generation is in the store */
    int64_t keep_at;                      /* monotonic ms: when that is tried again */
    struct gy_strays *strays;             /* NULL: not read from the store yet */

    pthread_mutex_t lock;
    pthread_cond_t wake; /* CLOCK_MONOTONIC */
    struct gy_store *store;
    gyre_topology_t *topology; /* the stored one */
    struct gy_view *view;      /* the last published */
    struct gy_server *servers; /* only appended to */
    uint32_t nservers;
    struct gy_job *job; /* NULL: nothing is under way */
    bool preparing;     /* pre-checks are running in the admin thread */
    bool leaving;       /* the mover's thread is at a server that left: no pre-check meanwhile */
    struct gy_left *left;
    size_t nleft;
    bool stop, paused, abort;
    bool rate_changed;
    uint64_t keys_per_s, bytes_per_s, default_keys, default_bytes;
    char last_error[1024]; /* "" : none */
    int64_t complained_at; /* when it was last so */
    char warning[1024];    /* stays until the move ends; "" : none */
    /* for the rate shown: moved keys and bytes at the last sample */
    int64_t sample_at;
    uint64_t sample_keys, sample_bytes;
    double rate_keys, rate_bytes;
};

int64_t gy_now_ms(void); /* monotonic */
int64_t gy_now_us(void);

/* ---- mover.c ---- */
/* Waits until `ms` have passed or somebody has a wish; true: stop. Takes the lock itself. */
bool gy_mover_rest(struct gy_mover *m, int64_t ms);
void gy_mover_complain(struct gy_mover *m, const gyre_error_t *e); /* last_error, and the log */
/* Of a server that does not answer: says the way out too, if the way back waits for it. */
void gy_mover_complain_down(struct gy_mover *m, uint32_t server, const gyre_error_t *e);
/* A server of the move is another process than when its units were armed: told once each. */
void gy_mover_warn_restart(struct gy_mover *m, uint32_t server, const char *run_id);

/* ---- full.c ---- */
void gy_full_tell(struct gy_mover *m, const gyre_error_t *e);
/* Keeps our generation if that could not be done at the start; ms until it is tried again, -1:
 * kept. */
int64_t gy_full_turn(struct gy_mover *m);

/* ---- status.c ---- */
/* Takes the host's longest wait into the job's. Under the lock. */
void gy_mover_note_hold(struct gy_mover *m);

/* ---- fleet.c: servers by index ---- */
/* Server index of each node of the map; servers that are new are appended to the array. */
GYRE_NODISCARD int gy_fleet_place(const gyre_map_t *map, struct gy_server **servers, uint32_t *n,
                                  uint32_t **index, gyre_error_t *e);
GYRE_NODISCARD int gy_fleet_copy(const struct gy_server *from, uint32_t n, struct gy_server **out,
                                 gyre_error_t *e);
GYRE_NODISCARD int gy_fleet_append(struct gy_server **servers, uint32_t *n, const char *name,
                                   const char *address, gyre_error_t *e);
void gy_fleet_free(struct gy_server *servers, uint32_t n);

/* ---- job.c ---- */
void gy_job_free(struct gy_job *j);
/* Map, pairs (if j->pairs is NULL: from the difference), migration and room for the units, from
 * j->next over the view v, which holds all servers. */
GYRE_NODISCARD int gy_job_build(const struct gy_mover *m, struct gy_job *j, const struct gy_view *v,
                                const uint32_t *next_server, gyre_map_t *next, uint32_t nchunks,
                                gyre_error_t *e);

/* ---- driver.c ---- */
void gy_driver_run(struct gy_mover *m); /* the thread's body: until stop */
/* The view of the units' states now. NULL: out of memory. */
struct gy_view *gy_driver_view(const struct gy_mover *m, const struct gy_job *j);

/* ---- records.c, pass.c, sweep.c: steps over a set of units; ev[i] is the outcome of units[i] ----
 */
struct gy_set {
    const uint32_t *units;
    size_t n;
    enum gy_event *ev;
    bool interrupted; /* by a wish of the admin: no failure, go round again at once */
};
void gy_set_fail(struct gy_set *s, size_t i, enum gy_event ev); /* keeps the graver one */
void gy_records_step(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s);
/* Are the destination's records still as they were armed (M, this run_id)? LOST where not. */
void gy_records_check(struct gy_mover *m, struct gy_job *j, struct gy_set *s);
/* Counts units that were verified, or have gone back, into j->counted, from their records and their
 * census. */
GYRE_NODISCARD int gy_records_count(struct gy_mover *m, struct gy_job *j, const struct gy_set *s,
                                    gyre_error_t *e);
/* For a move found under way at the start: what its unsettled units have at their destinations is
 * the base of the running counters, and a server that was restarted meanwhile is told. */
void gy_records_take_up(struct gy_mover *m, struct gy_job *j);
/* Before cleaning: every destination has its record C, and has persisted if it persists at all. */
GYRE_NODISCARD int gy_records_settled(struct gy_mover *m, struct gy_job *j, gyre_error_t *e);
bool gy_reply_fenced(const struct gy_reply *r);
void gy_mover_complain_reply(struct gy_mover *m, uint32_t server, const struct gy_reply *r);
GYRE_NODISCARD int gy_persist_wait(struct gy_mover *m, uint32_t server, gyre_error_t *e);
/* Does it keep its data by snapshots alone? Not known where CONFIG is forbidden: then no. */
GYRE_NODISCARD int gy_persist_saves(struct gy_sync *c, bool *saves, gyre_error_t *e);
void gy_pass_run(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s);

/* ---- live.c: what has moved, before and after it is counted exactly; under the lock ---- */
struct gy_figures {
    uint64_t moved, on_access, bytes;
};
struct gy_figures gy_live_figures(const struct gy_mover *m, const struct gy_job *j);
/* The units of a wave were verified: what was counted live is in the settled totals now. */
void gy_live_restart(struct gy_mover *m, struct gy_job *j);
/* The same of units that have gone back, which do so a few at a time: of the others it still is
 * live. */
void gy_live_settle(struct gy_job *j, const struct gy_set *s);

/* Said where a server knows of a move that the state does not. */
#define GY_LOST_STATE                                                                              \
    "this state directory is not the one that began that move. Stop the proxy and restore it; if " \
    "it is lost for good, keys that had moved are invisible here: find out which copies count, "   \
    "then delete those records"

/* ---- members.c ---- */
/* Two nodes with one address, or two NULLs. */
GYRE_NODISCARD int gy_members_shared(const gyre_topology_t *t, const struct gyre_node *out[2],
                                     gyre_error_t *e);
/* REFUSED when the wished topology has two. */
GYRE_NODISCARD int gy_members_check_text(const gyre_topology_t *current,
                                         const gyre_topology_t *next, gyre_error_t *e);

/* ---- precheck.c ---- */
/* All that may forbid the move, nothing changed (but purged leftovers); fills estimate, pairs and
 * nchunks. servers: the fleet with the new ones appended. */
struct gy_precheck {
    struct gy_mover *m;
    const struct gy_view *view; /* with all servers */
    gyre_map_t *next;
    const uint32_t *next_server;
    const struct gy_move_options *options;
    uint64_t epoch; /* of the move to be */
    /* in and out */
    struct gy_pair *pairs;
    size_t npairs;
    struct gy_known known; /* raised above stamps that are to be forgotten */
    /* out */
    uint64_t estimate; /* keys to move */
    uint64_t largest;  /* keys of the largest flow */
};
GYRE_NODISCARD int gy_precheck_run(struct gy_precheck *c, gyre_error_t *e);

#endif
