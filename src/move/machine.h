/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - what comes next for one unit of a move. Pure: an event in, the next step out; time,
 * servers and the store are the driver's. The table in machine.c is the protocol
 * (docs/migration.md 3.2, 3.3, 3.5); nothing else decides what may follow what.
 *
 * A unit is always at one step. Each step stands in one durable state, so the state read from the
 * store says where to go on (gy_machine_resume), and a step may be run any number of times.
 * Threads: any, one object a thread.
 */
#ifndef GY_MOVE_MACHINE_H
#define GY_MOVE_MACHINE_H

#include "move/unit.h"

enum gy_step_kind {
    GY_STEP_REST,    /* nothing to do before GO, or nothing ever */
    GY_STEP_CAS,     /* change the unit's state in the store: from `in` to `to` */
    GY_STEP_RECORD,  /* change records on the servers */
    GY_STEP_BARRIER, /* publish with a drain list, and wait until every worker has acked */
    GY_STEP_WORK,    /* a pass over the keys */
};

/* In the order of the protocol. name, state it stands in */
#define GY_STEPS(X)                                                                        \
    X(WAIT, STABLE)         /* for its wave */                                             \
    X(ARM, STABLE)          /* D.rec = M, then S.rec = P */                                \
    X(TO_PREPARE, STABLE)   /* a new attempt */                                            \
    X(HOLD, PREPARE)        /* writes are held; requests sent to S before are drained */   \
    X(RELEASE, PREPARE)     /* not acked in time: the attempt is closed */                 \
    X(TO_FLIPPING, PREPARE) /* the intent: from here only forward */                       \
    X(FLIP, FLIPPING)       /* S.rec: P -> M, the freeze */                                \
    X(TO_MIGRATING, FLIPPING)                                                              \
    X(COPY, MIGRATING)          /* SCAN S, install what is unmarked */                     \
    X(VERIFY, MIGRATING)        /* SCAN S again: unmarked must be none */                  \
    X(REARM, MIGRATING)         /* D was restarted: nobody may remember marks of before */ \
    X(REARM_RECORDS, MIGRATING) /* D.rec = M and S.rec = M with the new run_id */          \
    X(TO_COMPLETING, MIGRATING) /* the intent: excludes an abort until C is written */     \
    X(FINISH, COMPLETING)       /* D.rec: M -> C */                                        \
    X(RETREAT, COMPLETING)      /* D lost its record before C was written: copy again */   \
    X(TO_COMPLETE, COMPLETING)                                                             \
    X(SETTLE, COMPLETE) /* nothing sent to S before is unanswered */                       \
    X(KEEP, COMPLETE)   /* until all units are here; S still has its copies */             \
    X(TO_CLEANING, COMPLETE)                                                               \
    X(CLEAN, CLEANING) /* SCAN S, remove the copies */                                     \
    X(DROP, CLEANING)  /* marks and D.rec, then S.rec */                                   \
    X(TO_MOVED, CLEANING)                                                                  \
    X(GONE, MOVED)                                                                         \
    X(CLOSE, STABLE)      /* abort before the freeze: nobody may still read S.rec */       \
    X(CLOSE_DROP, STABLE) /* records of closed attempts */                                 \
    X(CLOSE_DONE, STABLE)                                                                  \
    X(TO_ABORT_PREPARE, MIGRATING)                                                         \
    X(TO_ABORT_PREPARE_C, COMPLETE)                                                        \
    X(ABORT_HOLD, ABORT_PREPARE) /* writes are held; requests to D (and S) are drained */  \
    X(ABORT_RELEASE, ABORT_PREPARE)                                                        \
    X(TO_ABORT_FLIPPING, ABORT_PREPARE)                                                    \
    X(ABORT_FLIP, ABORT_FLIPPING) /* S.rec: M -> B, then D.rec -> A: D is frozen */        \
    X(TO_ABORTING, ABORT_FLIPPING)                                                         \
    X(BACK, ABORTING)     /* bring back what moved, and the deletions */                   \
    X(REFREEZE, ABORTING) /* a server was restarted: B and A again */                      \
    X(OPEN, ABORTING)     /* S.rec = O */                                                  \
    X(TO_PURGING, ABORTING)                                                                \
    X(ABORT_SETTLE, PURGING) /* nothing sent before is unanswered */                       \
    X(PURGE, PURGING)        /* remove the unit's keys at D */                             \
    X(ABORT_DROP, PURGING)   /* D.rec and marks, back-marks and S.rec */                   \
    X(TO_RETURNED, PURGING)                                                                \
    X(HOME, RETURNED)

enum gy_step {
#define GY_STEP_ENUM(name, state) GY_STEP_##name,
    GY_STEPS(GY_STEP_ENUM)
#undef GY_STEP_ENUM
        GY_STEP_COUNT
};

#define GY_EVENTS(X)                                                                          \
    X(GO)       /* leave a rest: the wave begins, cleaning begins */                          \
    X(OK)       /* the step is done (CAS written, barrier acked, pass finished) */            \
    X(AGAIN)    /* it could not be done now: a server or the store did not answer */          \
    X(TIMEOUT)  /* a barrier was not acked in time */                                         \
    X(DIRTY)    /* verification found unmarked keys */                                        \
    X(LOST)     /* a record is missing or another's: the server was restarted (GYREFENCED) */ \
    X(CONFLICT) /* someone else changed the state: read it and resume */                      \
    X(ABORT)    /* take the unit back as soon as the protocol permits */

enum gy_event {
#define GY_EVENT_ENUM(name) GY_EVENT_##name,
    GY_EVENTS(GY_EVENT_ENUM)
#undef GY_EVENT_ENUM
        GY_EVENT_COUNT
};

struct gy_machine {
    enum gy_step step;
    uint32_t attempt;
    bool from_complete; /* the abort began in COMPLETE */
    bool abort;         /* wanted; honoured at the next step that permits it */
};

/* Where to go on from what the store says. */
void gy_machine_resume(struct gy_machine *m, enum gy_unit_state state, uint32_t attempt,
                       bool from_complete, bool abort);
/* True: the event has a meaning at this step and was taken. False: the machine stays as it was (and
 * the driver has a bug, or the event came late). */
bool gy_machine_event(struct gy_machine *m, enum gy_event ev);

enum gy_unit_state gy_machine_state(const struct gy_machine *m);
enum gy_step_kind gy_step_kind(enum gy_step s);
/* What a CAS step writes; at any other step, what stands. */
enum gy_unit_state gy_machine_target(const struct gy_machine *m);
uint32_t gy_machine_target_attempt(const struct gy_machine *m);
bool gy_machine_target_from_complete(const struct gy_machine *m);
/* Does the state it is in hold the unit's writes? */
bool gy_unit_held(enum gy_unit_state s);
const char *gy_step_name(enum gy_step s);
const char *gy_event_name(enum gy_event ev);

#endif
