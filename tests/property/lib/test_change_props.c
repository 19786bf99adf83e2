/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_change_props.c - fleets of 1 to 5000 nodes through hundreds of changes, by every placement:
 * each step moves what it must and no more, each answer lives, replicas are distinct and spread,
 * and what is left at the end is what a fresh build gives, or, where the head of the file says that
 * answers depend on history, what saving and loading it gives. GYRE_LONG=1: more, and larger.
 */
#include "placements.h"

enum { KEYS = 40, ASKED = 3 };

static const struct placement *now; /* main takes each in turn */

/* One run of changes. */
struct run {
    const struct placement *a;
    gyre_topology_t *t;
    gyre_map_t *m;
    uint64_t key[KEYS];
    unsigned fresh; /* names given out */
};

static gyre_topology_t *gen_large(struct prop *p, const struct placement *a, unsigned nodes)
{
    static const char *const spreads[] = {"none", "region", "zone", "rack"};
    gyre_topology_t *t = gyre_topology_new();
    char table[16], capacity[16];
    unsigned slots = 256; /* room for some more, but few of dx's draws in vain */
    while (slots < nodes + 128) {
        slots *= 2;
    }
    unsigned size = nodes > 500 ? 10007 : 1009;
    if (strcmp(a->name, "maglev") == 0) { /* a prime, and far more slots than nodes */
        size = nodes > 50 ? 65537 : 16381;
    }
    snprintf(table, sizeof table, "%u", size);
    snprintf(capacity, sizeof capacity, "%u", slots);
    must(t ? gyre_topology_set(t, "algorithm", a->name, NULL) : GYRE_NOMEM);
    must(gyre_topology_set(t, "points", nodes > 500 ? "10" : "40", NULL));
    must(gyre_topology_set(t, "table", table, NULL));
    must(gyre_topology_set(t, "capacity", capacity, NULL));
    must(gyre_topology_set(t, "heaviest", "10", NULL));
    must(gyre_topology_set(t, "spread", spreads[prop_below(p, 4)], NULL));
    gen_add(p, t, 0, 1);
    for (unsigned i = 1; i < nodes; i++) {
        gen_add(p, t, i, weight_for(a, p));
    }
    must(gyre_topology_number(t, NULL));
    return t;
}

/* The node whose slot is the highest; of those that have none, any. */
static size_t find_tail(const gyre_topology_t *t)
{
    size_t tail = 0;
    for (size_t i = 0; i < gyre_topology_count(t); i++) {
        tail = gyre_topology_node(t, i)->slot > gyre_topology_node(t, tail)->slot ? i : tail;
    }
    return tail;
}

static struct gyre_change gen_change(struct prop *p, struct run *r, char name[32])
{
    size_t n = gyre_topology_count(r->t), at = prop_below(p, n);
    struct gyre_change c = {.size = sizeof c, .kind = (enum gyre_change_kind)prop_below(p, 4)};
    if (n == 1 && c.kind == GYRE_REMOVE) {
        c.kind = GYRE_ADD;
    }
    if (r->a->tail_only && c.kind != GYRE_REPLACE) {
        at = find_tail(r->t);
        c.kind = c.kind == GYRE_WEIGHT ? GYRE_ADD : c.kind;
    }
    snprintf(name, 32, "%s", gyre_topology_node(r->t, at)->name);
    if (c.kind == GYRE_ADD) {
        snprintf(name, 32, "%c-new-%u", (char)('a' + prop_below(p, 26)), r->fresh++);
    }
    double weight = c.kind == GYRE_ADD && !r->a->weights ? 1 : weight_for(r->a, p);
    c.node = (struct gyre_node){
        .size = sizeof c.node, .name = name, .weight = weight, .address = "10.9.8.7:6"};
    return c;
}

static double weight_in(const gyre_topology_t *t, const char *name)
{
    const struct gyre_node *n = gyre_topology_find(t, name);
    return n ? n->weight : 0;
}

