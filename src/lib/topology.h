/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the inside of a topology, for those in the library who build maps from it. Nodes
 * keep the order they were added in. Threads: one at a time.
 */
#ifndef GY_LIB_TOPOLOGY_H
#define GY_LIB_TOPOLOGY_H

#include "lib/settings.h"

#define GY_WEIGHT_STEPS 1000000u /* weights are kept in steps of 1e-6 */
#define GY_WEIGHT_MAX   1e6
#define GY_NAME_MAX     4096u

struct gyre_topology {
    uint64_t version;
    struct gy_settings settings;
    struct gyre_node *nodes; /* the strings are owned */
    size_t count, room;
    uint32_t *index;   /* open addressing by name: 0 = free, otherwise position in nodes + 1 */
    size_t index_size; /* power of two, at least twice count */
};

/* A weight in its steps; the caller has checked the range. */
uint64_t gy_weight_steps(double weight);

#endif
