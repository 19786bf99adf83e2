/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mask_props.c - what holds of liveness masks over any placement, spread and fleet: nodes that
 * are down are passed over, those that are up keep their places, and a return moves nothing.
 */
#include "fleet_gen.h"
#include "lib/mask.h"

enum { KEYS = 40, WANT = 9 };

static gyre_map_t *gen_any(struct prop *p)
{
    static const char *const algorithms[] = {"ring",     "rendezvous", "maglev",  "slots", "dx",
                                             "jumpback", "jump",       "memento", "modulo"};
    static const char *const spreads[] = {"none", "region", "zone", "rack"};
    static const char *const levels[] = {"none", "region", "zone"};
    unsigned algorithm = (unsigned)prop_below(p, sizeof algorithms / sizeof algorithms[0]);
    gyre_topology_t *t = gyre_topology_new();
    must(t ? gyre_topology_set(t, "points", "16", NULL) : GYRE_NOMEM);
    must(gyre_topology_set(t, "algorithm", algorithms[algorithm], NULL));
    must(gyre_topology_set(t, "table", "251", NULL));
    must(gyre_topology_set(t, "capacity", "256", NULL));
    must(gyre_topology_set(t, "spread", spreads[prop_below(p, 4)], NULL));
    if (algorithm < 4) {
        must(gyre_topology_set(t, "level", levels[prop_below(p, 3)], NULL));
    }
    unsigned nodes = (unsigned)prop_size(p, 1, 130);
    for (unsigned i = 0; i < nodes; i++) {
        gen_add(p, t, i, algorithm >= 4 || i == 0 ? 1 : gen_weight(p));
    }
    gyre_map_t *m = gen_map(t);
    gyre_topology_free(t);
    return m;
}

static bool holds(const uint32_t *list, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i] == node) {
            return true;
        }
    }
    return false;
}

struct answer {
    uint32_t node[WANT];
    size_t n;
    unsigned flags;
};

/* Against the map's own answer, from the definition. */
static bool check_key(struct prop *p, const gyre_map_t *m, const gyre_mask_t *k, uint64_t key)
{
    struct answer all, up;
    uint32_t live = 0;
    all.n = gyre_map_replicas(m, &key, sizeof key, all.node, WANT, &all.flags);
    up.n = gyre_mask_replicas(k, &key, sizeof key, up.node, WANT, &up.flags);
    for (uint32_t i = 0; i < m->count; i++) {
        live += m->weight[i] && gyre_mask_up(k, i);
    }
    PROP(up.n == (live < WANT ? live : WANT));
    PROP(((up.flags & GYRE_REPLICAS_SHORT) != 0) == (live < WANT));
    PROP(gyre_mask_locate(k, &key, sizeof key) == (up.n ? up.node[0] : GYRE_NONE));
    bool twice = false;
    for (size_t i = 0; i < up.n; i++) {
        PROP(m->weight[up.node[i]] && gyre_mask_up(k, up.node[i]));
        PROP(!holds(up.node, i, up.node[i]));
        for (size_t j = 0; j < i; j++) {
            twice = twice || (m->zone && m->zone[up.node[i]] == m->zone[up.node[j]]);
        }
    }
    PROP(twice == ((up.flags & GYRE_REPLICAS_SPREAD) != 0));
    size_t at = 0;
    bool in_order = !((up.flags | all.flags) & GYRE_REPLICAS_SPREAD);
    for (size_t i = 0; i < all.n; i++) {
        if (!gyre_mask_up(k, all.node[i])) {
            continue;
        }
        PROP(holds(up.node, up.n, all.node[i]));
        while (in_order && up.node[at] != all.node[i]) {
            at++;
            PROP(at < up.n);
        }
    }
    return true;
}

static bool down_nodes_are_passed_over(struct prop *p)
{
    gyre_map_t *m = gen_any(p);
    gyre_mask_t *k;
    must(gyre_mask_new(m, NULL, &k, NULL));
    unsigned marks = (unsigned)prop_below(p, 2 * m->count + 1), down = 0;
    uint64_t changes = 0;
    for (unsigned i = 0; i < marks; i++) {
        uint32_t node = (uint32_t)prop_below(p, m->count);
        bool up = prop_below(p, 3) == 0;
        bool was = gyre_mask_up(k, node);
        PROP(gyre_mask_set(k, node, up) == (was != up));
        PROP(gyre_mask_up(k, node) == up);
        changes += was != up;
        down = down + (was && !up) - (!was && up);
    }
    PROP(gyre_mask_version(k) == changes && gyre_mask_down(k) == down);
    for (unsigned i = 0; i < KEYS; i++) {
        PROP(check_key(p, m, k, prop_draw(p)));
    }
    /* The verdicts go into a new mask by name, and out of it again. */
    gyre_mask_t *copy;
    must(gyre_mask_new(m, k, &copy, NULL));
    PROP(gyre_mask_down(copy) == down && gyre_mask_version(copy) == 0);
    for (uint32_t i = 0; i < m->count; i++) {
        PROP(gyre_mask_up(copy, i) == gyre_mask_up(k, i));
        gyre_mask_set(copy, i, true);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        uint64_t key = prop_draw(p);
        PROP(gyre_mask_locate(copy, &key, sizeof key) == gyre_map_locate(m, &key, sizeof key));
    }
    gyre_mask_unref(copy);
    gyre_mask_unref(k);
    gyre_map_unref(m);
    return true;
}

int main(void)
{
    return prop_run("down_nodes_are_passed_over", down_nodes_are_passed_over, 90);
}
