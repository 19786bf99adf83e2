/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_restart.c - a storage server is killed and started again in the middle of a move, with and
 * without its data. The mover arms it again and goes on; what the source still holds is never given
 * up for a destination that lost it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "ride.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEYS 600

/* The mover's thread waits at the first view that has a unit in `state`, until the test (whose
 * children the servers are) has done its deed. */
struct stop {
    enum gy_unit_state state;
    unsigned count; /* of units in it */
    sem_t reached, go;
    bool done;
};

static void at_view(struct ride *r, const struct gy_view *v)
{
    struct stop *p = r->ctx;
    if (!p->done && ride_count(v, p->state) >= p->count) {
        p->done = true;
        sem_post(&p->reached);
        sem_wait(&p->go);
    }
}

struct story {
    struct fleet fleet;
    struct ride ride;
    struct stop stop;
    struct model model;
    gyre_topology_t *a, *b;
};

static void tell(struct story *t, bool persist, enum gy_unit_state state, unsigned count)
{
    gyre_error_t e;
    struct gy_move_options o = {.chunks = 4, .wave = 4};
    memset(t, 0, sizeof *t);
    gy_log_max = GY_LOG_ERROR;
    fleet_up(&t->fleet, 3, persist);
    t->a = fleet_topology(&t->fleet, 0, 2, 1);
    t->b = fleet_topology(&t->fleet, 0, 3, 0);
    model_fill(&t->model, &t->fleet, t->a, KEYS);
    t->stop.state = state;
    t->stop.count = count;
    sem_init(&t->stop.reached, 0, 0);
    sem_init(&t->stop.go, 0, 0);
    t->ride.at_view = at_view;
    t->ride.ctx = &t->stop;
    ride_open(&t->ride, t->fleet.dir, t->a);
    ride_start(&t->ride);
    if (gy_mover_begin(t->ride.mover, gyre_topology_clone(t->b), &o, &e) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
}

static void restart(struct story *t, unsigned i)
{
    fleet_kill(&t->fleet, i);
    fleet_start(&t->fleet, i);
}

static void end(struct story *t, const gyre_topology_t *expected)
{
    ride_wait(&t->ride, "idle");
    model_verify(&t->model, &t->fleet, expected);
    ride_close(&t->ride);
    model_fini(&t->model);
    gyre_topology_free(t->a);
    gyre_topology_free(t->b);
    sem_destroy(&t->stop.reached);
    sem_destroy(&t->stop.go);
    fleet_down(&t->fleet);
}

/* Server `which` dies in `state`, empty or with its data; the move still arrives. */
static void forward(bool persist, enum gy_unit_state state, unsigned which)
{
    struct story t;
    tell(&t, persist, state, 1);
    sem_wait(&t.stop.reached);
    restart(&t, which);
    sem_post(&t.stop.go);
    end(&t, t.b);
}

static void test_destination_empty(void **state)
{
    (void)state;
    forward(false, GY_UNIT_MIGRATING, 2);
}

static void test_destination_with_data(void **state)
{
    (void)state;
    forward(true, GY_UNIT_MIGRATING, 2);
}

static void test_destination_completing(void **state)
{
    (void)state;
    forward(false, GY_UNIT_COMPLETING, 2); /* its record is gone before C: copied again */
}

static void test_source_with_data(void **state)
{
    (void)state;
    forward(true, GY_UNIT_MIGRATING, 0);
}

static void test_source_cleaning(void **state)
{
    (void)state;
    forward(true, GY_UNIT_CLEANING, 0);
}

static void backward(enum gy_unit_state state, unsigned which)
{
    struct story t;
    tell(&t, true, GY_UNIT_COMPLETE, 1);
    sem_wait(&t.stop.reached);
    assert_int_equal(gy_mover_abort(t.ride.mover, NULL), GYRE_OK);
    t.stop.state = state;
    t.stop.done = false;
    sem_post(&t.stop.go);
    sem_wait(&t.stop.reached);
    restart(&t, which);
    sem_post(&t.stop.go);
    end(&t, t.a);
}

static void test_back_source(void **state)
{
    (void)state;
    backward(GY_UNIT_ABORTING, 0);
}

static void test_back_destination(void **state)
{
    (void)state;
    backward(GY_UNIT_ABORTING, 2);
}

static void test_purging_destination(void **state)
{
    (void)state;
    backward(GY_UNIT_PURGING, 2);
}

/* All units are complete, and the destination comes back empty: the sources are not cleaned, the
 * reason is told, and an abort gives every key back. */
static void test_lost_after_complete(void **state)
{
    (void)state;
    struct story t;
    tell(&t, false, GY_UNIT_COMPLETE, 8);
    sem_wait(&t.stop.reached);
    restart(&t, 2);
    sem_post(&t.stop.go);
    for (int i = 0;; i++) {
        char *text = ride_status(&t.ride);
        bool told = strstr(text, "has lost what was moved to it") != NULL;
        free(text);
        if (told) {
            break;
        }
        assert_true(i < 10000);
        usleep(1000);
    }
    assert_int_equal(gy_mover_abort(t.ride.mover, NULL), GYRE_OK);
    end(&t, t.a);
}

/* A destination that is away for a while only delays. */
static void test_away(void **state)
{
    (void)state;
    struct story t;
    tell(&t, true, GY_UNIT_MIGRATING, 1);
    sem_wait(&t.stop.reached);
    fleet_kill(&t.fleet, 2);
    sem_post(&t.stop.go);
    sleep(1);
    char *text = ride_status(&t.ride);
    assert_non_null(strstr(text, "\"state\":\"moving\""));
    assert_null(strstr(text, "\"last_error\":null"));
    free(text);
    fleet_start(&t.fleet, 2);
    end(&t, t.b);
}

/* While nothing is copied the workers still install on access, so a destination that was restarted
 * must be armed again. */
static void test_paused(void **state)
{
    (void)state;
    struct story t;
    tell(&t, true, GY_UNIT_MIGRATING, 1);
    sem_wait(&t.stop.reached);
    uint32_t u = 0;
    while (t.ride.view->state[u] != GY_UNIT_MIGRATING) {
        u++;
    }
    char *rec = strdup(t.ride.view->move->names[u].rec);
    assert_int_equal(gy_mover_pause(t.ride.mover, NULL), GYRE_OK);
    restart(&t, 2);
    sem_post(&t.stop.go);
    struct gy_sync *d = t.fleet.node[2].c;
    bool armed = false;
    for (int i = 0; i < 10000 && !armed; i++) {
        struct gy_reply *r;
        usleep(1000);
        assert_int_equal(gy_sync_call(d, &r, NULL, "HGET", rec, "run_id", NULL), GYRE_OK);
        armed = gy_slice_eq(r->text, gy_str(gy_sync_run_id(d)));
        gy_reply_free(r);
    }
    assert_true(armed);
    free(rec);
    assert_int_equal(gy_mover_resume(t.ride.mover, NULL), GYRE_OK);
    end(&t, t.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_destination_empty),
        cmocka_unit_test(test_destination_with_data),
        cmocka_unit_test(test_destination_completing),
        cmocka_unit_test(test_source_with_data),
        cmocka_unit_test(test_source_cleaning),
        cmocka_unit_test(test_back_source),
        cmocka_unit_test(test_back_destination),
        cmocka_unit_test(test_purging_destination),
        cmocka_unit_test(test_lost_after_complete),
        cmocka_unit_test(test_away),
        cmocka_unit_test(test_paused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
