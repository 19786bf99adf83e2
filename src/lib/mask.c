/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.c - liveness beside a map, never in it: a bit a node, set while the node is down. The map
 * and with it every key's order of preference stay as they are, so a node that returns has all its
 * keys back and nothing else moves. A word has the bits of 32 nodes and counts its changes, and
 * both change at once: so two equal looks at a word prove that it did not change in between, and a
 * look at all words that finds them as before has seen one state of the fleet. Nobody waits for a
 * thread that was interrupted; who looks, looks again only for a change that is complete. Threads:
 * any.
 */
#include "lib/mask.h"

#include "lib/alloc.h"
#include "lib/error.h"

/* In `state`, the bits of nodes that are down lie below; this is one change in the count above. */
#define CHANGE ((uint64_t)1 << GY_MASK_BITS)

struct word {
    atomic_uint_fast64_t state;
    uint32_t takes; /* nodes that are not drained */
};

struct gyre_mask {
    atomic_size_t refs;
    gyre_map_t *map;
    atomic_uint_fast64_t version;
    atomic_uint down; /* nodes that are down and not drained, or a few more: never fewer */
    uint32_t words;
    struct word word[];
};

/* Here and below atomics are in one order for all threads, which proofs by two looks need. Loads
 * cost no more for it on x86-64 and on ARMv8. */
static bool is_down(const gyre_mask_t *k, uint32_t node)
{
    return atomic_load(&k->word[node / GY_MASK_BITS].state) >> node % GY_MASK_BITS & 1;
}

/*
 * All words as they were at one moment: between two looks at all of them that found the same. One
 * word is always of one moment.
 */
static void look(const gyre_mask_t *k, struct gy_alive *a)
{
    bool changed = k->words > 1;
    for (uint32_t i = 0; i < k->words; i++) {
        a->word[i] = atomic_load(&k->word[i].state);
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < k->words; i++) {
            uint64_t now = atomic_load(&k->word[i].state);
            if (now != a->word[i]) {
                a->word[i] = now;
                changed = true;
            }
        }
    }
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
    uint32_t words = m->count / GY_MASK_BITS + 1;
    gyre_mask_t *k = gy_mem_alloc(1, sizeof *k + words * sizeof k->word[0]);
    *out = NULL;
    if (!k) {
        return gy_fail_nomem(e);
    }
    atomic_init(&k->refs, 1);
    atomic_init(&k->down, 0);
    k->map = gyre_map_ref(m);
    k->words = words;
    for (uint32_t i = 0; i < words; i++) {
        atomic_init(&k->word[i].state, 0);
        k->word[i].takes = 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        k->word[i / GY_MASK_BITS].takes |= (uint32_t)(m->weight[i] != 0) << i % GY_MASK_BITS;
    }
    if (from) {
        carry(k, from);
    }
    atomic_init(&k->version, 0); /* what is carried over is how it begins, and no change */
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
    gy_mem_free(k);
}

const gyre_map_t *gyre_mask_map(const gyre_mask_t *k)
{
    return k->map;
}

bool gyre_mask_set(gyre_mask_t *k, uint32_t node, bool up)
{
    if (node >= k->map->count || is_down(k, node) != up) {
        return false;
    }
    atomic_uint_fast64_t *state = &k->word[node / GY_MASK_BITS].state;
    uint64_t bit = (uint64_t)1 << node % GY_MASK_BITS;
    unsigned counts = k->map->weight[node] != 0;
    if (!up) { /* before the bit, and back after it: so it never counts too few */
        atomic_fetch_add(&k->down, counts);
    }
    uint_fast64_t before = atomic_load(state);
    bool differs;
    do {
        differs = ((before & bit) == 0) != up;
    } while (differs && !atomic_compare_exchange_weak(state, &before, (before ^ bit) + CHANGE));
    if (up == differs) { /* it came back, or had gone down by another thread's mark */
        atomic_fetch_sub(&k->down, counts);
    }
    /* After the bit: who sees the version sees the bit. */
    atomic_fetch_add(&k->version, differs);
    return differs;
}

bool gyre_mask_up(const gyre_mask_t *k, uint32_t node)
{
    return node < k->map->count && !is_down(k, node);
}

uint32_t gyre_mask_down(const gyre_mask_t *k)
{
    struct gy_alive alive;
    uint32_t down = 0;
    look(k, &alive);
    for (uint32_t i = 0; i < k->words; i++) {
        down += (uint32_t)__builtin_popcount((uint32_t)alive.word[i]);
    }
    return down;
}

uint64_t gyre_mask_version(const gyre_mask_t *k)
{
    return atomic_load(&k->version);
}

/* The first node that is up in the key's order, of one state. */
static uint32_t stand_in(const gyre_mask_t *k, gy_u128 hash)
{
    struct gy_alive alive;
    struct gy_walk w[GY_WALKS];
    uint32_t node;
    look(k, &alive);
    gy_walk_start(w, k->map, hash);
    do {
        node = gy_walk_next(w);
    } while (node != GYRE_NONE && gy_alive_down(&alive, node));
    return node;
}

uint32_t gyre_mask_locate(const gyre_mask_t *k, const void *key, size_t len)
{
    const gyre_map_t *m = k->map;
    if (!m->steps) {
        return GYRE_NONE;
    }
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    uint32_t node = m->place->locate(m, hash);
    /* The key's own node comes first in any state in which it is up. */
    return is_down(k, node) ? stand_in(k, hash) : node;
}

size_t gyre_mask_replicas(const gyre_mask_t *k, const void *key, size_t len, uint32_t *out,
                          size_t want, unsigned *flags)
{
    const gyre_map_t *m = k->map;
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    if (atomic_load(&k->down) == 0) { /* all are up at this moment */
        return gy_replicas(m, hash, NULL, out, want, flags);
    }
    struct gy_alive alive;
    look(k, &alive);
    alive.live = 0;
    for (uint32_t i = 0; i < k->words && alive.live < want; i++) {
        alive.live += (uint32_t)__builtin_popcount(k->word[i].takes & ~(uint32_t)alive.word[i]);
    }
    size_t got = gy_replicas(m, hash, &alive, out, want, flags);
    if (flags && want > m->positive) {
        *flags |= GYRE_REPLICAS_SHORT;
    }
    return got;
}
