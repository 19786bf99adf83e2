/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.c - SipHash-2-4 (Aumasson and Bernstein, 2012), keyed: without the key nobody can choose
 * keys that all fall on one node. Guava's sipHash24 and ClickHouse's sipHash64 (key of zeros) are
 * it. ClickHouse's sipHash128 is the same state given out in two halves, which is not the authors'
 * SipHash-128. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

static void rounds(uint64_t v[4], unsigned n)
{
    while (n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = gy_rotl64(v[1], 13) ^ v[0];
        v[3] = gy_rotl64(v[3], 16) ^ v[2];
        v[0] = gy_rotl64(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = gy_rotl64(v[1], 17) ^ v[2];
        v[3] = gy_rotl64(v[3], 21) ^ v[0];
        v[2] = gy_rotl64(v[2], 32);
    }
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

static void run(uint64_t v[4], const uint8_t *p, size_t len, const uint8_t key[16])
{
    uint64_t k0 = gy_load_le64(key), k1 = gy_load_le64(key + 8);
    uint64_t last = (uint64_t)len << 56;
    v[0] = k0 ^ 0x736f6d6570736575; /* "somepseudorandomlygeneratedbytes" */
    v[1] = k1 ^ 0x646f72616e646f6d;
    v[2] = k0 ^ 0x6c7967656e657261;
    v[3] = k1 ^ 0x7465646279746573;
    for (; len >= 8; p += 8, len -= 8) {
        absorb(v, gy_load_le64(p));
    }
    absorb(v, last | gy_load_tail(p, len));
    v[2] ^= 0xff;
    rounds(v, 4);
}

uint64_t gy_siphash24(const void *data, size_t len, const uint8_t key[16])
{
    uint64_t v[4];
    run(v, data, len, key);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

gy_u128 gy_siphash24_halves(const void *data, size_t len, const uint8_t key[16])
{
    uint64_t v[4];
    run(v, data, len, key);
    return gy_wide(v[0] ^ v[1], v[2] ^ v[3]);
}
