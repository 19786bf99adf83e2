/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_like.c - the settings, options and limits of imitated systems, and what the vectors cannot
 * show: errors, drained nodes, empty topologies, fallbacks. Placement itself is tests/vectors.
 */
#include "fleet.h"
#include "lib/like/ip.h"
#include "lib/like/like.h"

static void add_with(gyre_topology_t *t, const char *name, double weight, const char *options)
{
    struct gyre_node n = {
        .size = sizeof n, .name = name, .address = name, .weight = weight, .options = options};
    assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
}

static void says(const gyre_error_t *e, const char *message)
{
    if (!strstr(e->message, message)) {
        fail_msg("'%s' has no '%s'", e->message, message);
    }
}

static void not_set(const char *before, const char *key, const char *value, int code,
                    const char *message)
{
    gyre_topology_t *t = fleet_new(before);
    gyre_error_t e = {0};
    assert_int_equal(gyre_topology_set(t, key, value, &e), code);
    says(&e, message);
    gyre_topology_free(t);
}

/* A topology of one node with options (NULL: none) has no map. */
static void not_built(const char *settings, const char *name, double weight, const char *options,
                      int code, const char *message)
{
    gyre_topology_t *t = fleet_new(settings);
    gyre_error_t e = {0};
    gyre_map_t *m;
    add_with(t, name, weight, options);
    assert_int_equal(gyre_map_build(t, &m, &e), code);
    assert_null(m);
    says(&e, message);
    gyre_topology_free(t);
}

static void test_settings(void **state)
{
    (void)state;
    not_set("like twemproxy", "distribution", "ketma", GYRE_UNKNOWN, "did you mean 'ketama'?");
    not_set("like twemproxy", "distribution", "random", GYRE_UNKNOWN, "one of ketama|modula");
    not_set("like twemproxy", "hash", "murmurr", GYRE_UNKNOWN, "did you mean 'murmur'?");
    not_set("like twemproxy", "points", "5", GYRE_UNKNOWN, "with like: twemproxy");
    not_set("like twemproxy", "algorithm", "modulo", GYRE_UNKNOWN, "no such setting: 'algorithm'");
    not_set("like twemproxy", "hash_tga", "{}", GYRE_UNKNOWN, "did you mean 'hash_tag'?");
    not_set("like nginx", "hash", "md5", GYRE_UNKNOWN, "no such setting: 'hash' with like: nginx");
    not_set("like redis-cluster", "hash_tag", "[]", GYRE_UNKNOWN, "with like: redis-cluster");
    not_set("like uhashring", "mode", "md5_128", GYRE_UNKNOWN, "one of default|ketama");
    not_set("like uhashring", "vnodes", "0", GYRE_RANGE, "1..100000");
    not_set("like npm-hashring", "digest_points", "5", GYRE_RANGE, "1..4");
    not_set("like npm-hashring", "default_port", "x", GYRE_INVALID, "not a whole number");
    not_set("like haproxy", "balance", "hrd", GYRE_UNKNOWN, "did you mean 'hdr'?");
    not_set("hash murmur", "like", "nginx", GYRE_UNKNOWN, "'hash' with like: nginx");
    not_set("points 5", "like", "libketama", GYRE_UNKNOWN, "'points' with like: libketama");
    not_set("hash md5", "like", "haproxy", GYRE_UNKNOWN, "hash: unknown value 'md5'");
    not_set("", "like", "nginz", GYRE_UNKNOWN, "did you mean 'nginx'?");
    not_set("", "distribution", "ketma", GYRE_UNKNOWN, "no imitated system knows");
    not_set("", "hash", "nothing", GYRE_UNKNOWN, "hash: unknown value 'nothing'");
}

/* What was set before `like` waits for it, in vain if it never comes. */
static void test_order(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("hash murmur distribution modula hash_tag () like twemproxy");
    assert_string_equal(gyre_topology_get(t, "hash"), "murmur");
    assert_string_equal(gyre_topology_get(t, "distribution"), "modula");
    assert_string_equal(gyre_topology_get(t, "hash_tag"), "()");
    assert_string_equal(gyre_topology_get(t, "names"), "name");
    assert_string_equal(gyre_topology_get(t, "points"), "");
    gyre_topology_free(t);
    not_built("distribution modula", "a", 1, NULL, GYRE_INVALID, "`like` names none");
    not_built("hash murmur", "a", 1, NULL, GYRE_UNKNOWN, "hash: unknown value 'murmur'");
    not_built("", "a", 1, "down", GYRE_INVALID, "options, which are for imitated systems");
}

