/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.c - the first R distinct nodes of a key, spread over zones. The placement's walk is
 * followed greedily: at first a group of nodes may be used once, then twice, and so on, so that a
 * shortage of zones shares the replicas out evenly and is reported. The first node is always the
 * one gyre_map_locate answers. Under a mask (lib/mask.h) nodes that are down are passed over as
 * they are met, so those that are up keep their order and whoever comes back finds its place as it
 * left it. Threads: any; lookups allocate nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/map.h"
#include "lib/mask.h"

struct path {
    const char *zone;
    size_t len;
    uint32_t node;
};

/* Length of the first `parts` parts of a path; a shorter path counts whole. */
static size_t prefix(const char *path, uint32_t parts)
{
    size_t len = 0;
    for (;; len++) {
        if (!path[len] || (path[len] == '/' && --parts == 0)) {
            return len;
        }
    }
}

static int compare_paths(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    int order = memcmp(x->zone, y->zone, x->len < y->len ? x->len : y->len);
    return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

/* Nodes that name no zone may all stand in the same one, so they form one group. */
static struct path path_of(const gyre_map_t *m, uint32_t node, uint32_t parts)
{
    const char *zone = m->nodes[node].zone ? m->nodes[node].zone : "";
    return (struct path){zone, prefix(zone, parts), node};
}

bool gy_zone_same(const gyre_map_t *a, uint32_t i, const gyre_map_t *b, uint32_t j)
{
    struct path x = path_of(a, i, a->spread), y = path_of(b, j, a->spread);
    return compare_paths(&x, &y) == 0;
}

void gy_zone_name(const struct gyre_node *n, uint32_t parts, char *out, size_t size)
{
    size_t len = n->zone ? prefix(n->zone, parts) : 0;
    if (len == 0) {
        snprintf(out, size, "(none)");
        return;
    }
    len = len < size ? len : size - 1; /* too long then for a name, which will be said */
    memcpy(out, n->zone, len);
    out[len] = '\0';
}

int gy_zones_build(struct gyre_map *m)
{
    struct path *paths = gy_mem_alloc(m->count, sizeof *paths);
    m->zone = gy_mem_alloc(m->count, sizeof *m->zone);
    m->zone_size = gy_mem_alloc(m->count, sizeof *m->zone_size);
    m->zone_node = gy_mem_alloc(m->count, sizeof *m->zone_node);
    if (!paths || !m->zone || !m->zone_size || !m->zone_node) {
        gy_mem_free(paths);
        return GYRE_NOMEM;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        paths[i] = path_of(m, i, m->spread);
        m->zone_size[i] = 0;
    }
    qsort(paths, m->count, sizeof *paths, compare_paths);
    uint32_t group = 0, takes = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        group += i > 0 && compare_paths(&paths[i - 1], &paths[i]) != 0;
        m->zone[paths[i].node] = group;
        if (m->weight[paths[i].node]) {
            m->zone_size[group]++;
            m->zone_node[takes++] = paths[i].node;
        }
    }
    m->zones = m->count ? group + 1 : 0;
    gy_mem_free(paths);
    return GYRE_OK;
}

/* How many of a group's n nodes are up, counted no further than to `most`. */
static uint32_t count_up(const struct gy_alive *alive, const uint32_t *node, uint32_t n,
                         uint32_t most)
{
    uint32_t up = 0;
    for (uint32_t i = 0; i < n && up < most; i++) {
        up += !gy_alive_down(alive, node[i]);
    }
    return up;
}

/* How many nodes there are when no group gives more than `most`, counted no further than needed. */
static size_t quota(const gyre_map_t *m, const struct gy_alive *alive, uint32_t most, size_t enough)
{
    if (!m->zone) {
        return enough;
    }
    size_t n = 0;
    const uint32_t *node = m->zone_node;
    for (uint32_t z = 0; z < m->zones && n < enough; z++) {
        uint32_t size = m->zone_size[z];
        uint32_t up = alive ? count_up(alive, node, size, most) : size;
        n += up < most ? up : most;
        node += size;
    }
    return n < enough ? n : enough;
}

