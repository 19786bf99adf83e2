/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_judge.c - what a sample of keys says: the functions of analysis against libm and printed
 * tables, the verdict against what chance does over many samples, and that it can condemn.
 */
#include "fleet.h"

#include <math.h>

#include "lib/map.h"
#include "lib/special.h"

static void near(double x, double y, double relative)
{
    if (!(fabs(x - y) <= relative * fabs(y) + 1e-300)) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

static void test_special(void **state)
{
    (void)state;
    for (double x = 1e-300; x < 1e300; x *= 37.1) {
        near(gy_sqrt(x), sqrt(x), 1e-14);
        near(gy_log(x), log(x), 1e-13);
    }
    for (double x = -699; x < 700; x += 0.77) {
        near(gy_exp(x), exp(x), 1e-12);
    }
    assert_true(gy_exp(-1e9) == 0 && isinf(gy_exp(1e9)) && gy_sqrt(-1) == 0);
    for (double a = 0.5; a < 200000; a *= 3.7) { /* whole a: a sum of Poisson's probabilities */
        double n = floor(a) + 1, x = n + sqrt(n) / 2, sum = 0;
        for (double k = 0; k < n; k++) {
            sum += exp(k * log(x) - x - lgamma(k + 1));
        }
        near(gy_gamma_q(n, x), sum, 1e-8);
    }
    for (double z = 0; z < 8; z += 0.3) {
        near(gy_gamma_q(0.5, z * z / 2), erfc(z / sqrt(2)), 1e-9);
    }
    assert_true(gy_gamma_q(3, 0) == 1 && gy_gamma_q(3, -1) == 1 && gy_gamma_q(3, 1e6) == 0);
}

/* Abramowitz and Stegun, tables 26.5 and 26.8. */
static void test_tables(void **state)
{
    (void)state;
    static const struct {
        double p, z;
    } normal[] = {{0.5, 0}, {0.025, 1.959964}, {0.005, 2.575829}, {0.0005, 3.290527}};
    static const struct {
        double df, chi, p;
    } chi[] = {{1, 3.84146, 0.05},   {1, 10.8276, 0.001},  {2, 5.99146, 0.05}, {10, 18.3070, 0.05},
               {30, 59.7031, 0.001}, {100, 124.342, 0.05}, {5, 4.35146, 0.5}};
    for (size_t i = 0; i < sizeof normal / sizeof normal[0]; i++) {
        assert_true(fabs(gy_normal_above(normal[i].p) - normal[i].z) < 1e-6);
    }
    for (size_t i = 0; i < sizeof chi / sizeof chi[0]; i++) {
        near(gy_gamma_q(chi[i].df / 2, chi[i].chi / 2), chi[i].p, 1e-4);
    }
}

/* Wilson's worked values, as Newcombe prints them (Statistics in Medicine 17, 1998). */
static void test_share_interval(void **state)
{
    (void)state;
    static const struct {
        uint64_t hits, keys;
        double low, high;
    } rows[] = {{81, 263, 0.2553, 0.3662},
                {15, 148, 0.0624, 0.1605},
                {0, 20, 0, 0.1611},
                {1, 29, 0.0061, 0.1718},
                {20, 20, 0.8389, 1},
                {0, 0, 0, 1},
                /* More hits than keys are all of them. */
                {5, 3, 0.4385, 1},
                {21, 20, 0.8389, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double low, high;
        gyre_share_interval(rows[i].hits, rows[i].keys, 0.95, &low, &high);
        assert_true(fabs(low - rows[i].low) < 6e-5 && fabs(high - rows[i].high) < 6e-5);
    }
}

static gyre_map_t *map_of(const char *settings, unsigned nodes, bool weighted)
{
    gyre_topology_t *t = fleet_new(settings);
    for (unsigned i = 0; i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        fleet_add(t, name, weighted ? 1 + i % 4 : 1, NULL);
    }
    fleet_add(t, "drained", 0, NULL);
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static uint64_t stream;

static void sample(const gyre_map_t *m, unsigned n, uint64_t *keys)
{
    memset(keys, 0, gyre_map_count(m) * sizeof *keys);
    for (unsigned i = 0; i < n; i++) {
        stream++;
        keys[gyre_map_locate(m, &stream, sizeof stream)]++;
    }
}

/*
 * 400 samples of keys that do fall as the map says. p is then below 0.05 in 5 of 100 cases, and the
 * interval misses the map's own CV in 5 of 100: both counts lie within 5 standard deviations (22)
 * of 20, and the keys are always the same, so this cannot fail by chance.
 */
static void test_fair_samples(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        unsigned nodes, keys;
        bool weighted;
    } rows[] = {{"points 100", 20, 3000, false},
                {"points 100", 20, 3000, true},
                {"algorithm rendezvous", 50, 4000, false},
                {"points 3", 200, 3000, false}};
    uint64_t keys[256];
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        gyre_map_t *m = map_of(rows[r].settings, rows[r].nodes, rows[r].weighted);
        struct gyre_balance exact = {.size = sizeof exact};
        gyre_map_balance(m, &exact);
        unsigned low_p = 0, missed = 0;
        for (unsigned i = 0; i < 400; i++) {
            struct gyre_evidence e = {.size = sizeof e};
            sample(m, rows[r].keys, keys);
            assert_int_equal(gyre_map_judge(m, keys, 0.95, &e), GYRE_OK);
            assert_int_equal(e.keys, rows[r].keys);
            assert_true(e.cv_low <= e.cv_high);
            low_p += e.p < 0.05;
            missed += exact.cv < e.cv_low - 1e-9 || exact.cv > e.cv_high + 1e-9;
        }
        assert_in_range(low_p, 4, 42);
        assert_true(missed <= 42);
        gyre_map_unref(m);
    }
}

static void test_unfair_samples(void **state)
{
    (void)state;
    gyre_map_t *m = map_of("points 1000", 10, false);
    uint64_t keys[11];
    struct gyre_evidence e = {.size = sizeof e};
    sample(m, 10000, keys);
    keys[gyre_map_find(m, "n3")] += 2000; /* as many behind one hash tag */
    assert_int_equal(gyre_map_judge(m, keys, 0.95, &e), GYRE_OK);
    assert_true(e.p < 1e-9 && e.degrees == 9);
    assert_true(e.cv_low > 0.4 && e.cv_high < 0.65 && e.cv > e.cv_low && e.cv < e.cv_high);
    gyre_map_unref(m);
}

static void test_edges(void **state)
{
    (void)state;
    gyre_map_t *m = map_of("points 100", 3, false), *one = map_of("points 10", 1, false);
    gyre_map_t *none = map_of("points 10", 0, false);
    uint64_t keys[4] = {0};
    struct gyre_evidence e = {.size = sizeof e};
    assert_int_equal(gyre_map_judge(m, keys, 0.95, &e), GYRE_OK);
    assert_true(e.keys == 0 && e.p == 1 && e.cv == 0 && e.cv_high == 0);
    keys[1] = 3; /* too few for any cell */
    assert_int_equal(gyre_map_judge(m, keys, 0.95, &e), GYRE_OK);
    assert_true(e.keys == 3 && e.p == 1 && e.degrees == 0 && e.cv > 1 && e.cv_high > 1);
    assert_int_equal(gyre_map_judge(one, keys, 0.95, &e), GYRE_OK);
    assert_true(e.p == 1 && e.cv_low == 0 && e.cv_high == 0);
    assert_int_equal(gyre_map_judge(none, keys, 0.95, &e), GYRE_OK);
    assert_true(e.p == 1 && e.cv == 0);
    assert_int_equal(gyre_map_judge(m, keys, 1, &e), GYRE_INVALID);
    assert_int_equal(gyre_map_judge(m, keys, 0, &e), GYRE_INVALID);
    e.size = 0;
    assert_int_equal(gyre_map_judge(m, keys, 0.95, &e), GYRE_INVALID);
    gyre_map_unref(m);
    gyre_map_unref(one);
    gyre_map_unref(none);
}

/* The least that is enough: no more than the limit, and one less is too much. */
static void test_points_for(void **state)
{
    (void)state;
    static const double weights[] = {1, 2, 0.5, 0, 7};
    static const double limits[] = {0.2, 0.05, 0.011};
    assert_int_equal(gyre_points_for(NULL, 1, 0.05), 1);
    assert_int_equal(gyre_points_for(NULL, 10, 0), 0);
    assert_int_equal(gyre_points_for(NULL, 10, 0.001), 0);
    assert_int_equal(gyre_points_for(NULL, 1000, 0.05), 400); /* 1 / 0.05^2 */
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint32_t points = gyre_points_for(weights, 5, limits[i]);
        for (uint32_t less = 0; less < 2; less++) {
            char settings[32], name[8];
            snprintf(settings, sizeof settings, "points %u", points - less);
            gyre_topology_t *t = fleet_new(settings);
            for (unsigned k = 0; k < 5; k++) {
                snprintf(name, sizeof name, "n%u", k);
                fleet_add(t, name, weights[k], NULL);
            }
            gyre_map_t *m = fleet_map(t);
            struct gyre_balance b = {.size = sizeof b};
            gyre_map_balance(m, &b);
            assert_true(less ? b.expected_cv > limits[i] : b.expected_cv <= limits[i] + 1e-12);
            gyre_map_unref(m);
            gyre_topology_free(t);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special),        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_share_interval), cmocka_unit_test(test_fair_samples),
        cmocka_unit_test(test_unfair_samples), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_points_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
