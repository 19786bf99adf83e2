/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff.c - exact differences of rings and modulos, sampled ones of the rest, equality of maps.
 */
#include "fleet.h"

#include <math.h>

#include "lib/map.h"

static gyre_map_t *fleet(const char *settings, const char *names)
{
    gyre_topology_t *t = fleet_new(settings);
    for (; *names; names++) {
        char name[2] = {*names, '\0'};
        fleet_add(t, name, 1, NULL);
    }
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

/* Takes both maps over. */
static gyre_diff_t *diff(gyre_map_t *a, gyre_map_t *b, size_t samples)
{
    gyre_diff_t *d = NULL;
    gyre_error_t e = {0};
    if (gyre_diff_build(a, b, samples, &d, &e)) {
        fail_msg("no diff: %s", e.message);
    }
    gyre_map_unref(a);
    gyre_map_unref(b);
    return d;
}

static void near(double x, double y)
{
    if (!(fabs(x - y) < 1e-12)) {
        fail_msg("%.17g is not %.17g", x, y);
    }
}

static double flow_sum(const gyre_diff_t *d)
{
    double sum = 0, last = 2;
    for (size_t i = 0; i < gyre_diff_count(d); i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        assert_true(f->share > 0 && f->share <= last);
        assert_string_not_equal(f->from, f->to);
        last = f->share;
        sum += f->share;
    }
    assert_null(gyre_diff_flow(d, gyre_diff_count(d)));
    return sum;
}

static void test_modulo_exact(void **state)
{
    (void)state;
    const struct {
        const char *from, *to;
        double moved, minimum;
        size_t flows;
    } rows[] = {
        {"0123", "01234", 0.8, 0.2, 16},      {"0123", "0123", 0, 0, 0},
        {"01234", "0123", 0.8, 0.2, 16},      {"0", "01", 0.5, 0.5, 1},
        {"0123456789", "01234", 0.5, 0.5, 5}, {"01", "23", 1, 1, 2},
        {"0123", "023", 0.75, 0.25, 9},       {"0123", "1234", 1, 0.25, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gyre_diff_t *d =
            diff(fleet("algorithm modulo", rows[i].from), fleet("algorithm modulo", rows[i].to), 0);
        assert_true(gyre_diff_exact(d));
        near(gyre_diff_moved(d), rows[i].moved);
        near(gyre_diff_modulo(d), rows[i].moved);
        near(gyre_diff_minimum(d), rows[i].minimum);
        near(flow_sum(d), rows[i].moved);
        assert_int_equal(gyre_diff_count(d), rows[i].flows);
        gyre_diff_free(d);
    }
    gyre_diff_t *d = diff(fleet("algorithm modulo", "0123"), fleet("algorithm modulo", "01234"), 0);
    assert_true(gyre_diff_moved(d) == 0.8); /* the figure of the articles, to the last bit */
    gyre_diff_free(d);
}

static void test_modulo_against_residues(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 9; n++) {
        for (unsigned m = 1; m <= 9; m++) {
            gyre_map_t *a = fleet("algorithm modulo", &"987654321"[9 - n]);
            gyre_map_t *b = fleet("algorithm modulo", &"bacd12345"[9 - m]);
            unsigned moved = 0;
            for (uint64_t x = 0; x < 2520; x++) { /* a multiple of every lcm up to 9 */
                const char *from = gyre_map_node(a, gyre_map_locate_hash(a, x))->name;
                const char *to = gyre_map_node(b, gyre_map_locate_hash(b, x))->name;
                moved += strcmp(from, to) != 0;
            }
            gyre_diff_t *d = diff(a, b, 0);
            near(gyre_diff_moved(d), moved / 2520.0);
            near(flow_sum(d), moved / 2520.0);
            gyre_diff_free(d);
        }
    }
}

static void test_one_node_changes(void **state)
{
    (void)state;
    const char *settings[] = {"points 100", "like sample", "like sample mode md5_128",
                              "like sample mode java_md5_32be", "like sample mode sha256_32be"};
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        gyre_diff_t *d = diff(fleet(settings[s], "0123"), fleet(settings[s], "01234"), 0);
        assert_true(gyre_diff_exact(d));
        assert_true(gyre_diff_ratio(d) == 1);
        assert_true(gyre_diff_moved(d) == gyre_diff_minimum(d));
        assert_true(gyre_diff_moved(d) > 0.1 && gyre_diff_moved(d) < 0.3);
        assert_true(gyre_diff_modulo(d) == 0.8);
        near(flow_sum(d), gyre_diff_moved(d));
        assert_int_equal(gyre_diff_count(d), 4);
        assert_string_equal(gyre_diff_flow(d, 0)->to, "4");
        gyre_diff_free(d);
    }
}

