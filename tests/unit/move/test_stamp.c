/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stamp.c - the stamp of a move in the function library: its form, and that a state directory
 * which was lost, or is an older copy, does not serve over servers that know better.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "move/lua.h"
#include "move/stamp.h"
#include "move/unit.h"
#include "ride.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define KEYS 400

/* ---- its form ---- */

static struct gy_stamp found(const char *code, const char *pool)
{
    struct gy_stamp s;
    assert_true(gy_stamp_find(gy_str(code), pool, &s));
    return s;
}

static void test_form(void **state)
{
    (void)state;
    struct gy_buf a = {0}, b = {0};
    struct gy_stamp one = {3, 2, 4, false}, other = {9, 8, 9, true};
    gy_stamp_library(&a, "main", &one, gy_str(gy_lua_source));
    assert_non_null(strstr(gy_buf_cstr(&a), "#!lua name=gyre\n-- pool main epoch 3 from 2 to 4\n"));
    assert_int_equal(found(gy_buf_cstr(&a), "main").epoch, 3);
    assert_int_equal(found(gy_buf_cstr(&a), "mai").epoch, 0);
    /* Another pool's stamp beside it, and a name that would end the line. */
    gy_stamp_library(&b, "a b\nredis.call('x')", &other, gy_str(gy_buf_cstr(&a)));
    assert_non_null(strstr(gy_buf_cstr(&b), "-- pool a%20b%0Aredis.call%28%27x%27%29 epoch 9"));
    assert_int_equal(found(gy_buf_cstr(&b), "main").to, 4);
    assert_true(found(gy_buf_cstr(&b), "a b\nredis.call('x')").ended);
    /* Again in the first pool: replaced, not added; nothing else of the code changes. */
    one.epoch = 4;
    gy_buf_reset(&a);
    gy_stamp_library(&a, "main", &one, gy_str(gy_buf_cstr(&b)));
    assert_int_equal(found(gy_buf_cstr(&a), "main").epoch, 4);
    assert_null(strstr(gy_buf_cstr(&a), "epoch 3"));
    assert_int_equal(found(gy_buf_cstr(&a), "a b\nredis.call('x')").epoch, 9);
    assert_non_null(strstr(gy_buf_cstr(&a), strchr(gy_lua_source, '\n') + 1));
    gy_buf_fini(&a);
    gy_buf_fini(&b);
}

static void test_damaged(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "#!lua",
        "#!lua\n",
        "#!lua\n-- pool main epoch  from 2 to 3\n",
        "#!lua\n-- pool main epoch 3 from 2 to 3 \n",
        "#!lua\n-- pool main epoch -3 from 2 to 3\n",
        "#!lua\n-- pool main epoch 99999999999999999999999 from 2 to 3\n",
        "#!lua\n-- pool main epoch 3 from 2\n",
        "#!lua\n-- pool main x epoch 3 from 2 to 3\n",
        "#!lua\nlocal x\n-- pool main epoch 3 from 2 to 3\n",
        "-- pool main epoch 3 from 2 to 3\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(found(bad[i], "main").epoch, 0);
    }
}

static void test_records_of(void **state)
{
    (void)state;
    static const char own[] = "gyre:{main.0123456789abcdef.7}:rec";
    assert_true(gy_unit_is_record_of("gyre:", "main", gy_str(own)));
    assert_false(gy_unit_is_record_of("gyre:", "mai", gy_str(own)));
    assert_false(gy_unit_is_record_of("gyre:", "main.0123456789abcdef.7", gy_str(own)));
    assert_false(gy_unit_is_record_of("gyre:", "m", gy_str("gyre:{m.x.0123456789abcdef.7}:m")));
    assert_true(gy_unit_is_record_of("gyre:", "m.x", gy_str("gyre:{m.x.0123456789abcdef.7}:m")));
}

/* ---- on servers ---- */

struct story {
    struct fleet fleet;
    struct ride ride;
    struct model model;
    gyre_topology_t *a, *b;
};

static void shell(const struct story *t, const char *form)
{
    char command[256];
    snprintf(command, sizeof command, "cd '%s' && %s", t->fleet.dir, form);
    assert_int_equal(system(command), 0);
}

