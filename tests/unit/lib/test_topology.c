/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_topology.c - nodes come and go; whatever is wrong with one is said, and changes nothing.
 */
#include "fleet.h"

#include <math.h>

static void add_refused(struct gyre_node n, int code, const char *message)
{
    gyre_topology_t *t = fleet_new("");
    fleet_add(t, "cache-0", 1, NULL);
    gyre_error_t e = {0};
    assert_int_equal(gyre_topology_add(t, &n, &e), code);
    if (!strstr(e.message, message)) {
        fail_msg("'%s' has no '%s'", e.message, message);
    }
    assert_int_equal(gyre_topology_count(t), 1);
    gyre_topology_free(t);
}

#define NODE(...) ((struct gyre_node){.size = sizeof(struct gyre_node), __VA_ARGS__})

static void test_add_refusals(void **state)
{
    (void)state;
    static char long_name[4098];
    memset(long_name, 'n', 4097);
    add_refused((struct gyre_node){.name = "a", .weight = 1}, GYRE_INVALID, "size");
    add_refused(NODE(.weight = 1), GYRE_INVALID, "no name");
    add_refused(NODE(.name = "", .weight = 1), GYRE_INVALID, "no name");
    add_refused(NODE(.name = long_name, .weight = 1), GYRE_RANGE, "longer than 4096 bytes");
    add_refused(NODE(.name = "cache-0", .weight = 1), GYRE_DUPLICATE,
                "two nodes are called 'cache-0'");
    add_refused(NODE(.name = "a", .weight = -1), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "a", .weight = -1e-9), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "a", .weight = (double)NAN), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "a", .weight = (double)INFINITY), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "a", .weight = 1e9), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "a", .weight = 1000000.1), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "a", .weight = 0.0000009), GYRE_RANGE, "weight");
    add_refused(NODE(.name = "evil\n\x1b", .weight = -1), GYRE_RANGE, "evil\\x0a\\x1b");
}

static void test_names_of_all_kinds(void **state)
{
    (void)state;
    static char longest[4097];
    memset(longest, 'n', 4096);
    const char *names[] = {"with space", "caf\xc3\xa9", longest, "[::1]:6380",
                           "\xff\xfe",   "'",           "\n"};
    gyre_topology_t *t = fleet_new("");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fleet_add(t, names[i], 1, NULL);
        assert_string_equal(gyre_topology_node(t, i)->name, names[i]);
        assert_string_equal(gyre_topology_find(t, names[i])->name, names[i]);
    }
    gyre_topology_free(t);
}

static void test_weights_are_kept_in_steps(void **state)
{
    (void)state;
    const double in[] = {0, -0.0, 0.000001, 0.1, 0.3, 1, 2.5, 1.23456749, 999999.9999994, 1e6};
    const double out[] = {0, 0, 0.000001, 0.1, 0.3, 1, 2.5, 1.234567, 999999.999999, 1e6};
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++) {
        gyre_topology_t *t = fleet_new("");
        fleet_add(t, "a", in[i], NULL);
        assert_true(gyre_topology_find(t, "a")->weight == out[i]);
        assert_int_equal(gyre_topology_set_weight(t, "a", 7, NULL), GYRE_OK);
        assert_true(gyre_topology_find(t, "a")->weight == 7);
        gyre_topology_free(t);
    }
}

