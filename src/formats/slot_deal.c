/* SPDX-License-Identifier: Apache-2.0 */
/* slot_deal.c - see slot_deal.h. */
#include "formats/slot_deal.h"

#include <stdlib.h>

struct master {
    uint32_t number;
    uint64_t weight, rest; /* rest: of the division of its share */
    uint32_t have, target;
    uint64_t bytes; /* that it will have, as far as is known */
};

/* A slot that goes, and what is in it. */
struct parcel {
    uint32_t slot;
    uint64_t size;
};

struct dealing {
    const struct gy_deal *d;
    uint32_t *to;
    struct master *m;
    struct parcel *parcels; /* room for all slots */
    uint64_t weights, bytes;
};

static uint64_t size_of(const struct gy_deal *d, uint32_t slot)
{
    return d->size ? d->size[slot] : 0;
}

/* ---- counts ---- */

static int by_rest(const void *a, const void *b)
{
    const struct master *x = *(struct master *const *)a, *y = *(struct master *const *)b;
    bool full = x->have > x->target, other = y->have > y->target;
    return x->rest != y->rest ? (x->rest > y->rest ? -1 : 1)
           : full != other    ? (full ? -1 : 1)
           : x < y            ? -1
                              : x > y;
}

/* Slots * weight fits: 2^14 * 10^12, and 65535 such weights do, too. */
static int set_targets(struct dealing *g)
{
    const struct gy_deal *d = g->d;
    uint32_t left = d->slots;
    struct master **sorted = calloc((size_t)d->n + 1, sizeof(struct master *));
    if (!sorted) {
        return GYRE_NOMEM;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        struct master *m = &g->m[i];
        m->target = (uint32_t)(d->slots * m->weight / g->weights);
        m->rest = d->slots * m->weight % g->weights;
        left -= m->target;
        sorted[i] = m;
    }
    qsort(sorted, d->n, sizeof(struct master *), by_rest);
    for (uint32_t i = 0; i < left; i++) {
        sorted[i]->target++;
    }
    free(sorted);
    return GYRE_OK;
}

/* ---- which slots go ---- */

static int lightest_first(const void *a, const void *b)
{
    const struct parcel *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? -1 : 1) : x->slot < y->slot ? -1 : 1;
}

static int heaviest_first(const void *a, const void *b)
{
    const struct parcel *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size ? -1 : 1) : x->slot < y->slot ? -1 : 1;
}

/* What the master gives, behind the n parcels there are. */
static uint32_t take_from(struct dealing *g, struct master *m, uint32_t n)
{
    const struct gy_deal *d = g->d;
    uint32_t first = n, give = m->have > m->target ? m->have - m->target : 0;
    for (uint32_t slot = 0; give && slot < d->slots; slot++) {
        if (d->owner[slot] == m->number) {
            g->parcels[n++] = (struct parcel){slot, size_of(d, slot)};
        }
    }
    if (n > first) {
        qsort(g->parcels + first, n - first, sizeof *g->parcels, lightest_first);
    }
    for (uint32_t i = first; i < first + give; i++) {
        m->bytes -= g->parcels[i].size;
    }
    return first + give;
}

/* a / x < b / y, of bytes and weights; not exact beyond 2^53, where it does not matter. */
static bool emptier(const struct master *a, const struct master *b)
{
    return (double)a->bytes * (double)b->weight < (double)b->bytes * (double)a->weight;
}

/* The next master that lacks slots; where bytes are known the one that lacks most of them. */
static struct master *taker(struct dealing *g)
{
    struct master *best = NULL;
    for (uint32_t i = 0; i < g->d->n; i++) {
        struct master *m = &g->m[i];
        if (m->have < m->target && (!best || (g->d->size && emptier(m, best)))) {
            best = m;
        }
        if (best && !g->d->size) {
            break;
        }
    }
    return best;
}

static void hand_out(struct dealing *g, uint32_t n)
{
    if (g->d->size && n) {
        qsort(g->parcels, n, sizeof *g->parcels, heaviest_first);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct master *m = taker(g);
        m->have++;
        m->bytes += g->parcels[i].size;
        g->to[g->parcels[i].slot] = m->number;
    }
}

static int deal_counts(struct dealing *g)
{
    uint32_t n = 0;
    int rc = set_targets(g);
    for (uint32_t i = 0; !rc && i < g->d->n; i++) {
        n = take_from(g, &g->m[i], n);
    }
    if (!rc) {
        hand_out(g, n);
    }
    return rc;
}