/* Keeps a copy of the state directory as it is with the first unit that migrates. */
static void keep_copy(struct ride *r, const struct gy_view *v)
{
    struct story *t = r->ctx;
    if (ride_count(v, GY_UNIT_MIGRATING)) {
        shell(t, "test -d midway || cp -r state midway");
    }
}

/* Servers 0 and 1 with keys, moved to 0, 1 and 2; copies of the state from before and midway. */
static void tell(struct story *t)
{
    gyre_error_t e;
    memset(t, 0, sizeof *t);
    gy_log_max = GY_LOG_ERROR;
    unsetenv("GYRE_FORGET_MOVES");
    fleet_up(&t->fleet, 3, false);
    t->a = fleet_topology(&t->fleet, 0, 2, 1);
    t->b = fleet_topology(&t->fleet, 0, 3, 0);
    model_fill(&t->model, &t->fleet, t->a, KEYS);
    t->ride.at_view = keep_copy;
    t->ride.ctx = t;
    ride_open(&t->ride, t->fleet.dir, t->a);
    ride_close(&t->ride);
    shell(t, "cp -r state before");
    ride_open(&t->ride, t->fleet.dir, t->a);
    ride_start(&t->ride);
    if (gy_mover_begin(t->ride.mover, gyre_topology_clone(t->b), NULL, &e) != GYRE_OK) {
        fail_msg("%s", e.message);
    }
    ride_wait(&t->ride, "idle");
    ride_close(&t->ride);
    t->ride.at_view = NULL;
}

static void end(struct story *t)
{
    model_fini(&t->model);
    gyre_topology_free(t->a);
    gyre_topology_free(t->b);
    fleet_down(&t->fleet);
    unsetenv("GYRE_FORGET_MOVES");
}

/* A start over the state directory is refused for this reason. */
static void refused(struct story *t, gyre_topology_t *file, const char *why)
{
    char path[128];
    gyre_error_t e;
    struct gy_store *store;
    struct gy_mover *m;
    struct gy_view *v;
    snprintf(path, sizeof path, "%s/state", t->fleet.dir);
    t->ride.conf.topology = file;
    assert_int_equal(gy_store_open(path, GY_STORE_EXCLUSIVE, &store, &e), GYRE_OK);
    assert_int_equal(gy_mover_create(&t->ride.conf, store, &m, &v, NULL, &e), GYRE_REFUSED);
    assert_null(m);
    if (!strstr(e.message, why)) {
        fail_msg("'%s' does not say '%s'", e.message, why);
    }
    gy_store_close(store);
}

static void test_lost(void **state)
{
    (void)state;
    struct story t;
    tell(&t);
    shell(&t, "rm -rf state");
    refused(&t, t.a,
            "cache-0 took part in move 1 of this fleet, but the state directory knows "
            "only 0: it was lost");
    refused(&t, t.a, "every key is where version 1 places it"); /* nor the second time */
    /* With the topology of after the move it is right to go on, and what was refused has left no
     * other one; the next move is number 2. */
    setenv("GYRE_FORGET_MOVES", "1", 1);
    ride_open(&t.ride, t.fleet.dir, t.b);
    gyre_topology_t *now = ride_topology(&t.ride);
    assert_int_equal(gyre_topology_count(now), 3);
    gyre_topology_free(now);
    ride_close(&t.ride);
    unsetenv("GYRE_FORGET_MOVES");
    ride_open(&t.ride, t.fleet.dir, t.b); /* once is enough */
    ride_start(&t.ride);
    assert_int_equal(gy_mover_begin(t.ride.mover, gyre_topology_clone(t.a), NULL, NULL), GYRE_OK);
    ride_wait(&t.ride, "idle");
    struct gy_buf history = {0};
    assert_int_equal(gy_mover_history(t.ride.mover, &history, NULL), GYRE_OK);
    assert_non_null(strstr(gy_buf_cstr(&history), "\"epoch\":2"));
    gy_buf_fini(&history);
    model_verify(&t.model, &t.fleet, t.a);
    ride_close(&t.ride);
    end(&t);
}