/* What is got can be set again, and gives the same map. */
static void test_round_trip(void **state)
{
    (void)state;
    for (unsigned id = GY_LIKE_NOTHING + 1; id < GY_LIKE_COUNT; id++) {
        gyre_topology_t *t = fleet_new(""), *u = fleet_new("");
        size_t n;
        const struct gyre_setting *s = gyre_settings(&n);
        assert_int_equal(gyre_topology_set(t, "like", gy_like_of(id)->name, NULL), GYRE_OK);
        assert_int_equal(gyre_topology_set(u, "like", gy_like_of(id)->name, NULL), GYRE_OK);
        for (size_t i = 0; i < n; i++) {
            const char *value = gyre_topology_get(t, s[i].key);
            assert_int_equal(gyre_topology_set(u, s[i].key, value, NULL), GYRE_OK);
            assert_string_equal(gyre_topology_get(u, s[i].key), value);
        }
        fleet_many(t, "10.0.0.", 3);
        fleet_many(u, "10.0.0.", 3);
        gyre_map_t *a = fleet_map(t), *b = fleet_map(u);
        assert_true(gyre_map_same(a, b));
        gyre_map_unref(a);
        gyre_map_unref(b);
        gyre_topology_free(t);
        gyre_topology_free(u);
    }
}

static void test_options(void **state)
{
    (void)state;
    not_built("like nginx", "a", 1, "dwon", GYRE_UNKNOWN, "did you mean 'down'?");
    not_built("like nginx", "a", 1, "down=1", GYRE_UNKNOWN, "'down' is no option");
    not_built("like twemproxy", "a", 1, "down", GYRE_UNKNOWN, "no option with like: twemproxy");
    not_built("like haproxy", "a", 1, "id", GYRE_UNKNOWN, "'id' is no option");
    not_built("like haproxy", "a", 1, "id=0", GYRE_DUPLICATE, "or is 0");
    not_built("like haproxy", "a", 1, "id=x", GYRE_RANGE, "id is no whole number");
    not_built("like haproxy", "a", 1, "id=", GYRE_RANGE, "id is no whole number");
    not_built("like haproxy", "a", 1, "id=99999999999", GYRE_RANGE, "up to 2147483647");
    not_built("like npm-hashring", "a", 1, "vnodes=1000000", GYRE_RANGE, "vnodes");
    not_built("like haproxy hash_type consistent hash_key guid", "a", 1, "id=4", GYRE_INVALID,
              "no option guid=");
    not_built("like haproxy hash_type consistent hash_key addr", "web.example:80", 1, NULL,
              GYRE_INVALID, "in numbers");
    not_built("like redis-cluster", "a", 1, "slots=0-16384", GYRE_INVALID, "up to 16383");
    not_built("like redis-cluster", "a", 1, "slots=5-4", GYRE_INVALID, "like 0-5460,9000");
    not_built("like redis-cluster", "a", 1, "slots=1,,2", GYRE_INVALID, "like 0-5460,9000");
    not_built("like redis-cluster", "a", 1, "slots=0-99,50", GYRE_DUPLICATE, "slot 50");
    not_built("like redis-cluster", "a", 1, "slots=0-16382", GYRE_INVALID, "slot 16383 belongs");
}

static void test_weights(void **state)
{
    (void)state;
    not_built("like twemproxy", "a", 1.5, NULL, GYRE_RANGE, "a whole number");
    not_built("like haproxy", "a", 257, NULL, GYRE_RANGE, "up to 256");
    not_built("like nginx", "a", 200000, NULL, GYRE_RANGE, "32000000 points");
    not_built("like npm-ketama", "a", 1000000, NULL, GYRE_RANGE, "50000000 points");
    not_built("like libketama", "a-name-of-twenty-three.", 1, NULL, GYRE_RANGE, "22 bytes");
}

