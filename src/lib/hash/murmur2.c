/* SPDX-License-Identifier: Apache-2.0 */
/*
 * murmur2.c - MurmurHash2 and MurmurHash64A, after Austin Appleby's public domain MurmurHash2.cpp
 * (SMHasher), little-endian on every machine. MurmurHash64A is also std::hash of libstdc++ and so
 * Envoy's MURMUR_HASH_2. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

uint32_t gy_murmur2_32(const void *data, size_t len, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const uint8_t *p = data;
    uint32_t h = seed ^ (uint32_t)len;
    for (; len >= 4; p += 4, len -= 4) {
        uint32_t k = gy_load_le32(p) * m;
        h = h * m ^ (k ^ k >> 24) * m;
    }
    if (len) {
        h = (h ^ (uint32_t)gy_load_tail(p, len)) * m;
    }
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

uint64_t gy_murmur2_64a(const void *data, size_t len, uint64_t seed)
{
    const uint64_t m = 0xc6a4a7935bd1e995;
    const uint8_t *p = data;
    uint64_t h = seed ^ (uint64_t)len * m;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t k = gy_load_le64(p) * m;
        h = (h ^ (k ^ k >> 47) * m) * m;
    }
    if (len) {
        h = (h ^ gy_load_tail(p, len)) * m;
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

uint32_t gy_murmur2_length(const void *data, size_t len)
{
    return gy_murmur2_32(data, len, 0xdeadbeef * (uint32_t)len);
}
