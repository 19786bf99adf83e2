/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - the mover's thread. It has no protocol of its own: it picks units that are at the same
 * step, carries that step out for all of them at once, and tells each unit's machine how it ended.
 * Units whose writes are held come first; a unit whose step failed rests before it is tried again.
 * Threads: the mover's.
 */
#include "base/log.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"

#include <stdlib.h>
#include <time.h>

#define HOLD_MS        100  /* a held write waits no longer for the barrier (migration.md 0a.1) */
#define SETTLE_MS      1000 /* barriers that hold nobody */
#define BACKOFF_MS     50   /* first pause after a failure; doubles */
#define BACKOFF_MAX    5000
#define BACKOFF_HELD   200 /* while writes are held we insist */
#define IDLE_MS        1000
#define CALM_MS        2000 /* longer than IDLE_MS, the pause between two tries of a phase */
#define PAUSE_CHECK_MS 1000

static bool active(const struct gy_job *j, uint32_t i)
{
    return gy_step_kind(j->unit[i].step) != GY_STEP_REST;
}

static bool held(const struct gy_machine *u)
{
    return gy_unit_held(gy_machine_state(u));
}

/* ---- publishing ---- */

/* What workers are told. An attempt that is being given up holds nobody any more, even while the
 * store cannot take the release: the next process finds PREPARE there and releases it likewise. */
static enum gy_unit_state told(const struct gy_machine *u)
{
    bool released = u->step == GY_STEP_RELEASE || u->step == GY_STEP_ABORT_RELEASE;
    return released ? gy_machine_target(u) : gy_machine_state(u);
}

struct gy_view *gy_driver_view(const struct gy_mover *m, const struct gy_job *j)
{
    struct gy_view *base = gy_view_new(m->view->map, m->servers, m->nservers, m->view->server);
    struct gy_view *v = base && j ? gy_view_with_move(base, j->mig) : NULL;
    if (!j) {
        return base;
    }
    gy_view_unref(base);
    for (uint32_t i = 0; v && i < j->mig->nunits; i++) {
        v->state[i] = (uint8_t)told(&j->unit[i]);
        v->attempt[i] = j->unit[i].attempt;
        v->from_complete[i] = j->unit[i].from_complete;
    }
    return v;
}

/* Makes v the view; returns its seq. */
static uint64_t publish(struct gy_mover *m, struct gy_view *v)
{
    m->host->publish(m->host->ctx, gy_view_ref(v));
    pthread_mutex_lock(&m->lock);
    struct gy_view *old = m->view;
    m->view = v;
    pthread_mutex_unlock(&m->lock);
    gy_view_unref(old);
    return v->seq;
}

static bool publish_states(struct gy_mover *m, struct gy_job *j, const uint32_t *drain, uint32_t n,
                           uint64_t *seq)
{
    struct gy_view *v = gy_driver_view(m, j);
    if (!v || !gy_view_set_drain(v, drain, n)) {
        gy_view_unref(v);
        return false;
    }
    uint64_t s = publish(m, v);
    if (seq) {
        *seq = s;
    }
    return true;
}

/* ---- steps ---- */

/* Which side's earlier requests must be answered before the barrier counts. */
static void drained_sides(enum gy_step step, bool *src, bool *dst)
{
    *src = step != GY_STEP_REARM;
    *dst = step != GY_STEP_HOLD;
}

static void run_barrier(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s)
{
    bool src, dst;
    uint32_t n = 0;
    uint64_t seq = 0;
    bool acked = false;
    uint8_t *in = calloc(m->nservers ? m->nservers : 1, 1);
    uint32_t *drain = calloc(m->nservers ? m->nservers : 1, sizeof *drain);
    drained_sides(step, &src, &dst);
    for (size_t i = 0; in && i < s->n; i++) {
        const struct gy_unit *u = &j->mig->units[s->units[i]];
        in[u->src] |= src;
        in[u->dst] |= dst;
    }
    for (uint32_t i = 0; in && drain && i < m->nservers; i++) {
        if (in[i]) {
            drain[n++] = i;
        }
    }
    if (in && drain && publish_states(m, j, drain, n, &seq)) {
        bool hold = step == GY_STEP_HOLD || step == GY_STEP_ABORT_HOLD;
        acked = m->host->barrier(m->host->ctx, seq, hold ? HOLD_MS : SETTLE_MS);
    }
    for (size_t i = 0; i < s->n; i++) {
        s->ev[i] = acked ? GY_EVENT_OK : GY_EVENT_TIMEOUT;
    }
    free(in);
    free(drain);
}

