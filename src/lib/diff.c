/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - what differs between two maps. Two rings of one kind are merged arc by arc in 128-bit
 * integers; two modulos are counted by the Chinese remainder theorem; where nodes are drawn what is
 * expected is computed (expected.h); anything else is sampled. Each says which it is. Threads: a
 * built diff is immutable.
 */
#include <math.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/expected.h"
#include "lib/flows.h"
#include "lib/merge.h"
#include "lib/probe.h"

#define FLOWS_MAX ((size_t)1 << 20) /* not of rings; moved and minimum always count all */

struct gyre_diff {
    gyre_map_t *from, *to; /* held: the flows' names are theirs */
    enum gyre_basis basis;
    double moved, minimum, modulo;
    bool arcs; /* gyre_diff_next has something to walk along */
    struct gyre_flow *flows;
    size_t count;
    uint16_t *twin; /* of a node of from: its number in to, GY_TWIN_NONE if it has none */
};

/* While a diff is made: which nodes of the two maps are the same, by name. */
struct work {
    const gyre_map_t *from, *to;
    uint16_t *twin; /* the diff's */
    struct gy_flows flows;
    double unit; /* a flow's amount is in 1/unit; 0: in positions of the ring */
};

/* Both maps sort by name, so one pass over the two lists will do. */
static void match_names(struct work *w)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < w->from->count; i++) {
        int order = -1;
        while (j < w->to->count &&
               (order = strcmp(w->to->nodes[j].name, w->from->nodes[i].name)) < 0) {
            j++;
        }
        w->twin[i] = j < w->to->count && order == 0 ? (uint16_t)j : GY_TWIN_NONE;
    }
}

/* ---- rings ---- */

static int merge_arcs(struct work *w, gy_u128 *moved)
{
    struct gy_merge g;
    struct gy_stretch s;
    *moved = 0;
    for (gy_merge_start(&g, w->from, w->to, w->twin); gy_merge_next(&g, &s);) {
        gy_u128 length = gy_map_length(w->from, s.first, s.last);
        *moved += length;
        if (gy_flows_add(&w->flows, s.from, s.to, length)) {
            return GYRE_NOMEM;
        }
    }
    return GYRE_OK;
}

/* What each node owns less than before must have gone; nothing else need. */
static double ring_minimum(const struct work *w)
{
    gy_u128 sum = 0;
    bool any = false;
    for (uint32_t i = 0; i < w->from->count; i++) {
        uint32_t j = w->twin[i];
        gy_u128 before = w->from->owned[i], after = j == GY_TWIN_NONE ? 0 : w->to->owned[j];
        bool all_before = w->from->whole == i, all_after = j != GY_TWIN_NONE && w->to->whole == j;
        if (!all_after && (all_before || before > after)) {
            sum += before - after; /* right modulo 2^128 where before is a whole 128-bit ring */
            any = true;
        }
    }
    return any ? gy_map_fraction(w->from, sum) : 0;
}

static int diff_rings(struct work *w, struct gyre_diff *d)
{
    gy_u128 moved;
    if (merge_arcs(w, &moved)) {
        return GYRE_NOMEM;
    }
    d->basis = GYRE_EXACT;
    d->arcs = true;
    d->moved = w->flows.count ? gy_map_fraction(w->from, moved) : 0;
    d->minimum = ring_minimum(w);
    return GYRE_OK;
}

/* ---- modulo ---- */

/* Two numberings of nodes, and the least common multiple of their sizes. A hash x sees only
 * x mod lcm, and each residue gives one pair (x mod n, x mod m). */
struct residues {
    uint32_t *from, *to; /* slot -> node */
    uint64_t n, m, lcm, gcd;
    uint64_t kept; /* residues whose node stays */
};

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void residues_fini(struct residues *r)
{
    gy_mem_free(r->from);
    gy_mem_free(r->to);
}