static uint64_t heaviest(const gyre_map_t *m)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        most = m->weight[i] > most ? m->weight[i] : most;
    }
    return most;
}

/* When maglev.c says that a change moves at most 0.03 beyond the minimum. */
static bool maglev_is_bounded(const gyre_map_t *m, const gyre_map_t *n)
{
    uint32_t most = m->positive > n->positive ? m->positive : n->positive;
    return m->place == &gy_place_maglev && m->table / most >= 300 && heaviest(m) == heaviest(n);
}

/* The name of each key's node does not change, or it changes the way that the weight does. */
static bool keys_move_least(struct prop *p, const struct run *r, const gyre_map_t *next,
                            const char *name, double before, double after)
{
    for (unsigned k = 0; k < KEYS; k++) {
        const char *from = name_of(r->m, gyre_map_locate(r->m, &r->key[k], sizeof r->key[k]));
        const char *to = name_of(next, gyre_map_locate(next, &r->key[k], sizeof r->key[k]));
        if (strcmp(from, to) == 0) {
            continue;
        }
        PROP(after > before || strcmp(from, name) == 0);
        PROP(after < before || strcmp(to, name) == 0);
    }
    return true;
}

/* Over the whole hash space, counted or computed. */
static bool all_moves_least(struct prop *p, const struct run *r, gyre_map_t *next)
{
    gyre_diff_t *d;
    must(gyre_diff_build(r->m, next, 1, &d, NULL)); /* one sample: what is sampled does not count */
    if (r->a->minimal) {
        PROP(gyre_diff_basis(d) != GYRE_SAMPLED);
        PROP(gyre_diff_ratio(d) == 1);
    } else if (maglev_is_bounded(r->m, next)) {
        PROP(gyre_diff_moved(d) <= gyre_diff_minimum(d) + 0.03);
    }
    gyre_diff_free(d);
    return true;
}

static bool answers_live(struct prop *p, const struct run *r)
{
    size_t want = 1 + prop_below(p, 5);
    for (unsigned k = 0; k < ASKED; k++) {
        PROP(replicas_hold(p, r->m, r->key[k], want));
    }
    for (unsigned k = 0; k < KEYS; k++) {
        uint32_t node = gyre_map_locate(r->m, &r->key[k], sizeof r->key[k]);
        PROP(r->m->positive == 0 ? node == GYRE_NONE : r->m->weight[node] > 0);
    }
    return true;
}

static bool take_step(struct prop *p, struct run *r)
{
    char name[32];
    struct gyre_change c = gen_change(p, r, name);
    double before = weight_in(r->t, name);
    gyre_topology_t *u;
    must(gyre_plan_apply(r->t, &c, 1, &u, NULL));
    gyre_map_t *next = gen_map(u);
    if (r->m->positive && next->positive) {
        if (r->a->minimal || c.kind == GYRE_REPLACE) {
            PROP(keys_move_least(p, r, next, name, before, weight_in(u, name)));
        }
        PROP(all_moves_least(p, r, next));
    }
    gyre_map_unref(r->m);
    gyre_topology_free(r->t);
    r->m = next;
    r->t = u;
    return answers_live(p, r);
}

/* Fresh from the list of nodes and their slots; with history, from what is saved of it besides. */
static bool end_is_fresh(struct prop *p, const struct run *r)
{
    gyre_topology_t *u = rebuilt(p, r->t, r->a->history);
    must(gyre_topology_set(u, "spread", gyre_topology_get(r->t, "spread"), NULL));
    gyre_map_t *m = gen_map(u);
    PROP(gyre_map_same(r->m, m));
    for (unsigned k = 0; k < KEYS; k++) {
        PROP(gyre_map_locate_hash(r->m, r->key[k]) == gyre_map_locate_hash(m, r->key[k]));
    }
    gyre_map_unref(m);
    gyre_topology_free(u);
    return true;
}

