/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_view.c - stages and views: what is refused, who leads for a key, and that what was replaced
 * lives exactly as long as somebody may look at it. (Threads: view_threads.c.)
 */
#include "fleet.h"
#include "lib/map.h"

static gyre_map_t *fleet_of(unsigned nodes, uint64_t version, const char *settings)
{
    gyre_topology_t *t = fleet_new(settings);
    fleet_many(t, "n", nodes);
    gyre_topology_set_version(t, version);
    gyre_map_t *m = fleet_map(t);
    gyre_topology_free(t);
    return m;
}

static gyre_view_t *view_of(const struct gyre_stage *s)
{
    gyre_view_t *v = NULL;
    assert_int_equal(gyre_view_new(s, &v, NULL), GYRE_OK);
    return v;
}

static void refused(const struct gyre_stage *s, int code, const char *message)
{
    gyre_error_t e = {0};
    gyre_view_t *v = (gyre_view_t *)&e;
    assert_int_equal(gyre_view_new(s, &v, &e), code);
    assert_null(v);
    assert_string_equal(e.message, message);
}

static void test_refused(void **state)
{
    gyre_map_t *a = fleet_of(3, 1, ""), *b = fleet_of(4, 2, "");
    gyre_mask_t *k;
    assert_int_equal(gyre_mask_new(b, NULL, &k, NULL), GYRE_OK);
    struct gyre_stage s = {.size = sizeof s};
    refused(&s, GYRE_INVALID, "a stage needs its size and a map");
    s.map = a;
    s.size = 8;
    refused(&s, GYRE_INVALID, "a stage needs its size and a map");
    s.size = sizeof s;
    s.permille = 1;
    refused(&s, GYRE_INVALID, "a share or a mask is given for the next map, but no map");
    s.next = b;
    s.permille = 1001;
    refused(&s, GYRE_RANGE, "permille: 1001 is out of range (0..1000)");
    s.permille = 0;
    s.mask = k;
    refused(&s, GYRE_MISMATCH, "a mask was made for another map than the one it is with");
    s.mask = NULL;
    s.next_mask = k;
    gyre_view_t *v = view_of(&s);

    /* An old message cannot bring an old fleet back; the change itself can be given up. */
    struct gyre_stage settled = {.size = sizeof settled, .map = b}, old = settled;
    old.map = a;
    gyre_error_t e = {0};
    assert_int_equal(gyre_view_publish(v, &old, &e), GYRE_OK);
    assert_int_equal(gyre_view_publish(v, &settled, &e), GYRE_OK);
    assert_int_equal(gyre_view_publish(v, &old, &e), GYRE_CONFLICT);
    assert_string_equal(e.message, "version 1 is older than 2, which serves");
    gyre_view_free(v);
    gyre_mask_unref(k);
    assert_int_equal(atomic_load(&a->refs), 1);
    assert_int_equal(atomic_load(&b->refs), 1);
    gyre_map_unref(a);
    gyre_map_unref(b);
}

/* A change that can never end does not begin: the next map would be refused as an old one. */
static void test_refused_at_first(void **state)
{
    (void)state;
    gyre_map_t *now = fleet_of(3, 5, ""), *next = fleet_of(4, 4, ""), *fits = fleet_of(4, 5, "");
    struct gyre_stage s = {.size = sizeof s, .map = now};
    gyre_error_t e = {0};
    gyre_view_t *v = view_of(&s), *other;
    s.next = next;
    for (s.permille = 0; s.permille <= 1000; s.permille += 500) {
        assert_int_equal(gyre_view_publish(v, &s, &e), GYRE_CONFLICT);
        assert_string_equal(e.message, "version 4 is older than 5, which serves");
        assert_int_equal(gyre_view_new(&s, &other, &e), GYRE_CONFLICT);
        assert_null(other);
    }
    s.next = fits;
    s.permille = 1000;
    assert_int_equal(gyre_view_publish(v, &s, &e), GYRE_OK);
    s = (struct gyre_stage){.size = sizeof s, .map = fits};
    assert_int_equal(gyre_view_publish(v, &s, &e), GYRE_OK);
    gyre_view_free(v);
    gyre_map_unref(now);
    gyre_map_unref(next);
    gyre_map_unref(fits);
}

