/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hot.c - the hot-key sketch and the nodes' loads by worked examples. (Against exact counts:
 * test_hot_props.c.)
 */
#include "fleet.h"

static gyre_hot_t *sketch(uint32_t counters, uint64_t half_life)
{
    struct gyre_hot_settings s = {
        .size = sizeof s, .counters = counters, .key_bytes = 4, .half_life = half_life};
    gyre_hot_t *h = NULL;
    assert_int_equal(gyre_hot_new(&s, &h, NULL), GYRE_OK);
    return h;
}

static void add(gyre_hot_t *h, const char *key, uint64_t weight)
{
    gyre_hot_add(h, key, strlen(key), weight);
}

static void is(const struct gyre_hot_key *k, const char *kept, size_t len, uint64_t count,
               uint64_t error)
{
    assert_int_equal(k->kept, strlen(kept));
    assert_memory_equal(k->key, kept, k->kept);
    assert_int_equal(k->len, len);
    assert_int_equal(k->count, count);
    assert_int_equal(k->error, error);
}

static void refused(struct gyre_hot_settings s, int code, const char *message)
{
    gyre_error_t e = {0};
    gyre_hot_t *h = (gyre_hot_t *)&e;
    assert_int_equal(gyre_hot_new(&s, &h, &e), code);
    assert_null(h);
    assert_string_equal(e.message, message);
}

static void test_settings(void **state)
{
    refused((struct gyre_hot_settings){0}, GYRE_INVALID, "size is not set");
    refused((struct gyre_hot_settings){sizeof(struct gyre_hot_settings), 0, 0, 0}, GYRE_RANGE,
            "counters: 0 is out of range (1..16777216)");
    refused((struct gyre_hot_settings){sizeof(struct gyre_hot_settings), 1, 4097, 0}, GYRE_RANGE,
            "key_bytes: 4097 is out of range (0..4096)");
    gyre_hot_free(NULL);
}

/* The paper's rule: the newcomer takes over the least counter, and its count as error. */
static void test_space_saving(void **state)
{
    gyre_hot_t *h = sketch(2, 0);
    struct gyre_hot_key top[3];
    assert_int_equal(gyre_hot_top(h, top, 3), 0);
    add(h, "a", 5);
    add(h, "a", 0); /* nothing came */
    assert_int_equal(gyre_hot_floor(h), 0);
    add(h, "longer", 2);
    assert_int_equal(gyre_hot_floor(h), 2);
    add(h, "", 1);
    assert_int_equal(gyre_hot_top(h, top, 3), 2);
    is(&top[0], "a", 1, 5, 0);
    is(&top[1], "", 0, 3, 2);
    add(h, "longer", 4);
    assert_int_equal(gyre_hot_top(h, top, 1), 1);
    is(&top[0], "long", 6, 7, 3);
    assert_int_equal(gyre_hot_total(h), 12);
    assert_int_equal(gyre_hot_floor(h), 5);
    add(h, "a", UINT64_MAX);
    add(h, "a", UINT64_MAX);
    gyre_hot_top(h, top, 1);
    is(&top[0], "a", 1, UINT64_MAX, 0);
    assert_int_equal(gyre_hot_total(h), UINT64_MAX);
    gyre_hot_free(h);
}

static void test_clock(void **state)
{
    gyre_hot_t *h = sketch(2, 60);
    struct gyre_hot_key top[2];
    gyre_hot_clock(h, 1000000); /* where the clock begins is all the same */
    add(h, "a", 9);
    gyre_hot_clock(h, 1000019);
    assert_int_equal(gyre_hot_total(h), 9);
    gyre_hot_clock(h, 1000020); /* 16667 * 60 */
    gyre_hot_clock(h, 5);       /* never back */
    assert_int_equal(gyre_hot_total(h), 5);
    assert_int_equal(gyre_hot_top(h, top, 2), 1);
    is(&top[0], "a", 1, 5, 1);
    gyre_hot_clock(h, UINT64_MAX);
    gyre_hot_top(h, top, 2);
    is(&top[0], "a", 1, 1, 1);
    gyre_hot_free(h);
}

