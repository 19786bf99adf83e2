/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected.h - what moves between two maps that draw a node for each key: there is nothing to
 * count, and no need to sample, for what is expected of the hash has a closed form, as the shares
 * have. Threads: any.
 */
#ifndef GY_LIB_EXPECTED_H
#define GY_LIB_EXPECTED_H

#include "lib/flows.h"

/* Is there such a form for the two? Both are of one placement, hash alike, and have a node. */
bool gy_expected_pair(const gyre_map_t *a, const gyre_map_t *b);

/* What a flow's amount of all keys is. */
#define GY_EXPECTED_ALL 0x1p100

struct gy_expected {
    double moved, minimum;
};

/* Adds the flows, of which no more than `most` are told apart; moved and minimum count all. twin is
 * as in merge.h. NOMEM. */
int gy_expected_flows(const gyre_map_t *a, const gyre_map_t *b, const uint16_t *twin, size_t most,
                      struct gy_flows *flows, struct gy_expected *out);

#endif
