/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_same.c - two maps are the same placement or are not: for each kind of map what makes the
 * difference, one thing at a time. And which settings an algorithm reads.
 */
#include "fleet.h"

#include <stdlib.h>

#include "lib/map.h"
#include "lib/readers.h"

/* Nodes "NAME ZONE OPTIONS WEIGHT SLOT", parted by ';'; '-' for none. */
static gyre_map_t *built(const char *settings, const char *nodes)
{
    gyre_topology_t *t = fleet_new(settings);
    char name[64], zone[64], options[64];
    double weight;
    unsigned slot;
    int used;
    while (sscanf(nodes, " %63s %63s %63s %lf %u%n", name, zone, options, &weight, &slot, &used) ==
           5) {
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = weight, .slot = slot};
        n.zone = strcmp(zone, "-") ? zone : NULL;
        n.options = strcmp(options, "-") ? options : NULL;
        assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
        nodes += used;
    }
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static void test_same(void **state)
{
    (void)state;
    const struct {
        bool same;
        const char *settings, *nodes, *other_settings, *other_nodes;
    } rows[] = {
        {true, "algorithm jump", "a - - 1 1 b - - 1 2", NULL, "b - - 1 2 a - - 1 1"},
        {false, "algorithm jump", "a - - 1 1 b - - 1 2", NULL, "a - - 1 2 b - - 1 1"},
        {false, "algorithm memento", "a - - 1 1 b - - 1 2", NULL, "a - - 1 1 b - - 1 3"},
        {false, "algorithm memento", "a - - 1 1 b - - 1 3", NULL, "a - - 1 2 b - - 1 3"},
        {true, "algorithm dx", "a - - 1 1 b - - 1 2", NULL, "b - - 1 2 a - - 1 1 c - - 0 0"},
        {false, "algorithm dx", "a - - 1 1 b - - 1 2", NULL, "b - - 1 1 a - - 1 2"},
        {false, "algorithm dx heaviest 2", "a - - 1 1 b - - 1 2", NULL, "a - - 2 1 b - - 1 2"},
        {true, "algorithm rendezvous", "a - - 1 0 b - - 1 0", NULL, "b - - 2 0 a - - 2 0"},
        {false, "algorithm rendezvous", "a - - 1 0 b - - 1 0", NULL, "a - - 1 0 b - - 2 0"},
        {false, "algorithm rendezvous", "a - - 1 0 b - - 2 0", NULL, "a - - 2 0 b - - 1 0"},
        {true, "algorithm rendezvous", "a - - 1 0 b - - 2 0", NULL,
         "0 - - 0 0 a - - 1 0 b - - 2 0"},
        {false, "algorithm rendezvous level region", "a x - 1 0 b y - 1 0", NULL,
         "a x - 1 0 b x - 1 0"},
        {false, "algorithm rendezvous level region", "a x - 1 0 b x - 1 0 c y - 1 0", NULL,
         "a x - 1 0 b y - 1 0 c y - 1 0"},
        {true, "algorithm rendezvous level region", "a x - 1 0 b x - 1 0 c y - 0 0", NULL,
         "b x - 1 0 a x - 1 0"},
        {false, "algorithm slots table 101", "a - - 1 0 b - - 1 0", "algorithm slots table 103",
         "a - - 1 0 b - - 1 0"},
        {true, "like cassandra distribution NetworkTopologyStrategy rf dc1:2",
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=7 1 0", NULL,
         "b dc1/r2 tokens=7 1 0 a dc1/r1 tokens=-5 1 0"},
        {false, "like cassandra distribution NetworkTopologyStrategy rf dc1:2",
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=7 1 0", NULL,
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=8 1 0"},
        {false, "like cassandra distribution NetworkTopologyStrategy rf dc1:2",
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=7 1 0", NULL,
         "a dc1/r2 tokens=-5 1 0 b dc1/r2 tokens=7 1 0"},
        {false, "like cassandra distribution NetworkTopologyStrategy rf dc1:2",
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=7 1 0", NULL,
         "a dc1/r1 tokens=7 1 0 b dc1/r2 tokens=-5 1 0"},
        {false, "like cassandra distribution NetworkTopologyStrategy rf dc1:2",
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=7 1 0",
         "like cassandra distribution NetworkTopologyStrategy rf dc1:1",
         "a dc1/r1 tokens=-5 1 0 b dc1/r2 tokens=7 1 0"},
        {true, "like thanos distribution ketama vnodes 5", "a z1 - 1 0 b z2 - 1 0", NULL,
         "b z2 - 1 0 a z1 - 1 0"},
        {false, "like thanos distribution ketama vnodes 5", "a z1 - 1 0 b z2 - 1 0", NULL,
         "a z2 - 1 0 b z2 - 1 0"},
        {false, "like thanos distribution ketama vnodes 5", "a z1 - 1 0 b z2 - 1 0", NULL,
         "a z1 - 1 0 c z2 - 1 0"},
        {true, "like mcrouter distribution WeightedRendezvous", "a - - 1 0 b - - 2 0", NULL,
         "a - - 1 0 b - - 2 0"},
        {false, "like mcrouter distribution WeightedRendezvous", "a - - 1 0 b - - 2 0", NULL,
         "a - - 2 0 b - - 1 0"},
        {false, "like mcrouter distribution Rendezvous", "a - - 1 0 b - - 1 0", NULL,
         "b - - 1 0 a - - 1 0"},
        {false, "like mcrouter distribution WeightedCh3", "a - - 1 0 b - - 0.5 0", NULL,
         "a - - 0.5 0 b - - 1 0"},
        {false, "spread zone", "a e/x - 1 0 b e/y - 1 0", NULL, "a e/x - 1 0 b e/x - 1 0"},
        {false, "", "a - - 1 0", "like nginx", "a - - 1 0"},
        {false, "like npm-hashring", "a - - 1 0", "like npm-hashring hash sha1", "a - - 1 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *settings = rows[i].other_settings;
        gyre_map_t *a = built(rows[i].settings, rows[i].nodes);
        gyre_map_t *b = built(settings ? settings : rows[i].settings, rows[i].other_nodes);
        if (gyre_map_same(a, b) != rows[i].same || gyre_map_same(b, a) != rows[i].same) {
            fail_msg("row %zu: %s: %s / %s", i, rows[i].settings, rows[i].nodes,
                     rows[i].other_nodes);
        }
        gyre_map_unref(a);
        gyre_map_unref(b);
    }
}

/* ---- carbon-c-relay's orders ---- */

/* Names and instances as "NAME=INSTANCE", '-' for none; the buckets' names in order. */
static void in_order(const char *const *nodes, size_t n, const char *const *expected)
{
    gyre_topology_t *t = fleet_new("like carbon-c-relay distribution jump_fnv1a_ch");
    for (size_t i = 0; i < n; i++) {
        char name[64], options[64];
        const char *equals = strchr(nodes[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - nodes[i]), nodes[i]);
        snprintf(options, sizeof options, "instance%s", equals);
        struct gyre_node node = {.size = sizeof node, .name = name, .weight = 1};
        node.options = equals[1] == '-' ? NULL : options;
        assert_int_equal(gyre_topology_add(t, &node, NULL), GYRE_OK);
    }
    gyre_map_t *m = fleet_map(t);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(m->nodes[m->place->node(m, i)].name, expected[i]);
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void test_carbon_order(void **state)
{
    (void)state;
    /* Numbers by value; what is none as text after them; without one last, as they came. */
    const char *numbers[] = {"a:1=10", "b:1=9", "c:1=009", "d:1=-", "e=-", "f:1=x"};
    in_order(numbers, 3, (const char *[]){"b:1", "c:1", "a:1"});
    in_order(numbers + 3, 3, (const char *[]){"f:1", "d:1", "e"});
    const char *texts[] = {"a:1=b", "b:1=a", "c:1=ab", "d:1=1234567890", "e:1=a"};
    in_order(texts, 5, (const char *[]){"d:1", "b:1", "e:1", "c:1", "a:1"});
}

/* Two ports of one host without instances have the same points; with fnv1a_ch each its own. */
static void test_carbon_points(void **state)
{
    (void)state;
    const char *nodes = "h:2004 - - 1 0 h:2003 - - 1 0 [::1]:7 - - 1 0 g - instance=q 1 0";
    gyre_map_t *m = built("like carbon-c-relay", nodes);
    assert_true(gyre_map_share(m, gyre_map_find(m, "h:2004")) > 0);
    assert_true(gyre_map_share(m, gyre_map_find(m, "h:2003")) == 0);
    gyre_map_unref(m);
    m = built("like carbon-c-relay distribution fnv1a_ch", nodes);
    for (uint32_t i = 0; i < gyre_map_count(m); i++) {
        assert_true(gyre_map_share(m, i) > 0.1);
    }
    gyre_map_unref(m);
}

/* ---- who reads a setting ---- */

static void test_readers(void **state)
{
    (void)state;
    const struct {
        const char *settings, *key, *message; /* NULL: it is read */
    } rows[] = {
        {"", "points", NULL},
        {"", "replicas", NULL},
        {"", "hash_tag", NULL},
        {"algorithm maglev", "table", NULL},
        {"algorithm slots", "level", NULL},
        {"algorithm dx", "heaviest", NULL},
        {"like nginx", "points", NULL},
        {"algorithm dx", "points", "points is a setting of algorithm: ring, not of dx"},
        {"", "table", "table is a setting of algorithm: maglev, slots, not of ring"},
        {"algorithm jump", "level",
         "level is a setting of algorithm: ring, rendezvous, maglev, slots, not of jump"},
        {"", "vnodes", "vnodes is a setting of like: sample, not of algorithm: ring"},
        {"algorithm modulo", "mode", "mode is a setting of like: sample, not of algorithm: modulo"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gyre_topology_t *t = fleet_new(rows[i].settings);
        gyre_error_t e = {0};
        int err = gy_readers_check(t, rows[i].key, &e);
        assert_int_equal(err, rows[i].message ? GYRE_UNKNOWN : GYRE_OK);
        assert_string_equal(e.message, rows[i].message ? rows[i].message : "");
        gyre_topology_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_carbon_order),
        cmocka_unit_test(test_carbon_points),
        cmocka_unit_test(test_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
