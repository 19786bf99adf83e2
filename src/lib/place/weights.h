/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.h - what the placements have in common about weights. The maps have a node that is not
 * drained. Threads: any.
 */
#ifndef GY_LIB_WEIGHTS_H
#define GY_LIB_WEIGHTS_H

#include "lib/map.h"

/* Do all that are not drained weigh the same? */
bool gy_weights_equal(const gyre_map_t *m);
/* UNSUPPORTED unless they do, naming the placements that know weights. */
int gy_weights_refuse(const gyre_map_t *m, gyre_error_t *e);
/* Do the weights of two maps, whose nodes have the same names, order the nodes alike? */
bool gy_weights_same(const gyre_map_t *a, const gyre_map_t *b);
/* A node's part of the weight of all. */
double gy_weight_share(const gyre_map_t *m, uint32_t i);

/* What place.h calls mass, where it is the weight in steps, and where all nodes are alike. */
uint64_t gy_weight_mass(const gyre_map_t *m, uint32_t i);
uint64_t gy_weight_one(const gyre_map_t *m, uint32_t i);
/* For placements of which any two maps can be compared so. */
bool gy_expected_always(const gyre_map_t *a, const gyre_map_t *b);

#endif