static size_t left(gyre_view_t *v)
{
    size_t n = SIZE_MAX;
    assert_int_equal(gyre_view_reclaim(v, &n, NULL), GYRE_OK);
    return n;
}

static void test_reclaimed(void **state)
{
    gyre_map_t *m[3] = {fleet_of(1, 1, ""), fleet_of(2, 2, ""), fleet_of(3, 3, "")};
    struct gyre_stage s[3];
    gyre_reader_t *early, *late;
    for (int i = 0; i < 3; i++) {
        s[i] = (struct gyre_stage){.size = sizeof s[i], .map = m[i]};
    }
    gyre_view_t *v = view_of(&s[0]);
    assert_int_equal(gyre_reader_new(v, &early, NULL), GYRE_OK);
    assert_int_equal(gyre_reader_new(v, &late, NULL), GYRE_OK);

    assert_ptr_equal(gyre_reader_enter(early)->map, m[0]);
    assert_int_equal(gyre_view_publish(v, &s[1], NULL), GYRE_OK);
    assert_int_equal(atomic_load(&m[0]->refs), 2); /* early looks at it */
    assert_ptr_equal(gyre_reader_enter(late)->map, m[1]);
    assert_int_equal(gyre_view_publish(v, &s[2], NULL), GYRE_OK);
    assert_int_equal(left(v), 2);
    gyre_reader_leave(early);
    assert_int_equal(left(v), 1); /* the first is gone; late still has the second */
    assert_int_equal(atomic_load(&m[0]->refs), 1);
    assert_int_equal(atomic_load(&m[1]->refs), 2);

    /* A visit within a visit sees what is new and keeps what is old. */
    assert_ptr_equal(gyre_reader_enter(late)->map, m[2]);
    gyre_reader_leave(late);
    assert_int_equal(left(v), 1);
    gyre_reader_leave(late);
    assert_int_equal(left(v), 0);
    gyre_reader_leave(late); /* once too often does no harm */
    assert_ptr_equal(gyre_reader_enter(late)->map, m[2]);
    gyre_reader_leave(late);

    /* A seat given back while inside holds nothing, and is taken again. */
    gyre_reader_enter(early);
    gyre_reader_free(early);
    assert_int_equal(gyre_view_publish(v, &s[2], NULL), GYRE_OK);
    assert_int_equal(left(v), 0);
    gyre_reader_t *again;
    assert_int_equal(gyre_reader_new(v, &again, NULL), GYRE_OK);
    assert_ptr_equal(again, early);
    gyre_reader_enter(again); /* what waits when the view goes, goes with it */
    assert_int_equal(gyre_view_publish(v, &s[2], NULL), GYRE_OK);
    assert_int_equal(left(v), 1);
    gyre_view_free(v);
    gyre_view_free(NULL);
    gyre_reader_free(NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(atomic_load(&m[i]->refs), 1);
        gyre_map_unref(m[i]);
    }
}

static const char *name_of(const struct gyre_target *t)
{
    return gyre_map_node(t->map, t->node)->name;
}

