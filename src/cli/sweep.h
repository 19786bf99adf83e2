/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h - the whole key space, stretch by stretch, with the nodes that hold each: exactly where
 * the placement has ranges, otherwise by generated keys. What is lost with a rack, who takes over,
 * and whether copies are apart are sums over it. Threads: any; the map is only read.
 */
#ifndef GY_CLI_SWEEP_H
#define GY_CLI_SWEEP_H

#include "gyre.h"

#define GY_SWEEP_MOST 64 /* holders of a key */

/* share: of the key space; holders: the owner first. */
typedef void gy_sweep_fn(void *ctx, double share, const uint32_t *holders, size_t n);

/* True: exact. replicas is taken to GY_SWEEP_MOST. */
bool gy_sweep(const gyre_map_t *m, size_t replicas, uint64_t samples, gy_sweep_fn *each, void *ctx);

#endif
