/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_like_databases.c - what the vectors of databases and RPC systems cannot show: options that
 * are the imitated cluster's state, errors, the ends of rings, and keys that are cut.
 */
#include "fleet.h"
#include "lib/like/buckets.h"
#include "lib/like/digits.h"
#include "lib/like/like.h"
#include "lib/like/mcrouter.h"

static gyre_topology_t *with(gyre_topology_t *t, const char *name, double weight, const char *zone,
                             const char *options)
{
    struct gyre_node n = {
        .size = sizeof n, .name = name, .weight = weight, .zone = zone, .options = options};
    assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
    return t;
}

/* A topology of one node has no map. Takes t. */
static void refused(gyre_topology_t *t, int code, const char *message)
{
    gyre_error_t e = {0};
    gyre_map_t *m;
    assert_int_equal(gyre_map_build(t, &m, &e), code);
    if (!strstr(e.message, message)) {
        fail_msg("'%s' has no '%s'", e.message, message);
    }
    gyre_topology_free(t);
}

static void one_refused(const char *settings, const char *options, int code, const char *message)
{
    refused(with(fleet_new(settings), "a", 1, NULL, options), code, message);
}

static gyre_map_t *built(gyre_topology_t *t)
{
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static void test_refused(void **state)
{
    (void)state;
    one_refused("like envoy minimum_ring_size 9 maximum_ring_size 8", NULL, GYRE_INVALID, "above");
    one_refused("like envoy distribution maglev table_size 10", NULL, GYRE_INVALID, "no prime");
    one_refused("like envoy locality_weights A:1", NULL, GYRE_INVALID, "must be in it");
    one_refused("like envoy locality_weights A", "locality=A", GYRE_INVALID, "LOCALITY:WEIGHT");
    one_refused("like envoy locality_weights A:-1", "locality=A", GYRE_INVALID, "LOCALITY:WEIGHT");
    one_refused("like envoy locality_weights A:1,A:1", "locality=A", GYRE_INVALID, "once");
    one_refused("like grpc min_ring_size 9 max_ring_size 8", NULL, GYRE_INVALID, "above");
    one_refused("like cassandra", "tokens=", GYRE_INVALID, "tokens are numbers");
    one_refused("like cassandra", "tokens=1,,2", GYRE_INVALID, "tokens are numbers");
    static const char *const random[] = {
        "tokens=x",
        "tokens=1;2",
        "tokens=-1",
        "tokens=1,",
        "tokens=170141183460469231731687303715884105729", /* 2^127 + 1 */
        "tokens=1701411834604692317316873037158841057280"};
    for (size_t i = 0; i < sizeof random / sizeof random[0]; i++) {
        one_refused("like cassandra partitioner RandomPartitioner", random[i], GYRE_INVALID,
                    "tokens are numbers of the partitioner");
    }
    one_refused("like cassandra", "tokens=9223372036854775808", GYRE_INVALID, "tokens");
    one_refused("like cassandra rf dc:3", NULL, GYRE_INVALID, "is for NetworkTopologyStrategy");
    one_refused("like cassandra distribution NetworkTopologyStrategy", NULL, GYRE_INVALID, "needs");
    one_refused("like cassandra distribution NetworkTopologyStrategy rf dc", NULL, GYRE_INVALID,
                "at most 64");
    one_refused("like cassandra distribution NetworkTopologyStrategy rf a:40,b:40", NULL,
                GYRE_INVALID, "at most 64");
    one_refused("like clickhouse hash none", NULL, GYRE_INVALID, "key_type says bytes");
    one_refused("like riak ring_creation_size 63", NULL, GYRE_INVALID, "no power of two");
    one_refused("like kafka partitions 4", "partitions=4", GYRE_INVALID, "up to 3");
    one_refused("like kafka partitions 4", "partitions=2-1", GYRE_INVALID, "up to 3");
    one_refused("like kafka partitions 4", "partitions=-1", GYRE_INVALID, "up to 3");
    one_refused("like kafka partitions 4", "partitions=0-2,1", GYRE_DUPLICATE, "partition 1");
    one_refused("like elasticsearch partitions 5 number_of_routing_shards 12", NULL, GYRE_INVALID,
                "no multiple of the 5 shards");
    one_refused("like vitess", "shard=40", GYRE_INVALID, "a range of ids");
    one_refused("like vitess", "shard=-4", GYRE_INVALID, "a range of ids");
    one_refused("like vitess", "shard=-4x", GYRE_INVALID, "a range of ids");
    one_refused("like mongodb", "chunks=x", GYRE_INVALID, "lower bounds");
    one_refused("like mongodb", "chunks=9223372036854775808", GYRE_INVALID, "lower bounds");
    refused(with(with(fleet_new("like guava"), "a", 1, NULL, NULL), "b", 2, NULL, NULL),
            GYRE_UNSUPPORTED, "like: guava");
    refused(with(fleet_new("like mcrouter distribution WeightedCh3"), "a", 2, NULL, NULL),
            GYRE_RANGE, "weights of 0 to 1");
    gyre_topology_t *t = fleet_new("like envoy distribution maglev table_size 5000011");
    fleet_many(t, "n", 2000);
    refused(with(t, "heavy", 1000000, NULL, NULL), GYRE_RANGE, "would take minutes");
}

/* Partitions by their owners' options; those of nobody go to the next. */
static void test_partitions(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like couchbase partitions 4");
    with(t, "a", 1, NULL, "partitions=0,2");
    with(t, "b", 1, NULL, "partitions=3");
    gyre_map_t *m = built(t);
    for (uint64_t hash = 0; hash < 8; hash++) {
        assert_int_equal(gyre_map_locate_hash(m, hash), hash % 4 == 3);
    }
    gyre_map_unref(m);
    t = fleet_new("like kafka partitions 5");
    fleet_many(t, "n", 2);
    m = built(t);
    for (uint64_t hash = 0; hash < 5; hash++) {
        assert_int_equal(gyre_map_locate_hash(m, hash), hash % 2);
    }
    gyre_map_unref(m);
}

/* What 18.16.1 answers for toInt32(-588) and 20 buckets, by its sign and by its own four bytes. */
static void test_clickhouse_signed(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t hash;
        unsigned bucket;
    } asked[] = {
        {"distribution jumpConsistentHash hash none", UINT64_MAX - 587, 19},
        {"distribution yandexConsistentHash hash none", UINT64_MAX - 587, 16},
        {"distribution sumburConsistentHash hash none", UINT64_MAX - 587, 0},
        {"distribution distributed hash none", UINT32_MAX - 587, (UINT32_MAX - 587) % 20},
        {"distribution distributed hash intHash32", 1300372557, 1300372557 % 20},
        {"distribution distributed hash intHash64", 16108047246872697640u, 0},
        {"distribution distributed hash cityHash64", 10274134232008238247u, 7},
        {"distribution distributed hash sipHash64", 8232343840043003618, 18},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "like clickhouse key_type int32 %s", asked[i].settings);
        gyre_topology_t *t = fleet_new(settings);
        fleet_many(t, "n", 20);
        gyre_map_t *m = built(t);
        char name[8];
        snprintf(name, sizeof name, "n%u", asked[i].bucket);
        assert_int_equal(gyre_map_hash(m, "-588", 4), asked[i].hash);
        assert_string_equal(gyre_map_node(m, gyre_map_locate(m, "-588", 4))->name, name);
        gyre_map_unref(m);
    }
}

