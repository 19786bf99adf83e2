/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - the hash functions of placements behind one form: the leading bits of the digest as a
 * number. The public one-shot forms are in gyre.h. Threads: any.
 */
#ifndef GY_LIB_HASH_H
#define GY_LIB_HASH_H

#include <stddef.h>

#include "lib/wide.h"

struct gy_hash {
    const char *name;
    unsigned bits; /* of value, at most 128 */
    /* The digest's first `bits` bits, big-endian and unsigned. */
    gy_u128 (*value)(const void *data, size_t len);
};

extern const struct gy_hash gy_hash_xxh3, gy_hash_md5, gy_hash_sha256;

static inline uint32_t gy_load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t gy_load_be64(const uint8_t *p)
{
    return (uint64_t)gy_load_be32(p) << 32 | gy_load_be32(p + 4);
}

#endif
