/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdings.c - what each node of a map holds, and which others can feed its replacement: the ranges
 * of the map added up by node and by pair of nodes, or sampled keys where a map has no ranges. The
 * feeding is dealt out range by range, each to the holder that has the least to send so far.
 * Threads: immutable once built.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/flows.h"
#include "lib/probe.h"

#define HOLDERS_MAX 64u
#define TOLD_EVERY  4096u /* ranges or samples: some milliseconds' work */

struct gyre_holdings {
    gyre_map_t *map;
    bool exact;
    struct gyre_holding *node;
    struct gyre_feed *feed; /* by node, those that send most first */
    size_t *begin;          /* of each node's feeders; one more entry ends the last */
};

/* While it is made. Shares are added as fractions: a hundred million additions are off by 10^-8. */
struct work {
    struct gyre_holdings *h;
    struct gy_flows pairs; /* (node, feeder): amount is the feeder's index in feeds */
    struct gyre_feed *feeds;
    uint32_t *of; /* whom each feeds */
    size_t count, room;
    gyre_tell_fn *tell;
    void *ctx;
};

static int grow(struct work *w)
{
    size_t room = w->room ? w->room * 2 : 64;
    struct gyre_feed *feeds = gy_mem_grow(w->feeds, room, sizeof *feeds);
    w->feeds = feeds ? feeds : w->feeds;
    uint32_t *of = feeds ? gy_mem_grow(w->of, room, sizeof *of) : NULL;
    w->of = of ? of : w->of;
    w->room = of ? room : w->room;
    return of ? GYRE_OK : GYRE_NOMEM;
}

/* Index in feeds of what `feeder` can do for `node`; SIZE_MAX when out of memory. */
static size_t pair(struct work *w, uint32_t node, uint32_t feeder)
{
    gy_u128 *cell = gy_flows_find(&w->pairs, node, feeder);
    if (!cell) {
        return SIZE_MAX;
    }
    if (*cell == 0) { /* new; kept counted from 1 */
        if (w->count == w->room && grow(w)) {
            return SIZE_MAX;
        }
        w->feeds[w->count] = (struct gyre_feed){.node = feeder};
        w->of[w->count++] = node;
        *cell = w->count;
    }
    return (size_t)*cell - 1;
}

static int add_range(struct work *w, const uint32_t *holders, size_t n, double share)
{
    for (size_t i = 0; i < n; i++) {
        struct gyre_holding *x = &w->h->node[holders[i]];
        size_t least = SIZE_MAX;
        x->held += share;
        x->alone += n == 1 ? share : 0;
        x->ranges++;
        for (size_t k = 0; k < n; k++) {
            if (k == i) {
                continue;
            }
            size_t at = pair(w, holders[i], holders[k]);
            if (at == SIZE_MAX) {
                return GYRE_NOMEM;
            }
            w->feeds[at].holds += share;
            if (least == SIZE_MAX || w->feeds[at].sends < w->feeds[least].sends) {
                least = at;
            }
        }
        if (least != SIZE_MAX) {
            w->feeds[least].sends += share;
        }
    }
    return GYRE_OK;
}

static void tell_progress(const struct work *w, uint64_t done, uint64_t total)
{
    if (w->tell && done % TOLD_EVERY == 0) {
        w->tell(w->ctx, done < total ? done : total, total);
    }
}

static int add_ranges(struct work *w, size_t replicas)
{
    uint64_t done = 0;
    struct gyre_cursor at = {{0}};
    struct gyre_range r = {.size = sizeof r};
    uint32_t holders[HOLDERS_MAX];
    while (gyre_range_next(w->h->map, replicas, &at, &r, holders)) {
        if (add_range(w, holders, r.holders, r.share)) {
            return GYRE_NOMEM;
        }
        tell_progress(w, ++done, (uint64_t)w->h->map->steps + 1);
    }
    return GYRE_OK;
}

static int add_samples(struct work *w, size_t replicas, size_t samples)
{
    const gyre_map_t *m = w->h->map;
    for (size_t s = 0; s < samples; s++) {
        char key[GY_PROBE];
        uint32_t holders[HOLDERS_MAX];
        gy_probe_key(s, key);
        size_t n = gyre_map_replicas(m, key, sizeof key, holders, replicas, NULL);
        if (add_range(w, holders, n, 1.0 / (double)samples)) {
            return GYRE_NOMEM;
        }
        tell_progress(w, s + 1, samples);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        w->h->node[i].ranges = 0;
    }
    return GYRE_OK;
}

/* ---- in order ---- */

