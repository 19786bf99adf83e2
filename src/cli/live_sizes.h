/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_sizes.h - about how many bytes each slot of a running Redis Cluster has: the number of its
 * keys times what a few of them take. Only questions are asked (COUNTKEYSINSLOT, GETKEYSINSLOT,
 * MEMORY USAGE), of each master of its own slots. Threads: main only.
 */
#ifndef GY_CLI_LIVE_SIZES_H
#define GY_CLI_LIVE_SIZES_H

#include "formats/slot_plan.h"

/* Looks at `sample` keys of a slot. sizes has room for all slots. IO, TIMEOUT, REFUSED. */
GYRE_NODISCARD int gy_live_sizes(const char *url, const gyre_topology_t *t,
                                 const struct gy_slot_owners *owners, uint64_t sample,
                                 uint64_t *sizes, gyre_error_t *e);

#endif