static void test_vitess_shards(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like vitess"), *u = fleet_new("like vitess");
    with(t, "low", 1, NULL, "shard=-55");
    with(t, "high", 1, NULL, "shard=aa-");
    with(t, "mid", 1, NULL, "shard=55-AA");
    fleet_many(u, "n", 3); /* as Vitess generates three */
    gyre_map_t *a = built(t), *b = built(u);
    assert_string_equal(gyre_map_node(a, gyre_map_locate_hash(a, 0x54ffffffffffffff))->name, "low");
    assert_string_equal(gyre_map_node(a, gyre_map_locate_hash(a, 0x5500000000000000))->name, "mid");
    assert_string_equal(gyre_map_node(a, gyre_map_locate_hash(a, 0xaa00000000000000))->name,
                        "high");
    assert_string_equal(gyre_map_node(a, gyre_map_locate_hash(a, UINT64_MAX))->name, "high");
    for (unsigned i = 0; i < 256; i++) {
        static const char *const twin[] = {"low", "mid", "high"};
        uint64_t id = (uint64_t)i << 56;
        assert_string_equal(gyre_map_node(a, gyre_map_locate_hash(a, id))->name,
                            twin[gyre_map_locate_hash(b, id)]);
    }
    gyre_map_unref(a);
    gyre_map_unref(b);
}