static int compare_feeds(const void *a, const void *b)
{
    const struct gyre_feed *x = a, *y = b;
    if (x->sends != y->sends) {
        return x->sends > y->sends ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Counts, then deals: the feeders of each node come to stand together. */
static int settle(struct work *w)
{
    struct gyre_holdings *h = w->h;
    uint32_t nodes = h->map->count;
    h->feed = gy_mem_alloc(w->count + 1, sizeof *h->feed); /* + 1: none is no failure */
    h->begin = gy_mem_alloc((size_t)nodes + 2, sizeof *h->begin);
    if (!h->feed || !h->begin) {
        return GYRE_NOMEM;
    }
    memset(h->begin, 0, ((size_t)nodes + 2) * sizeof *h->begin);
    for (size_t i = 0; i < w->count; i++) {
        h->begin[w->of[i] + 2]++;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        h->begin[i + 2] += h->begin[i + 1];
    }
    for (size_t i = 0; i < w->count; i++) {
        h->feed[h->begin[w->of[i] + 1]++] = w->feeds[i];
    }
    for (uint32_t i = 0; i < nodes; i++) {
        struct gyre_feed *first = h->feed + h->begin[i];
        h->node[i].feeders = (uint32_t)(h->begin[i + 1] - h->begin[i]);
        qsort(first, h->node[i].feeders, sizeof *first, compare_feeds);
        h->node[i].largest = h->node[i].feeders ? first->sends : 0;
    }
    return GYRE_OK;
}

static int check(const gyre_map_t *m, size_t replicas, size_t samples, gyre_error_t *e)
{
    if (replicas < 1 || replicas > HOLDERS_MAX) {
        return gy_fail(e, GYRE_RANGE, "replicas: %zu is not within 1..%u", replicas, HOLDERS_MAX);
    }
    if (!m->positive) {
        return gy_fail(e, GYRE_EMPTY, "no node takes keys");
    }
    if (!gy_map_has_ranges(m) && samples == 0) {
        return gy_fail(e, GYRE_UNSUPPORTED,
                       "%s has no ranges: each key has an order of nodes of its own, so what a "
                       "node holds can only be sampled",
                       m->place->name);
    }
    return GYRE_OK;
}

int gyre_holdings_build(gyre_map_t *m, size_t replicas, size_t samples, gyre_holdings_t **out,
                        gyre_error_t *e)
{
    return gyre_holdings_build_telling(m, replicas, samples, NULL, NULL, out, e);
}

int gyre_holdings_build_telling(gyre_map_t *m, size_t replicas, size_t samples, gyre_tell_fn *tell,
                                void *ctx, gyre_holdings_t **out, gyre_error_t *e)
{
    *out = NULL;
    int err = check(m, replicas, samples, e);
    if (err) {
        return err;
    }
    struct gyre_holdings *h = gy_mem_alloc(1, sizeof *h);
    if (!h) {
        return gy_fail_nomem(e);
    }
    *h = (struct gyre_holdings){.map = gyre_map_ref(m),
                                .exact = gy_map_has_ranges(m),
                                .node = gy_mem_alloc(m->count, sizeof *h->node)};
    struct work w = {.h = h, .tell = tell, .ctx = ctx};
    err = h->node ? GYRE_OK : GYRE_NOMEM;
    for (uint32_t i = 0; !err && i < m->count; i++) {
        h->node[i] = (struct gyre_holding){.size = sizeof *h->node, .owned = gyre_map_share(m, i)};
    }
    if (!err) {
        err = h->exact ? add_ranges(&w, replicas) : add_samples(&w, replicas, samples);
    }
    err = err ? err : settle(&w);
    gy_flows_fini(&w.pairs);
    gy_mem_free(w.feeds);
    gy_mem_free(w.of);
    if (err) {
        gyre_holdings_free(h);
        return gy_fail_nomem(e);
    }
    *out = h;
    return GYRE_OK;
}

void gyre_holdings_free(gyre_holdings_t *h)
{
    if (h) {
        gyre_map_unref(h->map);
        gy_mem_free(h->node);
        gy_mem_free(h->feed);
        gy_mem_free(h->begin);
        gy_mem_free(h);
    }
}

bool gyre_holdings_exact(const gyre_holdings_t *h)
{
    return h->exact;
}

int gyre_holdings_node(const gyre_holdings_t *h, uint32_t node, struct gyre_holding *out)
{
    if (out->size < sizeof out->size || node >= h->map->count) {
        return GYRE_INVALID;
    }
    struct gyre_holding x = h->node[node];
    x.size = out->size;
    memcpy(out, &x, out->size < sizeof x ? out->size : sizeof x);
    return GYRE_OK;
}

const struct gyre_feed *gyre_holdings_feed(const gyre_holdings_t *h, uint32_t node, size_t k)
{
    return node < h->map->count && k < h->node[node].feeders ? &h->feed[h->begin[node] + k] : NULL;
}
