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

static bool says(struct story *t, const char *what)
{
    char *text = ride_status(&t->ride);
    bool yes = strstr(text, what) != NULL;
    free(text);
    return yes;
}

static void wait_for(struct story *t, const char *what)
{
    for (int i = 0; !says(t, what); i++) {
        assert_true(i < 10000);
        usleep(1000);
    }
}

static void restart(struct story *t, unsigned i)
{
    fleet_kill(&t->fleet, i);
    fleet_start(&t->fleet, i);
}

static void leave(struct story *t)
{
    ride_close(&t->ride);
    model_fini(&t->model);
    gyre_topology_free(t->a);
    gyre_topology_free(t->b);
    sem_destroy(&t->stop.reached);
    sem_destroy(&t->stop.go);
    fleet_down(&t->fleet);
}

/* Every key of the joined node is counted once, however often it was copied, and had to be. */
static void counted(struct story *t)
{
    char figures[80];
    struct gy_buf history = {0};
    int64_t keys = fleet_int(t->fleet.node[2].c, "DBSIZE", NULL, NULL, NULL);
    assert_int_equal(gy_mover_history(t->ride.mover, &history, NULL), GYRE_OK);
    const char *text = gy_buf_cstr(&history);
    snprintf(figures, sizeof figures, "\"keys\":%lld,", (long long)keys);
    bool moved = strstr(text, figures) != NULL;
    snprintf(figures, sizeof figures, "\"keys_minimum\":%lld,", (long long)keys);
    if (!moved || !strstr(text, figures)) {
        fail_msg("not %lld keys: %s", (long long)keys, text);
    }
    gy_buf_fini(&history);
}

