/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_balance.c - the figures of evenness, against the same figures made with libm.
 */
#include "fleet.h"

#include <math.h>

static void near(double x, double y)
{
    if (!(fabs(x - y) <= 1e-12 * fabs(y) + 1e-15)) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

/* The third article's loads after its fifth node. */
static void test_of_loads(void **state)
{
    (void)state;
    const double loads[] = {4539, 3829, 3669, 3703, 4260};
    struct gyre_balance b = {.size = sizeof b};
    gyre_balance_of(loads, NULL, 5, &b);
    assert_int_equal(b.nodes, 5);
    near(b.cv, sqrt((539.0 * 539 + 171 * 171 + 331 * 331 + 297 * 297 + 260 * 260) / 5) / 4000);
    near(b.peak, 4539.0 / 4000);
    near(b.least, 3669.0 / 4000);
    assert_true(b.expected_cv == 0);
}

static void test_of_weighted_loads(void **state)
{
    (void)state;
    const double loads[] = {10, 40, 99, 5}, weights[] = {1, 2, 0, -1};
    struct gyre_balance b = {.size = sizeof b};
    gyre_balance_of(loads, weights, 4, &b);
    assert_int_equal(b.nodes, 2);
    near(b.cv, 1.0 / 3);
    near(b.peak, 4.0 / 3);
    near(b.least, 2.0 / 3);
}

static void test_of_nothing(void **state)
{
    (void)state;
    const double zeros[] = {0, 0};
    struct gyre_balance b = {.size = sizeof b, .cv = 9};
    gyre_balance_of(NULL, NULL, 0, &b);
    assert_true(b.cv == 0 && b.peak == 0 && b.least == 0 && b.nodes == 0);
    gyre_balance_of(zeros, NULL, 2, &b);
    assert_true(b.cv == 0 && b.peak == 0 && b.nodes == 2);
    gyre_topology_t *t = fleet_new("");
    gyre_map_t *m = fleet_map(t);
    gyre_map_balance(m, &b);
    assert_true(b.cv == 0 && b.expected_cv == 0 && b.nodes == 0);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* An older caller's shorter struct is not written past. */
static void test_short_struct(void **state)
{
    (void)state;
    const double loads[] = {1, 3};
    struct gyre_balance b = {.size = offsetof(struct gyre_balance, peak), .peak = 77};
    gyre_balance_of(loads, NULL, 2, &b);
    near(b.cv, 0.5);
    assert_true(b.peak == 77);
}

static void test_of_maps(void **state)
{
    (void)state;
    const unsigned points[] = {1, 10, 100, 1000};
    for (unsigned i = 0; i < 4; i++) {
        char settings[32];
        snprintf(settings, sizeof settings, "points %u", points[i]);
        gyre_topology_t *t = fleet_new(settings);
        fleet_many(t, "n", 200);
        gyre_map_t *m = fleet_map(t);
        struct gyre_balance b = {.size = sizeof b};
        gyre_map_balance(m, &b);
        double total = 200.0 * points[i];
        near(b.expected_cv, sqrt((total - points[i]) / (points[i] * (total + 1))));
        assert_true(b.cv > b.expected_cv * 0.8 && b.cv < b.expected_cv * 1.25);
        assert_true(b.peak > 1 && b.least < 1 && b.nodes == 200);
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

/* Shares are judged by weight. */
static void test_of_weighted_map(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 10000");
    fleet_add(t, "a", 1, NULL);
    fleet_add(t, "b", 9, NULL);
    fleet_add(t, "c", 0, NULL);
    gyre_map_t *m = fleet_map(t);
    struct gyre_balance b = {.size = sizeof b};
    gyre_map_balance(m, &b);
    assert_int_equal(b.nodes, 2);
    assert_true(b.cv < 0.03);
    near(gyre_map_share(m, 0) + gyre_map_share(m, 1), 1);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_loads),   cmocka_unit_test(test_of_weighted_loads),
        cmocka_unit_test(test_of_nothing), cmocka_unit_test(test_short_struct),
        cmocka_unit_test(test_of_maps),    cmocka_unit_test(test_of_weighted_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
