/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_range_props.c - what holds for walks along the hash space of any fleet: arcs and ranges
 * cover what they should once, in order, say of each key what a lookup says of it, and add up to
 * the figures that are given as a whole.
 */
#include "fleet_gen.h"
#include "lib/map.h"

enum { KEYS = 100, WANT_MAX = 5 };

struct piece {
    gy_u128 first, last;
    double share;
    uint32_t from, to;
    size_t holders;
    unsigned flags;
    uint32_t node[WANT_MAX];
};

struct pieces {
    struct piece *p;
    size_t n;
};

static const char *const settings[][3] = {
    {"algorithm", "ring", ""},     {"algorithm", "maglev", ""},    {"algorithm", "slots", ""},
    {"like", "sample", "md5_128"}, {"like", "sample", "md5_64be"}, {"like", "redis-cluster", ""},
};

static gyre_topology_t *gen(struct prop *p, unsigned most)
{
    static const char *const spreads[] = {"none", "zone", "rack", "region"};
    size_t kind = prop_below(p, sizeof settings / sizeof settings[0]);
    const char *const *set = settings[kind];
    unsigned nodes = (unsigned)prop_size(p, 1, most);
    gyre_topology_t *t = gyre_topology_new();
    char number[24];
    snprintf(number, sizeof number, "%u", (unsigned)prop_size(p, 1, 40));
    must(t ? gyre_topology_set(t, set[0], set[1], NULL) : GYRE_NOMEM);
    if (strcmp(set[0], "algorithm") == 0) {
        must(gyre_topology_set(t, "points", number, NULL));
        must(gyre_topology_set(t, "table", "1009", NULL));
        must(gyre_topology_set(t, "spread", spreads[prop_below(p, 4)], NULL));
    } else if (set[2][0]) {
        must(gyre_topology_set(t, "mode", set[2], NULL));
        must(gyre_topology_set(t, "vnodes", number, NULL));
    }
    gen_add(p, t, 0, 1); /* one that takes keys is always there */
    for (unsigned i = 1; i < nodes; i++) {
        gen_add(p, t, i, gen_weight(p));
    }
    return t;
}

static gy_u128 position(const gyre_map_t *m, uint64_t key)
{
    uint64_t hi = 0, lo = 0;
    must(gyre_map_position(m, &key, sizeof key, &hi, &lo) ? GYRE_OK : GYRE_INVALID);
    return gy_wide(hi, lo);
}

static bool holds(const struct piece *x, gy_u128 at)
{
    return x->first <= x->last ? x->first <= at && at <= x->last : at >= x->first || at <= x->last;
}

static const struct piece *find(const struct pieces *x, gy_u128 at)
{
    const struct piece *found = NULL;
    for (size_t i = 0; i < x->n; i++) {
        if (holds(&x->p[i], at)) {
            if (found) {
                return NULL; /* twice; no caller takes that for an answer */
            }
            found = &x->p[i];
        }
    }
    return found;
}

/* In order, apart, and only the last one goes over the end. */
static bool in_order(struct prop *p, const struct pieces *x)
{
    for (size_t i = 0; i < x->n; i++) {
        PROP(i == 0 || x->p[i].first > x->p[i - 1].last);
        PROP(i + 1 == x->n || x->p[i].first <= x->p[i].last);
        PROP(x->p[i].share > 0);
    }
    const struct piece *last = x->n ? &x->p[x->n - 1] : NULL;
    PROP(x->n < 2 || last->first <= last->last || last->last < x->p[0].first);
    return true;
}

static struct piece *more(struct pieces *x)
{
    x->p = realloc(x->p, (x->n + 1) * sizeof *x->p);
    return &x->p[x->n++];
}

static struct pieces all_arcs(const gyre_diff_t *d)
{
    struct pieces x = {0};
    struct gyre_cursor at = {{0}};
    struct gyre_arc a = {.size = sizeof a};
    while (gyre_diff_next(d, &at, &a)) {
        *more(&x) = (struct piece){.first = gy_wide(a.first_hi, a.first_lo),
                                   .last = gy_wide(a.last_hi, a.last_lo),
                                   .share = a.share,
                                   .from = a.from,
                                   .to = a.to};
    }
    return x;
}

static void change(struct prop *p, gyre_topology_t *t)
{
    unsigned n = (unsigned)gyre_topology_count(t);
    for (unsigned i = 1; i < n; i++) {
        const char *name = gyre_topology_node(t, i)->name;
        if (prop_below(p, 4) == 3) {
            must(gyre_topology_set_weight(t, name, gen_weight(p), NULL));
        }
    }
    for (unsigned i = 0; i < prop_below(p, 3); i++) {
        gen_add(p, t, n + i, 1);
    }
}

static const char *name_of(const gyre_map_t *m, uint32_t i)
{
    return gyre_map_node(m, i)->name;
}