/* A flip that could not be written must not keep its writers waiting: read what is written, and if
 * it is still the hold, give it up. */
static bool may_release(enum gy_step step)
{
    return step == GY_STEP_TO_FLIPPING || step == GY_STEP_TO_ABORT_FLIPPING;
}

static void run_cas(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s)
{
    gyre_error_t e;
    bool back = step == GY_STEP_TO_PURGING;
    bool counts = step == GY_STEP_TO_COMPLETING || back;
    int rc = counts ? gy_records_count(m, j, s, &e) : GYRE_OK;
    if (rc == GYRE_OK) {
        pthread_mutex_lock(&m->lock);
        gy_mover_note_hold(m);
        rc = gy_journal_cas(m, j, s->units, s->n, &e);
        if (rc == GYRE_OK && back) {
            gy_live_settle(j, s);
        } else if (rc == GYRE_OK && counts) {
            gy_live_restart(m, j);
        }
        pthread_mutex_unlock(&m->lock);
    }
    if (rc != GYRE_OK) {
        gy_mover_complain(m, &e);
    }
    for (size_t i = 0; i < s->n; i++) {
        bool reread = rc == GYRE_CONFLICT || may_release(step);
        s->ev[i] = rc == GYRE_OK ? GY_EVENT_OK : reread ? GY_EVENT_CONFLICT : GY_EVENT_AGAIN;
    }
}

static bool paused(struct gy_mover *m)
{
    pthread_mutex_lock(&m->lock);
    bool yes = m->paused && !m->abort;
    pthread_mutex_unlock(&m->lock);
    return yes;
}

static void run_work(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s)
{
    if (!paused(m)) {
        gy_pass_run(m, j, step, s);
        return;
    }
    /* Paused: nothing is copied, but a destination that was restarted must be armed again, or the
     * on-access moves of its keys would fail until somebody resumes. */
    s->interrupted = true;
    if (step == GY_STEP_COPY || step == GY_STEP_VERIFY) {
        gy_records_check(m, j, s);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->ev[i] == GY_EVENT_OK) {
            s->ev[i] = GY_EVENT_AGAIN;
        }
    }
    gy_mover_rest(m, PAUSE_CHECK_MS);
}

void gy_set_fail(struct gy_set *s, size_t i, enum gy_event ev)
{
    if (s->ev[i] != GY_EVENT_LOST) {
        s->ev[i] = ev;
    }
}

/* ---- how a step ended ---- */

static int64_t backoff(struct gy_mover *m, struct gy_job *j, uint32_t i)
{
    int64_t most = held(&j->unit[i]) ? BACKOFF_HELD : BACKOFF_MAX;
    uint32_t doublings = j->tries[i] < 8 ? j->tries[i] : 8;
    int64_t ms = (int64_t)BACKOFF_MS << doublings;
    j->tries[i]++;
    ms = ms > most ? most : ms;
    return ms / 2 + rand_r(&m->seed) % (ms / 2 + 1); /* half of it is jitter */
}

static void take_event(struct gy_mover *m, struct gy_job *j, uint32_t i, enum gy_event ev,
                       bool interrupted)
{
    struct gy_machine *u = &j->unit[i];
    enum gy_step step = u->step;
    if (!gy_machine_event(u, ev)) {
        gy_error("mover: unit %u at %s cannot take %s", i, gy_step_name(step), gy_event_name(ev));
        ev = GY_EVENT_AGAIN;
    }
    bool gave_up = step == GY_STEP_RELEASE || step == GY_STEP_ABORT_RELEASE;
    bool failed = ev == GY_EVENT_AGAIN || ev == GY_EVENT_LOST || ev == GY_EVENT_TIMEOUT;
    /* A hold that timed out is released at once; the pause comes after the release. */
    bool release = step == GY_STEP_HOLD || step == GY_STEP_ABORT_HOLD;
    if (gave_up || (failed && !interrupted && !release)) {
        j->retry_at[i] = gy_now_ms() + backoff(m, j, i);
    } else if (ev == GY_EVENT_OK && gy_step_kind(step) != GY_STEP_CAS && !release &&
               step != GY_STEP_ARM) { /* arming is not progress: it comes before every attempt */
        j->tries[i] = 0;
    }
}

