/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the inside of a topology, for those in the library who build maps from it. Nodes
 * keep the order they were added in. Threads: one at a time.
 */
#ifndef GY_LIB_TOPOLOGY_H
#define GY_LIB_TOPOLOGY_H

#include "lib/place/number.h"
#include "lib/secret.h"
#include "lib/settings.h"

#define GY_WEIGHT_STEPS 1000000u /* weights are kept in steps of 1e-6 */
#define GY_WEIGHT_MAX   1e6
#define GY_NAME_MAX     4096u

struct gyre_topology {
    uint64_t version;
    struct gy_settings settings;
    struct gy_secret secret;
    struct gyre_node *nodes; /* the strings are owned */
    size_t count, room;
    struct gy_removed removed; /* slots given up, in the order they were */
    uint32_t *index;   /* open addressing by name: 0 = free, otherwise position in nodes + 1 */
    size_t index_size; /* power of two, at least twice count */
};

/* RANGE for a slot that cannot be. */
int gy_slot_check(const char *name, uint32_t slot, gyre_error_t *e);
/* A node that takes keys is about to leave this slot (0: it has none). */
int gy_topology_give_up(gyre_topology_t *t, uint32_t slot);
/* Puts a node of t on another slot. NOMEM. */
int gy_topology_move_slot(gyre_topology_t *t, struct gyre_node *n, uint32_t slot);
/* Do its placement's answers depend on slots? */
bool gy_topology_numbered(const gyre_topology_t *t);

/* A weight in its steps; the caller has checked the range. */
uint64_t gy_weight_steps(double weight);

#endif
