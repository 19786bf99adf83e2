/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan.c - a list of changes becomes a topology, whole or not at all.
 */
#include "fleet.h"

static struct gyre_change change(enum gyre_change_kind kind, const char *name, double weight,
                                 const char *address)
{
    return (struct gyre_change){
        .size = sizeof(struct gyre_change),
        .kind = kind,
        .node = {
            .size = sizeof(struct gyre_node), .name = name, .weight = weight, .address = address}};
}

static void test_apply(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 10"), *u = NULL;
    fleet_many(t, "n", 4);
    gyre_topology_set_version(t, 7);
    const struct gyre_change c[] = {
        change(GYRE_ADD, "n4", 2, "h:4"),   change(GYRE_REMOVE, "n0", 0, NULL),
        change(GYRE_WEIGHT, "n1", 3, NULL), change(GYRE_REPLACE, "n2", 0, "h:2"),
        change(GYRE_REMOVE, "n4", 0, NULL), change(GYRE_ADD, "n4", 1, "h:5"),
    };
    gyre_error_t e;
    assert_int_equal(gyre_plan_apply(t, c, 6, &u, &e), GYRE_OK);
    assert_int_equal(gyre_topology_version(u), 8);
    assert_int_equal(gyre_topology_version(t), 7);
    assert_int_equal(gyre_topology_count(t), 4);
    assert_int_equal(gyre_topology_count(u), 4);
    assert_null(gyre_topology_find(u, "n0"));
    assert_true(gyre_topology_find(u, "n1")->weight == 3);
    assert_string_equal(gyre_topology_find(u, "n2")->address, "h:2");
    assert_string_equal(gyre_topology_find(u, "n4")->address, "h:5");
    assert_string_equal(gyre_topology_get(u, "points"), "10");
    gyre_topology_free(u);
    assert_int_equal(gyre_plan_apply(t, NULL, 0, &u, &e), GYRE_OK);
    assert_int_equal(gyre_topology_count(u), 4);
    gyre_topology_free(u);
    gyre_topology_free(t);
}

static void test_refusals(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new(""), *u;
    fleet_many(t, "n", 4);
    struct gyre_change wrong[] = {
        change(GYRE_ADD, "n3", 1, NULL),     change(GYRE_REMOVE, "m0", 0, NULL),
        change(GYRE_WEIGHT, "n1", -1, NULL), change(GYRE_WEIGHT, "x", 1, NULL),
        change(GYRE_REPLACE, "x", 1, NULL),  change((enum gyre_change_kind)77, "n1", 1, NULL),
        change(GYRE_REMOVE, NULL, 0, NULL),  change(GYRE_REMOVE, "n2", 0, NULL),
    };
    const int codes[] = {GYRE_DUPLICATE, GYRE_UNKNOWN, GYRE_RANGE,   GYRE_UNKNOWN,
                         GYRE_UNKNOWN,   GYRE_INVALID, GYRE_INVALID, GYRE_INVALID};
    wrong[7].size = 4;
    for (size_t i = 0; i < 8; i++) {
        struct gyre_change c[] = {change(GYRE_REMOVE, "n0", 0, NULL), wrong[i]};
        gyre_error_t e = {0};
        u = (gyre_topology_t *)8;
        assert_int_equal(gyre_plan_apply(t, c, 2, &u, &e), codes[i]);
        assert_int_equal(e.code, codes[i]);
        assert_null(u);
        assert_int_equal(gyre_topology_count(t), 4);
    }
    gyre_topology_set_version(t, INT64_MAX - 1);
    assert_int_equal(gyre_plan_apply(t, NULL, 0, &u, NULL), GYRE_OK);
    assert_int_equal(gyre_topology_version(u), INT64_MAX);
    gyre_topology_free(u);
    gyre_topology_set_version(t, INT64_MAX);
    assert_int_equal(gyre_plan_apply(t, NULL, 0, &u, NULL), GYRE_RANGE);
    gyre_topology_set_version(t, UINT64_MAX);
    assert_int_equal(gyre_plan_apply(t, NULL, 0, &u, NULL), GYRE_RANGE);
    gyre_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
