/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.h - the nodes as rendezvous scores them, for the placements that lean on it. Threads:
 * immutable once built.
 */
#ifndef GY_LIB_RENDEZVOUS_H
#define GY_LIB_RENDEZVOUS_H

#include "lib/map.h"

#define GY_LANES_MOST 16u /* seed and scale go on to a multiple of it */

struct gy_rendezvous {
    enum gy_simd simd;
    uint32_t count;  /* nodes that are not drained, in name order */
    uint64_t *seed;  /* XXH3 of the name, its first mixing step done */
    double *inverse; /* 1 / weight steps; NULL while all weigh the same */
    float *scale;    /* of the node's distance, see rendezvous.c; NULL too */
    uint16_t *node;
};

/* NOMEM leaves nothing allocated. */
int gy_rendezvous_init(struct gy_rendezvous *r, const gyre_map_t *m);
void gy_rendezvous_fini(struct gy_rendezvous *r);
size_t gy_rendezvous_bytes(const struct gy_rendezvous *r);
/* The node that comes first for a hash. */
uint32_t gy_rendezvous_best(const struct gy_rendezvous *r, uint64_t hash);

#endif