/* Written from the promise: the leader's nodes, then those of the other that differ. */
static void test_route(void **state)
{
    gyre_map_t *a = fleet_of(4, 1, ""), *b = fleet_of(5, 2, "");
    struct gyre_stage s = {.size = sizeof s, .map = a, .next = b, .permille = 500, .salt = 7};
    unsigned moved = 0, shifted = 0;
    for (unsigned i = 0; i < 2000; i++) {
        char key[16];
        size_t len = (size_t)snprintf(key, sizeof key, "user:%u", i), writes;
        struct gyre_target t[2];
        size_t n = gyre_stage_route(&s, key, len, 1, t, &writes);
        bool lead = gyre_stage_shifted(&s, key, len);
        shifted += lead;
        assert_int_equal(writes, 1);
        assert_string_equal(name_of(&t[0]), fleet_where(lead ? b : a, key));
        const char *other = fleet_where(lead ? a : b, key);
        moved += n == 2;
        assert_int_equal(n, 1 + (strcmp(name_of(&t[0]), other) != 0));
        if (n == 2) {
            assert_string_equal(name_of(&t[1]), other);
            assert_ptr_equal(t[1].map, lead ? a : b);
        }
    }
    assert_in_range(shifted, 900, 1100); /* four standard deviations are 89 */
    assert_in_range(moved, 300, 500);    /* a fifth moves */

    /* Raising the share adds keys and takes none away; another salt picks others. */
    unsigned differ = 0, count[5] = {0};
    for (unsigned i = 0; i < 2000; i++) {
        static const uint32_t steps[] = {0, 1, 250, 999, 1000};
        bool before = false;
        for (unsigned k = 0; k < 5; k++) {
            s.permille = steps[k];
            bool now = gyre_stage_shifted(&s, &i, sizeof i);
            assert_true(now || !before);
            before = now;
            count[k] += now;
        }
        struct gyre_stage salted = s;
        s.permille = salted.permille = 500;
        salted.salt = 8;
        differ += gyre_stage_shifted(&s, &i, sizeof i) != gyre_stage_shifted(&salted, &i, sizeof i);
    }
    assert_int_equal(count[0], 0);
    assert_in_range(count[2], 420, 580);
    assert_int_equal(count[4], 2000);
    assert_in_range(differ, 900, 1100);
    assert_true(gyre_stage_shifted(&s, "{a}1", 4) == gyre_stage_shifted(&s, "{a}2", 4));

    s = (struct gyre_stage){.size = sizeof s, .map = a};
    struct gyre_target t[2 * GYRE_ROUTE_MAX];
    assert_int_equal(gyre_stage_route(&s, "k", 1, 3, t, NULL), 3);
    assert_int_equal(gyre_stage_route(&s, "k", 1, SIZE_MAX, t, NULL), 4);
    assert_false(gyre_stage_shifted(&s, "k", 1));
    gyre_map_unref(a);
    gyre_map_unref(b);
}

/* Which keys go first is part of the interface; worked out by hand from docs/placement.md. */
static void test_share_values(void **state)
{
    gyre_map_t *a = fleet_of(2, 1, ""), *b = fleet_of(3, 2, "");
    struct gyre_stage s = {.size = sizeof s, .map = a, .next = b, .salt = 1};
    static const struct {
        const char *key;
        uint32_t joins; /* the smallest share it is in */
    } values[] = {
        {"user:1", 570}, {"user:2", 181}, {"", 315}, {"{user:1}:cart", 570}, {"k17", 390}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const char *key = values[i].key;
        s.permille = values[i].joins - 1;
        assert_false(gyre_stage_shifted(&s, key, strlen(key)));
        s.permille = values[i].joins;
        assert_true(gyre_stage_shifted(&s, key, strlen(key)));
    }
    gyre_map_unref(a);
    gyre_map_unref(b);
}

static void test_route_masked(void **state)
{
    gyre_map_t *a = fleet_of(3, 1, ""), *b = fleet_of(4, 2, "");
    gyre_mask_t *ka, *kb;
    assert_int_equal(gyre_mask_new(a, NULL, &ka, NULL), GYRE_OK);
    assert_true(gyre_mask_set(ka, 1, false));
    assert_false(gyre_mask_set(ka, 1, false));
    assert_false(gyre_mask_set(ka, 99, false));
    assert_false(gyre_mask_up(ka, GYRE_NONE));
    assert_int_equal(gyre_mask_new(b, ka, &kb, NULL), GYRE_OK); /* n1 is down there, too */
    assert_int_equal(gyre_mask_version(ka), 1);
    assert_int_equal(gyre_mask_down(kb), 1);
    assert_int_equal(gyre_mask_version(kb), 0);
    assert_ptr_equal(gyre_mask_map(kb), b);
    struct gyre_stage s = {
        .size = sizeof s, .map = a, .next = b, .permille = 300, .mask = ka, .next_mask = kb};
    for (unsigned i = 0; i < 500; i++) {
        struct gyre_target t[4];
        size_t writes, n = gyre_stage_route(&s, &i, sizeof i, 2, t, &writes);
        assert_int_equal(writes, 2);
        assert_in_range(n, 2, 3);
        for (size_t j = 0; j < n; j++) {
            assert_string_not_equal(name_of(&t[j]), "n1");
        }
    }
    gyre_mask_unref(ka);
    gyre_mask_unref(kb);
    gyre_mask_unref(NULL);
    gyre_map_unref(a);
    gyre_map_unref(b);
}

