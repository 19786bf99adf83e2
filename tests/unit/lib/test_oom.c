/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_oom.c - every allocation of the library failing in turn: each operation answers NOMEM, leaks
 * nothing, leaves what it was given as it was, and works once memory is there.
 */
#include "oom.h"

/* What the operations below work on; made with memory to spare. */
static gyre_topology_t *topology, *other;
static gyre_map_t *from, *to, *modulo_from, *modulo_to, *sampled;

static int op_new(gyre_error_t *e)
{
    (void)e;
    gyre_topology_t *t = gyre_topology_new();
    gyre_topology_free(t);
    return t ? GYRE_OK : GYRE_NOMEM;
}

static int op_clone(gyre_error_t *e)
{
    (void)e;
    gyre_topology_t *t = gyre_topology_clone(topology);
    gyre_topology_free(t);
    return t ? GYRE_OK : GYRE_NOMEM;
}

/* Forty nodes: list and index grow several times. */
static int op_add(gyre_error_t *e)
{
    gyre_topology_t *t = gyre_topology_new();
    int err = t ? GYRE_OK : GYRE_NOMEM;
    for (unsigned i = 0; !err && i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        struct gyre_node n = {sizeof n, name, "address", 1, "zone", NULL};
        err = gyre_topology_add(t, &n, e);
        assert_int_equal(gyre_topology_count(t), err ? i : i + 1);
        assert_int_equal(gyre_topology_find(t, name) != NULL, !err);
    }
    gyre_topology_free(t);
    return err;
}

static int op_address(gyre_error_t *e)
{
    gyre_topology_t *t = gyre_topology_clone(topology);
    int err = t ? gyre_topology_set_address(t, "n1", "new", e) : GYRE_NOMEM;
    gyre_topology_free(t);
    return err;
}