static void test_find_and_change(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    gyre_error_t e;
    assert_null(gyre_topology_find(t, "cache-0"));
    assert_int_equal(gyre_topology_remove(t, "cache-0", &e), GYRE_UNKNOWN);
    fleet_many(t, "cache-", 50);
    assert_null(gyre_topology_find(t, NULL));
    assert_null(gyre_topology_node(t, 50));
    assert_int_equal(gyre_topology_set_address(t, "cache-7", "10.0.0.1:1", &e), GYRE_OK);
    assert_string_equal(gyre_topology_find(t, "cache-7")->address, "10.0.0.1:1");
    assert_int_equal(gyre_topology_set_address(t, "cache-7", NULL, &e), GYRE_OK);
    assert_null(gyre_topology_find(t, "cache-7")->address);
    assert_int_equal(gyre_topology_set_address(t, "cahce-7", "x", &e), GYRE_UNKNOWN);
    assert_non_null(strstr(e.message, "no node is called 'cahce-7'; did you mean 'cache-7'?"));
    assert_int_equal(gyre_topology_set_weight(t, "elsewhere", 1, &e), GYRE_UNKNOWN);
    assert_null(strstr(e.message, "did you mean"));
    assert_int_equal(gyre_topology_set_weight(t, "cache-7", -3, &e), GYRE_RANGE);
    assert_true(gyre_topology_find(t, "cache-7")->weight == 1);
    assert_int_equal(gyre_topology_remove(t, NULL, &e), GYRE_INVALID);
    assert_int_equal(gyre_topology_set_weight(t, NULL, 1, &e), GYRE_INVALID);
    assert_int_equal(gyre_topology_set_address(t, NULL, "x", &e), GYRE_INVALID);
    gyre_topology_free(t);
}

static void test_remove_keeps_order(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    fleet_many(t, "n", 40);
    for (unsigned i = 0; i < 40; i += 2) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(gyre_topology_remove(t, name, NULL), GYRE_OK);
        assert_null(gyre_topology_find(t, name));
    }
    assert_int_equal(gyre_topology_count(t), 20);
    for (unsigned i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", 2 * i + 1);
        assert_string_equal(gyre_topology_node(t, i)->name, name);
        assert_ptr_equal(gyre_topology_find(t, name), gyre_topology_node(t, i));
    }
    gyre_topology_free(t);
}

static void test_clone_stands_alone(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 77");
    gyre_topology_set_version(t, 41);
    fleet_add(t, "b", 2, "eu/a");
    fleet_add(t, "a", 1, NULL);
    gyre_topology_t *c = gyre_topology_clone(t);
    assert_non_null(c);
    assert_int_equal(gyre_topology_remove(t, "b", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "points", "5", NULL), GYRE_OK);
    gyre_topology_free(t);
    assert_int_equal(gyre_topology_version(c), 41);
    assert_string_equal(gyre_topology_get(c, "points"), "77");
    assert_string_equal(gyre_topology_node(c, 0)->name, "b");
    assert_string_equal(gyre_topology_node(c, 0)->zone, "eu/a");
    assert_null(gyre_topology_node(c, 0)->address);
    gyre_topology_free(c);
    gyre_topology_free(NULL);
}

/* A zone is no node, and which node it was said of is told. */
static void test_long_zone(void **state)
{
    (void)state;
    char zone[2 * 4097 + 2];
    memset(zone, 'z', sizeof zone - 1);
    zone[sizeof zone - 1] = '\0';
    zone[4096] = '/';
    for (int longer = 0; longer < 2; longer++) {
        gyre_topology_t *t = fleet_new("level region");
        gyre_error_t e = {0};
        gyre_map_t *m;
        fleet_add(t, "a", 1, "eu");
        fleet_add(t, "b", 1, zone);
        fleet_add(t, "c", 1, zone);
        assert_int_equal(gyre_map_build(t, &m, &e), longer ? GYRE_RANGE : GYRE_OK);
        assert_true(!longer || strncmp(e.message, "node 'b': its zone 'zzz", 23) == 0);
        assert_true(!longer || strstr(e.message, "...' is longer than 4096 bytes"));
        gyre_map_unref(m);
        gyre_topology_free(t);
        zone[4096] = 'z';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_refusals),
        cmocka_unit_test(test_names_of_all_kinds),
        cmocka_unit_test(test_weights_are_kept_in_steps),
        cmocka_unit_test(test_find_and_change),
        cmocka_unit_test(test_remove_keeps_order),
        cmocka_unit_test(test_clone_stands_alone),
        cmocka_unit_test(test_long_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
