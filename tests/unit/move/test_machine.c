/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_machine.c - the machine: every (step, event) pair against rules that are stated here once
 * more in another way, and walks through whole moves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/machine.h"

#include <stdlib.h>

/* Which states may follow which by a CAS (migration.md 3.2 and 3.5, and the two retreats). */
static const enum gy_unit_state edges[][2] = {
    {GY_UNIT_STABLE, GY_UNIT_PREPARE},
    {GY_UNIT_PREPARE, GY_UNIT_STABLE},
    {GY_UNIT_PREPARE, GY_UNIT_FLIPPING},
    {GY_UNIT_FLIPPING, GY_UNIT_MIGRATING},
    {GY_UNIT_MIGRATING, GY_UNIT_COMPLETING},
    {GY_UNIT_COMPLETING, GY_UNIT_MIGRATING},
    {GY_UNIT_COMPLETING, GY_UNIT_COMPLETE},
    {GY_UNIT_COMPLETE, GY_UNIT_CLEANING},
    {GY_UNIT_CLEANING, GY_UNIT_MOVED},
    {GY_UNIT_STABLE, GY_UNIT_RETURNED},
    {GY_UNIT_MIGRATING, GY_UNIT_ABORT_PREPARE},
    {GY_UNIT_COMPLETE, GY_UNIT_ABORT_PREPARE},
    {GY_UNIT_ABORT_PREPARE, GY_UNIT_MIGRATING},
    {GY_UNIT_ABORT_PREPARE, GY_UNIT_COMPLETE},
    {GY_UNIT_ABORT_PREPARE, GY_UNIT_ABORT_FLIPPING},
    {GY_UNIT_ABORT_FLIPPING, GY_UNIT_ABORTING},
    {GY_UNIT_ABORTING, GY_UNIT_PURGING},
    {GY_UNIT_PURGING, GY_UNIT_RETURNED},
};

static bool edge(enum gy_unit_state a, enum gy_unit_state b)
{
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        if (edges[i][0] == a && edges[i][1] == b) {
            return true;
        }
    }
    return false;
}

static struct gy_machine at(enum gy_step s, bool abort, bool from_complete)
{
    return (struct gy_machine){
        .step = s, .attempt = 5, .abort = abort, .from_complete = from_complete};
}

/* May this event mean anything at a step of this kind? */
static bool sensible(enum gy_step_kind kind, enum gy_event ev)
{
    switch (ev) {
    case GY_EVENT_ABORT:
        return true;
    case GY_EVENT_GO:
        return kind == GY_STEP_REST;
    case GY_EVENT_OK:
    case GY_EVENT_AGAIN:
        return kind != GY_STEP_REST;
    case GY_EVENT_TIMEOUT:
        return kind == GY_STEP_BARRIER;
    case GY_EVENT_DIRTY:
        return kind == GY_STEP_WORK;
    case GY_EVENT_LOST:
        return kind == GY_STEP_WORK || kind == GY_STEP_RECORD;
    case GY_EVENT_CONFLICT:
        return kind == GY_STEP_CAS;
    case GY_EVENT_COUNT:
        break;
    }
    return false;
}

static void one_pair(enum gy_step s, enum gy_event ev, bool abort, bool from_complete)
{
    struct gy_machine m = at(s, abort, from_complete), before = m;
    enum gy_unit_state target = gy_machine_target(&m);
    enum gy_unit_state state = gy_machine_state(&m);
    bool taken = gy_machine_event(&m, ev);
    enum gy_step_kind kind = gy_step_kind(s);
    if (!taken) {
        assert_memory_equal(&m, &before, sizeof m);
        return;
    }
    assert_true(sensible(kind, ev));
    assert_true((unsigned)m.step < GY_STEP_COUNT);
    if (kind == GY_STEP_CAS && ev == GY_EVENT_OK) {
        /* Only a CAS changes the state, and only along an edge of the protocol. */
        assert_true(edge(state, target));
        assert_int_equal(gy_machine_state(&m), target);
    } else {
        assert_int_equal(gy_machine_state(&m), state);
        assert_int_equal(m.attempt, before.attempt);
        assert_int_equal(m.from_complete, before.from_complete);
    }
    if (ev == GY_EVENT_AGAIN && !abort) {
        assert_int_equal(m.step, s);
    }
}

static void test_all_pairs(void **state)
{
    (void)state;
    for (int s = 0; s < GY_STEP_COUNT; s++) {
        for (int ev = 0; ev < GY_EVENT_COUNT; ev++) {
            for (int flags = 0; flags < 4; flags++) {
                one_pair((enum gy_step)s, (enum gy_event)ev, flags & 1, flags & 2);
            }
        }
    }
}

