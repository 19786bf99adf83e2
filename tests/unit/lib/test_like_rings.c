/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_like_rings.c - Thanos and dskit, which have no vector files: Thanos' own published test
 * values (TestKetamaHashringGet), and for both every answer found a second time the slow way, from
 * the rule alone.
 */
#include "fleet.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/hash/functions.h"
#include "lib/hash/table.h"

static void with(gyre_topology_t *t, const char *name, const char *zone, const char *options)
{
    struct gyre_node n = {
        .size = sizeof n, .name = name, .weight = 1, .zone = zone, .options = options};
    assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
}

/* Takes t. */
static gyre_map_t *built(gyre_topology_t *t)
{
    gyre_error_t e = {0};
    gyre_map_t *m;
    if (gyre_map_build(t, &m, &e)) {
        fail_msg("%s", e.message);
    }
    gyre_topology_free(t);
    return m;
}

static void refused(gyre_topology_t *t, int code, const char *message)
{
    gyre_error_t e = {0};
    gyre_map_t *m;
    assert_int_equal(gyre_map_build(t, &m, &e), code);
    assert_non_null(strstr(e.message, message));
    gyre_topology_free(t);
}

/* ---- Thanos ---- */

#define SERIES(value) "tenant\xffpod\xff" value "\xff"

