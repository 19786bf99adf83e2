/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map.c - maps: numbering, references, hash tags, batches, explanations, empty ones, and what
 * is refused with its cost.
 */
#include "fleet.h"
#include "lib/map.h"
#include "lib/place/line.h"

static void test_numbering(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    gyre_topology_set_version(t, 9);
    fleet_add(t, "b", 1, "z");
    fleet_add(t, "\xff", 1, NULL);
    fleet_add(t, "a", 0, NULL);
    fleet_add(t, "B", 1, NULL);
    assert_int_equal(gyre_topology_set_address(t, "b", "10.0.0.1:6379", NULL), GYRE_OK);
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    assert_int_equal(gyre_map_count(m), 4);
    assert_int_equal(gyre_map_version(m), 9);
    const char *order[] = {"B", "a", "b", "\xff"};
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(gyre_map_node(m, i)->name, order[i]);
        assert_int_equal(gyre_map_find(m, order[i]), i);
    }
    assert_string_equal(gyre_map_node(m, 2)->address, "10.0.0.1:6379");
    assert_string_equal(gyre_map_node(m, 2)->zone, "z");
    assert_int_equal(gyre_map_find(m, "c"), GYRE_NONE);
    assert_null(gyre_map_node(m, 4));
    assert_null(gyre_map_node(m, GYRE_NONE));
    assert_int_equal(gyre_map_points(m), 3000);
    assert_true(gyre_map_share(m, 1) == 0 && gyre_map_share(m, 4) == 0);
    gyre_map_unref(m);
}

static void test_references(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    fleet_many(t, "n", 3);
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    assert_ptr_equal(gyre_map_ref(m), m);
    gyre_map_unref(m);
    assert_int_not_equal(gyre_map_locate(m, "k", 1), GYRE_NONE);
    gyre_map_unref(m);
    gyre_map_unref(NULL);
}

static void part_is(const gyre_map_t *m, const char *key, size_t len, const char *want)
{
    const void *part;
    size_t part_len;
    gyre_map_hash_input(m, key, len, &part, &part_len);
    assert_int_equal(part_len, strlen(want));
    assert_memory_equal(part, want, part_len);
}