/* What gives a slot up has to write that down; a failure leaves the node where it was. */
static int op_slots(gyre_error_t *e)
{
    gyre_topology_t *t = gyre_topology_clone(topology);
    int err = t ? gyre_topology_number(t, e) : GYRE_NOMEM;
    err = err ? err : gyre_topology_remove(t, "n3", e);
    assert_true(!t || gyre_topology_count(t) >= (err ? 20u : 19u));
    err = err ? err : gyre_topology_set_weight(t, "n4", 0, e);
    err = err ? err : gyre_topology_set_slot(t, "n5", 90, e);
    const uint32_t removed[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    err = err ? err : gyre_topology_set_removed(t, removed, 9, e);
    err = err ? err : gyre_topology_number(t, e);
    gyre_topology_free(t);
    return err;
}

static int op_map(gyre_error_t *e)
{
    gyre_map_t *m;
    int err = gyre_map_build(topology, &m, e);
    assert_int_equal(m == NULL, err != GYRE_OK);
    gyre_map_unref(m);
    return err;
}

static int op_plan(gyre_error_t *e)
{
    const struct gyre_change c[] = {
        {sizeof c[0], GYRE_ADD, {sizeof(struct gyre_node), "new", "address", 1, NULL, NULL}},
        {sizeof c[0], GYRE_REPLACE, {sizeof(struct gyre_node), "n1", "elsewhere", 1, NULL, NULL}},
    };
    gyre_topology_t *t;
    int err = gyre_plan_apply(topology, c, 2, &t, e);
    assert_int_equal(t == NULL, err != GYRE_OK);
    gyre_topology_free(t);
    return err;
}

static int diff_of(gyre_map_t *a, gyre_map_t *b, gyre_error_t *e)
{
    gyre_diff_t *d;
    int err = gyre_diff_build(a, b, 500, &d, e);
    assert_int_equal(d == NULL, err != GYRE_OK);
    gyre_diff_free(d);
    return err;
}

static int op_diff(gyre_error_t *e)
{
    return diff_of(from, to, e);
}

static int op_diff_modulo(gyre_error_t *e)
{
    return diff_of(modulo_from, modulo_to, e);
}

static int op_diff_sampled(gyre_error_t *e)
{
    return diff_of(from, sampled, e);
}

static int op_holdings(gyre_error_t *e)
{
    gyre_holdings_t *h;
    int err = gyre_holdings_build(from, 3, 0, &h, e);
    assert_true(!err == (h != NULL));
    gyre_holdings_free(h);
    return err;
}

static int op_holdings_sampled(gyre_error_t *e)
{
    gyre_holdings_t *h;
    int err = gyre_holdings_build(modulo_from, 2, 300, &h, e);
    assert_true(!err == (h != NULL));
    gyre_holdings_free(h);
    return err;
}

static void set(gyre_topology_t *t, const char *key, const char *value)
{
    assert_int_equal(gyre_topology_set(t, key, value, NULL), GYRE_OK);
}

static void test_each(void **state)
{
    (void)state;
    until_failure = SIZE_MAX;
    topology = fleet_new("points 20");
    fleet_many(topology, "n", 20);
    other = gyre_topology_clone(topology);
    assert_non_null(other);
    fleet_many(other, "m", 20);
    from = fleet_map(topology);
    to = fleet_map(other);

    each_failure("new", op_new);
    each_failure("clone", op_clone);
    each_failure("add", op_add);
    each_failure("set_address", op_address);
    each_failure("plan", op_plan);
    each_failure("map", op_map);
    set(topology, "spread", "zone");
    each_failure("map with zones", op_map);
    set(topology, "like", "sample");
    each_failure("map like sample", op_map);
    sampled = fleet_map(topology);
    set(topology, "like", "");
    set(topology, "algorithm", "modulo");
    set(other, "algorithm", "modulo");
    each_failure("modulo", op_map);
    modulo_from = fleet_map(topology);
    modulo_to = fleet_map(other);
    each_failure("diff", op_diff);
    each_failure("diff of modulos", op_diff_modulo);
    each_failure("holdings", op_holdings);
    each_failure("holdings by samples", op_holdings_sampled);

    static const char *const others[] = {"rendezvous", "maglev",  "slots", "jump",
                                         "jumpback",   "memento", "dx"};
    set(topology, "table", "101");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        set(topology, "algorithm", others[i]);
        each_failure(others[i], op_map);
        each_failure(others[i], op_plan);
        set(other, "algorithm", others[i]);
        gyre_map_unref(modulo_from);
        gyre_map_unref(modulo_to);
        modulo_from = fleet_map(topology);
        modulo_to = fleet_map(other);
        each_failure(others[i], op_diff_modulo);
    }
    each_failure("slots of nodes", op_slots);
    assert_int_equal(gyre_topology_number(topology, NULL), GYRE_OK);
    assert_int_equal(gyre_topology_remove(topology, "n3", NULL), GYRE_OK);
    each_failure("clone with a gap", op_clone);
    each_failure("dx with a gap", op_map);
    set(topology, "algorithm", "rendezvous");
    assert_int_equal(gyre_topology_set_weight(topology, "n1", 2, NULL), GYRE_OK);
    each_failure("rendezvous with weights", op_map);
    set(topology, "level", "zone");
    each_failure("two levels", op_map);
    set(topology, "level", "none");

    set(topology, "algorithm", "ring");
    set(topology, "hash_tag", "");
    gyre_map_unref(from);
    from = fleet_map(topology);
    each_failure("diff by samples", op_diff_sampled);

    gyre_map_t *maps[] = {from, to, modulo_from, modulo_to, sampled};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        gyre_map_unref(maps[i]);
    }
    gyre_topology_free(topology);
    gyre_topology_free(other);
    assert_int_equal(held, 0);
}

/* Imitated systems: each form of ring or table that they make. */
static void test_likes(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "like libmemcached",
        "like libmemcached distribution consistent sort_hosts 1",
        "like libmemcached distribution ketama_spy",
        "like twemproxy",
        "like twemproxy distribution modula",
        "like nginx",
        "like nginx distribution plain",
        "like haproxy",
        "like haproxy hash_type consistent",
        "like libketama",
        "like redis-cluster",
        "like uhashring",
        "like uhashring mode ketama",
        "like npm-hashring",
        "like npm-memcached",
        "like npm-ketama",
        "like envoy minimum_ring_size 10",
        "like envoy distribution maglev table_size 17",
        "like grpc implementation java min_ring_size 10",
        "like cassandra",
        "like cassandra distribution NetworkTopologyStrategy rf a:2",
        "like guava",
        "like clickhouse",
        "like clickhouse distribution yandexConsistentHash",
        "like mcrouter",
        "like mcrouter distribution Crc32",
        "like mcrouter distribution WeightedCh3",
        "like mcrouter distribution WeightedRendezvous",
        "like riak",
        "like aerospike",
        "like swift part_power 4",
        "like vitess",
        "like mongodb",
        "like dskit",
        "like thanos",
        "like thanos distribution ketama vnodes 3",
        "like carbon-c-relay",
        "like carbon-c-relay distribution jump_fnv1a_ch",
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        until_failure = SIZE_MAX;
        topology = fleet_new(settings[i]);
        fleet_many(topology, "n", 5);
        each_failure(settings[i], op_map);
        gyre_topology_free(topology);
    }
    assert_int_equal(held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each), cmocka_unit_test(test_likes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
