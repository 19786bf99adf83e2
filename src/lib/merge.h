/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - two maps side by side, from position 0 up: the stretches whose keys change their node.
 * The maps are of one kind (gy_map_one_kind) and have arcs. Neighbouring stretches of one pair of
 * nodes are one; none goes over the end of the ring. Nothing is allocated. Threads: one an object;
 * the maps and the twins are only read.
 */
#ifndef GY_LIB_MERGE_H
#define GY_LIB_MERGE_H

#include "lib/map.h"

#define GY_TWIN_NONE UINT16_MAX /* no node has that number: a map has at most 65535 */

struct gy_merge {
    const gyre_map_t *a, *b;
    const uint16_t *twin; /* by node of a: its number in b, or GY_TWIN_NONE */
    size_t i, j;          /* the first arcs that do not end before start */
    gy_u128 start, last;
    bool done;
    /* Where both maps keep their points in plain arrays, else NULL. */
    struct gy_sorted p, q;
};

/* Where keys of all positions from first to last go from one node to another. */
struct gy_stretch {
    gy_u128 first, last;
    uint32_t from, to;
};

void gy_merge_start(struct gy_merge *g, const gyre_map_t *a, const gyre_map_t *b,
                    const uint16_t *twin);
/* The next one; false: there is none. */
bool gy_merge_next(struct gy_merge *g, struct gy_stretch *out);

/* Who has the first and who the last position of the ring, before and after. */
void gy_merge_ends(const struct gy_merge *g, struct gy_stretch *first, struct gy_stretch *last);

#endif
