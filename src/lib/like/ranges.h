/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - a fixed number of slots dealt to nodes in ranges: modulo with weights, hash slots,
 * partitions, lookup tables. A key's slot is its hash mod the number of slots. Slots may be left to
 * nobody (a node that is down keeps its slots): a hash that falls there belongs to the next range
 * with an owner, and the system's key_hash sees to it that keys do not fall there. Threads: build
 * one, the rest any.
 */
#ifndef GY_LIB_LIKE_RANGES_H
#define GY_LIB_LIKE_RANGES_H

#include "lib/map.h"

struct gy_ranges {
    uint64_t *end;   /* of each range: one past its last slot; ascending */
    uint32_t *owner; /* GYRE_NONE: nobody */
    size_t n, room;
    uint64_t slots;
};

/* Room for so many ranges at most; RANGE if they are too many for a map. */
int gy_ranges_init(struct gy_ranges *r, uint64_t room, gyre_error_t *e);
void gy_ranges_fini(struct gy_ranges *r);
/* The next `slots` slots (0 is ignored) go to the node; GYRE_NONE: to nobody. */
void gy_ranges_put(struct gy_ranges *r, uint64_t slots, uint32_t node);

/* Makes the ranges m's table and takes them over: sets place, data, steps, bytes, points (ranges of
 * the node), owned, slots. Nodes without a slot take no keys. */
int gy_ranges_settle(struct gyre_map *m, struct gy_ranges *r, gyre_error_t *e);

/* Who has the slot; GYRE_NONE: nobody. For key_hash functions of maps with m->slots above 0. */
uint32_t gy_ranges_owner(const gyre_map_t *m, uint64_t slot);
/* The first slot of a node that has one. */
uint64_t gy_ranges_first_slot(const gyre_map_t *m, uint32_t node);

#endif