static int residues_init(struct residues *r, const struct work *w)
{
    uint32_t *slot = gy_mem_alloc(w->to->count, sizeof *slot); /* node of to -> slot */
    *r = (struct residues){.from = gy_mem_alloc(w->from->positive, sizeof *r->from),
                           .to = gy_mem_alloc(w->to->positive, sizeof *r->to),
                           .n = w->from->positive,
                           .m = w->to->positive};
    if (!slot || !r->from || !r->to) {
        gy_mem_free(slot);
        residues_fini(r);
        return GYRE_NOMEM;
    }
    gy_modulo_slots(w->from, r->from);
    gy_modulo_slots(w->to, r->to);
    r->gcd = greatest_divisor(r->n, r->m);
    r->lcm = r->n / r->gcd * r->m;
    for (uint32_t j = 0; j < r->m; j++) {
        slot[r->to[j]] = j;
    }
    /* Chinese remainder theorem: x = i mod n and x = j mod m meet once in lcm if i = j mod gcd, and
     * else never. */
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t twin = w->twin[r->from[i]];
        if (twin != GY_TWIN_NONE && w->to->weight[twin]) {
            r->kept += i % r->gcd == slot[twin] % r->gcd;
        }
    }
    gy_mem_free(slot);
    return GYRE_OK;
}

static double residues_moved(const struct residues *r)
{
    return (double)(r->lcm - r->kept) / (double)r->lcm;
}

static double residues_minimum(const struct residues *r, const struct work *w)
{
    uint64_t before = r->lcm / r->n, after = r->lcm / r->m, sum = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t twin = w->twin[r->from[i]];
        uint64_t now = twin != GY_TWIN_NONE && w->to->weight[twin] ? after : 0;
        sum += before > now ? before - now : 0;
    }
    return (double)sum / (double)r->lcm;
}

static int diff_modulos(struct work *w, struct gyre_diff *d)
{
    struct residues r;
    int err = residues_init(&r, w);
    if (err) {
        return err;
    }
    for (uint64_t x = 0; !err && x < r.lcm && w->flows.count < FLOWS_MAX; x++) {
        uint32_t a = r.from[x % r.n], b = r.to[x % r.m];
        if (w->twin[a] != b) {
            err = gy_flows_add(&w->flows, a, b, 1);
        }
    }
    w->unit = (double)r.lcm;
    d->basis = GYRE_EXACT;
    d->moved = residues_moved(&r);
    d->minimum = residues_minimum(&r, w);
    residues_fini(&r);
    return err;
}

/* ---- what is drawn ---- */

static int diff_drawn(struct work *w, struct gyre_diff *d)
{
    struct gy_expected found;
    int err = gy_expected_flows(w->from, w->to, w->twin, FLOWS_MAX, &w->flows, &found);
    if (err) {
        return err;
    }
    w->unit = GY_EXPECTED_ALL;
    d->basis = GYRE_EXPECTED;
    d->moved = found.moved;
    d->minimum = found.minimum;
    return GYRE_OK;
}

/* ---- anything else ---- */

static int diff_samples(struct work *w, struct gyre_diff *d, size_t samples)
{
    size_t moved = 0;
    for (size_t s = 0; s < samples; s++) {
        char key[GY_PROBE];
        gy_probe_key(s, key);
        uint32_t a = gyre_map_locate(w->from, key, sizeof key);
        uint32_t b = gyre_map_locate(w->to, key, sizeof key);
        if (w->twin[a] != b) {
            moved++;
            if (gy_flows_add(&w->flows, a, b, 1)) {
                return GYRE_NOMEM;
            }
        }
    }
    w->unit = (double)samples;
    d->moved = (double)moved / (double)samples;
    for (uint32_t i = 0; i < w->from->count; i++) {
        uint32_t j = w->twin[i];
        double before = gyre_map_share(w->from, i);
        double after = j == GY_TWIN_NONE ? 0 : gyre_map_share(w->to, j);
        d->minimum += before > after ? before - after : 0;
    }
    return GYRE_OK;
}