static bool arcs_are_what_moves(struct prop *p)
{
    gyre_topology_t *t = gen(p, 60), *u = gyre_topology_clone(t);
    change(p, u);
    gyre_map_t *a = gen_map(t), *b = gen_map(u);
    gyre_diff_t *d;
    must(gyre_diff_build(a, b, 0, &d, NULL));
    struct pieces x = all_arcs(d);
    double sum = 0;
    PROP(gyre_diff_has_arcs(d));
    PROP(in_order(p, &x));
    for (size_t i = 0; i < x.n; i++) {
        sum += x.p[i].share;
        PROP(strcmp(name_of(a, x.p[i].from), name_of(b, x.p[i].to)) != 0);
        PROP(i == 0 || x.p[i].first != x.p[i - 1].last + 1 || x.p[i].from != x.p[i - 1].from ||
             x.p[i].to != x.p[i - 1].to);
    }
    PROP(sum > gyre_diff_moved(d) - 1e-9 && sum < gyre_diff_moved(d) + 1e-9);
    for (unsigned k = 0; k < KEYS; k++) {
        uint64_t key = prop_draw(p);
        uint32_t from = gyre_map_locate(a, &key, sizeof key);
        uint32_t to = gyre_map_locate(b, &key, sizeof key);
        const struct piece *at = find(&x, position(a, key));
        PROP(!at == (strcmp(name_of(a, from), name_of(b, to)) == 0));
        PROP(!at || (at->from == from && at->to == to));
    }
    free(x.p);
    gyre_diff_free(d);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(t);
    gyre_topology_free(u);
    return true;
}

static struct pieces all_ranges(const gyre_map_t *m, size_t want)
{
    struct pieces x = {0};
    struct gyre_cursor at = {{0}};
    struct gyre_range r = {.size = sizeof r};
    uint32_t node[WANT_MAX];
    while (gyre_range_next(m, want, &at, &r, node)) {
        struct piece *one = more(&x);
        *one = (struct piece){.first = gy_wide(r.first_hi, r.first_lo),
                              .last = gy_wide(r.last_hi, r.last_lo),
                              .share = r.share,
                              .holders = r.holders,
                              .flags = r.flags};
        memcpy(one->node, node, r.holders * sizeof *node);
    }
    return x;
}

static bool near(double x, double y)
{
    return x > y - 1e-9 && x < y + 1e-9;
}

/* The holdings again, range by range, as plainly as can be. */
static bool holdings_fit(struct prop *p, const gyre_map_t *m, const struct pieces *x,
                         const gyre_holdings_t *h, uint32_t node)
{
    struct gyre_holding got = {.size = sizeof got};
    double held = 0, alone = 0, feeds = 0, holds = 0, sends = 0;
    uint64_t ranges = 0;
    for (size_t i = 0; i < x->n; i++) {
        for (size_t k = 0; k < x->p[i].holders; k++) {
            if (x->p[i].node[k] == node) {
                held += x->p[i].share;
                alone += x->p[i].holders == 1 ? x->p[i].share : 0;
                feeds += x->p[i].share * (double)(x->p[i].holders - 1);
                ranges++;
            }
        }
    }
    PROP(gyre_holdings_node(h, node, &got) == GYRE_OK);
    PROP(near(got.held, held) && near(got.alone, alone) && got.ranges == ranges);
    PROP(near(got.owned, gyre_map_share(m, node)));
    for (size_t k = 0; k < got.feeders; k++) {
        const struct gyre_feed *f = gyre_holdings_feed(h, node, k);
        PROP(f && f->node != node && f->holds > 0 && f->sends <= f->holds + 1e-9);
        PROP(f->sends <= got.largest);
        holds += f->holds;
        sends += f->sends;
    }
    PROP(gyre_holdings_feed(h, node, got.feeders) == NULL);
    PROP(near(holds, feeds) && near(sends, held - alone));
    return true;
}

static bool ranges_are_what_is_held(struct prop *p)
{
    gyre_topology_t *t = gen(p, 60);
    gyre_map_t *m = gen_map(t);
    size_t want = 1 + prop_below(p, WANT_MAX);
    struct pieces x = all_ranges(m, want);
    double sum = 0;
    PROP(x.n > 0 && in_order(p, &x));
    for (size_t i = 0; i < x.n; i++) {
        sum += x.p[i].share;
    }
    PROP(near(sum, 1));
    for (unsigned k = 0; k < KEYS; k++) {
        uint64_t key = prop_draw(p);
        uint32_t node[WANT_MAX];
        unsigned flags;
        size_t n = gyre_map_replicas(m, &key, sizeof key, node, want, &flags);
        const struct piece *at = find(&x, position(m, key));
        PROP(at && at->holders == n && at->flags == flags);
        PROP(memcmp(at->node, node, n * sizeof *node) == 0);
    }
    gyre_holdings_t *h;
    must(gyre_holdings_build(m, want, 0, &h, NULL));
    PROP(gyre_holdings_exact(h));
    for (uint32_t i = 0; i < m->count; i++) {
        PROP(holdings_fit(p, m, &x, h, i));
    }
    gyre_holdings_free(h);
    free(x.p);
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

int main(void)
{
    return prop_run("arcs are what moves", arcs_are_what_moves, 150) +
           prop_run("ranges are what is held", ranges_are_what_is_held, 150);
}
