/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wrap_props.c - what holds of the two wrappers around any placement: two levels, and bounded
 * loads.
 */
#include "fleet_gen.h"
#include "lib/map.h"

enum { KEYS = 200 };

static gyre_topology_t *gen_levels(struct prop *p, unsigned nodes)
{
    static const char *const algorithms[] = {"ring", "rendezvous", "maglev", "slots"};
    static const char *const levels[] = {"region", "zone", "rack"};
    gyre_topology_t *t = gen_topology(p, nodes, 1 + (unsigned)prop_below(p, 20));
    must(gyre_topology_set(t, "algorithm", algorithms[prop_below(p, 4)], NULL));
    must(gyre_topology_set(t, "table", "251", NULL));
    must(gyre_topology_set(t, "level", levels[prop_below(p, 3)], NULL));
    return t;
}

static const struct gyre_node *place(const gyre_map_t *m, uint64_t hash)
{
    return gyre_map_node(m, gyre_map_locate_hash(m, hash));
}

static bool same_zone(const gyre_map_t *m, const struct gyre_node *a, const struct gyre_node *b)
{
    char one[64], two[64];
    unsigned parts = strcmp(m->place->name, "two levels") == 0 ? 1 : 0;
    gy_zone_name(a, parts, one, sizeof one);
    gy_zone_name(b, parts, two, sizeof two);
    return strcmp(one, two) == 0;
}