/* Every step but the two ends goes on after OK (a rest: after GO); every edge is used by one. */
static void test_no_dead_end(void **state)
{
    (void)state;
    bool used[sizeof edges / sizeof *edges] = {false};
    for (int s = 0; s < GY_STEP_COUNT; s++) {
        for (int complete = 0; complete < 2; complete++) {
            struct gy_machine m = at((enum gy_step)s, false, complete);
            enum gy_unit_state from = gy_machine_state(&m), to = gy_machine_target(&m);
            bool rest = gy_step_kind((enum gy_step)s) == GY_STEP_REST;
            bool taken = gy_machine_event(&m, rest ? GY_EVENT_GO : GY_EVENT_OK);
            bool end = s == GY_STEP_GONE || s == GY_STEP_HOME;
            assert_int_equal(taken, !end);
            for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
                used[i] |= gy_step_kind((enum gy_step)s) == GY_STEP_CAS && edges[i][0] == from &&
                           edges[i][1] == to;
            }
        }
    }
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        assert_true(used[i]);
    }
}

/* Resuming stands in the state that was read, and is never a step that only an answer may begin. */
static void test_resume(void **state)
{
    (void)state;
    for (int s = 0; s < GY_UNIT_STATE_COUNT; s++) {
        struct gy_machine m;
        gy_machine_resume(&m, (enum gy_unit_state)s, 9, true, false);
        assert_int_equal(gy_machine_state(&m), s);
        assert_int_equal(m.attempt, 9);
        assert_true(m.from_complete);
        gy_machine_resume(&m, (enum gy_unit_state)s, 9, true, true);
        assert_int_equal(gy_machine_state(&m), s);
    }
    struct gy_machine m;
    gy_machine_resume(&m, GY_UNIT_PREPARE, 1, false, false);
    assert_int_equal(m.step, GY_STEP_RELEASE); /* a dead process's hold is closed */
    gy_machine_resume(&m, GY_UNIT_FLIPPING, 1, false, true);
    assert_int_equal(m.step, GY_STEP_FLIP); /* forward, though an abort is wanted */
    gy_machine_resume(&m, GY_UNIT_COMPLETING, 1, false, true);
    assert_int_equal(m.step, GY_STEP_FINISH);
    gy_machine_resume(&m, GY_UNIT_CLEANING, 1, false, true);
    assert_int_equal(m.step, GY_STEP_CLEAN); /* no way back */
}

/* The events of a walk, and where it must end. */
static void walk(struct gy_machine *m, const enum gy_event *ev, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!gy_machine_event(m, ev[i])) {
            fail_msg("%s cannot take %s", gy_step_name(m->step), gy_event_name(ev[i]));
        }
    }
}

static void until(struct gy_machine *m, enum gy_step end)
{
    for (int i = 0; m->step != end; i++) {
        bool rest = gy_step_kind(m->step) == GY_STEP_REST;
        assert_true(i < 100);
        assert_true(gy_machine_event(m, rest ? GY_EVENT_GO : GY_EVENT_OK));
    }
}

static void test_walks(void **state)
{
    (void)state;
    struct gy_machine m;
    gy_machine_resume(&m, GY_UNIT_STABLE, 0, false, false);
    until(&m, GY_STEP_HOLD);
    assert_int_equal(m.attempt, 1);
    static const enum gy_event give_up[] = {GY_EVENT_TIMEOUT, GY_EVENT_OK};
    walk(&m, give_up, 2);
    assert_int_equal(m.step, GY_STEP_WAIT);
    until(&m, GY_STEP_VERIFY);
    assert_int_equal(m.attempt, 2); /* a new attempt has a new number */
    static const enum gy_event again[] = {GY_EVENT_DIRTY, GY_EVENT_LOST};
    walk(&m, again, 2);
    assert_int_equal(m.step, GY_STEP_REARM);
    until(&m, GY_STEP_FINISH);
    static const enum gy_event lost[] = {GY_EVENT_LOST, GY_EVENT_OK};
    walk(&m, lost, 2);
    assert_int_equal(gy_machine_state(&m), GY_UNIT_MIGRATING);
    until(&m, GY_STEP_GONE);
    assert_int_equal(gy_machine_state(&m), GY_UNIT_MOVED);
}

/* From wherever an abort is asked for, it ends at home, and never before the protocol permits. */
static void test_abort_from_anywhere(void **state)
{
    (void)state;
    for (int s = 0; s < GY_STEP_COUNT; s++) {
        struct gy_machine m = at((enum gy_step)s, false, false);
        assert_true(gy_machine_event(&m, GY_EVENT_ABORT));
        enum gy_unit_state in = gy_machine_state(&m);
        bool too_late = in == GY_UNIT_CLEANING || in == GY_UNIT_MOVED || s == GY_STEP_TO_CLEANING;
        until(&m, too_late ? GY_STEP_GONE : GY_STEP_HOME);
    }
}