/* Nodes and none, drained and not, for every system: an answer is a live node, or none. */
static void test_every_system(void **state)
{
    (void)state;
    for (unsigned id = GY_LIKE_NOTHING + 1; id < GY_LIKE_COUNT; id++) {
        gyre_topology_t *t = fleet_new("");
        uint32_t out[8];
        unsigned flags;
        assert_int_equal(gyre_topology_set(t, "like", gy_like_of(id)->name, NULL), GYRE_OK);
        gyre_map_t *empty = fleet_map(t);
        assert_int_equal(gyre_map_locate(empty, "k", 1), GYRE_NONE);
        assert_int_equal(gyre_map_replicas(empty, "k", 1, out, 8, &flags), 0);
        (void)gyre_map_hash(empty, "k", 1);
        gyre_map_unref(empty);
        fleet_add(t, "10.0.0.1:11211", 0, NULL);
        gyre_map_t *drained = fleet_map(t);
        assert_int_equal(gyre_map_locate(drained, "k", 1), GYRE_NONE);
        gyre_map_unref(drained);
        fleet_add(t, "10.0.0.2:11211", 2, "eu/a");
        fleet_add(t, "10.0.0.3:11211", 1, "eu/b");
        assert_int_equal(gyre_topology_set(t, "spread", "zone", NULL), GYRE_OK);
        if (id == GY_LIKE_THANOS) { /* its plain form refuses zones */
            assert_int_equal(gyre_topology_set(t, "distribution", "ketama", NULL), GYRE_OK);
        }
        gyre_map_t *m;
        if (gyre_map_build(t, &m, NULL) == GYRE_UNSUPPORTED) { /* some know no weights */
            assert_int_equal(gyre_topology_set_weight(t, "10.0.0.2:11211", 1, NULL), GYRE_OK);
            m = fleet_map(t);
        }
        assert_non_null(m);
        assert_int_equal(gyre_map_replicas(m, "", 0, out, 8, &flags), 2);
        assert_true(out[0] != out[1] && out[0] != 0 && out[1] != 0);
        assert_int_equal(gyre_map_locate(m, NULL, 0), out[0]);
        assert_true(gyre_map_share(m, 0) == 0);
        double sum = gyre_map_share(m, 1) + gyre_map_share(m, 2);
        assert_true(sum > 0.999999999 && sum < 1.000000001);
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

/* ---- single systems ---- */

static const char *where(const gyre_map_t *m, const char *key)
{
    const struct gyre_node *n = gyre_map_node(m, gyre_map_locate(m, key, strlen(key)));
    return n ? n->name : "";
}

/* A weight above 1 turns libmemcached's weighted mode on, whose points are md5's; the key hash
 * stays what it was. */
static void test_libmemcached_silently_weighted(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like libmemcached distribution consistent");
    gyre_topology_t *u = fleet_new("like libmemcached distribution ketama_weighted hash default");
    for (unsigned i = 0; i < 2; i++) {
        fleet_add(i ? u : t, "10.0.0.1:11211", 1, NULL);
        fleet_add(i ? u : t, "10.0.0.2:11211", 2, NULL);
    }
    gyre_map_t *a = fleet_map(t), *b = fleet_map(u);
    assert_true(gyre_map_same(a, b));
    assert_int_equal(gyre_map_points(a), 320 - 4); /* 26 and 53 digests of four */
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
    gyre_topology_free(u);
}

/* Only 2^15 of crc's hashes exist: shares are of those. */
static void test_libmemcached_crc_share(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like libmemcached distribution ketama_weighted hash crc");
    fleet_many(t, "10.0.0.", 4);
    gyre_map_t *m = fleet_map(t);
    uint32_t one = gyre_map_locate_hash(m, 0), same = 0;
    for (uint64_t h = 0; h < 1 << 15; h++) {
        same += gyre_map_locate_hash(m, h) == one;
    }
    assert_true(gyre_map_share(m, one) == (double)same / (1 << 15));
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void test_libketama_stops_at_nul(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like libketama");
    fleet_many(t, "10.0.0.", 20);
    gyre_map_t *m = fleet_map(t);
    const void *part;
    size_t len;
    gyre_map_hash_input(m, "ab\0cd", 5, &part, &len);
    assert_int_equal(len, 2);
    assert_int_equal(gyre_map_locate(m, "ab\0cd", 5), gyre_map_locate(m, "ab", 2));
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* nginx: of three servers, the down ones' keys go elsewhere and the others stay; with only one
 * left, it has them all, through the fallback if need be; with none, nobody has. */
static void nginx_down(const char *settings, unsigned heavy)
{
    gyre_topology_t *t = fleet_new(settings);
    add_with(t, "a:1", heavy, "down");
    add_with(t, "b:1", heavy, "down");
    add_with(t, "c:1", 1, NULL);
    gyre_map_t *m = fleet_map(t);
    for (unsigned i = 0; i < 3000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        assert_string_equal(where(m, key), "c:1");
        assert_int_equal(gyre_map_locate_hash(m, gyre_map_hash(m, key, strlen(key))), 2);
    }
    assert_true(gyre_map_share(m, 2) == 1);
    gyre_map_unref(m);
    assert_int_equal(gyre_topology_remove(t, "c:1", NULL), GYRE_OK);
    m = fleet_map(t);
    assert_string_equal(where(m, "k"), "");
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void test_nginx_down(void **state)
{
    (void)state;
    nginx_down("like nginx", 100);
    nginx_down("like nginx distribution plain", 100);
}

static void test_haproxy_ids(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like haproxy hash_type consistent");
    gyre_topology_t *u = fleet_new("like haproxy hash_type consistent");
    add_with(t, "a", 1, NULL); /* 1: the lowest that is free */
    add_with(t, "b", 1, "id=2");
    add_with(t, "c", 1, NULL); /* 3 */
    add_with(u, "c", 1, "id=3");
    add_with(u, "a", 1, "id=1");
    add_with(u, "b", 1, "id=2");
    gyre_map_t *a = fleet_map(t), *b = fleet_map(u);
    assert_true(gyre_map_same(a, b));
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_error_t e = {0};
    add_with(u, "d", 1, "id=3");
    assert_int_equal(gyre_map_build(u, &b, &e), GYRE_DUPLICATE);
    says(&e, "id 3 stands twice");
    gyre_topology_free(t);
    gyre_topology_free(u);
}

static void test_haproxy_parts(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"hdr", "a, b", "a"},
        {"hdr", " \ta\t , b", "a"},
        {"hdr", "\"a,b\",c", "\"a,b\""},
        {"hdr", "\"a\\\",b\",c", "\"a\\\",b\""},
        {"hdr", "a\\,b", "a\\"},
        {"hdr", "", ""},
        {"hdr", ",a", ""},
        {"hdr", "\"a", "\"a"},
        {"hdr", "\"\\", "\"\\"},
        {"fhdr", "a, b", "a, b"},
        {"uri", "/a?b?c", "/a"},
        {"uri", "/a", "/a"},
        {"uri_whole", "/a?b", "/a?b"},
        {"url_param", "a&b=c", "a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char settings[64];
        const void *part;
        size_t len;
        snprintf(settings, sizeof settings, "like haproxy balance %s", rows[i][0]);
        gyre_topology_t *t = fleet_new(settings);
        gyre_map_t *m = fleet_map(t);
        gyre_map_hash_input(m, rows[i][1], strlen(rows[i][1]), &part, &len);
        assert_int_equal(len, strlen(rows[i][2]));
        assert_memory_equal(part, rows[i][2], len);
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

static void test_addresses(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"127.0.6.1:80", "7f000601"},
        {"0.0.0.0:0", "00000000"},
        {"[::]:65535", "00000000000000000000000000000000"},
        {"[::1]:1", "00000000000000000000000000000001"},
        {"[1::]:1", "00010000000000000000000000000000"},
        {"[1:2:3:4:5:6:7:8]:1", "00010002000300040005000600070008"},
        {"[2001:DB8::a:b]:1", "20010db80000000000000000000a000b"},
        {"[::ffff:1.2.3.4]:1", "00000000000000000000ffff01020304"},
        {"[1:2:3:4:5:6:1.2.3.4]:1", "00010002000300040005000601020304"},
        {"[1:2:3:4:5:6:7::]:1", "00010002000300040005000600070000"},
    };
    static const char *const bad[] = {
        "",
        ":",
        "1.2.3.4",
        "1.2.3:80",
        "1.2.3.4.5:80",
        "1.2.3.256:80",
        "01.2.3.4:80",
        "1.2.3.4:",
        "1.2.3.4:65536",
        "1.2.3.4:8x",
        "a.b.c.d:80",
        "::1:80",
        "[]:1",
        "[:]:1",
        "[1:2:3:4:5:6:7]:1",
        "[1:2:3:4:5:6:7:8:9]:1",
        "[1::2::3]:1",
        "[12345::]:1",
        "[::1:1",
        "[1:2:3:4:5:6:7:1.2.3.4]:1",
        "[::1.2.3]:1",
        "[::g]:1",
        "[:1:2:3:4:5:6:7:8]:1",
        "[1:2:3:4:5:6:7:8::]:1",
        "[1:]:1",
        "[::1]x:1",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct gy_ip ip = {0};
        char hex[33] = "";
        if (!gy_ip_read(good[i][0], &ip)) {
            fail_msg("refused: %s", good[i][0]);
        }
        for (size_t k = 0; k < (ip.six ? 16 : 4); k++) {
            snprintf(hex + 2 * k, 3, "%02x", ip.bytes[k]);
        }
        assert_string_equal(hex, good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gy_ip ip;
        if (gy_ip_read(bad[i], &ip)) {
            fail_msg("taken: %s", bad[i]);
        }
    }
}

static void test_redis_slots(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like redis-cluster");
    add_with(t, "a", 1, "slots=0-12738,12740-16383");
    add_with(t, "b", 1, "slots=12739"); /* "123456789" */
    add_with(t, "c", 1, NULL);
    gyre_map_t *m = fleet_map(t);
    assert_string_equal(where(m, "123456789"), "b");
    assert_string_equal(where(m, "x{123456789}y"), "b");
    assert_string_equal(where(m, "{}123456789"), "a");
    assert_true(gyre_map_share(m, 1) == 1.0 / 16384);
    assert_true(gyre_map_share(m, 2) == 0);
    uint32_t out[3];
    unsigned flags = 0;
    assert_int_equal(gyre_map_replicas(m, "k", 1, out, 3, &flags), 2); /* c has no slots */
    assert_int_equal(flags, GYRE_REPLICAS_SHORT);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* Tables of one size are compared exactly: as many hashes as one can count. */
static void test_table_diff(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like redis-cluster"), *u = fleet_new("like redis-cluster");
    add_with(t, "a", 1, "slots=0-8191");
    add_with(t, "b", 1, "slots=8192-16383");
    add_with(u, "a", 1, "slots=0-8000");
    add_with(u, "b", 1, "slots=8192-16383");
    add_with(u, "c", 1, "slots=8001-8191");
    gyre_map_t *a = fleet_map(t), *b = fleet_map(u);
    gyre_diff_t *d;
    assert_int_equal(gyre_diff_build(a, b, 0, &d, NULL), GYRE_OK);
    assert_true(gyre_diff_exact(d));
    assert_true(gyre_diff_moved(d) == 191.0 / 16384);
    assert_true(gyre_diff_ratio(d) == 1);
    assert_int_equal(gyre_diff_count(d), 1);
    assert_true(gyre_diff_flow(d, 0)->share == 191.0 / 16384);
    gyre_diff_free(d);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
    gyre_topology_free(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_every_system),
        cmocka_unit_test(test_libmemcached_silently_weighted),
        cmocka_unit_test(test_libmemcached_crc_share),
        cmocka_unit_test(test_libketama_stops_at_nul),
        cmocka_unit_test(test_nginx_down),
        cmocka_unit_test(test_haproxy_ids),
        cmocka_unit_test(test_haproxy_parts),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_redis_slots),
        cmocka_unit_test(test_table_diff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