static void test_merge(void **state)
{
    gyre_hot_t *a = sketch(2, 60), *b = sketch(2, 60), *other = sketch(3, 60);
    struct gyre_hot_key top[2];
    gyre_error_t e;
    assert_int_equal(gyre_hot_merge(a, a, &e), GYRE_INVALID);
    assert_int_equal(gyre_hot_merge(a, other, &e), GYRE_MISMATCH);
    assert_string_equal(e.message, "the two sketches were made with different settings");
    add(a, "x", 8);
    add(a, "y", 4);
    gyre_hot_clock(b, 60);
    add(b, "x", 10);
    add(b, "z", 6);
    assert_int_equal(gyre_hot_merge(a, b, NULL), GYRE_OK); /* a is halved first: x 4, y 2 */
    assert_int_equal(gyre_hot_top(a, top, 2), 2);
    is(&top[0], "x", 1, 14, 0);
    is(&top[1], "z", 1, 8, 2); /* y may have been z in a; y itself had 2 + 6, and comes second */
    assert_int_equal(gyre_hot_total(a), 22);
    gyre_hot_free(a);
    gyre_hot_free(b);
    gyre_hot_free(other);
}

static void test_load(void **state)
{
    gyre_topology_t *t = fleet_new("");
    fleet_add(t, "n0", 1, NULL);
    fleet_add(t, "n1", 3, NULL);
    fleet_add(t, "n2", 0, NULL);
    gyre_map_t *m = fleet_map(t), *again = fleet_map(t);
    gyre_load_t *a, *b, *other;
    struct gyre_balance got = {.size = sizeof got};
    assert_int_equal(gyre_load_new(m, 10, &a, NULL), GYRE_OK);
    assert_int_equal(gyre_load_new(m, 10, &b, NULL), GYRE_OK);
    assert_int_equal(gyre_load_new(again, 10, &other, NULL), GYRE_OK);
    gyre_load_add(a, 0, GYRE_LOAD_OPS, 10);
    gyre_load_add(a, 1, GYRE_LOAD_OPS, 30);
    gyre_load_add(a, 1, GYRE_LOAD_BYTES, 7);
    gyre_load_add(a, 3, GYRE_LOAD_OPS, 1);
    gyre_load_add(a, 0, (enum gyre_load_kind)9, 1);
    assert_int_equal(gyre_load_of(a, 1, GYRE_LOAD_OPS), 30);
    assert_int_equal(gyre_load_of(a, 3, GYRE_LOAD_OPS), 0);
    assert_int_equal(gyre_load_balance(a, GYRE_LOAD_OPS, &got), GYRE_OK);
    assert_true(got.cv < 1e-12 && got.nodes == 2); /* each as its weight says */
    assert_int_equal(gyre_load_balance(a, GYRE_LOAD_BYTES, &got), GYRE_OK);
    assert_true(got.cv > 0.99 && got.cv < 1.01 && got.peak > 1.99);
    assert_int_equal(gyre_load_balance(a, (enum gyre_load_kind)9, &got), GYRE_INVALID);
    assert_int_equal(gyre_load_balance(a, GYRE_LOAD_OPS, &(struct gyre_balance){.size = 0}),
                     GYRE_INVALID);

    gyre_load_add(b, 0, GYRE_LOAD_OPS, 7);
    gyre_load_clock(b, 10);
    assert_int_equal(gyre_load_of(b, 0, GYRE_LOAD_OPS), 3);
    assert_int_equal(gyre_load_merge(a, b, NULL), GYRE_OK); /* a catches up */
    assert_int_equal(gyre_load_of(a, 0, GYRE_LOAD_OPS), 8);
    gyre_load_clock(b, UINT64_MAX);
    assert_int_equal(gyre_load_of(b, 0, GYRE_LOAD_OPS), 0);
    assert_int_equal(gyre_load_merge(b, a, NULL), GYRE_OK); /* what is that old counts nothing */
    assert_int_equal(gyre_load_of(b, 1, GYRE_LOAD_OPS), 0);
    gyre_error_t e;
    assert_int_equal(gyre_load_merge(a, other, &e), GYRE_MISMATCH);
    assert_int_equal(gyre_load_merge(a, a, &e), GYRE_INVALID);
    gyre_load_free(a);
    gyre_load_free(b);
    gyre_load_free(other);
    gyre_load_free(NULL);
    gyre_map_unref(m);
    gyre_map_unref(again);
    gyre_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings), cmocka_unit_test(test_space_saving),
        cmocka_unit_test(test_clock),    cmocka_unit_test(test_merge),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
