/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_secret.c - `hash: siphash`: the values its authors published come out of a map; without its
 * secret, or with one that nothing is hashed with, there is no map; another secret is told from
 * this one, and no function gives the bytes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "gyre.h"

/* vectors.h of the reference implementation: SipHash-2-4-64 of 00 01 02 .. of so many bytes, under
 * the key 00 01 .. 0f. */
static const struct {
    size_t len;
    uint64_t hash;
} published[] = {{0, 0x726fdb47dd0e0e31},  {1, 0x74f839c593dc67fd},  {2, 0x0d6c8009d9a94f5a},
                 {3, 0x85676696d7fb7e2d},  {4, 0xcf2794e0277187b7},  {5, 0x18765564cd99a68d},
                 {6, 0xcbc9466e58fee3ce},  {7, 0xab0200f58b01d137},  {8, 0x93f5f5799a932462},
                 {9, 0x9e0082df0ba9e4b0},  {10, 0x7a5dbbc594ddb9f3}, {11, 0xf4b32f46226bada7},
                 {12, 0x751e8fbc860ee5fb}, {13, 0x14ea5627c0843d90}, {14, 0xf723ca908e7af2ee},
                 {15, 0xa129ca6149be45e5}, {63, 0x958a324ceb064572}};

static void fill(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)i;
    }
}

static gyre_topology_t *fleet(const char *hash)
{
    static const char *const names[] = {"a", "b", "c"};
    gyre_topology_t *t = gyre_topology_new();
    assert_non_null(t);
    assert_int_equal(gyre_topology_set(t, "hash", hash, NULL), GYRE_OK);
    for (size_t i = 0; i < 3; i++) {
        struct gyre_node n = {.size = sizeof n, .name = names[i], .weight = 1};
        assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
    }
    return t;
}

static gyre_topology_t *secret_fleet(uint8_t last)
{
    uint8_t secret[16];
    gyre_topology_t *t = fleet("siphash");
    fill(secret, 15);
    secret[15] = last;
    assert_int_equal(gyre_topology_set_secret(t, secret, 16, NULL), GYRE_OK);
    return t;
}

static void refuse_map(const gyre_topology_t *t, int code, const char *word)
{
    gyre_error_t e = {0};
    gyre_map_t *m;
    assert_int_equal(gyre_map_build(t, &m, &e), code);
    assert_null(m);
    assert_non_null(strstr(e.message, word));
}

static void published_values(void **state)
{
    (void)state;
    uint8_t bytes[64];
    gyre_topology_t *t = secret_fleet(15);
    gyre_map_t *m;
    fill(bytes, sizeof bytes);
    assert_int_equal(gyre_map_build(t, &m, NULL), GYRE_OK);
    gyre_topology_free(t);
    assert_true(gyre_map_hash(m, "user:1", 6) == 0xf66a302956a2be74); /* docs/placement.md */
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const void *key = bytes;
        size_t len = published[i].len;
        uint32_t batch;
        assert_true(gyre_map_hash(m, bytes, len) == published[i].hash);
        gyre_map_locate_batch(m, &key, &len, 1, &batch);
        assert_int_equal(batch, gyre_map_locate(m, bytes, len));
        assert_int_equal(batch, gyre_map_locate_hash(m, published[i].hash));
    }
    gyre_map_unref(m);
}

