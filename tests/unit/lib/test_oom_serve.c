/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_oom_serve.c - every allocation failing in turn, as test_oom.c, for what serves requests:
 * masks, views, sketches, loads, recipes.
 */
#include "oom.h"

static gyre_map_t *map, *spread;
static gyre_hot_t *one, *two;

static int op_mask(gyre_error_t *e)
{
    gyre_mask_t *k;
    int err = gyre_mask_new(spread, NULL, &k, e);
    gyre_mask_unref(k);
    return err;
}

/* A publish that fails leaves what was shown. */
static int op_view(gyre_error_t *e)
{
    struct gyre_stage s = {.size = sizeof s, .map = map}, next = s;
    gyre_view_t *v;
    gyre_reader_t *r = NULL;
    next.map = spread;
    int err = gyre_view_new(&s, &v, e);
    err = err ? err : gyre_reader_new(v, &r, e);
    if (!err) {
        err = gyre_view_publish(v, &next, e);
        assert_ptr_equal(gyre_reader_enter(r)->map, err ? map : spread);
        gyre_reader_leave(r);
    }
    gyre_view_free(v);
    return err;
}

static int op_hot(gyre_error_t *e)
{
    struct gyre_hot_settings s = {.size = sizeof s, .counters = 10};
    gyre_hot_t *h;
    int err = gyre_hot_new(&s, &h, e);
    gyre_hot_free(h);
    return err;
}

static int op_merge(gyre_error_t *e)
{
    int err = gyre_hot_merge(one, two, e);
    assert_int_equal(gyre_hot_total(one), err ? 1 : 2);
    return err;
}

static int op_load(gyre_error_t *e)
{
    gyre_load_t *l;
    int err = gyre_load_new(map, 0, &l, e);
    gyre_load_free(l);
    return err;
}

static int op_recipe(gyre_error_t *e)
{
    gyre_recipe_t *r;
    int err = gyre_recipe_parse("host+path", &r, e);
    gyre_recipe_free(r);
    return err;
}

static void test_each(void **state)
{
    (void)state;
    until_failure = SIZE_MAX;
    gyre_topology_t *t = fleet_new("points 20");
    fleet_many(t, "n", 20);
    map = fleet_map(t);
    assert_int_equal(gyre_topology_set(t, "spread", "zone", NULL), GYRE_OK);
    spread = fleet_map(t);
    struct gyre_hot_settings s = {.size = sizeof s, .counters = 10};
    assert_int_equal(gyre_hot_new(&s, &one, NULL), GYRE_OK);
    assert_int_equal(gyre_hot_new(&s, &two, NULL), GYRE_OK);
    gyre_hot_add(one, "k", 1, 1);
    gyre_hot_add(two, "k", 1, 1);
    each_failure("mask", op_mask);
    each_failure("view", op_view);
    each_failure("hot keys", op_hot);
    each_failure("merge", op_merge);
    each_failure("load", op_load);
    each_failure("recipe", op_recipe);
    gyre_hot_free(one);
    gyre_hot_free(two);
    gyre_map_unref(map);
    gyre_map_unref(spread);
    gyre_topology_free(t);
    assert_int_equal(held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