static void reread(struct gy_mover *m, struct gy_job *j)
{
    gyre_error_t e;
    pthread_mutex_lock(&m->lock);
    int rc = gy_journal_read_units(m, j, &e);
    pthread_mutex_unlock(&m->lock);
    if (rc != GYRE_OK) {
        gy_mover_complain(m, &e);
    }
}

/* Held states need no view of their own after the first: a worker does the same in both. */
static bool shows(enum gy_step step)
{
    return step != GY_STEP_TO_FLIPPING && step != GY_STEP_TO_ABORT_FLIPPING;
}

static void run_step(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s)
{
    switch (gy_step_kind(step)) {
    case GY_STEP_CAS:
        run_cas(m, j, step, s);
        break;
    case GY_STEP_RECORD:
        gy_records_step(m, j, step, s);
        break;
    case GY_STEP_BARRIER:
        run_barrier(m, j, step, s);
        break;
    case GY_STEP_WORK:
        run_work(m, j, step, s);
        break;
    case GY_STEP_REST:
        break;
    }
    bool conflict = false;
    for (size_t i = 0; i < s->n; i++) {
        take_event(m, j, s->units[i], s->ev[i], s->interrupted);
        conflict |= s->ev[i] == GY_EVENT_CONFLICT;
    }
    if (conflict) {
        reread(m, j);
    }
    bool wrote = gy_step_kind(step) == GY_STEP_CAS && s->n && s->ev[0] != GY_EVENT_AGAIN;
    bool barrier_next = s->n && gy_step_kind(j->unit[s->units[0]].step) == GY_STEP_BARRIER;
    if (wrote && (conflict || shows(step)) && !barrier_next &&
        !publish_states(m, j, NULL, 0, NULL)) {
        gyre_error_t e;
        (void)gy_fail_nomem(&e);
        gy_mover_complain(m, &e);
    }
}

/* ---- choosing ---- */

/* The step to do now: of units that hold writes first, then the one that comes first in the
 * protocol. GY_STEP_COUNT: none; *wake is when one becomes due (INT64_MAX: never). */
static enum gy_step choose(const struct gy_job *j, int64_t now, int64_t *wake)
{
    int best = INT32_MAX;
    *wake = INT64_MAX;
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        if (!active(j, i)) {
            continue;
        }
        if (j->retry_at[i] > now) {
            *wake = j->retry_at[i] < *wake ? j->retry_at[i] : *wake;
            continue;
        }
        int rank = (int)j->unit[i].step + (held(&j->unit[i]) ? 0 : GY_STEP_COUNT);
        best = rank < best ? rank : best;
    }
    return best == INT32_MAX ? GY_STEP_COUNT : (enum gy_step)(best % GY_STEP_COUNT);
}

static bool all_at(const struct gy_job *j, enum gy_step step)
{
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        if (j->unit[i].step != step) {
            return false;
        }
    }
    return true;
}

static void tell_all(struct gy_job *j, enum gy_event ev)
{
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        (void)gy_machine_event(&j->unit[i], ev); /* those that cannot take it stay */
    }
}

/* The next few chunks of each source (units are sorted by source). *wake: when one that rests is
 * due. */
static bool next_wave(struct gy_job *j, int64_t now, int64_t *wake)
{
    bool any = false;
    uint32_t n = j->mig->nunits;
    for (uint32_t first = 0, end; first < n; first = end) {
        uint32_t src = j->mig->units[first].src, taken = 0;
        for (end = first; end < n && j->mig->units[end].src == src; end++) {
        }
        for (uint32_t chunk = 0; chunk < j->mig->nchunks && taken < j->wave; chunk++) {
            bool here = false;
            for (uint32_t i = first + chunk; i < end; i += j->mig->nchunks) {
                if (j->unit[i].step != GY_STEP_WAIT) {
                    continue;
                }
                if (j->retry_at[i] > now) {
                    *wake = j->retry_at[i] < *wake ? j->retry_at[i] : *wake;
                } else if (gy_machine_event(&j->unit[i], GY_EVENT_GO)) {
                    here = any = true;
                }
            }
            taken += here;
        }
    }
    return any;
}