static void test_abort_of_complete(void **state)
{
    (void)state;
    struct gy_machine m;
    gy_machine_resume(&m, GY_UNIT_COMPLETE, 1, false, true);
    assert_int_equal(m.step, GY_STEP_SETTLE); /* not acked yet: first that */
    until(&m, GY_STEP_ABORT_HOLD);
    assert_true(m.from_complete);
    assert_int_equal(m.attempt, 2);
    assert_true(gy_machine_event(&m, GY_EVENT_TIMEOUT));
    assert_int_equal(gy_machine_target(&m), GY_UNIT_COMPLETE);
    assert_true(gy_machine_event(&m, GY_EVENT_OK));
    assert_int_equal(gy_machine_state(&m), GY_UNIT_COMPLETE);
    assert_false(m.from_complete);
    until(&m, GY_STEP_HOME);
}

/* A driver with a store, run by a seed: steps fail, time out, find dirt and lost records, the
 * process dies and reads the store again, an abort comes at any time. Whatever happens, a step is
 * only ever taken in its own durable state, and once the faults end the unit arrives. */
struct durable {
    enum gy_unit_state state;
    uint32_t attempt;
    bool from_complete, abort, cleaning;
};

static void crash(struct gy_machine *m, const struct durable *d)
{
    gy_machine_resume(m, d->state, d->attempt, d->from_complete, d->abort);
}

static void sim_step(struct gy_machine *m, struct durable *d, unsigned *seed)
{
    static const enum gy_event faults[] = {GY_EVENT_AGAIN, GY_EVENT_TIMEOUT, GY_EVENT_DIRTY,
                                           GY_EVENT_LOST};
    struct gy_machine before = *m;
    bool rest = gy_step_kind(m->step) == GY_STEP_REST;
    unsigned dice = (unsigned)rand_r(seed) % 20;
    assert_int_equal(gy_machine_state(m), d->state);
    if (dice == 0) {
        crash(m, d);
    } else if (dice == 1 && !d->cleaning) { /* the phase is durable before the units hear of it */
        d->abort = true;
        assert_true(gy_machine_event(m, GY_EVENT_ABORT));
    } else if (dice < 6) {
        (void)gy_machine_event(m, faults[(unsigned)rand_r(seed) % 4]);
    } else if (gy_machine_event(m, rest ? GY_EVENT_GO : GY_EVENT_OK)) {
        d->cleaning |= before.step == GY_STEP_KEEP && rest;
        if (gy_step_kind(before.step) == GY_STEP_CAS) {
            assert_true(edge(d->state, gy_machine_target(&before)));
            d->state = gy_machine_target(&before);
            d->attempt = gy_machine_target_attempt(&before);
            d->from_complete = gy_machine_target_from_complete(&before);
            if (rand_r(seed) % 4 == 0) { /* written, and dead before it was known */
                crash(m, d);
            }
        }
    }
    assert_int_equal(gy_machine_state(m), d->state);
    assert_int_equal(m->attempt, d->attempt);
    assert_int_equal(m->from_complete, d->from_complete);
}

static void test_simulation(void **state)
{
    (void)state;
    unsigned ends[2] = {0};
    for (unsigned seed = 1; seed <= 20000; seed++) {
        struct gy_machine m;
        struct durable d = {.state = GY_UNIT_STABLE};
        unsigned dice = seed;
        crash(&m, &d);
        for (int i = 0; i < 120; i++) {
            sim_step(&m, &d, &dice);
        }
        bool back = d.abort;
        until(&m, back ? GY_STEP_HOME : GY_STEP_GONE);
        ends[back]++;
    }
    assert_true(ends[0] > 100 && ends[1] > 100);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(gy_step_name(GY_STEP_COPY), "COPY");
    assert_string_equal(gy_step_name(GY_STEP_COUNT), "?");
    assert_string_equal(gy_event_name(GY_EVENT_DIRTY), "DIRTY");
    assert_string_equal(gy_event_name(GY_EVENT_COUNT), "?");
    assert_true(gy_unit_held(GY_UNIT_PREPARE) && gy_unit_held(GY_UNIT_ABORT_FLIPPING));
    assert_false(gy_unit_held(GY_UNIT_MIGRATING) || gy_unit_held(GY_UNIT_STABLE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_no_dead_end),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_abort_from_anywhere),
        cmocka_unit_test(test_abort_of_complete),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
