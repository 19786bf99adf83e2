/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - the inside of a map, for the files of the library that build it and ask it. Immutable
 * once built: whoever holds a reference reads without locks. Nodes are numbered in the byte order
 * of their names; `data` belongs to the placement. Threads: any, after build.
 */
#ifndef GY_LIB_MAP_H
#define GY_LIB_MAP_H

#include <stdatomic.h>

#include "lib/hash/hash.h"
#include "lib/like/sample.h"
#include "lib/place/number.h"
#include "lib/place/place.h"
#include "lib/place/simd.h"
#include "lib/topology.h"

#define GY_MAP_NODES_MAX 65535u /* owners are 16 bits wide in the ring */

struct gyre_map {
    atomic_size_t refs;
    uint64_t version;
    const struct gy_place *place;
    enum gy_simd simd; /* what lookups may use */
    void *data;
    /* The placement's lookup for this level. And what one by a 64-bit hash is, in one jump: the
     * same, or the answer GYRE_NONE where there is no node, or the hash is wider. */
    uint32_t (*locate)(const gyre_map_t *m, gy_u128 hash);
    uint32_t (*locate_hash)(const gyre_map_t *m, gy_u128 hash);

    const struct gy_hash *hash;
    /* Imitated systems only (key_hash: hash: siphash too), else NULL. key_hash answers instead of
     * hash->value, for those that need the map for it; its hash_bits are those of hash. key_part
     * says what of a key is hashed instead of the tag. context is theirs, and freed with the map.
     */
    gy_u128 (*key_hash)(const gyre_map_t *m, const void *part, size_t len);
    void (*key_part)(const gyre_map_t *m, const void *key, size_t len, const void **part,
                     size_t *part_len);
    bool key_hash_plain; /* key_hash is hash->value, but for an empty part */
    void *context;
    struct gy_secret secret; /* of hash: siphash */
    uint64_t key_rule;  /* equal where what key_hash and key_part read of the settings is equal */
    bool by_key;        /* keys of one hash may differ in node: only real keys can tell */
    unsigned hash_bits; /* kept of the hash: its first */
    unsigned position_bits; /* kept of those by the ring: their first */
    bool after;             /* a key belongs to the first point > it, not >= it */
    char tag[3];

    uint32_t count;    /* nodes, drained ones included */
    uint32_t positive; /* nodes that are not drained */
    struct gyre_node *nodes;
    char *text;       /* what their strings point into */
    uint64_t *weight; /* in GY_WEIGHT_STEPS */
    uint64_t heavy;   /* sum of the weights: at most 65535 * 10^12 */
    uint32_t *order;  /* place of the node in the topology */
    uint32_t *points; /* of the node; filled by ring placements */
    gy_u128 *owned;   /* length of its arcs; filled by ring placements */
    uint32_t whole;   /* the node that owns the whole ring, GYRE_NONE if none does */

    uint64_t slots; /* of a table: a key's slot is its hash mod this; 0 = a ring, or modulo */
    size_t steps;   /* of a walk that meets every node: points, or positive nodes */
    size_t bytes;   /* of the lookup structure */

    uint32_t replicas; /* settings the lookup does not use but gyre_map_same compares */
    uint32_t spread;   /* parts of the zone path that count: 0 none, 1, 2, 3 */
    uint32_t per_unit; /* points per unit of weight */
    uint32_t table;    /* slots of a lookup table */
    uint32_t capacity; /* slots of dx, and the weight whose draws always pass */
    uint32_t heaviest;
    struct gy_removed removed; /* slots given up; of numbered placements */
    uint32_t *zone;            /* group of each node; NULL without spread */
    uint32_t *zone_size;       /* positive nodes of each group */
    uint32_t *zone_node;       /* those nodes, group by group */
    uint32_t zones;            /* groups with a positive node */
};

/* As gyre_map_build, with the rule of a sample program given instead of named by the topology's
 * `mode`; rule NULL: by the topology. The rule is not kept. */
int gy_map_build_rule(const gyre_topology_t *t, const struct gy_sample_rule *rule, gyre_map_t **out,
                      gyre_error_t *e);

/* max(1, round(weight * per_unit)), 0 when drained: in integers, so that raising a weight only adds
 * points. */
uint64_t gy_point_count(uint64_t weight, uint32_t per_unit);

/* Groups the nodes by the first `spread` parts of their zone paths. */
int gy_zones_build(struct gyre_map *m);
/* Do node i of a and node j of b stand in the same zone, as far as the spread of a looks? */
bool gy_zone_same(const gyre_map_t *a, uint32_t i, const gyre_map_t *b, uint32_t j);

/* The first parts of a node's zone path, as a name; "(none)" for a node without. */
void gy_zone_name(const struct gyre_node *n, uint32_t parts, char *out, size_t size);

/* Sets locate and locate_hash of a map that is built. */
void gy_map_settle(struct gyre_map *m);

/* Hash of the part of the key that counts, cut to hash_bits. */
gy_u128 gy_map_hash_wide(const gyre_map_t *m, const void *key, size_t len);

/* Do both maps hash a key to the same number? */
bool gy_map_one_hash(const gyre_map_t *a, const gyre_map_t *b);
/* Can the two be compared exactly: rings a key has one position on, or both hash mod N? */
bool gy_map_one_kind(const gyre_map_t *a, const gyre_map_t *b);

/* The nodes that are not drained in the order a key prefers them, some perhaps twice, and then
 * GYRE_NONE. m has such a node; w is the first of GY_WALKS. */
void gy_walk_start(struct gy_walk *w, const gyre_map_t *m, gy_u128 hash);
uint32_t gy_walk_next(struct gy_walk *w);
/* How a walk ends that has not met every node: w->draws, 0 at first, counts through the names. */
uint32_t gy_walk_by_name(struct gy_walk *w);

/* gyre_map_replicas for keys whose walk begins at the step; m has no start() of its own. */
size_t gy_replicas_from(const gyre_map_t *m, size_t step, uint32_t *out, size_t want,
                        unsigned *flags);
/* Do all keys of one position have the same replicas, so that each arc is a range? */
bool gy_map_has_ranges(const gyre_map_t *m);

/* The positive nodes as hash mod N numbers them: in name order, or in the topology's order where an
 * existing system is imitated. out has room for m->positive. */
void gy_modulo_slots(const gyre_map_t *m, uint32_t *out);

/* ---- arcs: a ring as stretches of positions with one owner each ---- */

/* Arcs are numbered as the walk's steps are, and after them comes what wraps: up to the last
 * position, of the first step's node. Where points share a position the first owns, and the arcs of
 * the others are empty: they end where it ends. */
size_t gy_arc_first(const gyre_map_t *m);          /* the one with position 0 */
gy_u128 gy_arc_end(const gyre_map_t *m, size_t i); /* its last position */
uint32_t gy_arc_node(const gyre_map_t *m, size_t i);
/* Who has the last position. */
uint32_t gy_map_last_owner(const gyre_map_t *m);

/* The highest position: of the ring, or the last slot. */
gy_u128 gy_map_last(const gyre_map_t *m);
/* Positions from first to last; of a table, the hashes that fall in those slots. */
gy_u128 gy_map_length(const gyre_map_t *m, gy_u128 first, gy_u128 last);
/* A length as a fraction of the whole; for a sum of at least one arc. */
double gy_map_fraction(const gyre_map_t *m, gy_u128 length);

/* Fills owned and whole from the arcs. */
void gy_map_measure(struct gyre_map *m);

#endif
