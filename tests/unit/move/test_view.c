/* SPDX-License-Identifier: Apache-2.0 */
/* test_view.c - units, their names, views and routes; and the small pure parts beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/keyset.h"
#include "move/view.h"

#include <stdio.h>
#include <stdlib.h>

static gyre_map_t *map_of(unsigned n, double first_weight)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_map_t *m;
    for (unsigned i = 0; i < n; i++) {
        char name[16], address[32];
        snprintf(name, sizeof name, "n%u", i);
        snprintf(address, sizeof address, "127.0.0.1:%u", 7000 + i);
        struct gyre_node node = {
            .size = sizeof node, .name = name, .address = address, .weight = i ? 1 : first_weight};
        assert_int_equal(gyre_topology_add(t, &node, NULL), GYRE_OK);
    }
    assert_int_equal(gyre_map_build(t, &m, NULL), GYRE_OK);
    gyre_topology_free(t);
    return m;
}

static struct gy_view *view_of(gyre_map_t *map, uint32_t servers)
{
    static char name[8][8], address[8][32];
    struct gy_server s[8];
    uint32_t index[8];
    for (uint32_t i = 0; i < servers; i++) {
        snprintf(name[i], sizeof name[i], "n%u", i);
        snprintf(address[i], sizeof address[i], "127.0.0.1:%u", 7000 + i);
        s[i] = (struct gy_server){name[i], address[i]};
        index[i] = i;
    }
    struct gy_view *v = gy_view_new(map, s, servers, index);
    assert_non_null(v);
    return v;
}

static void test_states(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GY_UNIT_STATE_COUNT; i++) {
        enum gy_unit_state back;
        assert_true(gy_unit_state_parse(gy_unit_state_name((enum gy_unit_state)i), &back));
        assert_int_equal(back, i);
    }
    enum gy_unit_state s;
    assert_false(gy_unit_state_parse("nonsense", &s));
    assert_string_equal(gy_unit_state_name(GY_UNIT_STATE_COUNT), "?");
}

/* Part of the stored contract: these may never change. */
static void test_chunks(void **state)
{
    (void)state;
    assert_int_equal(gy_unit_chunk("", 0, 1), 0);
    unsigned count[16] = {0};
    for (unsigned i = 0; i < 16000; i++) {
        char key[16];
        size_t n = (size_t)snprintf(key, sizeof key, "k%u", i);
        uint32_t c = gy_unit_chunk(key, n, 16);
        assert_in_range(c, 0, 15);
        /* A finer cut refines a coarser one. */
        assert_int_equal(gy_unit_chunk(key, n, 4), c / 4);
        count[c]++;
    }
    for (unsigned c = 0; c < 16; c++) {
        assert_in_range(count[c], 850, 1150);
    }
    assert_int_equal(gy_unit_chunk("user:1", 6, 1000), 833);
    assert_int_equal(gy_unit_chunk("\0", 1, 1000), 285);
}

static void test_names(void **state)
{
    (void)state;
    struct gy_unit_names a, b;
    assert_true(gy_unit_names_init(&a, "gyre:", "main", "s", "h:1", "d", "h:2", 17));
    assert_int_equal(strncmp(a.rec, "gyre:{main.", 11), 0);
    assert_string_equal(strrchr(a.rec, '}'), "}:rec");
    assert_string_equal(strrchr(a.marks, '}'), "}:m");
    assert_string_equal(strrchr(a.back, '}'), "}:b");
    assert_non_null(strstr(a.rec, ".17}"));
    assert_int_equal(strcspn(a.rec, "}"), strcspn(a.marks, "}")); /* one hash tag */
    /* Where a name ends and an address begins matters. */
    assert_true(gy_unit_names_init(&b, "gyre:", "main", "sh", ":1", "d", "h:2", 17));
    assert_string_not_equal(a.rec, b.rec);
    gy_unit_names_fini(&b);
    assert_true(gy_unit_is_record("gyre:", gy_str(a.rec)));
    assert_true(gy_unit_is_record("gyre:", gy_str(a.marks)));
    assert_true(gy_unit_is_record("gyre:", gy_str(a.back)));
    assert_false(gy_unit_is_record("other:", gy_str(a.rec)));
    gy_unit_names_fini(&a);
    static const char *const users[] = {
        "",
        "gyre:",
        "gyre:x",
        "gyre:{}:rec",
        "gyre:{main}:m",
        "gyre:{main.1.2}:rec",
        "gyre:{m",
        "gyre:{.}:b",
        "xgyre:{main.0123456789abcdef.1}:rec",
        "gyre:{main.0123456789abcdeg.1}:rec",
        "gyre:{main.0123456789abcdef.}:rec",
        "gyre:{main.0123456789abcdef.1}:rec2",
        "gyre:{0123456789abcdef.1}:rec",
    };
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        assert_false(gy_unit_is_record("gyre:", gy_str(users[i])));
    }
}

