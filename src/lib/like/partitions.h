/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partitions.h - tables of partitions (vBuckets, shards) of which each is given to a node. Who has
 * which is state of the imitated system: a node's option `partitions=0-341,1000` says it. Without
 * any, partition p belongs to node p mod the number of nodes. Threads: build one, the rest any.
 */
#ifndef GY_LIB_LIKE_PARTITIONS_H
#define GY_LIB_LIKE_PARTITIONS_H

#include "lib/like/like.h"

enum { GY_PARTITIONS_MAX = 1 << 20 };

/* The word `partitions`, for systems with no other. */
extern const struct gy_like_option gy_partition_options[];

/* Makes m a table of count partitions, each `width` slots wide. Partitions that no node names are
 * nobody's. INVALID, DUPLICATE. */
int gy_partitions_settle(const struct gy_like_job *job, uint32_t count, uint64_t width);

#endif
