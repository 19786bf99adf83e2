/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - which nodes of a map are up, for the files that walk past those that are not. A lookup
 * takes the bits once, so that it sees one state from first step to last whatever happens
 * meanwhile; what it knows of zones beyond that are hints that only save it steps. Threads: any.
 */
#ifndef GY_LIB_MASK_H
#define GY_LIB_MASK_H

#include <stdatomic.h>

#include "lib/map.h"

#define GY_MASK_WORDS ((GY_MAP_NODES_MAX + 64) / 64)

/* One lookup's state of the fleet. */
struct gy_alive {
    uint32_t live;               /* nodes that are up, and not drained */
    const atomic_int *zone_down; /* hints, of each zone; NULL without spread */
    uint64_t down[GY_MASK_WORDS];
};

static inline bool gy_alive_down(const struct gy_alive *a, uint32_t node)
{
    return a->down[node / 64] >> node % 64 & 1;
}

/* How many of the `size` nodes of a zone are up, as far as is known. */
static inline uint32_t gy_alive_zone(const struct gy_alive *a, uint32_t zone, uint32_t size)
{
    /* Relaxed: a hint; counts of two updates that cross may for a moment be below 0. */
    int down = atomic_load_explicit(&a->zone_down[zone], memory_order_relaxed);
    return down <= 0 ? size : (uint32_t)down < size ? size - (uint32_t)down : 0;
}

/* The replicas of a key (replicas.c): alive NULL = all nodes are up. */
size_t gy_replicas(const gyre_map_t *m, gy_u128 hash, const struct gy_alive *alive, uint32_t *out,
                   size_t want, unsigned *flags);

#endif