static struct gy_migration *migrate(const struct gy_view *v, gyre_map_t *next, uint32_t chunks)
{
    uint32_t index[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct gy_pair *pairs;
    size_t n;
    struct gy_migration *m;
    assert_int_equal(gy_migration_pairs(v, next, index, &pairs, &n, NULL), GYRE_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_not_equal(pairs[i].src, pairs[i].dst);
    }
    assert_int_equal(gy_migration_new(v, next, index, pairs, n, 3, chunks, "gyre:", "p", &m, NULL),
                     GYRE_OK);
    assert_int_equal(m->nunits, n * chunks);
    free(pairs);
    return m;
}

/* For every key: a unit if and only if its owner changes, and then the right one. */
static void check_routes(gyre_map_t *from, gyre_map_t *to, uint32_t servers, uint32_t chunks)
{
    struct gy_view *v = view_of(from, servers);
    struct gy_migration *m = migrate(v, to, chunks);
    struct gy_view *w = gy_view_with_move(v, m);
    assert_non_null(w);
    for (uint32_t u = 0; u < m->nunits; u++) {
        w->state[u] = (uint8_t)(u % GY_UNIT_STATE_COUNT);
    }
    for (unsigned i = 0; i < 20000; i++) {
        char key[24];
        size_t n =
            (size_t)snprintf(key, sizeof key, "%s%u%s", i % 3 ? "k" : "{t", i, i % 3 ? "" : "}x");
        struct gy_route plain = gy_view_route(v, key, n), r = gy_view_route(w, key, n);
        uint32_t a = gyre_map_locate(from, key, n), b = gyre_map_locate(to, key, n);
        assert_int_equal(plain.src, a);
        assert_int_equal(plain.dst, a);
        assert_int_equal(plain.unit, GY_NO_UNIT);
        assert_int_equal(r.src, a);
        assert_int_equal(r.dst, b);
        assert_int_equal(r.unit != GY_NO_UNIT, a != b);
        if (r.unit == GY_NO_UNIT) {
            assert_int_equal(r.state, GY_UNIT_STABLE);
            continue;
        }
        assert_int_equal(m->units[r.unit].src, a);
        assert_int_equal(m->units[r.unit].dst, b);
        const void *part;
        size_t len;
        gyre_map_hash_input(from, key, n, &part, &len);
        assert_int_equal(m->units[r.unit].chunk, gy_unit_chunk(part, len, chunks));
        assert_int_equal(r.state, r.unit % GY_UNIT_STATE_COUNT);
    }
    gy_view_unref(w);
    gy_view_unref(v);
    gy_migration_unref(m);
}

static void test_routes(void **state)
{
    (void)state;
    gyre_map_t *a = map_of(4, 1), *b = map_of(5, 1), *c = map_of(6, 3);
    check_routes(a, b, 5, 16);
    check_routes(b, a, 5, 1);
    check_routes(a, c, 6, 7);
    check_routes(c, a, 6, 64);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_map_unref(c);
}

/* A node whose address changes moves whole, and only it. */
static void test_replace(void **state)
{
    (void)state;
    gyre_map_t *map = map_of(3, 1);
    struct gy_view *v = view_of(map, 4);
    uint32_t index[3] = {0, 3, 2};
    struct gy_pair *pairs;
    size_t n;
    assert_int_equal(gy_migration_pairs(v, map, index, &pairs, &n, NULL), GYRE_OK);
    assert_int_equal(n, 1);
    assert_int_equal(pairs[0].src, 1);
    assert_int_equal(pairs[0].dst, 3);
    free(pairs);
    gy_view_unref(v);
    gyre_map_unref(map);
}

static void test_clone(void **state)
{
    (void)state;
    gyre_map_t *a = map_of(2, 1), *b = map_of(3, 1);
    struct gy_view *v = view_of(a, 3);
    struct gy_migration *m = migrate(v, b, 4);
    struct gy_view *w = gy_view_with_move(v, m);
    uint32_t drain[] = {0, 2};
    w->state[1] = GY_UNIT_COMPLETE;
    w->attempt[1] = 7;
    w->from_complete[1] = 1;
    assert_true(gy_view_set_drain(w, drain, 2));
    struct gy_view *x = gy_view_clone(w), *p = gy_view_clone(v);
    assert_int_equal(x->state[1], GY_UNIT_COMPLETE);
    assert_int_equal(x->attempt[1], 7);
    assert_int_equal(x->from_complete[1], 1);
    assert_int_equal(x->ndrain, 0); /* belongs to one publication */
    assert_null(p->move);
    assert_ptr_equal(gy_view_ref(x), x);
    gy_view_unref(x);
    gy_view_unref(x);
    gy_view_unref(p);
    gy_view_unref(w);
    gy_view_unref(v);
    gy_view_unref(NULL);
    gy_migration_unref(m);
    gyre_map_unref(a);
    gyre_map_unref(b);
}

/* From before the first unit is armed until after the last view, and of a move taken back. */
static void test_state_of(void **state)
{
    (void)state;
    gyre_map_t *a = map_of(2, 1), *b = map_of(3, 1);
    struct gy_view *v = view_of(a, 3), *end = view_of(b, 3);
    struct gy_migration *m = migrate(v, b, 4);
    struct gy_view *w = gy_view_with_move(v, m);
    w->state[1] = GY_UNIT_CLEANING;
    assert_int_equal(gy_view_state_of(v, m, 1), GY_UNIT_STABLE);
    assert_int_equal(gy_view_state_of(w, m, 0), GY_UNIT_STABLE);
    assert_int_equal(gy_view_state_of(w, m, 1), GY_UNIT_CLEANING);
    assert_int_equal(gy_view_state_of(end, m, 0), GY_UNIT_MOVED);
    assert_int_equal(gy_view_state_of(end, m, 1), GY_UNIT_MOVED);
    gy_view_unref(end);
    gy_view_unref(w);
    gy_view_unref(v);
    gy_migration_unref(m);
    gyre_map_unref(a);
    gyre_map_unref(b);
}

static void test_too_many_units(void **state)
{
    (void)state;
    gyre_map_t *a = map_of(2, 1);
    struct gy_view *v = view_of(a, 2);
    uint32_t index[2] = {0, 1};
    struct gy_pair pair = {0, 1};
    struct gy_migration *m;
    assert_int_equal(gy_migration_new(v, a, index, &pair, 1, 1, 0, "", "", &m, NULL), GYRE_RANGE);
    assert_int_equal(gy_migration_new(v, a, index, &pair, 1, 1, UINT32_MAX, "", "", &m, NULL),
                     GYRE_RANGE);
    gy_view_unref(v);
    gyre_map_unref(a);
}

static void test_keyset(void **state)
{
    (void)state;
    struct gy_keyset k = {0};
    struct gy_seen s = {0};
    for (unsigned i = 0; i < 5000; i++) {
        char key[16];
        size_t n = (size_t)snprintf(key, sizeof key, "k%u", i);
        struct gy_slice b = {(const uint8_t *)key, n};
        assert_true(gy_keyset_add(&k, b, i % 7));
        assert_true(gy_seen_add(&s, b));
        assert_false(gy_seen_add(&s, b));
    }
    assert_true(gy_keyset_add(&k, GY_LIT(""), 3));
    gy_keyset_sort(&k);
    for (size_t i = 1; i < k.n; i++) {
        assert_true(k.v[i - 1].unit <= k.v[i].unit);
    }
    assert_true(gy_slice_eq(gy_keyset_key(&k, 0), gy_str("k0")));
    gy_keyset_reset(&k);
    assert_int_equal(k.n, 0);
    gy_keyset_fini(&k);
    gy_seen_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),   cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_routes),
        cmocka_unit_test(test_replace),  cmocka_unit_test(test_clone),
        cmocka_unit_test(test_state_of), cmocka_unit_test(test_too_many_units),
        cmocka_unit_test(test_keyset),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