/* ---- the diff ---- */

static int take_flows(struct work *w, struct gyre_diff *d)
{
    gy_flows_sort(&w->flows);
    d->flows = gy_mem_alloc(w->flows.count, sizeof *d->flows);
    if (!d->flows) {
        return GYRE_NOMEM;
    }
    d->count = w->flows.count;
    for (size_t i = 0; i < d->count; i++) {
        const struct gy_flow *f = &w->flows.cells[i];
        d->flows[i] =
            (struct gyre_flow){.from = w->from->nodes[f->from].name,
                               .to = w->to->nodes[f->to].name,
                               .share = w->unit > 0 ? (double)f->amount / w->unit
                                                    : gy_map_fraction(w->from, f->amount)};
    }
    return GYRE_OK;
}

static int check_pair(const gyre_map_t *from, const gyre_map_t *to, size_t samples, gyre_error_t *e)
{
    if (!from->positive || !to->positive) {
        return gy_fail(e, GYRE_EMPTY, "the %s map has no node that takes keys",
                       from->positive ? "new" : "old");
    }
    if (strcmp(from->tag, to->tag) != 0) {
        return gy_fail(e, GYRE_MISMATCH,
                       "hash_tag differs ('%s', '%s'): which part of a key counts can only be "
                       "compared over real keys",
                       from->tag, to->tag);
    }
    if (!gy_map_one_kind(from, to) && !gy_expected_pair(from, to) && samples == 0) {
        return gy_fail(e, GYRE_MISMATCH,
                       "%s with %s and %s with %s put a key in different places: the difference "
                       "can only be sampled",
                       from->place->name, from->hash->name, to->place->name, to->hash->name);
    }
    return GYRE_OK;
}

static int fill(struct work *w, struct gyre_diff *d, size_t samples)
{
    struct residues r;
    match_names(w);
    int err = residues_init(&r, w);
    if (err) {
        return err;
    }
    d->modulo = residues_moved(&r);
    residues_fini(&r);
    if (gy_map_one_kind(w->from, w->to)) {
        err = w->from->place->position ? diff_rings(w, d) : diff_modulos(w, d);
    } else if (gy_expected_pair(w->from, w->to)) {
        err = diff_drawn(w, d);
    } else {
        err = diff_samples(w, d, samples);
    }
    return err ? err : take_flows(w, d);
}

int gyre_diff_build(gyre_map_t *from, gyre_map_t *to, size_t samples, gyre_diff_t **out,
                    gyre_error_t *e)
{
    *out = NULL;
    int err = check_pair(from, to, samples, e);
    if (err) {
        return err;
    }
    struct gyre_diff *d = gy_mem_alloc(1, sizeof *d);
    if (!d) {
        return gy_fail_nomem(e);
    }
    *d = (struct gyre_diff){.from = gyre_map_ref(from),
                            .to = gyre_map_ref(to),
                            .twin = gy_mem_alloc(from->count, sizeof *d->twin)};
    struct work w = {.from = from, .to = to, .twin = d->twin};
    err = d->twin ? fill(&w, d, samples) : GYRE_NOMEM;
    gy_flows_fini(&w.flows);
    if (err) {
        gyre_diff_free(d);
        return gy_fail_nomem(e);
    }
    *out = d;
    return GYRE_OK;
}

void gyre_diff_free(gyre_diff_t *d)
{
    if (d) {
        gyre_map_unref(d->from);
        gyre_map_unref(d->to);
        gy_mem_free(d->flows);
        gy_mem_free(d->twin);
        gy_mem_free(d);
    }
}

enum gyre_basis gyre_diff_basis(const gyre_diff_t *d)
{
    return d->basis;
}

bool gyre_diff_exact(const gyre_diff_t *d)
{
    return d->basis == GYRE_EXACT;
}

double gyre_diff_moved(const gyre_diff_t *d)
{
    return d->moved;
}

