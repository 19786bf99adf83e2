/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - slot numbers of nodes, for the placements that know nodes by number only. A node's
 * slot is its own for life and stands in the topology; who has none gets one by rule (settle). In
 * the topology slots count from 1 and 0 means none; the placements count from 0. Threads: one,
 * then immutable.
 */
#ifndef GY_LIB_NUMBER_H
#define GY_LIB_NUMBER_H

#include "gyre.h"

struct gy_walk;

#define GY_SLOT_MAX (1u << 20)
#define GY_NO_NODE  UINT16_MAX /* no node has that number: a map has at most 65535 */

/* Slots given up, in the order they were. */
struct gy_removed {
    uint32_t *slot;
    uint32_t count, room;
};

int gy_removed_copy(struct gy_removed *to, const struct gy_removed *from);
/* NOMEM leaves the list as it was. */
int gy_removed_push(struct gy_removed *r, uint32_t slot);
/* Takes the slot out wherever it stands. */
void gy_removed_drop(struct gy_removed *r, uint32_t slot);
void gy_removed_fini(struct gy_removed *r);

/*
 * Gives each node that takes keys and has no slot one: the slot given up last, else the one after
 * the highest; in the order of the list, which should be by name. The working range is all slots up
 * to the highest one in use or given up; afterwards r has each slot of it that no node which takes
 * keys stands on (those it did not know come last, highest first). A drained node holds no slot.
 * *top: the range's size. DUPLICATE, RANGE, NOMEM.
 */
int gy_slots_settle(struct gyre_node *const *nodes, uint32_t count, struct gy_removed *r,
                    uint32_t *top, gyre_error_t *e);

/* What the numbered placements begin their data with. */
struct gy_numbers {
    uint32_t n;     /* the working range */
    uint32_t top;   /* jumpback only: the highest power of two below it */
    uint16_t *node; /* of slot; GY_NO_NODE where there is none */
};

/* Settles the map's nodes and turns slots into numbers from 0. What fails leaves nothing. */
int gy_numbers_init(struct gy_numbers *x, struct gyre_map *m, gyre_error_t *e);
void gy_numbers_fini(struct gy_numbers *x);
/* Refuses a range with gaps, by name of the placement. */
int gy_numbers_whole(const struct gy_numbers *x, const struct gyre_map *m, gyre_error_t *e);
/* Same names on the same slots, and the others given up in the same order? */
bool gy_numbers_same(const gyre_map_t *a, const gyre_map_t *b);

/*
 * A walk for placements that give one node a hash: the key's own hash first, then the stream seeded
 * with its complement; after 32 draws a node those not met (each with probability e^-32) by name.
 */
void gy_numbers_start(struct gy_walk *w);
uint32_t gy_numbers_next(struct gy_walk *w);

#endif