/* A machine that is being replaced keeps its name: both have to be asked. */
static void test_route_replaced(void **state)
{
    gyre_topology_t *t = fleet_new("");
    struct gyre_node n = {.size = sizeof n, .name = "n0", .address = "old:1", .weight = 1};
    assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
    gyre_map_t *a = fleet_map(t);
    assert_int_equal(gyre_topology_set_address(t, "n0", "new:1", NULL), GYRE_OK);
    gyre_map_t *b = fleet_map(t);
    struct gyre_stage s = {.size = sizeof s, .map = a, .next = b, .permille = 1000};
    struct gyre_target at[2];
    assert_int_equal(gyre_stage_route(&s, "k", 1, 1, at, NULL), 2);
    assert_string_equal(gyre_map_node(at[0].map, at[0].node)->address, "new:1");
    assert_string_equal(gyre_map_node(at[1].map, at[1].node)->address, "old:1");
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
}

/* Bounded loads take no mask: a node that is down has UINT64_MAX as its load. */
static void test_bounded_down(void **state)
{
    gyre_map_t *m = fleet_of(3, 1, "");
    gyre_mask_t *k;
    uint64_t loads[3] = {0, UINT64_MAX, 0}, full[3] = {UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1};
    assert_int_equal(gyre_mask_new(m, NULL, &k, NULL), GYRE_OK);
    gyre_mask_set(k, 1, false);
    for (unsigned i = 0; i < 200; i++) {
        uint32_t up = gyre_mask_locate(k, &i, sizeof i);
        assert_int_equal(gyre_map_locate_bounded(m, &i, sizeof i, loads, 0, 1000), up);
        assert_int_equal(gyre_map_locate_bounded(m, &i, sizeof i, full, 0, 125), up);
    }
    loads[0] = loads[2] = UINT64_MAX;
    assert_int_equal(gyre_map_locate_bounded(m, "k", 1, loads, 0, 125), GYRE_NONE);
    gyre_mask_unref(k);
    gyre_map_unref(m);
}

/* Three of ten are down, and the other seven take it all, each at most its part of 125 %. */
static void test_bounded_deal(void **state)
{
    static const char *const settings[] = {"algorithm rendezvous", "", "algorithm maglev"};
    enum { NODES = 10, DOWN = 3, JOBS = 10000 };
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        gyre_map_t *m = fleet_of(NODES, 1, settings[s]);
        uint64_t loads[NODES] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
        for (unsigned i = 0; i < JOBS; i++) {
            uint32_t node = gyre_map_locate_bounded(m, &i, sizeof i, loads, i, 125);
            assert_in_range(node, DOWN, NODES - 1);
            loads[node]++;
        }
        for (unsigned i = DOWN; i < NODES; i++) {
            assert_in_range(loads[i], 1, JOBS * 125 / 100 / (NODES - DOWN) + 1);
        }
        gyre_map_unref(m);
    }
}

static void test_bound_limits(void **state)
{
    gyre_map_t *m = fleet_of(4, 1, "");
    assert_int_equal(gyre_map_bound(m, 0, 99, 0), gyre_map_bound(m, 0, 99, 100));
    assert_int_equal(gyre_map_bound(m, 0, 99, 100), 25);
    assert_int_equal(gyre_map_bound(m, 0, 99, 100000), 25000);
    assert_int_equal(gyre_map_bound(m, 0, 99, UINT32_MAX), 25000);
    assert_int_equal(gyre_map_bound(m, 0, UINT64_MAX, 100000), UINT64_MAX);
    assert_int_equal(gyre_map_bound(m, 4, 99, 125), 0);
    gyre_map_unref(m);
}

static struct {
    struct gy_place place; /* one whose walks have marks fall in between */
    const struct gy_place *own;
    gyre_map_t *map;
    gyre_mask_t *mask;
    uint32_t up;
} turning;