/* ---- the phases of a move ---- */

static bool change_phase(struct gy_mover *m, struct gy_job *j, enum gy_phase phase)
{
    gyre_error_t e;
    pthread_mutex_lock(&m->lock);
    enum gy_phase old = j->phase;
    bool allowed = phase == GY_PHASE_ABORT || !m->abort; /* an abort came in meanwhile */
    int rc = GYRE_OK;
    if (allowed) {
        j->phase = phase;
        rc = gy_journal_update(m, j, &e);
        j->phase = rc == GYRE_OK ? phase : old;
    }
    pthread_mutex_unlock(&m->lock);
    if (rc != GYRE_OK) {
        gy_mover_complain(m, &e);
    }
    return allowed && rc == GYRE_OK;
}

static bool is_source(const struct gy_job *j, uint32_t server)
{
    bool yes = false;
    for (size_t i = 0; i < j->npairs; i++) {
        yes |= j->pairs[i].src == server;
    }
    return yes;
}

static bool finish(struct gy_mover *m, struct gy_job *j, bool moved)
{
    gyre_error_t e = {0};
    struct gy_view *v =
        moved ? gy_view_new(j->mig->next, m->servers, m->nservers, j->mig->next_server)
              : gy_driver_view(m, NULL);
    if (!v) {
        (void)gy_fail_nomem(&e);
        gy_mover_complain(m, &e);
        return false;
    }
    pthread_mutex_lock(&m->lock);
    gy_mover_note_hold(m);
    int rc = gy_journal_finish(m, j, moved, v, &e);
    pthread_mutex_unlock(&m->lock);
    if (rc != GYRE_OK) {
        gy_view_unref(v);
        gy_mover_complain(m, &e);
        return false;
    }
    struct gy_view *was = gy_view_ref(m->view);
    uint64_t seq = publish(m, v);
    for (uint32_t i = 0; moved && i < m->nservers; i++) {
        if (is_source(j, i) && !gy_strays_same(m, j, i)) {
            gy_links_unload(&m->links, i); /* sealed once it was looked at */
        }
    }
    gy_links_seal(&m->links);
    gy_strays_forget(m);
    gy_leave(m, was, seq);
    gy_view_unref(was);
    for (uint32_t i = 0; i < m->links.n; i++) {
        gy_links_drop(&m->links, i);
    }
    pthread_mutex_lock(&m->lock);
    if (moved) {
        gyre_topology_free(m->topology);
        m->topology = j->next;
        j->next = NULL;
    }
    gy_info("move %llu: %s, version %llu serves", (unsigned long long)j->epoch,
            moved ? "done" : "taken back", (unsigned long long)gyre_topology_version(m->topology));
    m->job = NULL;
    m->paused = m->abort = false;
    m->last_error[0] = m->warning[0] = '\0';
    pthread_mutex_unlock(&m->lock);
    gy_job_free(j);
    return true;
}

/* Nothing is active: what now? Returns false when there is nothing to do before *wake. */
static bool progress(struct gy_mover *m, struct gy_job *j, int64_t *wake)
{
    gyre_error_t e;
    switch (j->phase) {
    case GY_PHASE_MOVE:
        if (paused(m)) {
            return false;
        }
        if (!all_at(j, GY_STEP_KEEP)) {
            return next_wave(j, gy_now_ms(), wake);
        }
        if (gy_records_settled(m, j, &e) != GYRE_OK) {
            gy_mover_complain(m, &e);
            return false;
        }
        gy_strays_begin(m, j);
        return change_phase(m, j, GY_PHASE_CLEAN);
    case GY_PHASE_CLEAN:
        if (all_at(j, GY_STEP_GONE)) {
            return finish(m, j, true);
        }
        tell_all(j, GY_EVENT_GO);
        return true;
    case GY_PHASE_ABORT:
        return all_at(j, GY_STEP_HOME) && finish(m, j, false);
    }
    return false;
}

