/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_expected_props.c - diffs of maps that draw a node for each key, held against counted keys:
 * where a formula says what is expected, keys go from each node to each as it says (chi-square,
 * alpha 10^-9) and nowhere else; what it adds up to is what moves; a change of one node moves the
 * minimum. And where no formula holds, the diff does not say so.
 */
#include "placements.h"

enum { KEYS = 20000 };

static gyre_diff_t *diff(gyre_map_t *a, gyre_map_t *b)
{
    gyre_diff_t *d;
    must(gyre_diff_build(a, b, 1, &d, NULL));
    return d;
}

/* Any number of changes that the placement can make. */
static gyre_topology_t *gen_changes(struct prop *p, const struct placement *a,
                                    const gyre_topology_t *t, unsigned most)
{
    gyre_topology_t *u = gyre_topology_clone(t), *next;
    unsigned changes = 1 + (unsigned)prop_below(p, most);
    must(u ? GYRE_OK : GYRE_NOMEM);
    for (unsigned i = 0; i < changes; i++) {
        size_t n = gyre_topology_count(u), at = prop_below(p, n);
        struct gyre_change c = {.size = sizeof c};
        char name[32];
        c.kind = n == 1 ? GYRE_ADD : (enum gyre_change_kind)prop_below(p, 3);
        if (a->tail_only) {
            c.kind = c.kind == GYRE_WEIGHT ? GYRE_ADD : c.kind;
            for (size_t k = 0; k < n; k++) {
                at = gyre_topology_node(u, k)->slot > gyre_topology_node(u, at)->slot ? k : at;
            }
        }
        snprintf(name, sizeof name, "%s", gyre_topology_node(u, at)->name);
        if (c.kind == GYRE_ADD) {
            snprintf(name, sizeof name, "%c-new-%u", (char)('a' + prop_below(p, 26)), i);
        }
        double weight = c.kind == GYRE_ADD && !a->weights ? 1 : weight_for(a, p);
        c.node = (struct gyre_node){.size = sizeof c.node, .name = name, .weight = weight};
        must(gyre_plan_apply(u, &c, 1, &next, NULL));
        gyre_topology_free(u);
        u = next;
    }
    return u;
}

/* Shares of all keys that go from node to node, or stay, as the diff has them; by a * nb + b. */
static double *flows_of(const gyre_diff_t *d, const gyre_map_t *a, const gyre_map_t *b)
{
    double *share = calloc((size_t)a->count * b->count, sizeof *share);
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t twin = gyre_map_find(b, name_of(a, i));
        if (twin != GYRE_NONE) {
            share[i * b->count + twin] = gyre_map_share(a, i);
        }
    }
    for (size_t k = 0; k < gyre_diff_count(d); k++) {
        const struct gyre_flow *f = gyre_diff_flow(d, k);
        uint32_t i = gyre_map_find(a, f->from), twin = gyre_map_find(b, f->from);
        share[i * b->count + gyre_map_find(b, f->to)] += f->share;
        if (twin != GYRE_NONE) {
            share[i * b->count + twin] -= f->share;
        }
    }
    return share;
}

/* Cells that expect fewer than 10 keys count together; those that expect none have none. */
static bool keys_flow_so(struct prop *p, const gyre_map_t *a, const gyre_map_t *b,
                         const double *share)
{
    size_t cells = (size_t)a->count * b->count;
    double *got = calloc(cells, sizeof *got), chi = 0, df = -1, rest = 0, rest_got = 0;
    uint64_t seed = prop_draw(p);
    bool none_else = true;
    for (unsigned k = 0; k < KEYS; k++) {
        uint64_t hash = prop_next(&seed);
        got[gyre_map_locate_hash(a, hash) * b->count + gyre_map_locate_hash(b, hash)]++;
    }
    for (size_t c = 0; c < cells; c++) {
        double expected = share[c] * KEYS;
        if (expected < 10) {
            none_else = none_else && (expected > 1e-9 || got[c] == 0);
            rest += expected;
            rest_got += got[c];
        } else {
            chi += (got[c] - expected) * (got[c] - expected) / expected;
            df++;
        }
    }
    if (rest >= 10) {
        chi += (rest_got - rest) * (rest_got - rest) / rest;
        df++;
    }
    free(got);
    PROP(none_else);
    PROP(df < 1 || chi < chi_square_limit(df));
    return true;
}

static bool adds_up(struct prop *p, const gyre_diff_t *d)
{
    double sum = 0;
    for (size_t k = 0; k < gyre_diff_count(d); k++) {
        const struct gyre_flow *f = gyre_diff_flow(d, k);
        PROP(f->share > 0 && (k == 0 || f->share <= gyre_diff_flow(d, k - 1)->share));
        sum += f->share;
    }
    double off = sum - gyre_diff_moved(d);
    PROP(off < 1e-12 && off > -1e-12);
    PROP(gyre_diff_moved(d) >= gyre_diff_minimum(d));
    return true;
}

