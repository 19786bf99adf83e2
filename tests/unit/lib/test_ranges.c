/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ranges.c - ranges, holdings and the arcs of a diff on fleets small enough to be checked by
 * hand, and what is answered where there are none. The laws are in tests/property.
 */
#include "fleet.h"

#include <math.h>

static gyre_map_t *map_of(const char *settings, const char *names)
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

/* 16384 slots in three parts, which do not wrap. */
static void test_slots(void **state)
{
    (void)state;
    static const uint64_t first[] = {0, 5461, 10923}, last[] = {5460, 10922, 16383};
    gyre_map_t *m = map_of("like redis-cluster", "abc");
    struct gyre_cursor at = {{0}};
    struct gyre_range r = {.size = sizeof r};
    uint32_t node[2];
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(gyre_range_next(m, 2, &at, &r, node));
        assert_true(r.first_hi == 0 && r.last_hi == 0 && r.flags == 0 && r.holders == 2);
        assert_true(r.first_lo == first[i] && r.last_lo == last[i]);
        assert_true(node[0] == i && node[1] == (i + 1) % 3);
    }
    assert_false(gyre_range_next(m, 2, &at, &r, node));
    assert_false(gyre_range_next(m, 2, &at, &r, node));
    uint64_t hi, lo;
    assert_true(gyre_map_position(m, "foo", 3, &hi, &lo));
    assert_true(hi == 0 && lo == 12182); /* CLUSTER KEYSLOT foo */
    assert_int_equal(gyre_map_slots(m), 16384);
    assert_int_equal(gyre_map_position_bits(m), 0);
    gyre_map_unref(m);
}

/* One node is one range: all of it. Two nodes with one copy each can feed nobody. */
static void test_few(void **state)
{
    (void)state;
    gyre_map_t *one = map_of("points 7", "a"), *two = map_of("points 7", "ab");
    struct gyre_cursor at = {{0}};
    struct gyre_range r = {.size = sizeof r};
    struct gyre_holding x = {.size = sizeof x};
    uint32_t node[2];
    gyre_holdings_t *h;
    assert_true(gyre_range_next(one, 2, &at, &r, node));
    assert_true(r.first_lo == 0 && r.last_lo == UINT32_MAX && r.share == 1);
    assert_true(r.holders == 1 && r.flags == GYRE_REPLICAS_SHORT);
    assert_false(gyre_range_next(one, 2, &at, &r, node));
    assert_int_equal(gyre_map_position_bits(one), 32);
    assert_int_equal(gyre_map_slots(one), 0);

    assert_int_equal(gyre_holdings_build(two, 1, 0, &h, NULL), GYRE_OK);
    assert_int_equal(gyre_holdings_node(h, 0, &x), GYRE_OK);
    assert_true(x.owned == gyre_map_share(two, 0) && fabs(x.alone - x.held) < 1e-12);
    assert_true(x.feeders == 0 && x.largest == 0 && gyre_holdings_feed(h, 0, 0) == NULL);
    assert_int_equal(gyre_holdings_node(h, 2, &x), GYRE_INVALID);
    assert_null(gyre_holdings_feed(h, 2, 0));
    gyre_holdings_free(h);

    assert_int_equal(gyre_holdings_build(two, 2, 0, &h, NULL), GYRE_OK);
    assert_int_equal(gyre_holdings_node(h, 1, &x), GYRE_OK);
    assert_true(fabs(x.held - 1) < 1e-12 && x.alone == 0 && x.feeders == 1);
    const struct gyre_feed *f = gyre_holdings_feed(h, 1, 0);
    assert_true(f->node == 0 && fabs(f->sends - 1) < 1e-12 && x.largest == f->sends);
    x.size = 0;
    assert_int_equal(gyre_holdings_node(h, 1, &x), GYRE_INVALID);
    gyre_holdings_free(h);
    gyre_holdings_free(NULL);
    gyre_map_unref(one);
    gyre_map_unref(two);
}

/* What on_told has been told. */
struct told {
    uint64_t calls, done, total;
    bool fine;
};

static void on_told(void *ctx, uint64_t done, uint64_t total)
{
    struct told *t = ctx;
    t->fine = t->fine && done > t->done && done <= total && (!t->calls || total == t->total);
    t->calls++;
    t->done = done;
    t->total = total;
}

/* How far it is, of ranges and of samples, and with the same result. */
static void test_told(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        size_t samples, calls;
    } cases[] = {{"points 1000", 0, 4}, {"algorithm jump", 10000, 2}};
    for (size_t i = 0; i < 2; i++) {
        gyre_map_t *m = map_of(cases[i].settings, "abcdefghijklmnopqrst");
        struct told told = {.fine = true};
        gyre_holdings_t *h, *same;
        struct gyre_holding x = {.size = sizeof x}, y = {.size = sizeof y};
        assert_int_equal(
            gyre_holdings_build_telling(m, 2, cases[i].samples, on_told, &told, &h, NULL), GYRE_OK);
        assert_int_equal(gyre_holdings_build(m, 2, cases[i].samples, &same, NULL), GYRE_OK);
        assert_true(told.fine && told.calls == cases[i].calls);
        assert_int_equal(gyre_holdings_node(h, 3, &x) | gyre_holdings_node(same, 3, &y), GYRE_OK);
        assert_true(x.held == y.held && x.feeders == y.feeders);
        gyre_holdings_free(h);
        gyre_holdings_free(same);
        gyre_map_unref(m);
    }
}