/* Whole rings: 2^32 and 2^128 positions are shares of exactly 1. */
static void test_whole_ring(void **state)
{
    (void)state;
    const char *settings[] = {"", "like sample", "like sample mode md5_128"};
    for (size_t s = 0; s < 3; s++) {
        gyre_map_t *one = fleet(settings[s], "a");
        assert_true(gyre_map_share(one, 0) == 1);
        gyre_diff_t *d = diff(one, fleet(settings[s], "b"), 0);
        assert_true(gyre_diff_moved(d) == 1 && gyre_diff_minimum(d) == 1);
        assert_int_equal(gyre_diff_count(d), 1);
        assert_true(gyre_diff_flow(d, 0)->share == 1);
        gyre_diff_free(d);
        d = diff(fleet(settings[s], "a"), fleet(settings[s], "a"), 0);
        assert_true(gyre_diff_moved(d) == 0 && gyre_diff_ratio(d) == 1);
        assert_int_equal(gyre_diff_count(d), 0);
        gyre_diff_free(d);
        d = diff(fleet(settings[s], "a"), fleet(settings[s], "ab"), 0);
        assert_true(gyre_diff_ratio(d) == 1);
        near(gyre_diff_minimum(d), gyre_diff_moved(d));
        gyre_diff_free(d);
        d = diff(fleet(settings[s], "ab"), fleet(settings[s], "a"), 0);
        assert_true(gyre_diff_ratio(d) == 1);
        gyre_diff_free(d);
    }
}

/* > and >= over one set of points differ only for keys that are a point: 4 of 2^32 positions here.
 * The public settings have no such pair, so one rule is made up. */
static void test_both_lookups(void **state)
{
    (void)state;
    struct gy_sample_rule rule = {"", &gy_hash_md5, 32, "", false};
    gyre_topology_t *t = fleet_new("like sample vnodes 2");
    gyre_map_t *at, *past;
    fleet_add(t, "a", 1, NULL);
    fleet_add(t, "b", 1, NULL);
    assert_int_equal(gy_map_build_rule(t, &rule, &at, NULL), GYRE_OK);
    rule.after = true;
    assert_int_equal(gy_map_build_rule(t, &rule, &past, NULL), GYRE_OK);
    assert_false(gyre_map_same(at, past));
    unsigned changes = 0; /* points whose successor belongs to the other node */
    for (unsigned i = 0; i < 4; i++) {
        uint32_t here = at->place->node(at, i), next = at->place->node(at, (i + 1) % 4);
        changes += here != next;
    }
    gyre_topology_free(t);
    gyre_diff_t *d = diff(at, past, 0);
    assert_true(changes > 0);
    assert_true(gyre_diff_moved(d) == changes / 4294967296.0);
    gyre_diff_free(d);
}

static void test_sampled(void **state)
{
    (void)state;
    gyre_diff_t *d = diff(fleet("", "0123"), fleet("algorithm modulo", "0123"), 100000);
    assert_false(gyre_diff_exact(d));
    assert_int_equal(gyre_diff_basis(d), GYRE_SAMPLED);
    assert_true(fabs(gyre_diff_moved(d) - 0.75) < 0.01);
    near(flow_sum(d), gyre_diff_moved(d));
    assert_true(gyre_diff_minimum(d) < 0.05);
    gyre_diff_free(d);
    d = diff(fleet("like sample", "0123"), fleet("like sample mode sha256_32be", "0123"), 10000);
    assert_false(gyre_diff_exact(d));
    gyre_diff_free(d);
}

