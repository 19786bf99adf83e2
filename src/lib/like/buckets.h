/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buckets.h - functions that give a 64-bit hash a bucket of n, and the placement made of one: the
 * nodes that are not drained, in the order of the topology, are the buckets. Threads: any.
 */
#ifndef GY_LIB_LIKE_BUCKETS_H
#define GY_LIB_LIKE_BUCKETS_H

#include "lib/like/like.h"

/* n is 1 or more and the answer below n, where nothing else is said. */
typedef uint32_t gy_bucket(uint64_t hash, uint32_t n);

/* Jump consistent hash (Lamping and Veach 2014): as published, with the quotient rounded first; as
 * Guava has it, with one rounding; in whole numbers. */
gy_bucket gy_jump_published, gy_jump_guava, gy_jump_exact;
/* What Guava jumps with: the first 8 bytes of a HashCode, little-endian. */
uint64_t gy_guava_long(const struct gy_hash *hash, gy_u128 value);

/* ClickHouse. yandex: n at most GY_YANDEX_MAX. sumbur takes the lower 32 bits, and answers 1 for
 * the hash 0 and n = 1. */
enum { GY_YANDEX_MAX = 32768 };
gy_bucket gy_bucket_yandex, gy_bucket_sumbur;

/* mcrouter's furc_hash, of the key's MurmurHash64A; n at most GY_FURC_MAX. */
enum { GY_FURC_MAX = 1 << 23 };
#define GY_FURC_SEED 4193360111u
gy_bucket gy_bucket_furc;

/* Makes the job's list the buckets of f; UNSUPPORTED for unequal weights. Replicas are the next
 * nodes of the list. */
int gy_buckets_settle(const struct gy_like_job *job, gy_bucket *f);
/* The same where f has seen to the weights. */
int gy_buckets_weighted(const struct gy_like_job *job, gy_bucket *f);

#endif