static void thanos_published(void **state)
{
    (void)state;
    static const struct {
        const char *nodes, *key, *first, *second, *third;
    } rows[] = {
        {"123", SERIES("nginx"), "node-2", "node-1", "node-3"},
        {"132", SERIES("nginx"), "node-2", "node-1", "node-3"},
        {"0123", SERIES("nginx"), "node-2", NULL, NULL},
        {"1234", SERIES("nginx"), "node-2", NULL, NULL},
        {"123", SERIES("thanos"), "node-3", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gyre_topology_t *t = fleet_new("like thanos distribution ketama vnodes 10");
        for (const char *p = rows[i].nodes; *p; p++) {
            char name[] = {'n', 'o', 'd', 'e', '-', *p, 0};
            with(t, name, NULL, NULL);
        }
        gyre_map_t *m = built(t);
        uint32_t out[3];
        const char *const want[] = {rows[i].first, rows[i].second, rows[i].third};
        assert_int_equal(gyre_map_replicas(m, rows[i].key, strlen(rows[i].key), out, 3, NULL), 3);
        for (size_t k = 0; k < 3 && want[k]; k++) {
            assert_string_equal(gyre_map_node(m, out[k])->name, want[k]);
        }
        gyre_map_unref(m);
    }
}

enum { SECTIONS = 40, ENDPOINTS = 7, COPIES = 5 };

struct section {
    uint64_t hash;
    unsigned node;
};

static int by_hash(const void *a, const void *b)
{
    const struct section *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The rule as Thanos states it: maps and counts, section by section. */
static void slow_replicas(const struct section *all, uint64_t hash, const unsigned *zone,
                          unsigned zones, unsigned *out)
{
    size_t i = 0, total = SECTIONS * ENDPOINTS;
    unsigned spread[3] = {0}, n = 0;
    bool used[ENDPOINTS] = {false};
    while (i < total && all[i].hash < hash) {
        i++;
    }
    for (; n < COPIES; i++) {
        unsigned node = all[i % total].node, least = spread[0];
        for (unsigned z = 1; z < zones; z++) {
            least = spread[z] < least ? spread[z] : least;
        }
        bool wait = zones > 1 && spread[zone[node]] > 0 && spread[zone[node]] > least;
        if (!used[node] && !wait) {
            used[node] = true;
            spread[zone[node]]++;
            out[n++] = node;
        }
    }
}

static void thanos_zones(void **state)
{
    (void)state;
    static const unsigned by[2][ENDPOINTS] = {{0, 1, 2, 0, 1, 2, 0}, {0}};
    static const char *const names[] = {"az-a", "az-b", "az-c"};
    for (unsigned zoned = 0; zoned < 2; zoned++) {
        const unsigned *zone = by[zoned ? 0 : 1];
        struct section all[SECTIONS * ENDPOINTS];
        gyre_topology_t *t = fleet_new("like thanos distribution ketama vnodes 40");
        for (unsigned i = 0; i < ENDPOINTS; i++) {
            char name[32], text[48];
            snprintf(name, sizeof name, "receive-%u:10901", i);
            with(t, name, zoned ? names[zone[i]] : NULL, NULL);
            for (unsigned k = 1; k <= SECTIONS; k++) {
                int n = snprintf(text, sizeof text, "%s:%u", name, k);
                all[i * SECTIONS + k - 1] = (struct section){gy_xxh64(text, (size_t)n, 0), i};
            }
        }
        qsort(all, SECTIONS * ENDPOINTS, sizeof *all, by_hash);
        gyre_map_t *m = built(t);
        for (unsigned k = 0; k < 2000; k++) {
            char key[32];
            uint32_t out[COPIES];
            unsigned want[COPIES];
            size_t n = (size_t)snprintf(key, sizeof key, "t%u\xff", k);
            slow_replicas(all, gy_xxh64(key, n, 0), zone, zoned ? 3 : 1, want);
            assert_int_equal(gyre_map_replicas(m, key, n, out, COPIES, NULL), COPIES);
            assert_int_equal(gyre_map_locate(m, key, n), out[0]);
            for (unsigned i = 0; i < COPIES; i++) {
                unsigned number;
                assert_int_equal(sscanf(gyre_map_node(m, out[i])->name, "receive-%u", &number), 1);
                assert_int_equal(number, want[i]);
            }
        }
        gyre_map_unref(m);
    }
}

/* More zones than are counted one by one: each replica stands in one of its own all the same. */
static void thanos_many_zones(void **state)
{
    (void)state;
    enum { ZONES = 70, WANT = 12 };
    gyre_topology_t *t = fleet_new("like thanos distribution ketama vnodes 5");
    for (unsigned i = 0; i < ZONES * 2; i++) {
        char name[16], zone[16];
        snprintf(name, sizeof name, "n%u", i);
        snprintf(zone, sizeof zone, "z%u", i % ZONES);
        fleet_add(t, name, 1, zone);
    }
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    for (unsigned key = 0; key < 50; key++) {
        uint32_t out[WANT];
        assert_int_equal(gyre_map_replicas(m, &key, sizeof key, out, WANT, NULL), WANT);
        for (unsigned i = 0; i < WANT; i++) {
            for (unsigned j = 0; j < i; j++) {
                assert_string_not_equal(gyre_map_node(m, out[i])->zone,
                                        gyre_map_node(m, out[j])->zone);
            }
        }
    }
    gyre_map_unref(m);
}

static void thanos_hashmod(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like thanos");
    with(t, "b:1", NULL, NULL);
    with(t, "c:1", NULL, NULL);
    with(t, "a:1", NULL, NULL);
    gyre_map_t *m = built(t);
    for (unsigned k = 0; k < 500; k++) {
        char key[32];
        uint32_t out[3];
        size_t n = (size_t)snprintf(key, sizeof key, "k%u", k);
        uint64_t hash = gy_xxh64(key, n, 0);
        assert_int_equal(gyre_map_replicas(m, key, n, out, 3, NULL), 3);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(gyre_map_node(m, out[i])->name[0], "abc"[(hash + i) % 3]);
        }
    }
    gyre_map_unref(m);
    t = fleet_new("like thanos");
    with(t, "a:1", "az-a", NULL);
    refused(t, GYRE_UNSUPPORTED, "hashmod knows no zones");
}

/* ---- dskit ---- */

static void dskit(void **state)
{
    (void)state;
    static const uint32_t tokens[] = {5, 1000, 2000000000, 4000000000u, 4294967295u};
    static const unsigned owner[] = {1, 0, 1, 2, 0};
    static const char *const hashes[] = {"fnv1a_32", "fnv1_32", "none"};
    for (unsigned h = 0; h < 3; h++) {
        char settings[64];
        snprintf(settings, sizeof settings, "like dskit hash %s", hashes[h]);
        gyre_topology_t *t = fleet_new(settings);
        with(t, "0", NULL, "tokens=1000,4294967295");
        with(t, "1", NULL, "tokens=2000000000,5");
        with(t, "2", NULL, "tokens=4000000000");
        gyre_map_t *m = built(t);
        for (unsigned k = 0; k < 3000; k++) {
            char key[32];
            uint32_t x = k < 5 ? tokens[k] : k < 10 ? tokens[k - 5] - 1 : k * 1431655u;
            size_t n = (size_t)snprintf(key, sizeof key, "%u", x), i = 0;
            uint32_t hash = h == 0 ? gy_fnv1a_32(key, n) : h == 1 ? gy_fnv1_32(key, n) : x;
            while (i < 5 && tokens[i] <= hash) { /* the first above it */
                i++;
            }
            const char *name = gyre_map_node(m, gyre_map_locate(m, key, n))->name;
            assert_int_equal((unsigned)(name[0] - '0'), owner[i % 5]);
        }
        gyre_map_unref(m);
    }
    gyre_topology_t *t = fleet_new("like dskit");
    fleet_many(t, "n", 4);
    gyre_map_t *m = built(t);
    assert_true(gyre_map_share(m, 0) == 0.25);
    gyre_map_unref(m);
    static const char *const bad[] = {"tokens=4294967296", "tokens=-1", "tokens=", "tokens=1,,2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        t = fleet_new("like dskit");
        with(t, "a", NULL, bad[i]);
        refused(t, GYRE_INVALID, "tokens are numbers of 0 to 4294967295");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thanos_published),
        cmocka_unit_test(thanos_zones),
        cmocka_unit_test(thanos_many_zones),
        cmocka_unit_test(thanos_hashmod),
        cmocka_unit_test(dskit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
