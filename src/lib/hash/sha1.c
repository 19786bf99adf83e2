/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha1.c - SHA-1 (FIPS 180-4), one call for the whole message: Riak's ring and npm's packages place
 * by it. It protects nothing. Threads: any.
 */
#include <string.h>

#include "lib/hash/bytes.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"

/* FIPS 180-4 sections 4.1.1 and 4.2.1: function plus constant of a round of twenty steps. */
static inline uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    switch (round) {
    case 0:
        return ((b & c) | (~b & d)) + 0x5a827999;
    case 1:
        return (b ^ c ^ d) + 0x6ed9eba1;
    case 2:
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    default:
        return (b ^ c ^ d) + 0xca62c1d6;
    }
}

/* Word i of the message schedule, of which the last sixteen are kept. */
static inline uint32_t word(uint32_t w[16], unsigned i)
{
    if (i >= 16) {
        w[i % 16] = gy_rotl32(w[(i - 3) % 16] ^ w[(i - 8) % 16] ^ w[(i - 14) % 16] ^ w[i % 16], 1);
    }
    return w[i % 16];
}

static inline void run_round(unsigned round, uint32_t s[5], uint32_t w[16])
{
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
#pragma GCC unroll 20
    for (unsigned i = 0; i < 20; i++) {
        uint32_t next = gy_rotl32(a, 5) + mix(round, b, c, d) + e + word(w, 20 * round + i);
        e = d;
        d = c;
        c = gy_rotl32(b, 30);
        b = a;
        a = next;
    }
    s[0] = a;
    s[1] = b;
    s[2] = c;
    s[3] = d;
    s[4] = e;
}

static void absorb(uint32_t state[5], const uint8_t *block)
{
    uint32_t w[16], s[5];
#pragma GCC unroll 16
    for (unsigned i = 0; i < 16; i++) {
        w[i] = gy_load_be32(block + 4 * i);
    }
    memcpy(s, state, sizeof s);
    run_round(0, s, w);
    run_round(1, s, w);
    run_round(2, s, w);
    run_round(3, s, w);
    for (unsigned i = 0; i < 5; i++) {
        state[i] += s[i];
    }
}

void gy_sha1(const void *data, size_t len, uint8_t digest[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    gy_digest_all(absorb, state, data, len, true);
    for (unsigned i = 0; i < 5; i++) {
        gy_store_be32(digest + 4 * i, state[i]);
    }
}

void gy_sha1_pieces(const struct gy_piece *p, size_t n, uint8_t digest[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    gy_digest_pieces(absorb, state, p, n, true);
    for (unsigned i = 0; i < 5; i++) {
        gy_store_be32(digest + 4 * i, state[i]);
    }
}
