/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_throttle.c - the limits of a move: token buckets, what is owed for keys that clients moved
 * by writing them, and that a mover on real servers pays it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/pass.h"
#include "move/throttle.h"
#include "ride.h"

#include <time.h>

static void test_throttle(void **state)
{
    (void)state;
    struct gy_bucket b;
    gy_bucket_set(&b, 0, 0);
    gy_bucket_take(&b, 1000000, 0);
    assert_int_equal(gy_bucket_wait(&b, 0), 0); /* no limit */
    gy_bucket_set(&b, 1000, 0);
    assert_int_equal(gy_bucket_wait(&b, 0), 0);
    gy_bucket_take(&b, 500, 0); /* half a second's worth in advance */
    assert_in_range(gy_bucket_wait(&b, 0), 499000, 501000);
    assert_int_equal(gy_bucket_wait(&b, 501000), 0);
    /* Over any ten seconds no more than the rate and a tenth. */
    uint64_t taken = 0;
    gy_bucket_set(&b, 1000, 0);
    for (int64_t now = 0; now < 10000000; now += 100) {
        if (gy_bucket_wait(&b, now) == 0) {
            gy_bucket_take(&b, 64, now);
            taken += 64;
        }
    }
    assert_in_range(taken, 9900, 10200);
    gy_bucket_wait(&b, 0); /* a clock that went back is no windfall */
    assert_true(b.tokens <= 100);
}

/* What others took is owed, but for a few seconds at most; what was taken here, in full. */
/* Whoever asks a node that froze over a large key waits as long as this: the size says how long,
 * not the largest key that there could be. */
static void test_patience_goes_by_size(void **state)
{
    (void)state;
    uint32_t before = 0;
    assert_int_equal(gy_carry_patience(1u << 20), 0);
    for (uint64_t bytes = 16u << 20; bytes; bytes <<= 1) {
        uint32_t ms = gy_carry_patience(bytes);
        assert_in_range(ms, before > 10000 ? before : 10000, 120000);
        assert_true(ms == 120000 || ms <= 10000 + bytes / 10000); /* at no less than 10 MB/s */
        before = ms;
    }
    assert_int_equal(before, 120000);
}

static void test_throttle_charge(void **state)
{
    (void)state;
    struct gy_bucket b;
    gy_bucket_set(&b, 0, 0);
    gy_bucket_charge(&b, 1000000, 0);
    assert_int_equal(gy_bucket_wait(&b, 0), 0);
    gy_bucket_set(&b, 30, 0);
    gy_bucket_charge(&b, 15, 0);
    assert_in_range(gy_bucket_wait(&b, 0), 499000, 501000);
    gy_bucket_charge(&b, UINT64_MAX, 0);
    gy_bucket_charge(&b, 10000, 0);
    assert_in_range(gy_bucket_wait(&b, 0), 2999000, 3001000);
    gy_bucket_take(&b, 300, 0); /* a batch of its own: ten seconds more */
    gy_bucket_charge(&b, 10000, 0);
    assert_in_range(gy_bucket_wait(&b, 0), 12999000, 13001000);
    gy_bucket_charge(&b, 10000, 12000000); /* paid but for one second: owed anew up to three */
    assert_in_range(gy_bucket_wait(&b, 12000000), 2999000, 3001000);
}

/* Half a second's worth of keys is moved by clients while the first unit is under way. */
static void some_write(struct ride *r, const struct gy_view *v)
{
    if (ride_count(v, GY_UNIT_MIGRATING)) {
        r->at_view = NULL;
        r->access_keys += 50;
        clock_gettime(CLOCK_MONOTONIC, r->ctx);
    }
}

static void test_keys_moved_on_access_are_charged(void **state)
{
    (void)state;
    struct fleet fleet;
    struct ride r = {0};
    struct model m;
    struct timespec then, now;
    struct gy_move_options o = {.keys_per_s = 100};
    fleet_up(&fleet, 3, false);
    gyre_topology_t *a = fleet_topology(&fleet, 0, 2, 1), *b = fleet_topology(&fleet, 0, 3, 0);
    model_fill(&m, &fleet, a, 20);
    ride_open(&r, fleet.dir, a);
    ride_start(&r);
    r.at_view = some_write;
    r.ctx = &then;
    assert_int_equal(gy_mover_begin(r.mover, gyre_topology_clone(b), &o, NULL), GYRE_OK);
    ride_wait(&r, "idle");
    clock_gettime(CLOCK_MONOTONIC, &now);
    double s = (double)(now.tv_sec - then.tv_sec) + (double)(now.tv_nsec - then.tv_nsec) / 1e9;
    assert_true(s > 0.45);
    model_verify(&m, &fleet, b);
    ride_close(&r);
    model_fini(&m);
    gyre_topology_free(a);
    gyre_topology_free(b);
    fleet_down(&fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throttle),
        cmocka_unit_test(test_throttle_charge),
        cmocka_unit_test(test_patience_goes_by_size),
        cmocka_unit_test(test_keys_moved_on_access_are_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
