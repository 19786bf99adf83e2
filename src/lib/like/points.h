/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.h - a ring of points at positions of up to 128 bits, for systems that make their points
 * in their own way. A key belongs to the first point at or after its hash (after it where
 * m->after), wrapping. Signed positions: flip the top bit of points and key hashes alike. Systems
 * with another lookup put the points at the ends of what they own. Threads: build one, the rest
 * any.
 */
#ifndef GY_LIB_LIKE_POINTS_H
#define GY_LIB_LIKE_POINTS_H

#include "lib/map.h"

#define GY_POINTS_MAX (1u << 24)

struct gy_point {
    gy_u128 at;
    uint32_t node;
    uint32_t turn; /* of points at one position the lowest comes first, and owns the keys */
};

struct gy_points {
    struct gy_point *p;
    size_t n, room;
};

/* Room for so many points at most; RANGE if they are too many for a map. */
int gy_points_init(struct gy_points *points, uint64_t room, gyre_error_t *e);
void gy_points_fini(struct gy_points *points);
/* turn counts the calls: the order of adding decides among equals. */
void gy_points_put(struct gy_points *points, gy_u128 at, uint32_t node);
void gy_points_sort(struct gy_points *points);

/* Sorts the points, numbers of point_bits bits, and makes them m's ring: sets place, data,
 * position_bits, steps, bytes, points, owned. Of a key's hash with more bits the first point_bits
 * count; one with fewer is compared as the number it is, and so reaches only the ring's begin.
 * Nodes without a point take no keys. */
int gy_points_settle(struct gyre_map *m, struct gy_points *points, unsigned point_bits,
                     gyre_error_t *e);

/* The ring's own functions, for a placement that is this one but for its replicas: set m->place
 * after settling. */
void gy_points_drop(struct gyre_map *m);
uint32_t gy_points_locate(const gyre_map_t *m, gy_u128 hash);
void gy_points_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out);
size_t gy_points_first(const gyre_map_t *m, gy_u128 hash);
uint32_t gy_points_node(const gyre_map_t *m, size_t step);
gy_u128 gy_points_position(const gyre_map_t *m, size_t step);

/* What every gy_place on points has in common. */
#define GY_POINTS_PLACE                                                                       \
    .name = "ring", .ring = true, .fini = gy_points_drop, .locate = gy_points_locate,         \
    .locate_batch = gy_points_locate_batch, .first = gy_points_first, .node = gy_points_node, \
    .position = gy_points_position

#endif
