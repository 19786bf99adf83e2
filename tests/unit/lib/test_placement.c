/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_placement.c - the placement contract: the worked values of docs/placement.md and sums over
 * many keys. None of these may ever change; a new rule needs a new name.
 */
#include "fleet.h"

static gyre_map_t *documented(void)
{
    gyre_topology_t *t = fleet_new("points 4");
    fleet_add(t, "cache-2", 2, NULL);
    fleet_add(t, "cache-0", 1, NULL);
    fleet_add(t, "cache-1", 1, NULL);
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static const struct {
    const char *key;
    uint64_t hash;
    uint32_t position, point;
    unsigned index;
    uint32_t replicas[3];
} rows[] = {
    {"user:0", 0x81044cdfb11efb2e, 0x81044cdf, 0x9288ec08, 8, {0, 2, 1}},
    {"user:1", 0x3b577afd7fed9501, 0x3b577afd, 0x5d103a55, 4, {2, 1, 0}},
    {"user:3", 0x5e7c378e945db807, 0x5e7c378e, 0x5fd1f16f, 5, {1, 2, 0}},
    {"user:7", 0x0067b227f59ee6b4, 0x0067b227, 0x0146b61a, 0, {0, 2, 1}},
    {"", 0x2d06800538d394c2, 0x2d068005, 0x5d103a55, 4, {2, 1, 0}},
    {"a{user:1}b", 0x3b577afd7fed9501, 0x3b577afd, 0x5d103a55, 4, {2, 1, 0}},
    {"{}x", 0x32e914994b9c7af4, 0x32e91499, 0x5d103a55, 4, {2, 1, 0}},
};

static void test_documented_keys(void **state)
{
    (void)state;
    gyre_map_t *m = documented();
    assert_int_equal(gyre_map_points(m), 16);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gyre_explain x = {.size = sizeof x};
        size_t len = strlen(rows[i].key);
        assert_int_equal(gyre_map_explain(m, rows[i].key, len, &x), GYRE_OK);
        assert_int_equal(x.hash_bits, 64);
        assert_int_equal(x.hash_lo, rows[i].hash);
        assert_int_equal(gyre_map_hash(m, rows[i].key, len), rows[i].hash);
        assert_true(x.has_point && !x.wrapped && !x.hash_hi && !x.position_hi && !x.point_hi);
        assert_int_equal(x.position_lo, rows[i].position);
        assert_int_equal(x.point_lo, rows[i].point);
        assert_int_equal(x.point_index, rows[i].index);
        uint32_t out[3];
        unsigned flags = 7;
        assert_int_equal(gyre_map_replicas(m, rows[i].key, len, out, 3, &flags), 3);
        assert_int_equal(flags, 0);
        assert_memory_equal(out, rows[i].replicas, sizeof out);
        assert_int_equal(x.node, out[0]);
    }
    gyre_map_unref(m);
}

/* The whole ring of the document, read back through positions just at and just after each point. */
static void test_documented_ring(void **state)
{
    (void)state;
    const struct {
        uint32_t position, node;
    } ring[] = {{0x0146b61a, 0}, {0x1ba2a1a7, 2}, {0x1e3a1327, 2}, {0x22ff75d5, 2},
                {0x5d103a55, 2}, {0x5fd1f16f, 1}, {0x6002cadb, 2}, {0x78b71abb, 0},
                {0x9288ec08, 0}, {0x97adb2bd, 2}, {0x9e9ca4e2, 1}, {0xabd0e879, 2},
                {0xac8cabd5, 1}, {0xb570edb6, 2}, {0xc2db3b05, 0}, {0xeba64308, 1}};
    gyre_map_t *m = documented();
    for (size_t i = 0; i < 16; i++) {
        uint64_t at = (uint64_t)ring[i].position << 32;
        assert_int_equal(gyre_map_locate_hash(m, at), ring[i].node);
        assert_int_equal(gyre_map_locate_hash(m, at | UINT32_MAX), ring[i].node);
        assert_int_equal(gyre_map_locate_hash(m, at + ((uint64_t)1 << 32)),
                         ring[(i + 1) % 16].node);
    }
    assert_int_equal(gyre_map_locate_hash(m, 0), 0);
    assert_int_equal(gyre_map_locate_hash(m, UINT64_MAX), 0);
    gyre_map_unref(m);
}

/* SHA-256 over "key TAB node LF" of 100000 keys. */
static void sum_of(const gyre_map_t *m, char out[65])
{
    static char text[100000 * 40];
    size_t len = 0;
    for (unsigned i = 0; i < 100000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key:%u", i);
        len += (size_t)sprintf(text + len, "%s\t%s\n", key, fleet_where(m, key));
    }
    uint8_t digest[32];
    gyre_hash_sha256(text, len, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        sprintf(out + 2 * i, "%02x", digest[i]);
    }
}

static void pinned(const char *settings, bool weighted, const char *sum)
{
    gyre_topology_t *t = fleet_new(settings);
    for (unsigned i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "node-%u", (i * 37) % 100);
        fleet_add(t, name, weighted ? i * 0.1 : 1, NULL);
    }
    gyre_map_t *m = fleet_map(t);
    char got[65];
    sum_of(m, got);
    assert_string_equal(got, sum);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void test_pinned_sums(void **state)
{
    (void)state;
    pinned("", false, "e8208da927f281dba256d4175a4133296b1ecbf207a42fe5fcdf2242af39a6c8");
    pinned("points 3", true, "c9d55d0c6cb240bd55d38fea44ef96c442e246330b404285e824ff88fa86f08f");
    pinned("points 1", true, "5b47c33858f3f301d9fd6fcb819480567c059a7ea6d46075dc11c7b71fdb3b34");
    pinned("algorithm modulo", false,
           "40442280c3fcda9b8d08cd6db9e5432ccb846c05b9b376de8606811ba0eb9758");
    pinned("like sample", false,
           "af68a269d357c795b4d1799c2dea18af3037a4b6b44c81f90434dc291a230eee");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documented_keys),
        cmocka_unit_test(test_documented_ring),
        cmocka_unit_test(test_pinned_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