static bool levels_agree(struct prop *p)
{
    gyre_topology_t *t = gen_levels(p, (unsigned)prop_size(p, 1, 100));
    gyre_map_t *m = gen_map(t);
    uint64_t hashes[KEYS];
    uint32_t out[KEYS], walk[12];
    double sum = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        hashes[i] = prop_draw(p);
    }
    gyre_map_locate_hash_batch(m, hashes, KEYS, out);
    for (unsigned i = 0; i < KEYS; i++) {
        struct gyre_explain x = {.size = sizeof x};
        uint64_t key = hashes[i];
        PROP(out[i] < m->count && m->weight[out[i]] > 0);
        PROP(out[i] == gyre_map_locate_hash(m, key));
        size_t want = 1 + key % 12, n = gyre_map_replicas(m, &key, sizeof key, walk, want, NULL);
        PROP(n == (want < m->positive ? want : m->positive));
        PROP(gyre_map_explain(m, &key, sizeof key, &x) == GYRE_OK && x.node == walk[0]);
        PROP(walk[0] == gyre_map_locate(m, &key, sizeof key));
        for (size_t a = 0; a < n; a++) {
            PROP(m->weight[walk[a]] > 0);
            for (size_t b = 0; b < a; b++) {
                PROP(walk[a] != walk[b]);
            }
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        sum += gyre_map_share(m, i);
    }
    PROP(sum > 1 - 1e-9 && sum < 1 + 1e-9);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

/* A change in one region moves nothing between the others, and within them nothing. */
static bool changes_stay_in_their_zone(struct prop *p)
{
    gyre_topology_t *t = gen_levels(p, (unsigned)prop_size(p, 2, 80));
    must(gyre_topology_set(t, "algorithm", prop_below(p, 2) ? "rendezvous" : "slots", NULL));
    must(gyre_topology_set(t, "level", "region", NULL));
    size_t at = prop_below(p, gyre_topology_count(t));
    struct gyre_change c = {.size = sizeof c, .node = *gyre_topology_node(t, at)};
    c.kind = prop_below(p, 2) && at ? GYRE_REMOVE : GYRE_WEIGHT;
    c.node.weight = 1 + (double)prop_below(p, 4);
    gyre_topology_t *u;
    must(gyre_plan_apply(t, &c, 1, &u, NULL));
    gyre_map_t *m = gen_map(t), *n = gen_map(u);
    const struct gyre_node *changed = gyre_topology_node(t, at);
    for (unsigned i = 0; i < KEYS; i++) {
        uint64_t hash = prop_draw(p);
        const struct gyre_node *from = place(m, hash), *to = place(n, hash);
        bool stays = strcmp(from->name, to->name) == 0;
        PROP(stays || same_zone(m, from, changed) || same_zone(m, to, changed));
        PROP(stays || !same_zone(m, from, to) || strcmp(from->name, changed->name) == 0 ||
             strcmp(to->name, changed->name) == 0);
    }
    gyre_map_unref(m);
    gyre_map_unref(n);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

static gyre_topology_t *gen_any(struct prop *p)
{
    static const char *const algorithms[] = {"ring", "rendezvous", "maglev", "slots",
                                             "jump", "jumpback",   "memento"};
    unsigned which = (unsigned)prop_below(p, 7), nodes = (unsigned)prop_size(p, 1, 60);
    gyre_topology_t *t = gen_topology(p, which < 4 ? nodes : 1, 10);
    for (unsigned i = 1; which >= 4 && i < nodes; i++) {
        gen_add(p, t, i, 1);
    }
    must(gyre_topology_set(t, "algorithm", algorithms[which], NULL));
    must(gyre_topology_set(t, "table", "251", NULL));
    return t;
}

static bool loads_are_bounded(struct prop *p)
{
    gyre_topology_t *t = gen_any(p);
    gyre_map_t *m = gen_map(t);
    uint64_t *loads = calloc(m->count, sizeof *loads);
    unsigned percent = 100 + (unsigned)prop_below(p, 100);
    uint64_t room = 0;
    for (uint64_t total = 0; total < 400; total++) {
        uint64_t key = prop_below(p, 2) ? 7 : prop_draw(p); /* a hot key, and others */
        uint32_t i = gyre_map_locate_bounded(m, &key, sizeof key, loads, total, percent);
        PROP(i < m->count && m->weight[i] > 0);
        PROP(loads[i] < gyre_map_bound(m, i, total, percent));
        loads[i]++;
        uint32_t own = gyre_map_locate(m, &key, sizeof key);
        PROP(i == own || loads[own] >= gyre_map_bound(m, own, total, percent));
    }
    for (uint32_t i = 0; i < m->count; i++) {
        room += gyre_map_bound(m, i, 400, percent);
    }
    PROP(room > 400);
    for (uint32_t i = 0; i < m->count; i++) {
        loads[i] = UINT64_MAX - 1; /* contradicts the total */
    }
    PROP(gyre_map_locate_bounded(m, "k", 1, loads, 0, 0) == gyre_map_locate(m, "k", 1));
    free(loads);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

/* The bound as docs/placement.md has it, of the weight that is up. */
static uint64_t bound_up(const gyre_map_t *m, uint32_t i, uint64_t total, unsigned percent,
                         const uint64_t *loads)
{
    gy_u128 up = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        up += loads[k] == UINT64_MAX ? 0 : m->weight[k];
    }
    return (uint64_t)(((gy_u128)(total + 1) * percent * m->weight[i] + up * 100 - 1) / (up * 100));
}

/* Random loads, some nodes down: the bounds of the others add up to more than the total, whatever
 * it is; and a key goes to the first of its order that is up and below its bound. */
static bool live_bounds_hold_all(struct prop *p)
{
    gyre_topology_t *t = gen_any(p);
    gyre_map_t *m = gen_map(t);
    uint64_t *loads = calloc(m->count, sizeof *loads), total = 0;
    uint32_t *walk = calloc(m->positive, sizeof *walk);
    unsigned percent = 100 + (unsigned)prop_below(p, 100), most = 1u << prop_below(p, 20);
    unsigned down = (unsigned)prop_below(p, 5);
    bool any = false;
    for (uint32_t i = 0; i < m->count; i++) {
        loads[i] = prop_below(p, 4) < down ? UINT64_MAX : m->weight[i] ? prop_below(p, most) : 0;
        total += loads[i] == UINT64_MAX ? 0 : loads[i];
        any = any || (m->weight[i] && loads[i] != UINT64_MAX);
    }
    gy_u128 room = 0;
    for (uint32_t i = 0; any && i < m->count; i++) {
        room += loads[i] == UINT64_MAX ? 0 : bound_up(m, i, total, percent, loads);
    }
    PROP(!any || room > total);
    for (unsigned i = 0; i < KEYS / 4; i++) {
        uint64_t key = prop_draw(p);
        size_t n = gyre_map_replicas(m, &key, sizeof key, walk, m->positive, NULL), at = 0;
        while (at < n && (loads[walk[at]] == UINT64_MAX ||
                          loads[walk[at]] >= bound_up(m, walk[at], total, percent, loads))) {
            at++;
        }
        PROP((at < n) == any);
        PROP(gyre_map_locate_bounded(m, &key, sizeof key, loads, total, percent) ==
             (any ? walk[at] : GYRE_NONE));
    }
    free(walk);
    free(loads);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

int main(void)
{
    return prop_run("two levels agree", levels_agree, 150) +
           prop_run("changes stay in their zone", changes_stay_in_their_zone, 300) +
           prop_run("loads are bounded", loads_are_bounded, 200) +
           prop_run("live bounds hold all", live_bounds_hold_all, 200);
}