static gyre_map_t *weighing(const char *settings, const double *weights, size_t n)
{
    gyre_topology_t *t = fleet_new(settings);
    for (size_t i = 0; i < n; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        fleet_add(t, name, weights[i], NULL);
    }
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static double flow(const gyre_diff_t *d, const char *from, const char *to)
{
    for (size_t i = 0; i < gyre_diff_count(d); i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        if (!strcmp(f->from, from) && !strcmp(f->to, to)) {
            return f->share;
        }
    }
    return 0;
}

/* By hand: weights 1 2 3 become 3 2 1. S(q) is 5 + 3 q up to 1 and 3 + 5 q from there, so that its
 * inverse square makes 1 / 72 from 1 / 3 to 1 and as much from 1 to 3. */
static void test_race(void **state)
{
    (void)state;
    const double before[] = {1, 2, 3}, after[] = {3, 2, 1}, twice[] = {2, 4, 6};
    gyre_diff_t *d = diff(weighing("algorithm rendezvous", before, 3),
                          weighing("algorithm rendezvous", after, 3), 0);
    assert_int_equal(gyre_diff_basis(d), GYRE_EXPECTED);
    assert_false(gyre_diff_exact(d) || gyre_diff_has_arcs(d));
    assert_int_equal(gyre_diff_count(d), 3);
    near(flow(d, "c", "a"), 9.0 / 36);
    near(flow(d, "b", "a"), 6.0 / 72);
    near(flow(d, "c", "b"), 6.0 / 72);
    near(gyre_diff_moved(d), 5.0 / 12);
    near(gyre_diff_minimum(d), 1.0 / 3);
    gyre_diff_free(d);
    d = diff(weighing("algorithm rendezvous", before, 3),
             weighing("algorithm rendezvous", twice, 3), 0);
    assert_true(gyre_diff_moved(d) == 0 && gyre_diff_count(d) == 0 && gyre_diff_ratio(d) == 1);
    gyre_diff_free(d);
    d = diff(fleet("algorithm rendezvous", "abc"), fleet("algorithm rendezvous", "abd"), 0);
    near(gyre_diff_moved(d), 1.0 / 2); /* c's third, and a third of what a and b have */
    near(flow(d, "c", "d"), 1.0 / 6);
    near(flow(d, "a", "d"), 1.0 / 12);
    near(gyre_diff_minimum(d), 1.0 / 3);
    gyre_diff_free(d);
}

/* Draws: 2 of 7 parts are taken by one map alone, which is a's; and one slot changes hands. */
static void test_draws(void **state)
{
    (void)state;
    const double before[] = {3, 2, 2}, after[] = {1, 2, 2};
    gyre_diff_t *d = diff(weighing("algorithm dx heaviest 4", before, 3),
                          weighing("algorithm dx heaviest 4", after, 3), 0);
    assert_int_equal(gyre_diff_basis(d), GYRE_EXPECTED);
    near(flow(d, "a", "b"), 2.0 / 7 * 2 / 5);
    near(gyre_diff_moved(d), 2.0 / 7 * 4 / 5);
    assert_true(gyre_diff_ratio(d) == 1);
    gyre_diff_free(d);
    d = diff(weighing("algorithm dx heaviest 4", before, 3),
             weighing("algorithm dx heaviest 5", after, 3), 5000);
    assert_int_equal(gyre_diff_basis(d), GYRE_SAMPLED);
    gyre_diff_free(d);
}

static void refused(gyre_map_t *a, gyre_map_t *b, size_t samples, int code, const char *message)
{
    gyre_diff_t *d = (gyre_diff_t *)8;
    gyre_error_t e = {0};
    assert_int_equal(gyre_diff_build(a, b, samples, &d, &e), code);
    assert_null(d);
    if (!strstr(e.message, message)) {
        fail_msg("'%s' has no '%s'", e.message, message);
    }
    gyre_map_unref(a);
    gyre_map_unref(b);
}

/* Without given slots nodes stand by name, so that some change theirs. */
static void test_ranges_of_slots(void **state)
{
    (void)state;
    static const char *const ranges[] = {"algorithm jump", "algorithm jumpback",
                                         "algorithm memento"};
    for (size_t i = 0; i < 3; i++) {
        gyre_diff_t *d = diff(fleet(ranges[i], "abcd"), fleet(ranges[i], "abdefgh"), 0);
        assert_int_equal(gyre_diff_basis(d), GYRE_EXPECTED);
        near(flow(d, "c", "d"), 1.0 / 7);  /* the third slot has another node, */
        near(flow(d, "d", "e"), 1.0 / 7);  /* the fourth too, */
        near(flow(d, "c", "f"), 1.0 / 28); /* the others are new */
        near(gyre_diff_moved(d), 5.0 / 7);
        near(gyre_diff_minimum(d), 4.0 / 7);
        gyre_diff_free(d);
        d = diff(fleet(ranges[i], "bcd"), fleet(ranges[i], "abcd"), 0);
        near(gyre_diff_moved(d), 11.0 / 12); /* of what goes to the fourth a third was d's before */
        near(flow_sum(d), 11.0 / 12);
        gyre_diff_free(d);
        d = diff(fleet(ranges[i], "abcd"), fleet(ranges[i], "bcd"), 0);
        near(gyre_diff_moved(d), 11.0 / 12);
        gyre_diff_free(d);
    }
    refused(fleet("algorithm jumpback", "abc"), fleet("algorithm jumpback", "a"), 0, GYRE_MISMATCH,
            "jumpback with xxh3");
}

static gyre_map_t *many(const char *settings, const char *prefix, unsigned count)
{
    gyre_topology_t *t = fleet_new(settings);
    fleet_many(t, prefix, count);
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

/* 1030 nodes to as many others are more flows than are listed; all of them count. */
static void test_more_than_listed(void **state)
{
    (void)state;
    gyre_diff_t *d =
        diff(many("algorithm rendezvous", "a", 1030), many("algorithm rendezvous", "b", 1030), 0);
    assert_int_equal(gyre_diff_count(d), 1 << 20);
    near(gyre_diff_moved(d), 1);
    near(gyre_diff_minimum(d), 1);
    gyre_diff_free(d);
}

static void test_refusals(void **state)
{
    (void)state;
    refused(fleet("", ""), fleet("", "a"), 9, GYRE_EMPTY, "old map");
    refused(fleet("", "a"), fleet("", ""), 9, GYRE_EMPTY, "new map");
    refused(fleet("", "a"), fleet("hash_tag ()", "a"), 9, GYRE_MISMATCH, "hash_tag differs");
    refused(fleet("", "a"), fleet("algorithm modulo", "a"), 0, GYRE_MISMATCH, "ring with xxh3");
    gyre_diff_free(NULL);
}

static void test_ratio_without_minimum(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like sample algorithm modulo");
    fleet_add(t, "a", 1, NULL);
    fleet_add(t, "b", 1, NULL);
    gyre_map_t *ab = fleet_map(t);
    gyre_topology_free(t);
    t = fleet_new("like sample algorithm modulo");
    fleet_add(t, "b", 1, NULL);
    fleet_add(t, "a", 1, NULL);
    gyre_map_t *ba = fleet_map(t);
    gyre_topology_free(t);
    gyre_diff_t *d = diff(ab, ba, 0); /* an imitated modulo depends on the order */
    assert_true(gyre_diff_moved(d) == 1 && gyre_diff_minimum(d) == 0);
    assert_true(isinf(gyre_diff_ratio(d)));
    gyre_diff_free(d);
}

static bool same(gyre_map_t *a, gyre_map_t *b)
{
    bool yes = gyre_map_same(a, b);
    assert_int_equal(gyre_map_same(b, a), yes);
    assert_true(gyre_map_same(a, a));
    gyre_map_unref(a);
    gyre_map_unref(b);
    return yes;
}

static gyre_map_t *zoned(const char *settings, const char *zone, bool drained)
{
    gyre_topology_t *t = fleet_new(settings);
    fleet_add(t, "a", 1, zone);
    if (drained) {
        fleet_add(t, "0", 0, "x");
    }
    fleet_add(t, "b", 1, "eu/a");
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static void test_same(void **state)
{
    (void)state;
    assert_true(same(fleet("", "abc"), fleet("", "cba")));
    assert_false(same(fleet("", "abc"), fleet("", "abd")));
    assert_false(same(fleet("", "abc"), fleet("", "ab")));
    assert_false(same(fleet("", "abc"), fleet("points 999", "abc")));
    assert_false(same(fleet("", "abc"), fleet("algorithm modulo", "abc")));
    assert_false(same(fleet("", "abc"), fleet("hash_tag ()", "abc")));
    assert_false(same(fleet("", "abc"), fleet("replicas 2", "abc")));
    assert_true(same(fleet("", ""), fleet("", "")));
    assert_false(same(fleet("like sample", "abc"), fleet("like sample mode md5_128", "abc")));
    assert_true(same(fleet("algorithm modulo", "abc"), fleet("algorithm modulo", "bca")));
    assert_false(same(fleet("algorithm modulo like sample", "abc"),
                      fleet("algorithm modulo like sample", "bca")));
    assert_true(same(zoned("", "eu/b", false), zoned("", "us/b", true)));
    assert_false(same(zoned("spread zone", "eu/b", false), zoned("spread zone", "us/b", true)));
    assert_true(same(zoned("spread region", "eu/b", false), zoned("spread region", "eu/c", true)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modulo_exact),
        cmocka_unit_test(test_modulo_against_residues),
        cmocka_unit_test(test_one_node_changes),
        cmocka_unit_test(test_whole_ring),
        cmocka_unit_test(test_both_lookups),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_ranges_of_slots),
        cmocka_unit_test(test_more_than_listed),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_ratio_without_minimum),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