static bool may_join(const gyre_map_t *m, const struct gy_alive *alive, uint32_t node,
                     const uint32_t *out, size_t got, uint32_t most)
{
    uint32_t used = 0;
    if (alive && gy_alive_down(alive, node)) {
        return false;
    }
    for (size_t i = 0; i < got; i++) {
        if (out[i] == node) {
            return false;
        }
        used += m->zone && m->zone[out[i]] == m->zone[node];
    }
    return used < most;
}

void gy_walk_start(struct gy_walk *w, const gyre_map_t *m, gy_u128 hash)
{
    *w = (struct gy_walk){.map = m, .hash = (uint64_t)hash};
    if (m->place->start) {
        m->place->start(w);
    } else {
        w->step = m->place->first(m, hash);
        w->left = m->steps;
    }
}

/* A node may be too light for a slot of the table; it comes last. */
uint32_t gy_walk_by_name(struct gy_walk *w)
{
    while (w->draws < w->map->count) {
        uint32_t node = (uint32_t)w->draws++;
        if (w->map->weight[node]) {
            return node;
        }
    }
    return GYRE_NONE;
}

uint32_t gy_walk_next(struct gy_walk *w)
{
    const gyre_map_t *m = w->map;
    if (m->place->next) {
        return m->place->next(w);
    }
    if (w->left == 0) {
        return gy_walk_by_name(w);
    }
    uint32_t node = m->place->node(m, w->step);
    w->step = w->step + 1 == m->steps ? 0 : w->step + 1;
    w->left--;
    return node;
}

/* Where walks begin: at a hash, or at a step for all hashes that lead there. */
struct origin {
    gy_u128 hash;
    size_t step;
    bool at_step;
};

static void begin(struct gy_walk *w, const gyre_map_t *m, const struct origin *from)
{
    if (from->at_step) {
        *w = (struct gy_walk){.map = m, .step = from->step, .left = m->steps};
    } else {
        gy_walk_start(w, m, from->hash);
    }
}

static size_t choose(const gyre_map_t *m, const struct origin *from, const struct gy_alive *alive,
                     uint32_t *out, size_t want, unsigned *flags)
{
    size_t all = alive ? alive->live : m->positive;
    unsigned seen = want > all ? GYRE_REPLICAS_SHORT : 0;
    size_t enough = want < all ? want : all;
    size_t got = 0;
    for (uint32_t most = 1; got < enough; most++) {
        size_t limit = quota(m, alive, most, enough);
        if (most > 1) {
            seen |= GYRE_REPLICAS_SPREAD;
        }
        /* Every node that is not drained is met within one walk, so the limit is reached. */
        struct gy_walk w[GY_WALKS];
        begin(w, m, from);
        for (uint32_t node; got < limit && (node = gy_walk_next(w)) != GYRE_NONE;) {
            if (may_join(m, alive, node, out, got, most)) {
                out[got++] = node;
            }
        }
    }
    if (flags) {
        *flags = seen;
    }
    return got;
}

size_t gy_replicas(const gyre_map_t *m, gy_u128 hash, const struct gy_alive *alive, uint32_t *out,
                   size_t want, unsigned *flags)
{
    struct origin from = {.hash = hash};
    return choose(m, &from, alive, out, want, flags);
}

size_t gyre_map_replicas(const gyre_map_t *m, const void *key, size_t len, uint32_t *out,
                         size_t want, unsigned *flags)
{
    return gy_replicas(m, gy_map_hash_wide(m, key, len), NULL, out, want, flags);
}

size_t gy_replicas_from(const gyre_map_t *m, size_t step, uint32_t *out, size_t want,
                        unsigned *flags)
{
    struct origin from = {.step = step, .at_step = true};
    return choose(m, &from, NULL, out, want, flags);
}
