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
    /* The same with a seed (cut to 32 bits where the function takes that many), or with a secret
     * key; NULL if it has none. value is that of seed 0 (or of the
     * one seed of a system's own), or of a key of zeros. */
    gy_u128 (*seeded)(const void *data, size_t len, uint64_t seed);
    gy_u128 (*keyed)(const void *data, size_t len, const uint8_t key[16]);
    /* value, from the words of the data's MD5; NULL where it is no function of that. */
    gy_u128 (*of_md5)(const uint32_t state[4]);
};

extern const struct gy_hash gy_hash_xxh3, gy_hash_md5, gy_hash_sha256;

/* table.c: general functions, */
extern const struct gy_hash gy_hash_city64, gy_hash_crc16, gy_hash_crc32, gy_hash_crc32c,
    gy_hash_djb2, gy_hash_fnv1_32, gy_hash_fnv1_64, gy_hash_fnv1a_32, gy_hash_fnv1a_64,
    gy_hash_lookup3, gy_hash_murmur2_32, gy_hash_murmur2_64a, gy_hash_murmur3_128,
    gy_hash_murmur3_32, gy_hash_one_at_a_time, gy_hash_ripemd160, gy_hash_sdbm, gy_hash_sha1,
    gy_hash_siphash24, gy_hash_spooky128, gy_hash_wt6, gy_hash_xxh3_128, gy_hash_xxh32,
    gy_hash_xxh64;
/* and what single systems made of one (functions.h says how). _be and _le: the digest's first so
 * many bits, read in that byte order. */
extern const struct gy_hash gy_hash_crc16_wide, gy_hash_crc32_15, gy_hash_fnv1_32_signed,
    gy_hash_fnv1_64_signed_low, gy_hash_fnv1a_32_signed, gy_hash_fnv1a_64_signed_cut, gy_hash_hsieh,
    gy_hash_lookup3_13, gy_hash_md5_be64, gy_hash_md5_le32, gy_hash_md5_le64,
    gy_hash_murmur2_32_kafka, gy_hash_murmur2_64a_envoy, gy_hash_murmur2_64a_mcrouter,
    gy_hash_murmur2_length, gy_hash_murmur3_128_xor, gy_hash_murmur3_cassandra,
    gy_hash_murmur3_length, gy_hash_one_at_a_time_signed, gy_hash_sha1_le32,
    gy_hash_siphash24_halves, gy_hash_spooky32_mcrouter;

static inline uint32_t gy_load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t gy_load_be64(const uint8_t *p)
{
    return (uint64_t)gy_load_be32(p) << 32 | gy_load_be32(p + 4);
}

#endif
