/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_place_props.c - what holds for each of the library's own placements on any fleet: answers
 * live and the same however asked for, as few keys moved as its file's head promises, and a state
 * that a sequence of changes leaves the same as building it fresh.
 */
#include "placements.h"

enum { KEYS = 200, WANT = 4 };

static bool answers_agree(struct prop *p)
{
    gyre_topology_t *t = gen_placed(p, gen_placement(p), (unsigned)prop_size(p, 1, 100));
    gyre_map_t *m = gen_map(t);
    uint64_t hashes[KEYS] = {0, UINT64_MAX};
    uint32_t out[KEYS];
    double sum = 0;
    for (unsigned i = 2; i < KEYS; i++) {
        hashes[i] = prop_draw(p);
    }
    size_t n = prop_below(p, KEYS + 1);
    gyre_map_locate_hash_batch(m, hashes, n, out);
    for (size_t i = 0; i < n; i++) {
        uint32_t first;
        struct gyre_explain x = {.size = sizeof x};
        PROP(out[i] < m->count && m->weight[out[i]] > 0);
        PROP(out[i] == gyre_map_locate_hash(m, hashes[i]));
        uint32_t one = gyre_map_locate(m, &hashes[i], sizeof hashes[i]);
        PROP(gyre_map_replicas(m, &hashes[i], sizeof hashes[i], &first, 1, NULL) == 1);
        PROP(gyre_map_explain(m, &hashes[i], sizeof hashes[i], &x) == GYRE_OK);
        PROP(one == first && one == x.node);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        sum += gyre_map_share(m, i);
    }
    PROP(sum > 1 - 1e-9 && sum < 1 + 1e-9);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

static bool replicas_are_spread(struct prop *p)
{
    static const char *const spreads[] = {"none", "region", "zone", "rack"};
    gyre_topology_t *t = gen_placed(p, gen_placement(p), (unsigned)prop_size(p, 1, 60));
    must(gyre_topology_set(t, "spread", spreads[prop_below(p, 4)], NULL));
    gyre_map_t *m = gen_map(t);
    size_t want = 1 + prop_below(p, REPLICAS_MAX);
    for (unsigned k = 0; k < 20; k++) {
        PROP(replicas_hold(p, m, prop_draw(p), want));
    }
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

/* One random change that the placement can make; its node's name goes to `name`. */
static gyre_topology_t *gen_change(struct prop *p, const struct placement *a,
                                   const gyre_topology_t *t, unsigned fresh, char name[32])
{
    struct gyre_change c = {.size = sizeof c};
    size_t n = gyre_topology_count(t), at = prop_below(p, n);
    gyre_topology_t *next;
    c.kind = n == 1 ? GYRE_ADD : (enum gyre_change_kind)prop_below(p, 3);
    if (a->tail_only) {
        for (size_t i = 0; i < n; i++) {
            at = gyre_topology_node(t, i)->slot > gyre_topology_node(t, at)->slot ? i : at;
        }
        c.kind = c.kind == GYRE_WEIGHT ? GYRE_ADD : c.kind;
    }
    snprintf(name, 32, "%s", gyre_topology_node(t, at)->name);
    if (c.kind == GYRE_ADD) {
        snprintf(name, 32, "%c-new-%u", (char)('a' + prop_below(p, 26)), fresh);
    }
    double weight = c.kind == GYRE_ADD && !a->weights ? 1 : weight_for(a, p);
    c.node = (struct gyre_node){.size = sizeof c.node, .name = name, .weight = weight};
    must(gyre_plan_apply(t, &c, 1, &next, NULL));
    return next;
}

static bool change_moves_least(struct prop *p)
{
    const struct placement *a = gen_placement(p);
    gyre_topology_t *t = gen_placed(p, a, (unsigned)prop_size(p, 1, 80));
    must(gyre_topology_number(t, NULL));
    for (unsigned step = 0; step < 8; step++) {
        char name[32];
        gyre_topology_t *u = gen_change(p, a, t, step, name);
        gyre_map_t *m = gen_map(t), *n = gen_map(u);
        for (unsigned k = 0; k < KEYS && a->minimal && m->positive && n->positive; k++) {
            uint64_t key = prop_draw(p);
            const char *from = name_of(m, gyre_map_locate(m, &key, sizeof key));
            const char *to = name_of(n, gyre_map_locate(n, &key, sizeof key));
            PROP(strcmp(from, to) == 0 || strcmp(from, name) == 0 || strcmp(to, name) == 0);
            uint32_t before[WANT], after[WANT];
            size_t had = gyre_map_replicas(m, &key, sizeof key, before, WANT, NULL);
            size_t has = gyre_map_replicas(n, &key, sizeof key, after, WANT, NULL);
            size_t lost = 0;
            for (size_t i = 0; i < had; i++) {
                bool kept = false;
                for (size_t j = 0; j < has; j++) {
                    kept = kept || strcmp(name_of(m, before[i]), name_of(n, after[j])) == 0;
                }
                lost += !kept;
            }
            PROP(!a->replicas_minimal || lost <= 1);
        }
        gyre_map_unref(m);
        gyre_map_unref(n);
        gyre_topology_free(t);
        t = u;
    }
    gyre_topology_free(t);
    return true;
}

static bool sequence_equals_fresh(struct prop *p)
{
    const struct placement *a = gen_placement(p);
    gyre_topology_t *t = gen_placed(p, a, (unsigned)prop_size(p, 1, 60));
    unsigned steps = (unsigned)prop_size(p, 1, 60);
    must(gyre_topology_number(t, NULL));
    for (unsigned step = 0; step < steps; step++) {
        char name[32];
        gyre_topology_t *u = gen_change(p, a, t, step, name);
        gyre_topology_free(t);
        t = u;
    }
    gyre_topology_t *u = rebuilt(p, t, true);
    gyre_map_t *m = gen_map(t), *n = gen_map(u);
    PROP(gyre_map_same(m, n));
    for (unsigned k = 0; k < KEYS; k++) {
        uint64_t hash = prop_draw(p);
        PROP(gyre_map_locate_hash(m, hash) == gyre_map_locate_hash(n, hash));
    }
    gyre_map_unref(m);
    gyre_map_unref(n);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

/* A node that leaves and comes back at once finds everything as it was. */
static bool leaving_is_undone(struct prop *p)
{
    const struct placement *a = gen_placement(p);
    gyre_topology_t *t = gen_placed(p, a, (unsigned)prop_size(p, 2, 60)), *u, *v;
    must(gyre_topology_number(t, NULL));
    size_t at = a->tail_only ? 0 : prop_below(p, gyre_topology_count(t));
    for (size_t i = 0; a->tail_only && i < gyre_topology_count(t); i++) {
        at = gyre_topology_node(t, i)->slot > gyre_topology_node(t, at)->slot ? i : at;
    }
    struct gyre_change c = {.size = sizeof c, .node = *gyre_topology_node(t, at)};
    c.kind = GYRE_REMOVE;
    must(gyre_plan_apply(t, &c, 1, &u, NULL));
    c.kind = GYRE_ADD;
    c.node.slot = 0;
    must(gyre_plan_apply(u, &c, 1, &v, NULL));
    gyre_map_t *m = gen_map(t), *n = gen_map(v);
    PROP(gyre_map_same(m, n));
    gyre_map_unref(m);
    gyre_map_unref(n);
    gyre_topology_free(t);
    gyre_topology_free(u);
    gyre_topology_free(v);
    return true;
}

/* Keys fit the shares the map states: chi-square, alpha 10^-9. */
static bool shares_fit(struct prop *p)
{
    const struct placement *a = gen_placement(p);
    gyre_topology_t *t = gen_placed(p, a, (unsigned)prop_size(p, 2, 40));
    gyre_map_t *m = gen_map(t);
    uint32_t *got = calloc(m->count, sizeof *got);
    unsigned keys = 20000;
    uint64_t seed = prop_draw(p);
    for (unsigned k = 0; k < keys; k++) {
        got[gyre_map_locate_hash(m, prop_next(&seed))]++;
    }
    double chi = 0, df = -1, rest = 0, rest_got = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double expected = gyre_map_share(m, i) * keys;
        if (expected < 10) { /* too few for the test: together */
            rest += expected;
            rest_got += got[i];
            continue;
        }
        chi += (got[i] - expected) * (got[i] - expected) / expected;
        df++;
    }
    if (rest >= 10) {
        chi += (rest_got - rest) * (rest_got - rest) / rest;
        df++;
    }
    free(got);
    PROP(df < 1 || chi < chi_square_limit(df));
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

int main(void)
{
    return prop_run("answers agree", answers_agree, 200) +
           prop_run("replicas are spread", replicas_are_spread, 200) +
           prop_run("a change moves least", change_moves_least, 200) +
           prop_run("a sequence equals fresh", sequence_equals_fresh, 200) +
           prop_run("leaving is undone", leaving_is_undone, 200) +
           prop_run("shares fit", shares_fit, 200);
}