static bool changes_move_least(struct prop *p, unsigned nodes, unsigned steps)
{
    struct run r = {.a = now};
    r.t = gen_large(p, r.a, nodes);
    r.m = gen_map(r.t);
    for (unsigned k = 0; k < KEYS; k++) {
        r.key[k] = prop_draw(p);
    }
    for (unsigned i = 0; i < steps; i++) {
        if (!take_step(p, &r)) {
            return prop_failed(p, r.a->name, __FILE__, __LINE__);
        }
    }
    PROP(end_is_fresh(p, &r));
    gyre_map_unref(r.m);
    gyre_topology_free(r.t);
    return true;
}

static bool small_fleets(struct prop *p)
{
    return changes_move_least(p, (unsigned)prop_size(p, 1, 60), 200);
}

static bool large_fleets(struct prop *p)
{
    return changes_move_least(p, (unsigned)prop_size(p, 1, 5000), getenv("GYRE_LONG") ? 300 : 3);
}

/* ---- shares ---- */

/* Counts against weights, those that expect fewer than 10 together. */
static bool fits(struct prop *p, const gyre_map_t *m, const double *got, double all)
{
    double chi = 0, df = -1, rest = 0, rest_got = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double expected = (double)m->weight[i] / (double)m->heavy * all;
        if (expected < 10) {
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
    PROP(df < 1 || chi < chi_square_limit(df));
    return true;
}

/* A ring's share is a Beta variable; maglev deals turns, so equal nodes are within one slot. */
static bool ring_fits(struct prop *p, const gyre_map_t *m)
{
    double chi = 0, all = (double)m->steps;
    for (uint32_t i = 0; i < m->count; i++) {
        double mean = m->points[i] / all, off = gyre_map_share(m, i) - mean;
        chi += m->points[i] ? off * off * (all + 1) / (mean * (1 - mean)) : 0;
    }
    PROP(m->positive < 2 || chi < chi_square_limit(m->positive - 1));
    return true;
}

static bool maglev_fits(struct prop *p, const gyre_map_t *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        double slots = gyre_map_share(m, i) * m->table;
        double fair = (double)m->weight[i] / (double)m->heavy * m->table;
        PROP(slots > fair - 3 - m->positive / 10.0 && slots < fair + 3 + m->positive / 10.0);
    }
    return true;
}

/* Chi-square of keys, or of the slots of a table, against the weights: alpha 10^-9. */
static bool shares_fit_weights(struct prop *p)
{
    const struct placement *a = now;
    gyre_topology_t *t = gen_large(p, a, (unsigned)prop_size(p, 2, 200));
    must(gyre_topology_set(t, "points", "500", NULL));
    gyre_map_t *m = gen_map(t);
    double *got = calloc(m->count, sizeof *got);
    bool fit, table = m->place == &gy_place_slots;
    unsigned keys = table ? m->table : 20000;
    uint64_t seed = prop_draw(p);
    for (unsigned k = 0; k < keys; k++) {
        got[table ? m->place->node(m, k) : gyre_map_locate_hash(m, prop_next(&seed))]++;
    }
    if (m->place == &gy_place_ring) {
        fit = ring_fits(p, m);
    } else {
        fit = m->place == &gy_place_maglev ? maglev_fits(p, m) : fits(p, m, got, keys);
    }
    free(got);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return fit || prop_failed(p, a->name, __FILE__, __LINE__);
}

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof placements / sizeof placements[0]; i++) {
        char name[64];
        now = &placements[i];
        snprintf(name, sizeof name, "%s: changes of small fleets", now->name);
        failed += prop_run(name, small_fleets, 2);
        snprintf(name, sizeof name, "%s: changes of large fleets", now->name);
        failed += prop_run(name, large_fleets, 2);
        snprintf(name, sizeof name, "%s: shares fit weights", now->name);
        failed += prop_run(name, shares_fit_weights, 12);
    }
    return failed;
}
