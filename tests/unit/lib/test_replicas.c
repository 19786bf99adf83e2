/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_replicas.c - distinct nodes, spread over zones, shortage reported.
 */
#include "fleet.h"

static unsigned parts_equal(const char *a, const char *b, unsigned parts)
{
    for (; *a && *a == *b; a++, b++) {
        if (*a == '/' && --parts == 0) {
            return 1;
        }
    }
    return (*a == *b) || (parts == 1 && ((*a == '/' && !*b) || (!*a && *b == '/')));
}

/* Checks one key's answer against the rules, node by node. */
static void check(const gyre_map_t *m, const char *key, size_t want, unsigned parts,
                  unsigned want_flags)
{
    uint32_t out[64];
    unsigned flags = 99;
    size_t n = gyre_map_replicas(m, key, strlen(key), out, want, &flags);
    assert_int_equal(flags, want_flags);
    assert_int_equal(out[0], gyre_map_locate(m, key, strlen(key)));
    for (size_t i = 0; i < n; i++) {
        assert_true(gyre_map_node(m, out[i])->weight > 0);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(out[i], out[j]);
            if (parts && !(flags & GYRE_REPLICAS_SPREAD)) {
                assert_false(parts_equal(gyre_map_node(m, out[i])->zone,
                                         gyre_map_node(m, out[j])->zone, parts));
            }
        }
    }
    assert_int_equal(gyre_map_replicas(m, key, strlen(key), out, want, NULL), n);
    assert_true(n == want || (flags & GYRE_REPLICAS_SHORT));
}

static gyre_topology_t *zoned(const char *settings)
{
    static const char *const zones[] = {"eu/a/r1", "eu/a/r2", "eu/b/r1", "eu/b/r1",
                                        "us/a/r1", "us/a/r1", "us/c/r9", "ap"};
    gyre_topology_t *t = fleet_new(settings);
    for (unsigned i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        fleet_add(t, name, 1, zones[i]);
    }
    fleet_add(t, "drained", 0, "af/x/y"); /* its zone is none to count on */
    return t;
}

static void test_spread(void **state)
{
    (void)state;
    static const char *const words[] = {"none", "region", "zone", "rack"};
    static const size_t groups[] = {8, 3, 5, 6};
    for (unsigned parts = 0; parts < 4; parts++) {
        gyre_topology_t *t = zoned("points 50");
        assert_int_equal(gyre_topology_set(t, "spread", words[parts], NULL), GYRE_OK);
        gyre_map_t *m = fleet_map(t);
        for (unsigned k = 0; k < 500; k++) {
            char key[16];
            snprintf(key, sizeof key, "key%u", k);
            for (size_t want = 1; want <= 10; want++) {
                unsigned flags = want > groups[parts] && parts ? GYRE_REPLICAS_SPREAD : 0;
                check(m, key, want, parts, flags | (want > 8 ? GYRE_REPLICAS_SHORT : 0));
            }
        }
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

/* Two zones and four replicas: two in each, not three in one. */
static void test_shortage_is_shared_out(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 30 spread zone");
    for (unsigned i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        fleet_add(t, name, 1, i < 10 ? "eu/a/r" : "eu/b/r");
    }
    gyre_map_t *m = fleet_map(t);
    for (unsigned k = 0; k < 200; k++) {
        char key[16];
        uint32_t out[4];
        unsigned flags, in_b = 0;
        snprintf(key, sizeof key, "key%u", k);
        assert_int_equal(gyre_map_replicas(m, key, strlen(key), out, 4, &flags), 4);
        for (unsigned i = 0; i < 4; i++) {
            in_b += strcmp(gyre_map_node(m, out[i])->zone, "eu/b/r") == 0;
        }
        assert_int_equal(in_b, 2);
        assert_int_equal(flags, GYRE_REPLICAS_SPREAD);
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* Without zone paths all may stand in one place, which is said. */
static void test_no_zones(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("spread region");
    fleet_many(t, "n", 5);
    gyre_map_t *m = fleet_map(t);
    check(m, "k", 1, 0, 0);
    check(m, "k", 3, 0, GYRE_REPLICAS_SPREAD);
    check(m, "k", 6, 0, GYRE_REPLICAS_SPREAD | GYRE_REPLICAS_SHORT);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void test_other_placements(void **state)
{
    (void)state;
    const char *settings[] = {"algorithm modulo spread zone", "like sample spread zone",
                              "like sample mode md5_128 vnodes 2 spread zone"};
    for (size_t s = 0; s < 3; s++) {
        gyre_topology_t *t = zoned(settings[s]);
        gyre_map_t *m = fleet_map(t);
        for (unsigned k = 0; k < 100; k++) {
            char key[16];
            snprintf(key, sizeof key, "key%u", k);
            check(m, key, 5, 2, 0);
            check(m, key, 6, 2, GYRE_REPLICAS_SPREAD);
        }
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_shortage_is_shared_out),
        cmocka_unit_test(test_no_zones),
        cmocka_unit_test(test_other_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