double gyre_diff_minimum(const gyre_diff_t *d)
{
    return d->minimum;
}

double gyre_diff_ratio(const gyre_diff_t *d)
{
    if (d->minimum > 0) {
        return d->moved / d->minimum;
    }
    return d->moved > 0 ? INFINITY : 1;
}

double gyre_diff_modulo(const gyre_diff_t *d)
{
    return d->modulo;
}

size_t gyre_diff_count(const gyre_diff_t *d)
{
    return d->count;
}

const struct gyre_flow *gyre_diff_flow(const gyre_diff_t *d, size_t i)
{
    return i < d->count ? &d->flows[i] : NULL;
}

bool gyre_diff_has_arcs(const gyre_diff_t *d)
{
    return d->arcs;
}

/* ---- arc by arc ---- */

enum { PHASE, I, J, START_HI, START_LO, WRAPS_HI, WRAPS_LO }; /* of a cursor's state */
enum {
    FRESH,
    ON_THE_WAY,
    WRAPS,
    OVER
}; /* phases; WRAPS: the last arc ends with the first stretch */

/* The stretch that begins at 0 is held back if the last one is the same arc. */
static bool begins_wrapped(const struct gy_merge *g)
{
    struct gy_stretch first, last;
    gy_merge_ends(g, &first, &last);
    return !g->a->slots && first.from == last.from && first.to == last.to &&
           g->twin[first.from] != first.to;
}

static void put_arc(const gyre_map_t *m, const struct gy_stretch *s, struct gyre_arc *out)
{
    gy_u128 length = s->first <= s->last ? gy_map_length(m, s->first, s->last)
                                         : gy_map_length(m, s->first, gy_map_last(m)) +
                                               gy_map_length(m, 0, s->last);
    struct gyre_arc arc = {.size = out->size,
                           .first_hi = (uint64_t)(s->first >> 64),
                           .first_lo = (uint64_t)s->first,
                           .last_hi = (uint64_t)(s->last >> 64),
                           .last_lo = (uint64_t)s->last,
                           .share = gy_map_fraction(m, length),
                           .from = s->from,
                           .to = s->to};
    memcpy(out, &arc, out->size < sizeof arc ? out->size : sizeof arc);
}

static uint64_t first_phase(struct gy_merge *g, uint64_t *at)
{
    struct gy_merge begin = *g;
    struct gy_stretch s;
    if (!begins_wrapped(g) || !gy_merge_next(g, &s) || g->done) {
        *g = begin;
        return ON_THE_WAY;
    }
    at[WRAPS_HI] = (uint64_t)(s.last >> 64);
    at[WRAPS_LO] = (uint64_t)s.last;
    return WRAPS;
}

bool gyre_diff_next(const gyre_diff_t *d, struct gyre_cursor *cursor, struct gyre_arc *out)
{
    uint64_t *at = cursor->state;
    if (!d->arcs || at[PHASE] >= OVER) {
        return false;
    }
    struct gy_merge g;
    gy_merge_start(&g, d->from, d->to, d->twin);
    if (at[PHASE] == FRESH) {
        at[PHASE] = first_phase(&g, at);
    } else {
        g.i = (size_t)at[I];
        g.j = (size_t)at[J];
        g.start = gy_wide(at[START_HI], at[START_LO]);
    }
    struct gy_stretch s;
    if (!gy_merge_next(&g, &s)) {
        at[PHASE] = OVER;
        return false;
    }
    if (g.done && at[PHASE] == WRAPS) {
        s.last = gy_wide(at[WRAPS_HI], at[WRAPS_LO]);
    }
    at[PHASE] = g.done ? OVER : at[PHASE];
    at[I] = g.i;
    at[J] = g.j;
    at[START_HI] = (uint64_t)(g.start >> 64);
    at[START_LO] = (uint64_t)g.start;
    put_arc(d->from, &s, out);
    return true;
}
