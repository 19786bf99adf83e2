/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - what a placement algorithm is to the rest of the library: a constant table of
 * functions. A placement orders the nodes for each key as a walk of m->steps steps that begins at
 * first() and wraps; the key's node is the one at the first step, its replicas are the next
 * distinct ones. Threads: build and fini one thread, the rest any.
 */
#ifndef GY_LIB_PLACE_H
#define GY_LIB_PLACE_H

#include "gyre.h"
#include "lib/wide.h"

struct gy_place {
    const char *name;
    bool ring; /* has points on a ring: position() is there, and arcs can be walked */
    /* Fills m->data, steps, bytes and, for rings, points, owned and whole. m has at least one node
     * that is not drained. */
    int (*build)(struct gyre_map *m, const void *rule, gyre_error_t *e);
    void (*fini)(struct gyre_map *m);
    uint32_t (*locate)(const gyre_map_t *m, gy_u128 hash);
    void (*locate_batch)(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out);
    size_t (*first)(const gyre_map_t *m, gy_u128 hash);
    uint32_t (*node)(const gyre_map_t *m, size_t step);
    /* The last position of the step's arc; NULL: the placement has no arcs. */
    gy_u128 (*position)(const gyre_map_t *m, size_t step);
    /* NULL: the owned part of a ring, or 1 / positive. Asked only of nodes that are not drained. */
    double (*share)(const gyre_map_t *m, uint32_t i);
};

extern const struct gy_place gy_place_ring, gy_place_modulo, gy_place_sample;

#endif
