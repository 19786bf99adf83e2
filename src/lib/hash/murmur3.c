/* SPDX-License-Identifier: Apache-2.0 */
/*
 * murmur3.c - MurmurHash3 x86_32 and x64_128, after Austin Appleby's public domain MurmurHash3.cpp
 * (SMHasher), little-endian on every machine; and Cassandra's (3.11, unchanged since), which
 * sign-extends the bytes of the tail because Java's byte has a sign. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

uint32_t gy_murmur3_32(const void *data, size_t len, uint32_t seed)
{
    const uint32_t c1 = 0xcc9e2d51, c2 = 0x1b873593;
    const uint8_t *p = data;
    uint32_t h = seed;
    size_t left = len;
    for (; left >= 4; p += 4, left -= 4) {
        h ^= gy_rotl32(gy_load_le32(p) * c1, 15) * c2;
        h = gy_rotl32(h, 13) * 5 + 0xe6546b64;
    }
    uint32_t tail = len < 4 ? (uint32_t)gy_load_tail(p, left)
                            : (uint32_t)((uint64_t)gy_load_le32(p + left - 4) >> 8 * (4 - left));
    h ^= gy_rotl32(tail * c1, 15) * c2;
    h ^= (uint32_t)len;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

uint32_t gy_murmur3_length(const void *data, size_t len)
{
    return gy_murmur3_32(data, len, 0xdeadbeef * (uint32_t)len);
}

uint64_t gy_murmur3_mix64(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

/* Of two words, what the block or tail (k1, k2) adds to each; 0 adds nothing. */
static uint64_t first_word(uint64_t k1)
{
    return gy_rotl64(k1 * 0x87c37b91114253d5, 31) * 0x4cf5ad432745937f;
}

static uint64_t second_word(uint64_t k2)
{
    return gy_rotl64(k2 * 0x4cf5ad432745937f, 33) * 0x87c37b91114253d5;
}

/* The 0 to 8 bytes of a tail as Java's ((long)key[i]) << 8*i makes them. */
static uint64_t signed_tail(const uint8_t *p, size_t len)
{
    uint64_t x = 0;
    for (size_t i = 0; i < len; i++) {
        x ^= gy_signed64(p[i]) << 8 * i;
    }
    return x;
}

typedef uint64_t load_tail(const uint8_t *p, size_t len);

static inline gy_u128 murmur3_128(const void *data, size_t len, uint64_t seed, load_tail *tail)
{
    const uint8_t *p = data;
    uint64_t h1 = seed, h2 = seed;
    size_t left = len;
    for (; left >= 16; p += 16, left -= 16) {
        h1 = gy_rotl64(h1 ^ first_word(gy_load_le64(p)), 27) + h2;
        h1 = h1 * 5 + 0x52dce729;
        h2 = gy_rotl64(h2 ^ second_word(gy_load_le64(p + 8)), 31) + h1;
        h2 = h2 * 5 + 0x38495ab5;
    }
    size_t first = left < 8 ? left : 8;
    h1 ^= first_word(tail(p, first)) ^ len;
    h2 ^= second_word(left > 8 ? tail(p + 8, left - 8) : 0) ^ len;
    h1 += h2;
    h2 += h1;
    h1 = gy_murmur3_mix64(h1);
    h2 = gy_murmur3_mix64(h2);
    h1 += h2;
    h2 += h1;
    return gy_wide(h1, h2);
}

gy_u128 gy_murmur3_128(const void *data, size_t len, uint64_t seed)
{
    return murmur3_128(data, len, seed, gy_load_tail);
}

gy_u128 gy_murmur3_cassandra(const void *data, size_t len)
{
    return murmur3_128(data, len, 0, signed_tail);
}