static const char *const drawn[] = {"rendezvous", "dx", "jump", "jumpback", "memento"};

static const struct placement *gen_drawn(struct prop *p)
{
    const char *name = drawn[prop_below(p, sizeof drawn / sizeof drawn[0])];
    const struct placement *a = placements;
    while (strcmp(a->name, name) != 0) {
        a++;
    }
    return a;
}

static bool keys_go_as_expected(struct prop *p)
{
    const struct placement *a = gen_drawn(p);
    gyre_topology_t *t = gen_placed(p, a, (unsigned)prop_size(p, 1, 12));
    must(gyre_topology_number(t, NULL));
    gyre_topology_t *u = gen_changes(p, a, t, 6);
    gyre_map_t *m = gen_map(t), *n = gen_map(u);
    if (m->positive && n->positive) {
        gyre_diff_t *d = diff(m, n);
        if (gyre_diff_basis(d) == GYRE_EXPECTED) {
            double *share = flows_of(d, m, n);
            bool so = adds_up(p, d) && keys_flow_so(p, m, n, share);
            free(share);
            PROP(so);
        } else {
            PROP(strcmp(a->name, "jumpback") == 0 || strcmp(a->name, "memento") == 0);
            PROP(gyre_diff_basis(d) == GYRE_SAMPLED);
        }
        gyre_diff_free(d);
    }
    gyre_map_unref(m);
    gyre_map_unref(n);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

/* Up to 5000 nodes of any weight: what is moved is the minimum to the last bit. */
static bool one_change_is_minimal(struct prop *p)
{
    const struct placement *a = gen_drawn(p);
    gyre_topology_t *t = gen_placed(p, a, 1);
    unsigned nodes = (unsigned)prop_size(p, 1, 5000);
    bool race = strcmp(a->name, "rendezvous") == 0;
    must(gyre_topology_set(t, "capacity", nodes < 120 ? "128" : "8192", NULL));
    for (unsigned i = 1; i < nodes; i++) {
        gen_add(p, t, i, race ? gen_weight(p) * 1000 : a->weights ? 1 + (i & 7) : 1);
    }
    must(gyre_topology_number(t, NULL));
    gyre_topology_t *u = gen_changes(p, a, t, 1);
    gyre_map_t *m = gen_map(t), *n = gen_map(u);
    if (m->positive && n->positive) {
        gyre_diff_t *d = diff(m, n);
        PROP(gyre_diff_basis(d) == GYRE_EXPECTED);
        PROP(gyre_diff_moved(d) == gyre_diff_minimum(d) && gyre_diff_ratio(d) == 1);
        PROP(adds_up(p, d));
        gyre_diff_free(d);
    }
    gyre_map_unref(m);
    gyre_map_unref(n);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

static gyre_map_t *of_size(const char *algorithm, unsigned nodes)
{
    gyre_topology_t *t = gyre_topology_new();
    must(t ? gyre_topology_set(t, "algorithm", algorithm, NULL) : GYRE_NOMEM);
    for (unsigned i = 0; i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%03u", i);
        struct gyre_node node = {.size = sizeof node, .name = name, .weight = 1};
        must(gyre_topology_add(t, &node, NULL));
    }
    gyre_map_t *m = gen_map(t);
    gyre_topology_free(t);
    return m;
}

/* jumpback keeps no more than it says: expected down to the greatest power of two below. */
static bool only_where_it_holds(struct prop *p)
{
    static const struct {
        unsigned n, m;
        bool jumpback;
    } rows[] = {{4, 16, false}, {8, 16, true}, {7, 16, false}, {8, 9, true},   {7, 9, false},
                {1, 2, true},   {1, 3, false}, {2, 3, true},   {16, 17, true}, {100, 128, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned back = 0; back < 4; back++) {
            const char *algorithm = back & 1 ? "jumpback" : "jump";
            gyre_map_t *m = of_size(algorithm, back & 2 ? rows[i].n : rows[i].m);
            gyre_map_t *n = of_size(algorithm, back & 2 ? rows[i].m : rows[i].n);
            gyre_diff_t *d = diff(m, n);
            bool holds = !(back & 1) || rows[i].jumpback;
            PROP(gyre_diff_basis(d) == (holds ? GYRE_EXPECTED : GYRE_SAMPLED));
            if (holds) {
                double *share = flows_of(d, m, n);
                bool so = adds_up(p, d) && keys_flow_so(p, m, n, share);
                free(share);
                PROP(so);
            }
            gyre_diff_free(d);
            gyre_map_unref(m);
            gyre_map_unref(n);
        }
    }
    return true;
}

int main(void)
{
    return prop_run("keys go as expected", keys_go_as_expected, 60) +
           prop_run("one change is minimal", one_change_is_minimal, 40) +
           prop_run("only where it holds", only_where_it_holds, 1);
}
