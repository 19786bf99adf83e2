/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - what differs between two maps. Two rings of one kind are merged arc by arc in 128-bit
 * integers; two modulos are counted by the Chinese remainder theorem; anything else is sampled and
 * says so. Threads: a built diff is immutable.
 */
#include <math.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/flows.h"

#define MODULO_FLOWS_MAX ((uint64_t)1 << 20) /* listed; moved and minimum always count all */

struct gyre_diff {
    gyre_map_t *from, *to; /* held: the flows' names are theirs */
    bool exact;
    double moved, minimum, modulo;
    struct gyre_flow *flows;
    size_t count;
};

/* While a diff is made: which nodes of the two maps are the same, by name. */
struct work {
    const gyre_map_t *from, *to;
    uint32_t *twin_of_from; /* number in to, GYRE_NONE if it has none */
    struct gy_flows flows;
    uint64_t unit; /* a flow's amount is in 1/unit; 0: in positions of the ring */
};

static void match_names(struct work *w)
{
    for (uint32_t i = 0; i < w->from->count; i++) {
        w->twin_of_from[i] = gyre_map_find(w->to, w->from->nodes[i].name);
    }
}

/* ---- rings ---- */

/* Both lists of arcs cover the ring from 0 on; each step takes the stretch up to the nearer end. */
static int merge_arcs(struct work *w, gy_u128 *moved)
{
    gy_u128 last = gy_map_last(w->from), start = 0;
    struct gy_arcs a, b;
    gy_arcs_start(&a, w->from);
    gy_arcs_start(&b, w->to);
    *moved = 0;
    for (;;) {
        gy_u128 end = a.end < b.end ? a.end : b.end;
        if (end >= start) {
            gy_u128 length = gy_map_length(w->from, start, end);
            if (w->twin_of_from[a.node] != b.node) {
                *moved += length;
                if (gy_flows_add(&w->flows, a.node, b.node, length)) {
                    return GYRE_NOMEM;
                }
            }
            if (end == last) {
                return GYRE_OK;
            }
            start = end + 1;
        }
        bool step_a = a.end <= end, step_b = b.end <= end;
        if (step_a) {
            gy_arcs_next(&a);
        }
        if (step_b) {
            gy_arcs_next(&b);
        }
    }
}

/* What each node owns less than before must have gone; nothing else need. */
static double ring_minimum(const struct work *w)
{
    gy_u128 sum = 0;
    bool any = false;
    for (uint32_t i = 0; i < w->from->count; i++) {
        uint32_t j = w->twin_of_from[i];
        gy_u128 before = w->from->owned[i], after = j == GYRE_NONE ? 0 : w->to->owned[j];
        bool all_before = w->from->whole == i, all_after = j != GYRE_NONE && w->to->whole == j;
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
    d->exact = true;
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
        uint32_t twin = w->twin_of_from[r->from[i]];
        if (twin != GYRE_NONE && w->to->weight[twin]) {
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
        uint32_t twin = w->twin_of_from[r->from[i]];
        uint64_t now = twin != GYRE_NONE && w->to->weight[twin] ? after : 0;
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
    for (uint64_t x = 0; !err && x < r.lcm && w->flows.count < MODULO_FLOWS_MAX; x++) {
        uint32_t a = r.from[x % r.n], b = r.to[x % r.m];
        if (w->twin_of_from[a] != b) {
            err = gy_flows_add(&w->flows, a, b, 1);
        }
    }
    w->unit = r.lcm;
    d->exact = true;
    d->moved = residues_moved(&r);
    d->minimum = residues_minimum(&r, w);
    residues_fini(&r);
    return err;
}

/* ---- anything else ---- */

/* SplitMix64's stream: any two runs, on any machine, see the same keys. */
static uint64_t sample_key(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int diff_samples(struct work *w, struct gyre_diff *d, size_t samples)
{
    static const char digits[] = "0123456789abcdef";
    size_t moved = 0;
    for (size_t s = 0; s < samples; s++) {
        char key[16]; /* as text, so that no tag character and no byte order comes into it */
        uint64_t bits = sample_key(s);
        for (unsigned i = 0; i < sizeof key; i++) {
            key[i] = digits[bits >> 4 * i & 15];
        }
        uint32_t a = gyre_map_locate(w->from, key, sizeof key);
        uint32_t b = gyre_map_locate(w->to, key, sizeof key);
        if (w->twin_of_from[a] != b) {
            moved++;
            if (gy_flows_add(&w->flows, a, b, 1)) {
                return GYRE_NOMEM;
            }
        }
    }
    w->unit = samples;
    d->moved = (double)moved / (double)samples;
    for (uint32_t i = 0; i < w->from->count; i++) {
        uint32_t j = w->twin_of_from[i];
        double before = gyre_map_share(w->from, i);
        double after = j == GYRE_NONE ? 0 : gyre_map_share(w->to, j);
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
        d->flows[i] = (struct gyre_flow){.from = w->from->nodes[f->from].name,
                                         .to = w->to->nodes[f->to].name,
                                         .share = w->unit ? (double)f->amount / (double)w->unit
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
    if (!gy_map_one_kind(from, to) && samples == 0) {
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
    if (!gy_map_one_kind(w->from, w->to)) {
        err = diff_samples(w, d, samples);
    } else {
        err = w->from->place->position ? diff_rings(w, d) : diff_modulos(w, d);
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
    struct work w = {
        .from = from, .to = to, .twin_of_from = gy_mem_alloc(from->count, sizeof *w.twin_of_from)};
    struct gyre_diff *d = gy_mem_alloc(1, sizeof *d);
    err = GYRE_NOMEM;
    if (d && w.twin_of_from) {
        *d = (struct gyre_diff){.from = gyre_map_ref(from), .to = gyre_map_ref(to)};
        err = fill(&w, d, samples);
        if (err) {
            gyre_diff_free(d);
        } else {
            *out = d;
        }
    } else {
        gy_mem_free(d);
    }
    gy_flows_fini(&w.flows);
    gy_mem_free(w.twin_of_from);
    return err ? gy_fail_nomem(e) : GYRE_OK;
}

void gyre_diff_free(gyre_diff_t *d)
{
    if (d) {
        gyre_map_unref(d->from);
        gyre_map_unref(d->to);
        gy_mem_free(d->flows);
        gy_mem_free(d);
    }
}

bool gyre_diff_exact(const gyre_diff_t *d)
{
    return d->exact;
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
