/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - what a placement algorithm is to the rest of the library: a constant table of
 * functions. A placement orders the nodes for each key: either as a walk of m->steps steps that
 * begins at first() and wraps (rings, tables, modulo), or, where each key has an order of its own,
 * through start() and next(). The key's node is the first of the walk, its replicas are the next
 * distinct ones. Threads: build and fini one thread, the rest any.
 */
#ifndef GY_LIB_PLACE_H
#define GY_LIB_PLACE_H

#include "gyre.h"
#include "lib/wide.h"

#define GY_WALK_AHEAD 8u

/* A walk in progress; GY_WALKS of them on the caller's stack, for lookups allocate nothing: a
 * placement in two levels walks both, in those after the first. */
#define GY_WALKS 3u

struct gy_walk {
    const gyre_map_t *map;
    uint64_t hash;
    size_t step, left; /* by steps: where it stands, how many are left */
    /* The rest is the placement's own. */
    uint64_t state, draws;
    uint32_t ahead[GY_WALK_AHEAD], have, used;
};

/* A ring's points in the order of their positions, equal ones by name, owners beside them. One more
 * entry stands past the end: the last position, and the first point's owner. */
struct gy_sorted {
    const uint32_t *position;
    const uint16_t *owner;
    size_t count;
};

struct gy_place {
    const char *name;
    bool ring;     /* has points on a ring: position() is there, and arcs can be walked */
    bool residues; /* a function of the hash mod positive nodes, numbered by gy_modulo_slots */
    bool numbered; /* the nodes' slots decide (lib/place/number.h) */
    /* Fills m->data, steps, bytes and, for rings, points, owned and whole. m has at least one node
     * that is not drained. */
    int (*build)(struct gyre_map *m, const void *rule, gyre_error_t *e);
    void (*fini)(struct gyre_map *m);
    uint32_t (*locate)(const gyre_map_t *m, gy_u128 hash);
    uint32_t (*locate_avx2)(const gyre_map_t *m, gy_u128 hash); /* the same; NULL: no other */
    void (*locate_batch)(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out);

    size_t (*first)(const gyre_map_t *m, gy_u128 hash);
    uint32_t (*node)(const gyre_map_t *m, size_t step);
    /* The last position of the step's arc; NULL: the placement has no arcs. */
    gy_u128 (*position)(const gyre_map_t *m, size_t step);
    /* All points at once, where they lie in arrays and have 32 bits; else NULL. Two maps are
     * compared so in a fraction of the time that position() and node() take (merge.c). */
    void (*sorted)(const gyre_map_t *m, struct gy_sorted *out);

    /* Instead of first and node. start is given a walk whose map and hash are set and the rest 0.
     * next answers every node that is not drained, some perhaps twice, and then GYRE_NONE. */
    void (*start)(struct gy_walk *w);
    uint32_t (*next)(struct gy_walk *w);
    /* NULL: the owned part of a ring, or 1 / positive. Asked only of nodes that are not drained. */
    double (*share)(const gyre_map_t *m, uint32_t i);
    /* For those that draw a node for each key: may what moves between two maps of this placement be
     * computed from what their nodes weigh (lib/expected.h)? NULL: never. And a node's chance to be
     * drawn, as a whole number to be divided by all nodes' together: at most 2^40 where names are
     * drawn, and 2^31 where slots are. Asked only of nodes that are not drained. */
    bool (*expected)(const gyre_map_t *a, const gyre_map_t *b);
    uint64_t (*mass)(const gyre_map_t *m, uint32_t i);
    /* How a key comes to its node, in words; NULL: there is a point to show. */
    void (*explain)(const gyre_map_t *m, gy_u128 hash, char *out, size_t size);
    /* NULL: by steps. Both maps are of this placement, and agree in what same.c compares. */
    bool (*same)(const gyre_map_t *a, const gyre_map_t *b);
};

extern const struct gy_place gy_place_ring, gy_place_modulo, gy_place_sample;
extern const struct gy_place gy_place_rendezvous, gy_place_maglev, gy_place_slots;
extern const struct gy_place gy_place_jump, gy_place_jumpback, gy_place_memento, gy_place_dx;
extern const struct gy_place gy_place_zoned;

#endif