static void test_mongodb_chunks(void **state)
{
    (void)state;
    const uint64_t sign = (uint64_t)1 << 63;
    gyre_topology_t *t = fleet_new("like mongodb"), *u = fleet_new("like mongodb");
    with(t, "a", 1, NULL, "chunks=-9223372036854775808,100");
    with(t, "b", 1, NULL, "chunks=-5");
    fleet_many(u, "n", 4);
    gyre_map_t *m = built(t);
    assert_int_equal(gyre_map_locate_hash(m, 0), 0);
    assert_int_equal(gyre_map_locate_hash(m, sign - 6), 0);
    assert_int_equal(gyre_map_locate_hash(m, sign - 5), 1);
    assert_int_equal(gyre_map_locate_hash(m, sign + 99), 1);
    assert_int_equal(gyre_map_locate_hash(m, sign + 100), 0);
    assert_int_equal(gyre_map_locate_hash(m, UINT64_MAX), 0);
    gyre_map_unref(m);
    m = built(u); /* split at 0 and plus and minus 2 (2^63 - 1) / 4 */
    const uint64_t width = 4611686018427387902u;
    assert_int_equal(gyre_map_locate_hash(m, sign - width - 1), 0);
    assert_int_equal(gyre_map_locate_hash(m, sign - width), 1);
    assert_int_equal(gyre_map_locate_hash(m, sign - 1), 1);
    assert_int_equal(gyre_map_locate_hash(m, sign), 2);
    assert_int_equal(gyre_map_locate_hash(m, sign + width), 3);
    gyre_map_unref(m);
}

/* The walk of the strategy, and what lies outside of its datacenters. */
static void test_cassandra_network(void **state)
{
    (void)state;
    static const char *const forms[][2] = {{"Murmur3Partitioner", "-9000000000000000000"},
                                           {"RandomPartitioner", "7"}};
    for (size_t i = 0; i < 2; i++) {
        char settings[160], tokens[64];
        snprintf(settings, sizeof settings,
                 "like cassandra partitioner %s distribution NetworkTopologyStrategy rf x:2,z:1",
                 forms[i][0]);
        snprintf(tokens, sizeof tokens, "tokens=%s", forms[i][1]);
        gyre_topology_t *t = fleet_new(settings);
        with(t, "a", 1, "x/r1", tokens);
        with(t, "b", 1, "x/r1", "tokens=1000");
        with(t, "c", 1, "y/r1", "tokens=2000"); /* of no such datacenter */
        with(t, "d", 1, "x/r2", "tokens=3000");
        with(t, "e", 1, "z/r1", "tokens=4000");
        gyre_map_t *m = built(t);
        uint32_t out[5];
        /* the empty key has the lowest token */
        assert_int_equal(gyre_map_replicas(m, "", 0, out, 3, NULL), 3);
        assert_int_equal(out[0], 0); /* a; b shares its rack */
        assert_int_equal(out[1], 3);
        assert_int_equal(out[2], 4);
        assert_int_equal(gyre_map_locate(m, "", 0), 0);
        assert_int_equal(gyre_map_replicas(m, "", 0, out, 5, NULL), 4); /* and then b */
        assert_int_equal(out[3], 1);
        assert_true(gyre_map_share(m, 2) == 0);
        gyre_map_unref(m);
    }
}

static void test_cassandra_evenly(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like cassandra"), *u = fleet_new("like cassandra");
    fleet_many(t, "n", 4);
    with(u, "n0", 1, NULL, "tokens=-9223372036854775808");
    with(u, "n1", 1, NULL, "tokens=-4611686018427387904");
    with(u, "n2", 1, NULL, "tokens=0");
    with(u, "n3", 1, NULL, "tokens=4611686018427387904");
    gyre_map_t *a = built(t), *b = built(u);
    assert_true(gyre_map_same(a, b));
    assert_true(gyre_map_share(a, 2) == 0.25);
    gyre_map_unref(a);
    gyre_map_unref(b);
}

/* No wrap in Java: the last point has what lies beyond it. */
static void test_grpc_java_end(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like grpc implementation java min_ring_size 1");
    fleet_many(t, "10.0.0.", 3);
    gyre_map_t *m = built(t);
    assert_int_equal(gyre_map_points(m), 4); /* three, and the end */
    uint32_t last = gyre_map_locate_hash(m, UINT64_MAX);
    assert_int_not_equal(gyre_map_locate_hash(m, 0), last);
    assert_int_equal(gyre_map_locate_hash(m, UINT64_MAX - 1), last);
    gyre_map_unref(m);
}