/* ---- bytes ---- */

static double fair(const struct dealing *g, const struct master *m)
{
    return (double)g->bytes * (double)m->weight / (double)g->weights;
}

/* Slots of drained masters, the heaviest first, each to whom it leaves emptiest. */
static void empty_drained(struct dealing *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->d->n; i++) {
        struct master *m = &g->m[i];
        m->target = m->weight ? m->have : 0;
        n = take_from(g, m, n);
    }
    if (n) {
        qsort(g->parcels, n, sizeof *g->parcels, heaviest_first);
    }
    for (uint32_t k = 0; k < n; k++) {
        struct master *best = NULL;
        for (uint32_t i = 0; i < g->d->n; i++) {
            struct master *m = &g->m[i];
            best = m->weight && (!best || emptier(m, best)) ? m : best;
        }
        best->bytes += g->parcels[k].size;
        g->to[g->parcels[k].slot] = best->number;
    }
}

/* The slot whose bytes are nearest to what should go; it has to make things better, and has not
 * moved yet. slots: none. */
static uint32_t best_slot(const struct dealing *g, const struct master *from, double want,
                          double gap)
{
    const struct gy_deal *d = g->d;
    uint32_t best = d->slots;
    double near = 0;
    for (uint32_t slot = 0; slot < d->slots; slot++) {
        double size = (double)d->size[slot], off = size > want ? size - want : want - size;
        if (d->owner[slot] == from->number && g->to[slot] == from->number && size > 0 &&
            size < gap &&
            (best == d->slots || off < near || (off == near && d->size[slot] < d->size[best]))) {
            best = slot;
            near = off;
        }
    }
    return best;
}

static void deal_bytes(struct dealing *g)
{
    empty_drained(g);
    for (uint32_t turns = 0; turns < g->d->slots; turns++) {
        struct master *rich = NULL, *poor = NULL;
        double above = 0, below = 0;
        for (uint32_t i = 0; i < g->d->n; i++) {
            struct master *m = &g->m[i];
            double off = (double)m->bytes - fair(g, m);
            if (m->weight && off > above) {
                above = off;
                rich = m;
            }
            if (m->weight && -off > below) {
                below = -off;
                poor = m;
            }
        }
        bool even = !rich || !poor ||
                    (above <= GY_DEAL_TOLERANCE * fair(g, rich) &&
                     below <= GY_DEAL_TOLERANCE * fair(g, poor));
        uint32_t slot =
            even ? g->d->slots : best_slot(g, rich, above < below ? above : below, above + below);
        if (slot == g->d->slots) {
            return;
        }
        rich->bytes -= g->d->size[slot];
        poor->bytes += g->d->size[slot];
        g->to[slot] = poor->number;
    }
}

/* ---- all of it ---- */

static void look(struct dealing *g)
{
    const struct gy_deal *d = g->d;
    for (uint32_t i = 0; i < d->n; i++) {
        g->m[i] = (struct master){.number = i, .weight = d->weight[i]};
        g->weights += d->weight[i];
    }
    for (uint32_t slot = 0; slot < d->slots; slot++) {
        struct master *m = &g->m[d->owner[slot]];
        m->have++;
        m->bytes += size_of(d, slot);
        g->bytes += size_of(d, slot);
        g->to[slot] = d->owner[slot];
    }
}

int gy_deal_slots(const struct gy_deal *d, uint32_t *to, gyre_error_t *e)
{
    struct dealing g = {.d = d, .to = to};
    int rc = GYRE_OK;
    if (d->by_bytes && !d->size) {
        return gy_format_fail(e, GYRE_INVALID, NULL,
                              "to even out bytes, the sizes of the slots must be known");
    }
    g.m = calloc((size_t)d->n + 1, sizeof *g.m);
    g.parcels = calloc((size_t)d->slots + 1, sizeof *g.parcels);
    if (!g.m || !g.parcels) {
        rc = GYRE_NOMEM;
        goto out;
    }
    look(&g);
    if (g.weights == 0) {
        rc = gy_format_fail(e, GYRE_EMPTY, NULL, "no master is left that could own slots");
    } else if (d->by_bytes && g.bytes) {
        deal_bytes(&g);
    } else {
        rc = deal_counts(&g);
    }
out:
    free(g.m);
    free(g.parcels);
    return rc == GYRE_NOMEM ? gy_format_fail(e, rc, NULL, "out of memory") : rc;
}