static void end(struct story *t, const gyre_topology_t *expected)
{
    ride_wait(&t->ride, "idle");
    model_verify(&t->model, &t->fleet, expected);
    if (expected == t->b) {
        counted(t);
    }
    leave(t);
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

/* FUNCTION FLUSH on every server: the mover loads its library again and arrives. */
static void flush_functions(struct story *t)
{
    for (unsigned i = 0; i < t->fleet.n; i++) {
        fleet_do(t->fleet.node[i].c, "FUNCTION", "FLUSH", NULL);
    }
}

static void flushed(enum gy_unit_state state)
{
    struct story t;
    tell(&t, false, state, 1);
    sem_wait(&t.stop.reached);
    flush_functions(&t);
    sem_post(&t.stop.go);
    end(&t, t.b);
}

static void test_flushed(void **state)
{
    (void)state;
    flushed(GY_UNIT_PREPARE);
    flushed(GY_UNIT_MIGRATING);
    flushed(GY_UNIT_CLEANING);
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

#define NOBODY FLEET_MAX /* nobody dies, but everybody's functions are flushed */

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
    if (which == NOBODY) {
        flush_functions(&t);
    } else {
        restart(&t, which);
    }
    sem_post(&t.stop.go);
    end(&t, t.a);
}

static void test_back_flushed(void **state)
{
    (void)state;
    backward(GY_UNIT_ABORTING, NOBODY);
    backward(GY_UNIT_PURGING, NOBODY);
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

/* A source that comes back is another process: the operator is told which, and what that means. */
static void test_source_is_told(void **state)
{
    (void)state;
    struct story t;
    tell(&t, true, GY_UNIT_MIGRATING, 1);
    sem_wait(&t.stop.reached);
    assert_true(says(&t, "\"warning\":null"));
    restart(&t, 0);
    t.stop.state = GY_UNIT_COMPLETE;
    t.stop.count = 8; /* all: those of cache-0 too */
    t.stop.done = false;
    sem_post(&t.stop.go);
    sem_wait(&t.stop.reached);
    assert_true(says(&t, "\"warning\":\"cache-0 (unix:"));
    assert_true(says(&t, "a source of the move, was restarted"));
    sem_post(&t.stop.go);
    end(&t, t.b);
}

/* The log goes to a file in the fleet's directory until read_log. */
static int take_log(const struct fleet *f, char path[128])
{
    snprintf(path, 128, "%s/log", f->dir);
    int kept = dup(STDERR_FILENO);
    assert_non_null(freopen(path, "w", stderr));
    return kept;
}

static void read_log(int kept, const char *path, char *out, size_t size)
{
    dup2(kept, STDERR_FILENO);
    close(kept);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    out[fread(out, 1, size - 1, f)] = '\0';
    fclose(f);
}

/* The process is started again in the middle of a move, while a source is: it says what goes on,
 * and what was moved before still counts. */
static void test_process(void **state)
{
    (void)state;
    struct story t;
    char path[128], log[4096];
    tell(&t, true, GY_UNIT_MIGRATING, 1);
    sem_wait(&t.stop.reached);
    assert_int_equal(gy_mover_rate(t.ride.mover, 50, 0, NULL), GYRE_OK);
    sem_post(&t.stop.go);
    double moved = 0;
    while (moved < 5) {
        usleep(1000);
        moved = ride_number(&t.ride, "keys.moved");
    }
    assert_int_equal(gy_mover_pause(t.ride.mover, NULL), GYRE_OK);
    gy_mover_stop(t.ride.mover);
    moved = ride_number(&t.ride, "keys.moved");
    ride_close(&t.ride);
    restart(&t, 0);
    int kept = take_log(&t.fleet, path);
    gy_log_max = GY_LOG_INFO;
    ride_open(&t.ride, t.fleet.dir, t.a);
    ride_start(&t.ride);
    gy_log_max = GY_LOG_ERROR;
    read_log(kept, path, log, sizeof log);
    assert_non_null(strstr(log, "move 1: goes on, version 1 to 2, 0 of 8 units complete"));
    assert_non_null(strstr(log, "paused: waits for `gyre move resume`"));
    wait_for(&t, "cache-0 (unix:");
    assert_true(ride_number(&t.ride, "keys.moved") == moved);
    assert_int_equal(gy_mover_rate(t.ride.mover, 0, 0, NULL), GYRE_OK);
    assert_int_equal(gy_mover_resume(t.ride.mover, NULL), GYRE_OK);
    end(&t, t.b);
}

/* The state directory is lost in the middle of a move. The next one is refused as long as the
 * destination tells, and stopped where only a source does; that one can be taken back. */
static void test_lost_state(void **state)
{
    (void)state;
    struct story t;
    char command[128];
    gyre_error_t e;
    struct gy_move_options purge = {.purge_destination = true, .chunks = 4};
    tell(&t, false, GY_UNIT_MIGRATING, 1);
    sem_wait(&t.stop.reached);
    assert_int_equal(gy_mover_pause(t.ride.mover, NULL), GYRE_OK);
    sem_post(&t.stop.go);
    ride_close(&t.ride);
    snprintf(command, sizeof command, "rm -rf '%s/state'", t.fleet.dir);
    assert_int_equal(system(command), 0);
    flush_functions(&t); /* with the stamps, which would refuse the start already */
    ride_open(&t.ride, t.fleet.dir, t.a);
    ride_start(&t.ride);
    int rc = gy_mover_begin(t.ride.mover, gyre_topology_clone(t.b), &purge, &e);
    assert_int_equal(rc, GYRE_REFUSED);
    assert_non_null(strstr(e.message, "cache-2: it holds records of move 1, and the last one"));
    fleet_do(t.fleet.node[2].c, "FLUSHALL", NULL);
    rc = gy_mover_begin(t.ride.mover, gyre_topology_clone(t.b), &purge, &e);
    assert_int_equal(rc, GYRE_OK);
    wait_for(&t, "this state directory is not the one that began that move");
    assert_int_equal(gy_mover_abort(t.ride.mover, NULL), GYRE_OK);
    ride_wait(&t.ride, "idle");
    leave(&t);
}

/* A state that holds what nobody may begin any more: two nodes with one address. */
static void test_shared_address(void **state)
{
    (void)state;
    struct fleet f;
    struct ride r = {0};
    char path[128], log[4096];
    gy_log_max = GY_LOG_ERROR;
    fleet_up(&f, 2, false);
    gyre_topology_t *a = fleet_topology(&f, 0, 2, 1), *b = fleet_topology(&f, 0, 2, 2);
    assert_int_equal(gyre_topology_set_address(a, "cache-1", f.node[0].address, NULL), GYRE_OK);
    ride_open(&r, f.dir, a);
    ride_close(&r);
    int kept = take_log(&f, path);
    ride_open(&r, f.dir, a);
    read_log(kept, path, log, sizeof log);
    assert_non_null(
        strstr(log, "nodes cache-0 and cache-1 of the topology in the state directory"));
    ride_start(&r);
    gyre_error_t e;
    struct gy_move_options purge = {.purge_destination = true};
    assert_int_equal(gy_mover_begin(r.mover, gyre_topology_clone(b), &purge, &e), GYRE_OK);
    ride_wait(&r, "idle"); /* the way out: give one of them a server of its own */
    ride_close(&r);
    gyre_topology_free(a);
    gyre_topology_free(b);
    fleet_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flushed),
        cmocka_unit_test(test_back_flushed),
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
        cmocka_unit_test(test_source_is_told),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_lost_state),
        cmocka_unit_test(test_shared_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
