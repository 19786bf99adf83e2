/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_places.c - each placement of the library against places.tsv, which places.py made from
 * docs/placement.md alone; then what each refuses, and the logarithm's stated error.
 */
#include "fleet.h"

#include <math.h>
#include <stdlib.h>

#include "lib/place/log2.h"
#include "lib/place/mix.h"

static const char *answers; /* places.tsv */

/* "name,steps,slot,zone name,steps,slot,zone ..." */
static void add_nodes(gyre_topology_t *t, char *nodes)
{
    char *rest;
    for (char *word = strtok_r(nodes, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *steps = strchr(word, ',');
        *steps++ = '\0';
        struct gyre_node n = {.size = sizeof n, .name = word};
        n.weight = strtod(steps, &steps) / 1000000;
        n.slot = (uint32_t)strtoul(steps + 1, &steps, 10);
        n.zone = steps + 1;
        assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
    }
}

static gyre_topology_t *read_fleet(char *line)
{
    char *rest, *settings = strtok_r(line, "\t", &rest);
    char *nodes = strtok_r(NULL, "\t", &rest), *removed = strtok_r(NULL, "\t", &rest);
    gyre_topology_t *t = fleet_new(settings);
    uint32_t slots[100];
    size_t n = 0;
    add_nodes(t, nodes);
    for (char *p = removed, *end; *p != '-' && *p; p = end + (*end == ' ')) {
        slots[n++] = (uint32_t)strtoul(p, &end, 10);
    }
    assert_int_equal(gyre_topology_set_removed(t, slots, n, NULL), GYRE_OK);
    return t;
}

static void check_key(const gyre_map_t *m, const char *key, const char *want)
{
    uint32_t out[3], one;
    char got[200] = "";
    size_t len = strlen(key), n = gyre_map_replicas(m, key, len, out, 3, NULL);
    const void *keys[] = {key};
    for (size_t i = 0; i < n; i++) {
        strcat(got, i ? " " : "");
        strcat(got, gyre_map_node(m, out[i])->name);
    }
    assert_string_equal(got, want);
    gyre_map_locate_batch(m, keys, &len, 1, &one);
    assert_int_equal(one, out[0]);
    assert_int_equal(gyre_map_locate(m, key, len), out[0]);
    struct gyre_explain x = {.size = sizeof x};
    assert_int_equal(gyre_map_explain(m, key, len, &x), GYRE_OK);
    assert_int_equal(x.node, out[0]);
    assert_true(x.rule[0]);
}

static void test_answers(void **state)
{
    (void)state;
    static char line[100000];
    FILE *f = fopen(answers, "r");
    assert_non_null(f);
    gyre_map_t *m = NULL;
    unsigned keys = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') {
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = '\0';
        if (strcmp(line, "fleet") == 0) {
            gyre_map_unref(m);
            gyre_topology_t *t = read_fleet(tab + 1);
            m = fleet_map(t);
            gyre_topology_free(t);
        } else {
            check_key(m, line, tab + 1);
            keys++;
        }
    }
    gyre_map_unref(m);
    fclose(f);
    assert_int_equal(keys, 5400);
}

/* The stated bound, at both ends of each interval, over all scales, and where the cost is least. */
static void test_log2(void **state)
{
    (void)state;
    double last = 0;
    for (unsigned bit = 0; bit < 44; bit++) {
        for (unsigned i = 0; i < 2000; i++) {
            uint64_t top = (uint64_t)1 << bit, x = top + gy_stream(bit, i) % top;
            x = i < 17 ? top + (top - 1) / 16 * i : x;
            double got = gy_log2_cost(x << 20);
            double want = (double)(44 - log2l((long double)(x | 1)));
            assert_true(got > 0 && fabs(got - want) <= ldexp(1 + want, -49));
        }
    }
    for (uint64_t i = 0; i < 100000; i++) { /* strictly falling, from the top down */
        double got = gy_log2_cost(~(i << 21));
        assert_true(got > last);
        last = got;
    }
}

static void refused(gyre_topology_t *t, int code, const char *message)
{
    gyre_map_t *m;
    gyre_error_t e = {0};
    assert_int_equal(gyre_map_build(t, &m, &e), code);
    assert_null(m);
    if (!strstr(e.message, message)) {
        fail_msg("'%s' has no '%s'", e.message, message);
    }
    gyre_topology_free(t);
}