static void take_wishes(struct gy_mover *m, struct gy_job *j)
{
    pthread_mutex_lock(&m->lock);
    bool abort = m->abort && j->phase == GY_PHASE_MOVE;
    if (m->rate_changed) {
        gy_bucket_set(&m->keys, m->keys_per_s, gy_now_us());
        gy_bucket_set(&m->bytes, m->bytes_per_s, gy_now_us());
        m->rate_changed = false;
    }
    pthread_mutex_unlock(&m->lock);
    if (abort && change_phase(m, j, GY_PHASE_ABORT)) {
        tell_all(j, GY_EVENT_ABORT);
        memset(j->retry_at, 0, j->mig->nunits * sizeof *j->retry_at);
    }
}

/* What was complained of went well when it was tried again: it is not told any more. A full disk is
 * seen to in full.c. */
static void calm_down(struct gy_mover *m, const struct gy_job *j)
{
    bool waits = !m->kept;
    for (uint32_t i = 0; i < j->mig->nunits; i++) {
        waits |= j->tries[i] != 0;
    }
    pthread_mutex_lock(&m->lock);
    if (!waits && m->last_error[0] && gy_now_ms() > m->complained_at + CALM_MS) {
        m->last_error[0] = '\0';
    }
    pthread_mutex_unlock(&m->lock);
}

static void turn(struct gy_mover *m, struct gy_job *j)
{
    int64_t wake, now = gy_now_ms();
    take_wishes(m, j);
    calm_down(m, j);
    if (m->view->move != j->mig && !publish_states(m, j, NULL, 0, NULL)) {
        gy_mover_rest(m, IDLE_MS);
        return;
    }
    enum gy_step step = choose(j, now, &wake);
    if (step == GY_STEP_COUNT) {
        bool waiting = wake != INT64_MAX;
        if (waiting || !progress(m, j, &wake)) {
            int64_t ms = wake == INT64_MAX ? IDLE_MS : wake - gy_now_ms();
            gy_mover_rest(m, ms > 0 ? ms : 0);
        }
        return;
    }
    uint32_t *units = calloc(j->mig->nunits, sizeof *units);
    enum gy_event *ev = calloc(j->mig->nunits, sizeof *ev);
    struct gy_set s = {.units = units, .ev = ev};
    for (uint32_t i = 0; units && ev && i < j->mig->nunits; i++) {
        if (j->unit[i].step == step && j->retry_at[i] <= now) {
            ev[s.n] = GY_EVENT_OK;
            units[s.n++] = i;
        }
    }
    run_step(m, j, step, &s);
    free(units);
    free(ev);
}

/* What goes with the library to every server of this move. */
static void stamp(struct gy_mover *m, const struct gy_job *j)
{
    m->links.pool = m->pool;
    m->links.stamp = (struct gy_stamp){j->epoch, j->from_version, j->to_version, false};
    m->links.weak_ok = j->weak_fencing;
}

/* Until a move begins, somebody asks, or (ms not negative) the time is over. */
static void idle(struct gy_mover *m, int64_t ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += ms / 1000;
    end.tv_nsec += ms % 1000 * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&m->lock);
    if (!m->job && !m->stop && ms >= 0) {
        (void)pthread_cond_timedwait(&m->wake, &m->lock, &end);
    } else if (!m->job && !m->stop) {
        pthread_cond_wait(&m->wake, &m->lock);
    }
    pthread_mutex_unlock(&m->lock);
}

/* Of two waits; negative: none. */
static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

void gy_driver_run(struct gy_mover *m)
{
    pthread_mutex_lock(&m->lock);
    struct gy_job *found = m->job;
    pthread_mutex_unlock(&m->lock);
    if (found) {
        stamp(m, found);
        gy_records_take_up(m, found);
    }
    for (;;) {
        pthread_mutex_lock(&m->lock);
        struct gy_job *j = m->job;
        bool stop = m->stop;
        pthread_mutex_unlock(&m->lock);
        if (stop) {
            return;
        }
        int64_t full = gy_full_turn(m);
        if (j) {
            stamp(m, j);
            turn(m, j);
        } else {
            idle(m, sooner(full, sooner(gy_strays_turn(m), gy_leave_turn(m))));
        }
    }
}