/* Many points spread the feeding: the busiest of 19 sends little more than a nineteenth. */
static void test_parallel(void **state)
{
    (void)state;
    gyre_map_t *m = map_of("points 500", "abcdefghijklmnopqrst");
    gyre_holdings_t *h;
    assert_int_equal(gyre_holdings_build(m, 3, 0, &h, NULL), GYRE_OK);
    for (uint32_t i = 0; i < 20; i++) {
        struct gyre_holding x = {.size = sizeof x};
        assert_int_equal(gyre_holdings_node(h, i, &x), GYRE_OK);
        assert_true(x.feeders == 19 && x.ranges > 1000 && x.held > 0.12 && x.held < 0.18);
        assert_true(x.largest / x.held < 1.3 / 19);
    }
    gyre_holdings_free(h);
    gyre_map_unref(m);
}

/* The algorithms without ranges say so, and are sampled. */
static void test_without(void **state)
{
    (void)state;
    static const char *const names[] = {"rendezvous", "jump", "jumpback",
                                        "memento",    "dx",   "modulo"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "algorithm %s", names[i]);
        gyre_map_t *m = map_of(settings, "abcde");
        struct gyre_cursor at = {{0}};
        struct gyre_range r = {.size = sizeof r};
        struct gyre_holding x = {.size = sizeof x};
        uint32_t node[3];
        uint64_t hi, lo;
        gyre_holdings_t *h;
        gyre_error_t e = {0};
        assert_false(gyre_range_next(m, 3, &at, &r, node));
        assert_false(gyre_map_position(m, "k", 1, &hi, &lo));
        assert_int_equal(gyre_holdings_build(m, 3, 0, &h, &e), GYRE_UNSUPPORTED);
        assert_non_null(strstr(e.message, names[i]));
        assert_null(h);
        assert_int_equal(gyre_holdings_build(m, 3, 5000, &h, &e), GYRE_OK);
        assert_false(gyre_holdings_exact(h));
        assert_int_equal(gyre_holdings_node(h, 0, &x), GYRE_OK);
        assert_true(x.owned == 0.2 && fabs(x.held - 0.6) < 0.05 && x.ranges == 0);
        assert_true(x.feeders == 4 && x.largest < 0.6);
        gyre_holdings_free(h);
        gyre_map_unref(m);
    }
}

static void test_errors(void **state)
{
    (void)state;
    gyre_map_t *m = map_of("points 7", "ab"), *none = map_of("points 7", "");
    struct gyre_cursor at = {{0}};
    struct gyre_range r = {.size = sizeof r};
    uint32_t node[2];
    gyre_holdings_t *h;
    gyre_error_t e = {0};
    assert_false(gyre_range_next(none, 1, &at, &r, node));
    assert_false(gyre_range_next(m, 0, &at, &r, node));
    assert_false(gyre_range_next(m, 65, &at, &r, node));
    assert_int_equal(gyre_holdings_build(none, 1, 0, &h, &e), GYRE_EMPTY);
    assert_int_equal(gyre_holdings_build(m, 0, 0, &h, &e), GYRE_RANGE);
    assert_int_equal(gyre_holdings_build(m, 65, 0, &h, &e), GYRE_RANGE);
    gyre_map_unref(m);
    gyre_map_unref(none);
}

/* Slots that change hands, to the slot; and what has no arcs. */
static void test_arcs(void **state)
{
    (void)state;
    gyre_map_t *m = map_of("like redis-cluster", "abc"), *n = map_of("like redis-cluster", "abcd");
    struct gyre_cursor at = {{0}};
    struct gyre_arc a = {.size = sizeof a};
    gyre_diff_t *d;
    double sum = 0;
    assert_int_equal(gyre_diff_build(m, n, 0, &d, NULL), GYRE_OK);
    assert_true(gyre_diff_next(d, &at, &a));
    assert_true(a.first_lo == 4096 && a.last_lo == 5460 && a.from == 0 && a.to == 1);
    struct gyre_cursor later = at; /* a copy goes its own way */
    for (sum = a.share; gyre_diff_next(d, &at, &a); sum += a.share) {
    }
    assert_true(fabs(sum - gyre_diff_moved(d)) < 1e-12 && a.last_lo == 16383 && a.to == 3);
    assert_true(gyre_diff_next(d, &later, &a) && a.first_lo == 8192);
    gyre_diff_free(d);
    gyre_map_unref(m);
    gyre_map_unref(n);

    m = map_of("algorithm modulo", "abc");
    assert_int_equal(gyre_diff_build(m, m, 0, &d, NULL), GYRE_OK);
    memset(&at, 0, sizeof at);
    assert_false(gyre_diff_has_arcs(d));
    assert_false(gyre_diff_next(d, &at, &a));
    gyre_diff_free(d);
    gyre_map_unref(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),    cmocka_unit_test(test_few),
        cmocka_unit_test(test_parallel), cmocka_unit_test(test_told),
        cmocka_unit_test(test_without),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_arcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