static gyre_topology_t *with_weights(const char *settings, double one, double two)
{
    gyre_topology_t *t = fleet_new(settings);
    fleet_add(t, "a", one, NULL);
    fleet_add(t, "b", two, NULL);
    return t;
}

static gyre_topology_t *with_slots(const char *settings, uint32_t one, uint32_t two)
{
    gyre_topology_t *t = with_weights(settings, 1, 1);
    assert_int_equal(gyre_topology_set_slot(t, "a", one, NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set_slot(t, "b", two, NULL), GYRE_OK);
    return t;
}

static void test_refusals(void **state)
{
    (void)state;
    const char *weightless[] = {"algorithm jump", "algorithm jumpback", "algorithm memento"};
    for (size_t i = 0; i < 3; i++) {
        refused(with_weights(weightless[i], 1, 2), GYRE_UNSUPPORTED,
                "knows no weights, but 'a' and 'b' weigh differently; "
                "ring, rendezvous, maglev, slots and dx do");
        refused(with_slots(weightless[i], 4, 4), GYRE_DUPLICATE, "slot 4 is another node's");
    }
    refused(with_slots("algorithm jump", 1, 3), GYRE_UNSUPPORTED, "slot 2 of 3 is empty");
    refused(with_slots("algorithm jumpback", 2, 3), GYRE_UNSUPPORTED, "use memento or dx");
    refused(with_weights("algorithm maglev table 100", 1, 1), GYRE_INVALID, "the next one is 101");
    refused(with_weights("algorithm slots table 1", 1, 1), GYRE_RANGE, "raise `table`");
    refused(with_weights("algorithm dx capacity 100", 1, 1), GYRE_INVALID, "no power of two");
    refused(with_weights("algorithm dx capacity 1", 1, 1), GYRE_RANGE, "slot 2, and there are 1");
    refused(with_weights("algorithm dx", 1, 1.5), GYRE_RANGE, "'b' weighs more than `heaviest`");
    gyre_topology_t *t = with_weights("algorithm maglev table 16777213", 1000000, 0.000001);
    fleet_many(t, "n", 600);
    for (unsigned i = 0; i < 600; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(gyre_topology_set_weight(t, name, 0.000001, NULL), GYRE_OK);
    }
    refused(gyre_topology_clone(t), GYRE_RANGE, "of so unlike weights would take minutes");
    assert_int_equal(gyre_topology_set(t, "algorithm", "slots", NULL), GYRE_OK);
    refused(t, GYRE_RANGE, "dealing 16777213 slots to 602 nodes would take minutes");
    refused(with_weights("algorithm jump level zone", 1, 1), GYRE_UNSUPPORTED,
            "jump does not go in two levels (level: zone)");
    refused(with_weights("like sample algorithm maglev", 1, 1), GYRE_UNSUPPORTED, "like: sample");
    refused(with_weights("algorithm dx heaviest 1000000", 1, 1), GYRE_RANGE, "draws on average");
}

static gyre_map_t *without(const char *settings, unsigned nodes, const char *name)
{
    gyre_topology_t *t = fleet_new(settings);
    fleet_many(t, "node-", nodes);
    if (name) {
        assert_int_equal(gyre_topology_remove(t, name, NULL), GYRE_OK);
    }
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

/* moved / minimum, exactly, of taking one node away */
static double ratio_of(const char *settings, unsigned nodes)
{
    gyre_map_t *from = without(settings, nodes, NULL), *to = without(settings, nodes, "node-3");
    gyre_diff_t *d;
    assert_int_equal(gyre_diff_build(from, to, 0, &d, NULL), GYRE_OK);
    assert_true(gyre_diff_exact(d));
    double ratio = gyre_diff_ratio(d);
    gyre_diff_free(d);
    gyre_map_unref(from);
    gyre_map_unref(to);
    return ratio;
}

/* Tables are compared exactly, with each other and with rings; what maglev moves is as stated. */
static void test_moves(void **state)
{
    (void)state;
    assert_true(ratio_of("algorithm slots", 100) == 1);
    assert_true(ratio_of("algorithm slots table 1000", 7) == 1);
    assert_true(ratio_of("algorithm maglev", 10) < 1.03);
    double hundred = ratio_of("algorithm maglev", 100);
    assert_true(hundred > 1.4 && hundred < 1.7);
    gyre_map_t *ring = without("", 20, NULL), *table = without("algorithm maglev", 20, NULL);
    gyre_map_t *drawn = without("algorithm rendezvous", 20, NULL);
    gyre_diff_t *d;
    assert_int_equal(gyre_diff_build(ring, table, 0, &d, NULL), GYRE_OK);
    assert_true(gyre_diff_exact(d) && gyre_diff_moved(d) > 0.9);
    gyre_diff_free(d);
    assert_int_equal(gyre_diff_build(drawn, table, 0, &d, NULL), GYRE_MISMATCH);
    assert_int_equal(gyre_diff_build(drawn, table, 1000, &d, NULL), GYRE_OK);
    assert_false(gyre_diff_exact(d));
    gyre_diff_free(d);
    struct gyre_balance even = {.size = sizeof even}, uneven = {.size = sizeof uneven};
    gyre_map_balance(table, &even);
    assert_true(even.cv < 0.001 && even.expected_cv == 0);
    gyre_map_unref(table);
    table = without("algorithm slots", 20, NULL);
    gyre_map_balance(table, &uneven); /* sqrt(20 / 65537) is 0.0175 */
    assert_true(uneven.cv > 0.008 && uneven.cv < 0.03);
    assert_true(uneven.expected_cv > 0.016 && uneven.expected_cv < 0.018);
    gyre_map_unref(ring);
    gyre_map_unref(table);
    gyre_map_unref(drawn);
}

static void expect_removed(const gyre_topology_t *t, const char *want)
{
    char got[200] = "";
    size_t n;
    const uint32_t *slots = gyre_topology_removed(t, &n);
    for (size_t i = 0; i < n; i++) {
        sprintf(got + strlen(got), "%s%u", i ? " " : "", slots[i]);
    }
    assert_string_equal(got, want);
}

static uint32_t slot_of(const gyre_topology_t *t, const char *name)
{
    return gyre_topology_find(t, name)->slot;
}

static void test_history(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("algorithm memento");
    fleet_many(t, "n", 6); /* n0 to n5 */
    assert_int_equal(slot_of(t, "n3"), 0);
    assert_int_equal(gyre_topology_number(t, NULL), GYRE_OK);
    assert_int_equal(slot_of(t, "n3"), 4);
    expect_removed(t, "");
    assert_int_equal(gyre_topology_remove(t, "n5", NULL), GYRE_OK); /* the last: shorter */
    expect_removed(t, "");
    assert_int_equal(gyre_topology_remove(t, "n1", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set_weight(t, "n4", 0, NULL), GYRE_OK);
    expect_removed(t, "2 5"); /* the highest too, for there is a gap */
    assert_int_equal(slot_of(t, "n4"), 0);
    assert_int_equal(gyre_topology_set_slot(t, "n4", 5, NULL), GYRE_INVALID);
    gyre_topology_t *copy = gyre_topology_clone(t);
    expect_removed(copy, "2 5");
    gyre_topology_free(copy);
    fleet_add(t, "x", 1, NULL);
    assert_int_equal(gyre_topology_number(t, NULL), GYRE_OK);
    assert_int_equal(slot_of(t, "x"), 5);
    expect_removed(t, "2");
    assert_int_equal(gyre_topology_set_slot(t, "x", 9, NULL), GYRE_OK);
    expect_removed(t, "2 5");
    assert_int_equal(gyre_topology_number(t, NULL), GYRE_OK);
    expect_removed(t, "2 5 8 7 6"); /* what nobody gave up, highest first */
    assert_int_equal(gyre_topology_set_slot(t, "x", 1 << 21, NULL), GYRE_RANGE);
    assert_int_equal(gyre_topology_set_slot(t, "y", 1, NULL), GYRE_UNKNOWN);
    const uint32_t bad[] = {3, 0};
    assert_int_equal(gyre_topology_set_removed(t, bad, 2, NULL), GYRE_RANGE);
    expect_removed(t, "2 5 8 7 6");
    const uint32_t odd[] = {2, 1, 2, 7, 20}; /* 1 is in use; 20 makes the range longer */
    assert_int_equal(gyre_topology_set_removed(t, odd, 5, NULL), GYRE_OK);
    assert_int_equal(gyre_topology_number(t, NULL), GYRE_OK);
    expect_removed(t, "2 7 20 19 18 17 16 15 14 13 12 11 10 8 6 5");
    gyre_topology_free(t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers), cmocka_unit_test(test_log2),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_moves),
                                       cmocka_unit_test(test_history)};
    answers = argc > 1 ? argv[1] : "places.tsv";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
