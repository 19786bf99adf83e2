/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_moves.h - replicas that would fall together with their primary, on one host with it or in
 * one zone, and whom they had better follow. Two replicas change places where that helps, or one
 * goes to a primary that has fewer; so no primary loses its copies. Greedy, the greatest relief
 * first; deterministic. Pure; threads: any.
 */
#ifndef GY_FORMATS_REPLICA_MOVES_H
#define GY_FORMATS_REPLICA_MOVES_H

#include "formats/pools.h"

/* How bad it is that s follows the primary: 2 for one host, 1 more for one zone. */
unsigned gy_replica_cost(const struct gy_server *s, const struct gy_server *primary);

/* of: for each of the pool's servers (in their order) its primary, by place + 1; 0 where it is no
 * replica, or nobody knows of whom. takes: which servers may be followed. Both given filled by the
 * caller; of is changed. NOMEM. */
GYRE_NODISCARD int gy_replica_moves(const struct gy_pool *p, const bool *takes, uint32_t *of);

#endif