/* Before each step the only node that is up goes down, and one that was passed is back before it.
 */
static uint32_t turn(struct gy_walk *w)
{
    turning.map->place = turning.own;
    uint32_t node = gy_walk_next(w);
    turning.map->place = &turning.place;
    if (node == turning.up) {
        turning.up = node ? 0 : 1;
        gyre_mask_set(turning.mask, turning.up, true);
        gyre_mask_set(turning.mask, node, false);
    }
    return node;
}

/* One of two nodes is up at every moment, and whichever is about to be looked at is not. */
static void test_marks_within(void **state)
{
    gyre_map_t *m = fleet_of(2, 1, "algorithm rendezvous");
    assert_int_equal(gyre_mask_new(m, NULL, &turning.mask, NULL), GYRE_OK);
    turning.map = m;
    turning.own = m->place;
    turning.place = *m->place;
    turning.place.next = turn;
    m->place = &turning.place;
    for (unsigned i = 0; i < 100; i++) {
        uint32_t own = gyre_map_locate(m, &i, sizeof i), out[2];
        unsigned flags;
        turning.up = !own;
        gyre_mask_set(turning.mask, !own, true);
        gyre_mask_set(turning.mask, own, false);
        assert_int_equal(gyre_mask_locate(turning.mask, &i, sizeof i), !own);
        uint32_t up = turning.up; /* the key's own by now */
        assert_int_equal(gyre_mask_replicas(turning.mask, &i, sizeof i, out, 1, &flags), 1);
        assert_int_equal(out[0], up);
        assert_int_equal(flags, 0);
    }
    gyre_mask_unref(turning.mask);
    m->place = turning.own;
    gyre_map_unref(m);
}

static void test_empty(void **state)
{
    gyre_map_t *m = fleet_of(0, 1, "spread zone");
    gyre_mask_t *k;
    uint32_t out[2];
    unsigned flags = 0;
    assert_int_equal(gyre_mask_new(m, NULL, &k, NULL), GYRE_OK);
    assert_int_equal(gyre_mask_locate(k, "k", 1), GYRE_NONE);
    assert_int_equal(gyre_mask_replicas(k, "k", 1, out, 2, &flags), 0);
    assert_int_equal(flags, GYRE_REPLICAS_SHORT);
    gyre_mask_unref(k);
    gyre_map_unref(m);
    m = fleet_of(2, 1, "");
    assert_int_equal(gyre_mask_new(m, NULL, &k, NULL), GYRE_OK);
    gyre_mask_set(k, 0, false);
    gyre_mask_set(k, 1, false);
    assert_int_equal(gyre_mask_locate(k, "k", 1), GYRE_NONE);
    gyre_mask_unref(k);
    gyre_map_unref(m);

    /* A node that takes no keys, with a ring that has no point of it. */
    gyre_topology_t *t = fleet_new("like nginx");
    struct gyre_node n = {
        .size = sizeof n, .name = "a:1", .address = "a:1", .weight = 1, .options = "down"};
    assert_int_equal(gyre_topology_add(t, &n, NULL), GYRE_OK);
    m = fleet_map(t);
    uint64_t load = 0;
    assert_int_equal(gyre_mask_new(m, NULL, &k, NULL), GYRE_OK);
    assert_int_equal(gyre_mask_locate(k, "k", 1), GYRE_NONE);
    assert_int_equal(gyre_mask_replicas(k, "k", 1, out, 2, &flags), 0);
    assert_int_equal(gyre_map_locate_bounded(m, "k", 1, &load, 0, 125), GYRE_NONE);
    gyre_mask_unref(k);
    gyre_map_unref(m);
    gyre_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_refused_at_first),
        cmocka_unit_test(test_reclaimed),      cmocka_unit_test(test_route),
        cmocka_unit_test(test_share_values),   cmocka_unit_test(test_route_masked),
        cmocka_unit_test(test_route_replaced), cmocka_unit_test(test_bounded_down),
        cmocka_unit_test(test_bounded_deal),   cmocka_unit_test(test_bound_limits),
        cmocka_unit_test(test_marks_within),   cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