static void test_hash_tags(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    fleet_many(t, "n", 3);
    gyre_map_t *m = fleet_map(t);
    const struct {
        const char *key, *part;
    } rows[] = {{"user:1", "user:1"}, {"{user:1}:a", "user:1"},
                {"x{a}{b}", "a"},     {"{}a", "{}a"},
                {"{}{b}", "{}{b}"},   {"{a", "{a"},
                {"a}", "a}"},         {"}a{b}", "b"},
                {"{{a}}", "{a"},      {"", ""},
                {"{", "{"},           {"a{", "a{"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        part_is(m, rows[i].key, strlen(rows[i].key), rows[i].part);
    }
    assert_int_equal(gyre_map_locate(m, "{user:1}:a", 10), gyre_map_locate(m, "user:1", 6));
    gyre_map_unref(m);

    assert_int_equal(gyre_topology_set(t, "hash_tag", "||", NULL), GYRE_OK);
    m = fleet_map(t);
    part_is(m, "a|b|c|", 6, "b");
    part_is(m, "a||c|", 5, "a||c|");
    part_is(m, "|", 1, "|");
    gyre_map_unref(m);

    assert_int_equal(gyre_topology_set(t, "hash_tag", "", NULL), GYRE_OK);
    m = fleet_map(t);
    part_is(m, "{a}b", 4, "{a}b");
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* NUL is a byte like any other, and bytes beyond len do not count. */
static void test_keys_are_bytes(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    fleet_many(t, "n", 1000);
    gyre_map_t *m = fleet_map(t);
    assert_int_equal(gyre_map_hash(m, "a\0b", 3), gyre_hash_xxh3("a\0b", 3));
    assert_int_not_equal(gyre_map_hash(m, "a\0b", 3), gyre_map_hash(m, "a\0c", 3));
    assert_int_equal(gyre_map_locate(m, "abc", 2), gyre_map_locate(m, "abd", 2));
    assert_int_equal(gyre_map_locate(m, NULL, 0), gyre_map_locate(m, "", 0));
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void batch_agrees(const char *settings, unsigned nodes)
{
    enum { KEYS = 1000 };
    gyre_topology_t *t = fleet_new(settings);
    fleet_many(t, "n", nodes);
    gyre_map_t *m = fleet_map(t);
    static char text[KEYS][16];
    const void *keys[KEYS];
    size_t lens[KEYS];
    uint64_t hashes[KEYS];
    uint32_t out[KEYS], out_hash[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        lens[i] = (size_t)snprintf(text[i], sizeof text[i], "key-%zu", i);
        keys[i] = text[i];
        hashes[i] = gyre_map_hash(m, keys[i], lens[i]);
    }
    const size_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, KEYS};
    bool wide = strstr(settings, "md5_128") != NULL;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        memset(out, 0xee, sizeof out);
        memset(out_hash, 0xee, sizeof out_hash);
        gyre_map_locate_batch(m, keys, lens, n, out);
        gyre_map_locate_hash_batch(m, hashes, n, out_hash);
        for (size_t i = 0; i < n; i++) {
            uint32_t single = gyre_map_locate(m, keys[i], lens[i]);
            assert_int_equal(out[i], single);
            assert_int_equal(out_hash[i], wide ? GYRE_NONE : single);
            assert_int_equal(gyre_map_locate_hash(m, hashes[i]), wide ? GYRE_NONE : single);
        }
        for (size_t i = n; i < KEYS; i++) { /* nothing past the end is written */
            assert_int_equal(out[i], 0xeeeeeeee);
            assert_int_equal(out_hash[i], 0xeeeeeeee);
        }
    }
    uint64_t most = UINT64_MAX; /* of a hash of fewer bits too */
    gyre_map_locate_hash_batch(m, &most, 1, out);
    assert_int_equal(out[0], gyre_map_locate_hash(m, most));
    assert_true(wide || !nodes ? out[0] == GYRE_NONE : out[0] < nodes);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

static void test_batches(void **state)
{
    (void)state;
    batch_agrees("", 100);
    batch_agrees("points 1", 1);
    batch_agrees("points 1", 7);
    batch_agrees("algorithm modulo", 7);
    batch_agrees("like sample", 7);
    batch_agrees("like carbon-c-relay distribution fnv1a_ch", 7); /* a hash of 16 bits */
    batch_agrees("like sample mode md5_128", 7);
    batch_agrees("like sample mode java_md5_32be", 7);
    batch_agrees("like sample mode sha256_32be vnodes 1", 3);
    batch_agrees("algorithm modulo like sample mode md5_128", 3);
    batch_agrees("", 0);
    batch_agrees("like sample mode md5_128", 0);
}

static void test_empty(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    for (int drained = 0; drained < 2; drained++) {
        gyre_map_t *m = fleet_map(t);
        uint32_t out[2] = {7, 7};
        unsigned flags = 0;
        assert_int_equal(gyre_map_locate(m, "k", 1), GYRE_NONE);
        assert_int_equal(gyre_map_locate_hash(m, 5), GYRE_NONE);
        assert_int_equal(gyre_map_replicas(m, "k", 1, out, 2, &flags), 0);
        assert_int_equal(flags, GYRE_REPLICAS_SHORT);
        assert_int_equal(gyre_map_replicas(m, "k", 1, out, 0, &flags), 0);
        assert_int_equal(flags, 0);
        assert_int_equal(out[0], 7);
        struct gyre_explain x = {.size = sizeof x};
        assert_int_equal(gyre_map_explain(m, "k", 1, &x), GYRE_EMPTY);
        assert_int_equal(x.hash_lo, gyre_hash_xxh3("k", 1));
        assert_int_equal(x.node, GYRE_NONE);
        assert_int_equal(gyre_map_points(m), 0);
        assert_true(gyre_map_share(m, 0) == 0);
        gyre_map_unref(m);
        if (!drained) {
            fleet_add(t, "drained", 0, "z");
        }
    }
    gyre_topology_free(t);
}

static void test_explain(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 1");
    fleet_add(t, "only", 1, NULL);
    gyre_map_t *m = fleet_map(t);
    struct gyre_explain x = {0};
    assert_int_equal(gyre_map_explain(m, "k", 1, &x), GYRE_INVALID);
    bool wrapped = false, straight = false;
    for (char c = 'a'; c <= 'z'; c++) {
        x.size = sizeof x;
        assert_int_equal(gyre_map_explain(m, &c, 1, &x), GYRE_OK);
        assert_int_equal(x.wrapped, x.point_lo < x.position_lo);
        wrapped |= x.wrapped;
        straight |= !x.wrapped;
        assert_int_equal(x.point_index, 0);
    }
    assert_true(wrapped && straight);
    gyre_map_unref(m);

    assert_int_equal(gyre_topology_set(t, "algorithm", "modulo", NULL), GYRE_OK);
    m = fleet_map(t);
    assert_int_equal(gyre_map_explain(m, "a{b}", 4, &x), GYRE_OK);
    assert_false(x.has_point);
    assert_int_equal(x.part_len, 1);
    assert_int_equal(x.position_lo | x.point_lo, 0);
    gyre_map_unref(m);

    /* The key that is a point's own text: > takes the next point, here around the ring. */
    assert_int_equal(gyre_topology_set(t, "algorithm", "ring", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "like", "sample", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "vnodes", "1", NULL), GYRE_OK);
    for (int after = 0; after < 2; after++) {
        const char *mode = after ? "md5_128" : "md5_64be";
        assert_int_equal(gyre_topology_set(t, "mode", mode, NULL), GYRE_OK);
        m = fleet_map(t);
        assert_int_equal(gyre_map_explain(m, "only#0", 6, &x), GYRE_OK);
        assert_int_equal(x.hash_bits, after ? 128 : 64);
        assert_int_equal(x.wrapped, after);
        assert_true(x.point_lo == x.position_lo && x.point_hi == x.position_hi);
        gyre_map_unref(m);
    }
    gyre_topology_free(t);
}

static void build_refused(gyre_topology_t *t, int code, const char *message)
{
    gyre_map_t *m = (gyre_map_t *)8;
    gyre_error_t e = {0};
    assert_int_equal(gyre_map_build(t, &m, &e), code);
    assert_null(m);
    if (!strstr(e.message, message)) {
        fail_msg("'%s' has no '%s'", e.message, message);
    }
    assert_int_equal(gyre_map_build(t, &m, NULL), code);
    gyre_topology_free(t);
}

static void test_refusals(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 100000");
    fleet_add(t, "heavy", 1000000, NULL);
    build_refused(t, GYRE_RANGE, "100000000000 points on the ring, which is 1400000 MB");
    t = fleet_new("");
    fleet_many(t, "n", 10);
    fleet_add(t, "heavy", 134217.728 - 9.999, NULL);
    build_refused(t, GYRE_RANGE, "134217729 points");
    t = fleet_new("like sample vnodes 100000");
    fleet_add(t, "heavy", 1000, NULL);
    build_refused(t, GYRE_RANGE, "100000000 points");
    t = fleet_new("algorithm modulo");
    fleet_add(t, "a", 1, NULL);
    fleet_add(t, "b\n", 2, NULL);
    build_refused(t, GYRE_UNSUPPORTED, "'a' and 'b\\x0a' weigh differently");
    t = fleet_new("points 1");
    fleet_many(t, "n", 65536);
    build_refused(t, GYRE_RANGE, "65536 nodes; a map holds at most 65535");
}

static void test_most_nodes(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 2");
    fleet_many(t, "n", 65535);
    gyre_map_t *m = fleet_map(t);
    double sum = 0;
    for (uint32_t i = 0; i < 65535; i++) {
        sum += gyre_map_share(m, i);
    }
    assert_true(sum > 1 - 1e-12 && sum < 1 + 1e-12);
    bool last = false;
    for (uint64_t h = 0; h < 1000000 && !last; h++) {
        last = gyre_map_locate_hash(m, h * 0x9e3779b97f4a7c15u) == 65534;
    }
    assert_true(last);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* Unequal weight is fine for those that are drained. */
static void test_modulo_drained(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("algorithm modulo");
    fleet_add(t, "a", 2, NULL);
    fleet_add(t, "b", 0, NULL);
    fleet_add(t, "c", 2, NULL);
    gyre_map_t *m = fleet_map(t);
    assert_int_equal(gyre_map_locate_hash(m, 4), 0);
    assert_int_equal(gyre_map_locate_hash(m, 5), 2);
    assert_true(gyre_map_share(m, 0) == 0.5 && gyre_map_share(m, 1) == 0);
    assert_int_equal(gyre_map_points(m), 0);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* Both forms and the plain loop count alike, whatever stands beside the numbers; and the test of
 * what a line tells is that of its two reasons not to. */
static void test_line_below(void **state)
{
    (void)state;
    const uint16_t x[] = {0, 1, 2, 0x3fff, 0x4000, 0x7ffe, 0x7fff};
    enum { N = sizeof x / sizeof x[0] };
    for (unsigned start = 0; start < 1u << GY_LINE; start++) {
        _Alignas(64) struct gy_line line;
        unsigned at = 0;
        for (unsigned i = 0; i < GY_LINE; i++) { /* a bit of start: whether to go on in x */
            line.at[i] = x[at < N ? at : N - 1];
            line.owner[i] = (uint16_t)(start & 2 ? UINT16_MAX : 0);
            at += (start >> i) & 1;
        }
        line.at[GY_LINE] = line.at[GY_LINE + 1] = 0;
        line.first = start;
        for (unsigned k = 0; k < N; k++) {
            unsigned below = gy_line_below_plain(&line, x[k]);
            assert_int_equal(gy_line_below(&line, x[k]), below);
#ifdef __SSE2__
            assert_int_equal(gy_line_count(&line, x[k]), below);
#endif
            assert_int_equal(gy_line_tells(&line, below, x[k]),
                             below < GY_LINE && line.at[below] != x[k]);
        }
    }
}

/* Of 1 000 000 points about 116 pairs share a position: both stay, the first name owns the keys,
 * and when its node goes the other's point is still there. */
static void test_ties(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 10000");
    fleet_many(t, "n", 100);
    gyre_map_t *m = fleet_map(t);
    unsigned ties = 0;
    for (size_t i = 0; i + 1 < m->steps; i++) {
        uint64_t at = (uint64_t)m->place->position(m, i) << 32;
        uint32_t one = m->place->node(m, i), two = m->place->node(m, i + 1);
        if (at != (uint64_t)m->place->position(m, i + 1) << 32 || one == two) {
            continue;
        }
        assert_true(one < two);
        assert_int_equal(gyre_map_locate_hash(m, at), one);
        if (ties++ == 0) {
            gyre_topology_t *u = gyre_topology_clone(t);
            assert_int_equal(gyre_topology_remove(u, m->nodes[one].name, NULL), GYRE_OK);
            gyre_map_t *left = fleet_map(u);
            uint32_t heir = gyre_map_locate_hash(left, at);
            assert_string_equal(left->nodes[heir].name, m->nodes[two].name);
            gyre_map_unref(left);
            gyre_topology_free(u);
        }
    }
    assert_in_range(ties, 60, 180);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* Names chosen so that all points fall into the ring's first hundredth: one line and one way of the
 * sort have them all, which costs time but no right answer. */
static void test_crowded_stretch(void **state)
{
    (void)state;
    enum { NODES = 200 };
    gyre_topology_t *t = fleet_new("points 1");
    uint32_t low = UINT32_MAX, high = 0;
    for (unsigned i = 0, made = 0; made < NODES; i++) {
        char name[16];
        gyre_topology_t *one = fleet_new("points 1");
        snprintf(name, sizeof name, "n%u", i);
        fleet_add(one, name, 1, NULL);
        gyre_map_t *m = fleet_map(one);
        uint32_t position = (uint32_t)m->place->position(m, 0);
        if (position < UINT32_MAX / NODES * 2) {
            fleet_add(t, name, 1, NULL);
            low = position < low ? position : low;
            high = position > high ? position : high;
            made++;
        }
        gyre_map_unref(m);
        gyre_topology_free(one);
    }
    gyre_map_t *m = fleet_map(t);
    for (size_t i = 0; i < NODES; i++) {
        uint64_t at = (uint64_t)m->place->position(m, i) << 32;
        assert_int_equal(gyre_map_locate_hash(m, at), m->place->node(m, i));
        assert_int_equal(gyre_map_locate_hash(m, at | UINT32_MAX), m->place->node(m, i));
        assert_true(i == 0 || at >= (uint64_t)m->place->position(m, i - 1) << 32);
    }
    assert_int_equal(gyre_map_locate_hash(m, 0), m->place->node(m, 0));
    assert_int_equal(gyre_map_locate_hash(m, ((uint64_t)high + 1) << 32), m->place->node(m, 0));
    assert_int_equal(gyre_map_locate_hash(m, UINT64_MAX), m->place->node(m, 0));
    assert_int_equal(m->place->position(m, 0), low);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* 14 bytes a point are what is promised; names are not counted. */
static void test_memory(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    fleet_many(t, "n", 100);
    gyre_map_t *m = fleet_map(t);
    assert_in_range(gyre_map_bytes(m), 1400000, 1401000);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

/* Point 10 of n1 and point 0 of n11 are one text in Java's rule: who was added later owns it. */
static void test_newest_owns_a_shared_point(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        gyre_topology_t *t = fleet_new("like sample mode java_md5_32be vnodes 11");
        fleet_add(t, swapped ? "n11" : "n1", 1, NULL);
        fleet_add(t, swapped ? "n1" : "n11", 1, NULL);
        gyre_map_t *m = fleet_map(t);
        assert_string_equal(fleet_where(m, "n110"), swapped ? "n1" : "n11");
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

/* A ring of every weight step from light to heavy: points only ever come. */
static void test_weight_adds_points(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("points 100");
    fleet_add(t, "a", 0, NULL);
    uint64_t before = 0;
    const double weights[] = {0, 0.000001, 0.001, 0.01, 0.014, 0.015, 0.1, 1, 1.004, 1.005, 2, 50};
    const uint64_t points[] = {0, 1, 1, 1, 1, 2, 10, 100, 100, 101, 200, 5000};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        assert_int_equal(gyre_topology_set_weight(t, "a", weights[i], NULL), GYRE_OK);
        gyre_map_t *m = fleet_map(t);
        assert_int_equal(gyre_map_points(m), points[i]);
        assert_true(points[i] >= before);
        before = points[i];
        gyre_map_unref(m);
    }
    gyre_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbering),  cmocka_unit_test(test_references),
        cmocka_unit_test(test_hash_tags),  cmocka_unit_test(test_keys_are_bytes),
        cmocka_unit_test(test_batches),    cmocka_unit_test(test_empty),
        cmocka_unit_test(test_explain),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_most_nodes), cmocka_unit_test(test_modulo_drained),
        cmocka_unit_test(test_line_below), cmocka_unit_test(test_weight_adds_points),
        cmocka_unit_test(test_ties),       cmocka_unit_test(test_crowded_stretch),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_newest_owns_a_shared_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