static void test_mcrouter_keys(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"abc", "abc"},  {"abc|#|def", "abc"},   {"|#|def", ""},
        {"/a/b/c", "c"}, {"/a/b/c|#|d", "c"},    {"/a/b", "/a/b"},
        {"/a/b/", ""},   {"a/b/c/d", "a/b/c/d"}, {"a|#b|#|c", "a|#b"},
        {"", ""},        {"/a/|#|b/c", "c"},
    };
    gyre_topology_t *t = fleet_new("like mcrouter"), *u = fleet_new("like mcrouter salt s");
    fleet_many(t, "n", 50);
    fleet_many(u, "n", 50);
    gyre_map_t *m = built(t), *salted = built(u);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const void *part;
        size_t len;
        gyre_map_hash_input(m, rows[i][0], strlen(rows[i][0]), &part, &len);
        assert_int_equal(len, strlen(rows[i][1]));
        assert_memory_equal(part, rows[i][1], len);
    }
    assert_true(gyre_map_hash(salted, "key", 3) == gyre_map_hash(m, "keys", 4));
    gyre_map_unref(m);
    gyre_map_unref(salted);
}

/* A node of weight 0 stays in WeightedCh3's list, and has no keys. */
static void test_mcrouter_drained(void **state)
{
    (void)state;
    static const double weight[] = {1, 0, 0.5, 0};
    gyre_topology_t *t = fleet_new("like mcrouter distribution WeightedCh3");
    for (unsigned i = 0; i < 4; i++) {
        char name[] = {(char)('a' + i), 0};
        with(t, name, weight[i], NULL, NULL);
    }
    gyre_map_t *m = built(t);
    char key[16];
    for (unsigned i = 0; i < 1000; i++) {
        size_t len = (size_t)snprintf(key, sizeof key, "key-%u", i);
        uint32_t want = gy_mcrouter_wch3(key, len, weight, 4), got = gyre_map_locate(m, key, len);
        assert_true(got == 0 || got == 2);
        assert_true(weight[want] > 0 ? got == want : true);
    }
    assert_true(gyre_map_share(m, 0) > 0.66 && gyre_map_share(m, 0) < 0.67);
    gyre_map_unref(m);
    static char text[GY_MCROUTER_KEY + 100]; /* longer than is hashed */
    memset(text, 'x', sizeof text);
    assert_true(gy_mcrouter_wch3(text, sizeof text, weight, 4) < 4);
}

static void test_digits(void **state)
{
    (void)state;
    assert_true(gy_digits_key("18446744073709551615", 20) == UINT64_MAX);
    assert_true(gy_digits_key("-1", 2) == UINT64_MAX);
    assert_true(gy_digits_key("-9223372036854775808", 20) == (uint64_t)1 << 63);
    assert_true(gy_digits_key("007", 3) == 7);
    static const char *const none[] = {
        "", "-", "1x", "+1", "18446744073709551616", "-9223372036854775809"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) { /* hashed, and so apart */
        assert_true(gy_digits_key(none[i], strlen(none[i])) > 1000);
    }
    assert_true(gy_digits_key(NULL, 0) == gy_digits_key("", 0));
}

/* Beyond what the vectors ask: every bucket is below n. */
static void test_buckets_in_bounds(void **state)
{
    (void)state;
    static gy_bucket *const functions[] = {gy_jump_published, gy_jump_guava,  gy_jump_exact,
                                           gy_bucket_yandex,  gy_bucket_furc, gy_bucket_sumbur};
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        for (uint32_t n = 1; n <= 300; n++) {
            for (uint64_t i = 0; i < 50; i++) {
                uint64_t hash = (i + n) * 0x9e3779b97f4a7c15u;
                assert_true(functions[f](hash, n) < n || (n == 1 && (uint32_t)hash == 0));
            }
        }
        assert_true(functions[f](0, 32768) < 32768 && functions[f](UINT64_MAX, 32768) < 32768);
    }
}

/* RandomPartitioner's tokens end at 2^127, so equal gaps are equal shares; the last of all too. */
static void cassandra_random_shares(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like cassandra partitioner RandomPartitioner");
    with(t, "a", 1, NULL, "tokens=0,170141183460469231731687303715884105728");
    with(t, "b", 1, NULL, "tokens=85070591730234615865843651857942052864");
    gyre_map_t *m = built(t);
    assert_true(gyre_map_share(m, gyre_map_find(m, "b")) == 0.5);
    assert_int_equal(gyre_map_position_bits(m), 127);
    gyre_map_unref(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_clickhouse_signed),
        cmocka_unit_test(test_vitess_shards),
        cmocka_unit_test(test_mongodb_chunks),
        cmocka_unit_test(test_cassandra_network),
        cmocka_unit_test(test_cassandra_evenly),
        cmocka_unit_test(test_grpc_java_end),
        cmocka_unit_test(test_mcrouter_keys),
        cmocka_unit_test(test_mcrouter_drained),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_buckets_in_bounds),
        cmocka_unit_test(cassandra_random_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