static void every_placement(void **state)
{
    (void)state;
    static const char *const own[] = {"ring", "modulo",   "rendezvous", "maglev", "slots",
                                      "jump", "jumpback", "memento",    "dx"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        gyre_topology_t *t = secret_fleet(15);
        gyre_map_t *m;
        assert_int_equal(gyre_topology_set(t, "algorithm", own[i], NULL), GYRE_OK);
        assert_int_equal(gyre_map_build(t, &m, NULL), GYRE_OK);
        assert_true(gyre_map_hash(m, "", 0) == published[0].hash);
        assert_int_equal(gyre_map_locate(m, "", 0), gyre_map_locate_hash(m, published[0].hash));
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
}

static void goes_with_its_hash(void **state)
{
    (void)state;
    uint8_t secret[17] = {1};
    gyre_error_t e = {0};
    gyre_topology_t *t = fleet("siphash");
    refuse_map(t, GYRE_INVALID, "needs its secret");
    assert_int_equal(gyre_topology_set_secret(t, secret, 15, &e), GYRE_RANGE);
    assert_int_equal(gyre_topology_set_secret(t, secret, 17, &e), GYRE_RANGE);
    assert_string_equal(e.message, "a secret has 16 bytes, not 17");
    refuse_map(t, GYRE_INVALID, "needs its secret");
    assert_int_equal(gyre_topology_set_secret(t, secret, 16, &e), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "hash", "xxh3", NULL), GYRE_OK);
    refuse_map(t, GYRE_INVALID, "not siphash");
    assert_int_equal(gyre_topology_set_secret(t, NULL, 0, NULL), GYRE_OK);
    assert_string_equal(gyre_topology_get(t, "secret_check"), "");
    assert_int_equal(gyre_topology_set(t, "secret_file", "/etc/secret", NULL), GYRE_OK);
    refuse_map(t, GYRE_INVALID, "not siphash");
    gyre_topology_free(t);

    t = fleet("siphash");
    assert_int_equal(gyre_topology_set(t, "like", "sample", NULL), GYRE_OK);
    refuse_map(t, GYRE_UNSUPPORTED, "like");
    assert_int_equal(gyre_topology_set(t, "like", "", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set_secret(t, secret, 16, NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "like", "twemproxy", &e), GYRE_UNKNOWN);
    gyre_topology_free(t);
}

static void another_secret(void **state)
{
    (void)state;
    uint8_t other[16] = {2};
    gyre_error_t e = {0};
    gyre_topology_t *t = secret_fleet(15), *twin = secret_fleet(15), *wrong = secret_fleet(16);
    gyre_map_t *a, *b, *c;
    gyre_diff_t *d;
    const char *check = gyre_topology_get(t, "secret_check");
    assert_string_equal(check, "acbedd6fb1151c20"); /* part of the format: docs/placement.md */
    assert_int_equal(gyre_topology_set(t, "secret_check", check, NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "secret_check", "", NULL), GYRE_OK);
    assert_string_equal(gyre_topology_get(t, "secret_check"), "acbedd6fb1151c20");
    assert_int_equal(gyre_topology_set(t, "secret_check", "acbedd6fb1151c2", &e), GYRE_INVALID);
    assert_int_equal(gyre_topology_set(t, "secret_check", "acbedd6fb1151c21", &e), GYRE_INVALID);
    assert_int_equal(gyre_topology_set_secret(t, other, 16, &e), GYRE_INVALID);
    assert_non_null(strstr(e.message, "another secret"));
    assert_int_equal(gyre_map_build(t, &a, NULL), GYRE_OK); /* the old one stayed */
    assert_int_equal(gyre_map_build(twin, &b, NULL), GYRE_OK);
    assert_int_equal(gyre_map_build(wrong, &c, NULL), GYRE_OK);
    assert_true(gyre_map_same(a, b));
    assert_false(gyre_map_same(a, c));
    assert_int_equal(gyre_diff_build(a, b, 0, &d, NULL), GYRE_OK);
    assert_true(gyre_diff_moved(d) == 0);
    gyre_diff_free(d);
    assert_int_equal(gyre_diff_build(a, c, 0, &d, NULL), GYRE_MISMATCH);
    assert_int_equal(gyre_diff_build(a, c, 3000, &d, NULL), GYRE_OK);
    assert_false(gyre_diff_exact(d));
    assert_true(gyre_diff_moved(d) > 0.6 && gyre_diff_moved(d) < 0.73); /* 2/3 of three nodes */
    gyre_diff_free(d);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_map_unref(c);
    gyre_topology_free(t);
    gyre_topology_free(twin);
    gyre_topology_free(wrong);
}

static void kept_by_clone_and_plan(void **state)
{
    (void)state;
    gyre_topology_t *t = secret_fleet(15), *copy = gyre_topology_clone(t), *next;
    struct gyre_change add = {.size = sizeof add,
                              .kind = GYRE_ADD,
                              .node = {.size = sizeof add.node, .name = "d", .weight = 1}};
    gyre_map_t *m;
    gyre_topology_free(t);
    assert_int_equal(gyre_plan_apply(copy, &add, 1, &next, NULL), GYRE_OK);
    assert_int_equal(gyre_map_build(next, &m, NULL), GYRE_OK);
    assert_true(gyre_map_hash(m, "", 0) == published[0].hash);
    gyre_map_unref(m);
    gyre_topology_free(copy);
    gyre_topology_free(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),       cmocka_unit_test(every_placement),
        cmocka_unit_test(goes_with_its_hash),     cmocka_unit_test(another_secret),
        cmocka_unit_test(kept_by_clone_and_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