static void test_older_copy(void **state)
{
    (void)state;
    struct story t;
    tell(&t);
    shell(&t, "mv state newest && cp -r before state");
    refused(&t, t.a, "it was lost or is an old copy");
    shell(&t, "rm -rf state && cp -r midway state");
    refused(&t, t.a, "which has ended, but in the state directory move 1 is still under way");
    setenv("GYRE_FORGET_MOVES", "1", 1); /* such a move cannot go on, whatever is wished */
    refused(&t, t.a, "still under way");
    unsetenv("GYRE_FORGET_MOVES");
    shell(&t, "rm -rf state && cp -r newest state");
    ride_open(&t.ride, t.fleet.dir, t.a);
    model_verify(&t.model, &t.fleet, t.b);
    ride_close(&t.ride);
    end(&t);
}

/* Only the joining server knows: the start cannot see it, the pre-check does. And it removes no
 * keys where records of our own say that a move was under way. */
static void test_precheck(void **state)
{
    (void)state;
    struct story t;
    gyre_error_t e;
    struct gy_move_options purge = {.purge_destination = true};
    tell(&t);
    shell(&t, "rm -rf state");
    fleet_do(t.fleet.node[0].c, "FUNCTION", "FLUSH", NULL);
    fleet_do(t.fleet.node[1].c, "FUNCTION", "FLUSH", NULL);
    ride_open(&t.ride, t.fleet.dir, t.a);
    struct gy_sync *d = t.fleet.node[2].c;
    int64_t keys = fleet_int(d, "DBSIZE", NULL, NULL, NULL);
    assert_int_equal(gy_mover_begin(t.ride.mover, gyre_topology_clone(t.b), &purge, &e),
                     GYRE_REFUSED);
    assert_non_null(strstr(e.message, "cache-2 took part in move 1"));
    fleet_do(d, "FUNCTION", "FLUSH", NULL);
    /* Another pool's record is none of ours, whatever its number; an old one of ours is. */
    fleet_do(d, "HSET", "gyre:{other.0123456789abcdef.7}:rec", "epoch", "99", NULL);
    assert_int_equal(gy_mover_begin(t.ride.mover, gyre_topology_clone(t.b), NULL, &e),
                     GYRE_REFUSED);
    assert_non_null(strstr(e.message, "--purge-destination removes them"));
    fleet_do(d, "HSET", "gyre:{main.0123456789abcdef.7}:rec", "epoch", "0", NULL);
    assert_int_equal(gy_mover_begin(t.ride.mover, gyre_topology_clone(t.b), &purge, &e),
                     GYRE_REFUSED);
    assert_non_null(strstr(e.message, "they may be the only copies"));
    assert_int_equal(fleet_int(d, "DBSIZE", NULL, NULL, NULL), keys + 2);
    ride_close(&t.ride);
    end(&t);
}

/* Servers that accept and never answer take their part of the time, and the last one is heard. */
static void test_silent(void **state)
{
    (void)state;
    struct story t;
    int fd[8];
    tell(&t);
    shell(&t, "rm -rf state");
    gyre_topology_t *file = gyre_topology_new();
    gyre_topology_set_version(file, 1);
    for (int i = 0; i < 8; i++) {
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        char name[16], address[160];
        snprintf(name, sizeof name, "b-%d", i);
        snprintf(sa.sun_path, sizeof sa.sun_path, "%s/%s", t.fleet.dir, name);
        snprintf(address, sizeof address, "unix:%s", sa.sun_path);
        fd[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(bind(fd[i], (struct sockaddr *)&sa, sizeof sa), 0);
        assert_int_equal(listen(fd[i], 4), 0);
        struct gyre_node n = {.size = sizeof n, .name = name, .address = address, .weight = 1};
        assert_int_equal(gyre_topology_add(file, &n, NULL), GYRE_OK);
    }
    struct gyre_node last = {
        .size = sizeof last, .name = "cache-0", .address = t.fleet.node[0].address, .weight = 1};
    assert_int_equal(gyre_topology_add(file, &last, NULL), GYRE_OK);
    struct timespec x, y;
    clock_gettime(CLOCK_MONOTONIC, &x);
    refused(&t, file, "cache-0 took part in move 1");
    clock_gettime(CLOCK_MONOTONIC, &y);
    assert_true(y.tv_sec - x.tv_sec <= 4);
    for (int i = 0; i < 8; i++) {
        close(fd[i]);
    }
    gyre_topology_free(file);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),       cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_records_of), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_older_copy), cmocka_unit_test(test_precheck),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
