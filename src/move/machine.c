/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - see machine.h. One row a step. A CAS writes the state in which the step after it
 * stands. AGAIN never moves a unit, CONFLICT reads the store again, ABORT is remembered until a row
 * permits it: those three need no column.
 */
#include "move/machine.h"

#define GY_STEP_NONE GY_STEP_COUNT /* the event has no meaning at this step */

struct row {
    enum gy_step_kind kind;
    enum gy_step ok;        /* after OK; of a rest: after GO */
    enum gy_step otherwise; /* after TIMEOUT (barriers), DIRTY (passes) */
    enum gy_step lost;      /* after LOST */
    enum gy_step abort;     /* where an abort leaves from here */
};

#define ROW(step, kind, ok, otherwise, lost, abort)                                        \
    [GY_STEP_##step] = {GY_STEP_##kind, GY_STEP_##ok, GY_STEP_##otherwise, GY_STEP_##lost, \
                        GY_STEP_##abort},

/* clang-format off */
static const struct row rows[GY_STEP_COUNT] = {
    /*  step                kind     ok                 otherwise      lost      abort */
    ROW(WAIT,               REST,    ARM,               NONE,          NONE,     CLOSE)
    ROW(ARM,                RECORD,  TO_PREPARE,        NONE,          NONE,     CLOSE)
    ROW(TO_PREPARE,         CAS,     HOLD,              NONE,          NONE,     CLOSE)
    ROW(HOLD,               BARRIER, TO_FLIPPING,       RELEASE,       NONE,     RELEASE)
    ROW(RELEASE,            CAS,     WAIT,              NONE,          NONE,     NONE)
    ROW(TO_FLIPPING,        CAS,     FLIP,              NONE,          NONE,     RELEASE)
    ROW(FLIP,               RECORD,  TO_MIGRATING,      NONE,          NONE,     NONE)
    ROW(TO_MIGRATING,       CAS,     COPY,              NONE,          NONE,     NONE)
    ROW(COPY,               WORK,    VERIFY,            NONE,          REARM,    TO_ABORT_PREPARE)
    ROW(VERIFY,             WORK,    TO_COMPLETING,     COPY,          REARM,    TO_ABORT_PREPARE)
    ROW(REARM,              BARRIER, REARM_RECORDS,     REARM,         NONE,     TO_ABORT_PREPARE)
    ROW(REARM_RECORDS,      RECORD,  COPY,              NONE,          NONE,     TO_ABORT_PREPARE)
    ROW(TO_COMPLETING,      CAS,     FINISH,            NONE,          NONE,     TO_ABORT_PREPARE)
    ROW(FINISH,             RECORD,  TO_COMPLETE,       NONE,          RETREAT,  NONE)
    ROW(RETREAT,            CAS,     REARM,             NONE,          NONE,     NONE)
    ROW(TO_COMPLETE,        CAS,     SETTLE,            NONE,          NONE,     NONE)
    ROW(SETTLE,             BARRIER, KEEP,              SETTLE,        NONE,     NONE)
    ROW(KEEP,               REST,    TO_CLEANING,       NONE,          NONE,     TO_ABORT_PREPARE_C)
    ROW(TO_CLEANING,        CAS,     CLEAN,             NONE,          NONE,     NONE)
    ROW(CLEAN,              WORK,    DROP,              NONE,          CLEAN,    NONE)
    ROW(DROP,               RECORD,  TO_MOVED,          NONE,          NONE,     NONE)
    ROW(TO_MOVED,           CAS,     GONE,              NONE,          NONE,     NONE)
    ROW(GONE,               REST,    NONE,              NONE,          NONE,     NONE)
    ROW(CLOSE,              BARRIER, CLOSE_DROP,        CLOSE,         NONE,     NONE)
    ROW(CLOSE_DROP,         RECORD,  CLOSE_DONE,        NONE,          NONE,     NONE)
    ROW(CLOSE_DONE,         CAS,     HOME,              NONE,          NONE,     NONE)
    ROW(TO_ABORT_PREPARE,   CAS,     ABORT_HOLD,        NONE,          NONE,     NONE)
    ROW(TO_ABORT_PREPARE_C, CAS,     ABORT_HOLD,        NONE,          NONE,     NONE)
    ROW(ABORT_HOLD,         BARRIER, TO_ABORT_FLIPPING, ABORT_RELEASE, NONE,     NONE)
    ROW(ABORT_RELEASE,      CAS,     COPY,              NONE,          NONE,     NONE)
    ROW(TO_ABORT_FLIPPING,  CAS,     ABORT_FLIP,        NONE,          NONE,     NONE)
    ROW(ABORT_FLIP,         RECORD,  TO_ABORTING,       NONE,          NONE,     NONE)
    ROW(TO_ABORTING,        CAS,     BACK,              NONE,          NONE,     NONE)
    ROW(BACK,               WORK,    OPEN,              NONE,          REFREEZE, NONE)
    ROW(REFREEZE,           RECORD,  BACK,              NONE,          NONE,     NONE)
    ROW(OPEN,               RECORD,  TO_PURGING,        NONE,          REFREEZE, NONE)
    ROW(TO_PURGING,         CAS,     ABORT_SETTLE,      NONE,          NONE,     NONE)
    ROW(ABORT_SETTLE,       BARRIER, PURGE,             ABORT_SETTLE,  NONE,     NONE)
    ROW(PURGE,              WORK,    ABORT_DROP,        NONE,          PURGE,    NONE)
    ROW(ABORT_DROP,         RECORD,  TO_RETURNED,       NONE,          NONE,     NONE)
    ROW(TO_RETURNED,        CAS,     HOME,              NONE,          NONE,     NONE)
    ROW(HOME,               REST,    NONE,              NONE,          NONE,     NONE)
};
/* clang-format on */

static const enum gy_unit_state stands_in[GY_STEP_COUNT] = {
#define STEP_STATE(name, state) [GY_STEP_##name] = GY_UNIT_##state,
    GY_STEPS(STEP_STATE)
#undef STEP_STATE
};

/* The step at which a state read from the store goes on. An attempt that was open when the process
 * died is closed: its writers are gone, and a new one costs a round trip. */
static const enum gy_step entry[GY_UNIT_STATE_COUNT] = {
    [GY_UNIT_STABLE] = GY_STEP_WAIT,
    [GY_UNIT_PREPARE] = GY_STEP_RELEASE,
    [GY_UNIT_FLIPPING] = GY_STEP_FLIP,
    [GY_UNIT_MIGRATING] = GY_STEP_COPY,
    [GY_UNIT_COMPLETING] = GY_STEP_FINISH,
    [GY_UNIT_COMPLETE] = GY_STEP_SETTLE,
    [GY_UNIT_CLEANING] = GY_STEP_CLEAN,
    [GY_UNIT_MOVED] = GY_STEP_GONE,
    [GY_UNIT_ABORT_PREPARE] = GY_STEP_ABORT_RELEASE,
    [GY_UNIT_ABORT_FLIPPING] = GY_STEP_ABORT_FLIP,
    [GY_UNIT_ABORTING] = GY_STEP_BACK,
    [GY_UNIT_PURGING] = GY_STEP_ABORT_SETTLE,
    [GY_UNIT_RETURNED] = GY_STEP_HOME,
};

/* An abort that is wanted leaves from the first step that permits it. */
static void arrive(struct gy_machine *m, enum gy_step s)
{
    m->step = s;
    if (m->abort && rows[s].abort != GY_STEP_NONE) {
        m->step = rows[s].abort;
    }
}

void gy_machine_resume(struct gy_machine *m, enum gy_unit_state state, uint32_t attempt,
                       bool from_complete, bool abort)
{
    *m = (struct gy_machine){.attempt = attempt, .from_complete = from_complete, .abort = abort};
    arrive(m, entry[state]);
}

/* An abort that began in COMPLETE and was not acked goes back there. */
static enum gy_step after_cas(const struct gy_machine *m)
{
    if (m->step == GY_STEP_ABORT_RELEASE && m->from_complete) {
        return GY_STEP_KEEP;
    }
    return rows[m->step].ok;
}

static void written(struct gy_machine *m)
{
    uint32_t attempt = gy_machine_target_attempt(m);
    bool from_complete = gy_machine_target_from_complete(m);
    enum gy_step next = after_cas(m);
    m->attempt = attempt;
    m->from_complete = from_complete;
    arrive(m, next);
}

bool gy_machine_event(struct gy_machine *m, enum gy_event ev)
{
    const struct row *r = &rows[m->step];
    enum gy_step next = GY_STEP_NONE;
    switch (ev) {
    case GY_EVENT_ABORT:
        m->abort = true;
        arrive(m, m->step);
        return true;
    case GY_EVENT_GO:
        next = r->kind == GY_STEP_REST ? r->ok : GY_STEP_NONE;
        break;
    case GY_EVENT_OK:
        if (r->kind == GY_STEP_CAS) {
            written(m);
            return true;
        }
        next = r->kind == GY_STEP_REST ? GY_STEP_NONE : r->ok;
        break;
    case GY_EVENT_AGAIN:
        next = r->kind == GY_STEP_REST ? GY_STEP_NONE : m->step;
        break;
    case GY_EVENT_CONFLICT: /* the driver reads the store and calls gy_machine_resume */
        next = r->kind == GY_STEP_CAS ? m->step : GY_STEP_NONE;
        break;
    case GY_EVENT_TIMEOUT:
        next = r->kind == GY_STEP_BARRIER ? r->otherwise : GY_STEP_NONE;
        break;
    case GY_EVENT_DIRTY:
        next = r->kind == GY_STEP_WORK ? r->otherwise : GY_STEP_NONE;
        break;
    case GY_EVENT_LOST:
        next = r->lost;
        break;
    case GY_EVENT_COUNT:
        break;
    }
    if (next == GY_STEP_NONE) {
        return false;
    }
    arrive(m, next);
    return true;
}

enum gy_unit_state gy_machine_state(const struct gy_machine *m)
{
    return stands_in[m->step];
}

enum gy_step_kind gy_step_kind(enum gy_step s)
{
    return rows[s].kind;
}

enum gy_unit_state gy_machine_target(const struct gy_machine *m)
{
    bool cas = rows[m->step].kind == GY_STEP_CAS;
    return stands_in[cas ? after_cas(m) : m->step];
}

uint32_t gy_machine_target_attempt(const struct gy_machine *m)
{
    enum gy_unit_state to = gy_machine_target(m);
    bool opens = to == GY_UNIT_PREPARE || to == GY_UNIT_ABORT_PREPARE;
    return m->attempt + (opens && to != stands_in[m->step]);
}

bool gy_machine_target_from_complete(const struct gy_machine *m)
{
    bool opens = m->step == GY_STEP_TO_ABORT_PREPARE || m->step == GY_STEP_TO_ABORT_PREPARE_C;
    if (opens) {
        return m->step == GY_STEP_TO_ABORT_PREPARE_C;
    }
    return m->from_complete && m->step != GY_STEP_ABORT_RELEASE;
}

bool gy_unit_held(enum gy_unit_state s)
{
    return s == GY_UNIT_PREPARE || s == GY_UNIT_FLIPPING || s == GY_UNIT_ABORT_PREPARE ||
           s == GY_UNIT_ABORT_FLIPPING;
}

const char *gy_step_name(enum gy_step s)
{
    static const char *const names[] = {
#define STEP_NAME(name, state) #name,
        GY_STEPS(STEP_NAME)
#undef STEP_NAME
    };
    return (unsigned)s < GY_STEP_COUNT ? names[s] : "?";
}

const char *gy_event_name(enum gy_event ev)
{
    static const char *const names[] = {
#define EVENT_NAME(name) #name,
        GY_EVENTS(EVENT_NAME)
#undef EVENT_NAME
    };
    return (unsigned)ev < GY_EVENT_COUNT ? names[ev] : "?";
}
