/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - which nodes of a map are up, for the files that walk past those that are not. A lookup
 * takes the bits once, as they were at one moment, so that it sees one state from first step to
 * last whatever happens meanwhile. Threads: any.
 */
#ifndef GY_LIB_MASK_H
#define GY_LIB_MASK_H

#include "lib/map.h"

#define GY_MASK_BITS  32u /* nodes in a word, whose other half counts changes */
#define GY_MASK_WORDS ((GY_MAP_NODES_MAX + GY_MASK_BITS) / GY_MASK_BITS)

/* One state of the fleet. */
struct gy_alive {
    uint32_t live; /* nodes that are up and not drained, or as many of them as are wanted */
    uint64_t word[GY_MASK_WORDS];
};

static inline bool gy_alive_down(const struct gy_alive *a, uint32_t node)
{
    return a->word[node / GY_MASK_BITS] >> node % GY_MASK_BITS & 1;
}

/* The replicas of a key (replicas.c): alive NULL = all nodes are up. */
size_t gy_replicas(const gyre_map_t *m, gy_u128 hash, const struct gy_alive *alive, uint32_t *out,
                   size_t want, unsigned *flags);

#endif
