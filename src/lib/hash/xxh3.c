/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xxh3.c - XXH3, 64 bits, seed 0 (xxHash 0.8, whose values are frozen by its specification). The
 * reference implementation is inlined from its header, so the library gains no dependency at run
 * time. Threads: any.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gyre.h"
#include "lib/hash/hash.h"

uint64_t gyre_hash_xxh3(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

static gy_u128 xxh3_value(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

const struct gy_hash gy_hash_xxh3 = {"xxh3", 64, xxh3_value};
