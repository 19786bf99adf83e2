/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.c - liveness beside a map, never in it: a bit a node, set while the node is down. The map
 * and with it every key's order of preference stay as they are, so a node that returns has all its
 * keys back and nothing else moves. Marking is one atomic OR or AND. Threads: any, at once.
 */
#include "lib/mask.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

struct word {
    atomic_uint_fast64_t down;
    uint64_t takes; /* nodes that are not drained */
};

struct gyre_mask {
    atomic_size_t refs;
    gyre_map_t *map;
    atomic_uint_fast64_t version;
    atomic_int down;       /* nodes that are down and not drained; a hint, as zone_down is */
    atomic_int *zone_down; /* of each zone; NULL without spread */
    uint32_t words;
    struct word word[];
};

static bool is_down(const gyre_mask_t *k, uint32_t node)
{
    /* Relaxed: a health check's verdict is news some time after the fact; no data hangs on it. */
    return atomic_load_explicit(&k->word[node / 64].down, memory_order_relaxed) >> node % 64 & 1;
}

static void carry(gyre_mask_t *k, const gyre_mask_t *from)
{
    for (uint32_t i = 0; i < from->map->count; i++) {
        uint32_t node =
            is_down(from, i) ? gyre_map_find(k->map, from->map->nodes[i].name) : GYRE_NONE;
        if (node != GYRE_NONE) {
            (void)gyre_mask_set(k, node, false);
        }
    }
}

int gyre_mask_new(gyre_map_t *m, const gyre_mask_t *from, gyre_mask_t **out, gyre_error_t *e)
{
    uint32_t words = m->count / 64 + 1;
    gyre_mask_t *k = gy_mem_alloc(1, sizeof *k + words * sizeof k->word[0]);
    atomic_int *zone_down = m->zone && k ? gy_mem_alloc(m->zones, sizeof *zone_down) : NULL;
    *out = NULL;
    if (!k || (m->zone && !zone_down)) {
        gy_mem_free(k);
        return gy_fail_nomem(e);
    }
    atomic_init(&k->refs, 1);
    atomic_init(&k->version, 0);
    atomic_init(&k->down, 0);
    k->map = gyre_map_ref(m);
    k->zone_down = zone_down;
    k->words = words;
    for (uint32_t i = 0; i < words; i++) {
        atomic_init(&k->word[i].down, 0);
        k->word[i].takes = 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        k->word[i / 64].takes |= (uint64_t)(m->weight[i] != 0) << i % 64;
    }
    for (uint32_t z = 0; zone_down && z < m->zones; z++) {
        atomic_init(&zone_down[z], 0);
    }
    if (from) {
        carry(k, from);
    }
    *out = k;
    return GYRE_OK;
}

gyre_mask_t *gyre_mask_ref(gyre_mask_t *k)
{
    /* Relaxed: as gyre_map_ref. */
    atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
    return k;
}

void gyre_mask_unref(gyre_mask_t *k)
{
    /* Acquire and release: as gyre_map_unref. */
    if (!k || atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    gyre_map_unref(k->map);
    gy_mem_free(k->zone_down);
    gy_mem_free(k);
}

const gyre_map_t *gyre_mask_map(const gyre_mask_t *k)
{
    return k->map;
}

bool gyre_mask_set(gyre_mask_t *k, uint32_t node, bool up)
{
    if (node >= k->map->count) {
        return false;
    }
    atomic_uint_fast64_t *word = &k->word[node / 64].down;
    uint64_t bit = (uint64_t)1 << node % 64;
    uint64_t before = up ? atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed)
                         : atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    if (((before & bit) == 0) == up) {
        return false;
    }
    if (k->map->weight[node]) {
        int change = up ? -1 : 1;
        atomic_fetch_add_explicit(&k->down, change, memory_order_relaxed);
        if (k->zone_down) {
            atomic_fetch_add_explicit(&k->zone_down[k->map->zone[node]], change,
                                      memory_order_relaxed);
        }
    }
    /* Release: who sees the version sees the bit. */
    atomic_fetch_add_explicit(&k->version, 1, memory_order_release);
    return true;
}

bool gyre_mask_up(const gyre_mask_t *k, uint32_t node)
{
    return node < k->map->count && !is_down(k, node);
}

uint32_t gyre_mask_down(const gyre_mask_t *k)
{
    uint32_t down = 0;
    for (uint32_t i = 0; i < k->words; i++) {
        down += (uint32_t)__builtin_popcountll(
            atomic_load_explicit(&k->word[i].down, memory_order_relaxed));
    }
    return down;
}

uint64_t gyre_mask_version(const gyre_mask_t *k)
{
    return atomic_load_explicit(&k->version, memory_order_acquire);
}

/* False: all nodes are up. */
static bool any_down(const gyre_mask_t *k)
{
    return atomic_load_explicit(&k->down, memory_order_relaxed) > 0;
}

uint32_t gyre_mask_locate(const gyre_mask_t *k, const void *key, size_t len)
{
    const gyre_map_t *m = k->map;
    if (!m->steps) {
        return GYRE_NONE;
    }
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    uint32_t node = m->place->locate(m, hash);
    if (!is_down(k, node)) {
        return node;
    }
    struct gy_walk w[GY_WALKS];
    gy_walk_start(w, m, hash);
    do {
        node = gy_walk_next(w);
    } while (node != GYRE_NONE && is_down(k, node));
    return node;
}

size_t gyre_mask_replicas(const gyre_mask_t *k, const void *key, size_t len, uint32_t *out,
                          size_t want, unsigned *flags)
{
    const gyre_map_t *m = k->map;
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    if (!any_down(k)) {
        return gy_replicas(m, hash, NULL, out, want, flags);
    }
    struct gy_alive alive;
    alive.live = 0;
    alive.zone_down = k->zone_down;
    for (uint32_t i = 0; i < k->words; i++) {
        alive.down[i] = atomic_load_explicit(&k->word[i].down, memory_order_relaxed);
        alive.live += (uint32_t)__builtin_popcountll(k->word[i].takes & ~alive.down[i]);
    }
    size_t got = gy_replicas(m, hash, &alive, out, want, flags);
    if (flags && want > m->positive) {
        *flags |= GYRE_REPLICAS_SHORT;
    }
    return got;
}
