/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - every hash function by name: its own ("crc32"), or the one a system gives it
 * ("twemproxy:crc32a"). Threads: any.
 */
#ifndef GY_LIB_HASH_TABLE_H
#define GY_LIB_HASH_TABLE_H

#include "lib/hash/hash.h"

/* Sorted by name. */
extern const struct gy_hash *const gy_hashes[];
extern const size_t gy_hash_count;

struct gy_hash_alias {
    const char *system, *name;
    const struct gy_hash *hash;
};

/* Sorted by system, then name. */
extern const struct gy_hash_alias gy_hash_aliases[];
extern const size_t gy_hash_alias_count;

/* NAME or SYSTEM:NAME; NULL if there is none. */
const struct gy_hash *gy_hash_find(const char *name);
const struct gy_hash *gy_hash_find_alias(const char *system, const char *name);

#endif
