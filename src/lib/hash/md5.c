/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.c - MD5 (RFC 1321), one call for the whole message: keys are short and always in memory. Here
 * for the placements that use it; it protects nothing. Threads: any.
 */
#include <string.h>

#include "gyre.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/hash.h"

#define BLOCK 64u

/* floor(2^32 * |sin(i + 1)|), RFC 1321 section 3.4, written out so that no sine is ever computed.
 */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

static const uint8_t turns[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* F, G, H, I of the RFC by round, and which word of the block the step takes. */
static uint32_t mix(unsigned step, uint32_t b, uint32_t c, uint32_t d, unsigned *word)
{
    switch (step / 16) {
    case 0:
        *word = step;
        return (b & c) | (~b & d);
    case 1:
        *word = (5 * step + 1) % 16;
        return (d & b) | (~d & c);
    case 2:
        *word = (3 * step + 5) % 16;
        return b ^ c ^ d;
    default:
        *word = 7 * step % 16;
        return c ^ (b | ~d);
    }
}

static void absorb(uint32_t state[4], const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
#pragma GCC unroll 64
    for (unsigned step = 0; step < 64; step++) {
        unsigned word;
        uint32_t f = mix(step, b, c, d, &word) + a + sines[step] + load_le32(block + 4 * word);
        a = d;
        d = c;
        c = b;
        b += rotate(f, turns[step / 16][step % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void gyre_hash_md5(const void *data, size_t len, uint8_t digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const uint8_t *in = data;
    size_t whole = len / BLOCK * BLOCK, rest = len - whole;
    for (size_t i = 0; i < whole; i += BLOCK) {
        absorb(state, in + i);
    }

    uint8_t tail[2 * BLOCK] = {0};
    size_t tail_len = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    if (rest) {
        memcpy(tail, in + whole, rest);
    }
    tail[rest] = 0x80;
    uint64_t bits = (uint64_t)len * 8;
    for (unsigned i = 0; i < 8; i++) {
        tail[tail_len - 8 + i] = (uint8_t)(bits >> 8 * i);
    }
    for (size_t i = 0; i < tail_len; i += BLOCK) {
        absorb(state, tail + i);
    }

    for (unsigned i = 0; i < 16; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
    }
}

void gy_md5_pieces(const struct gy_piece *p, size_t n, uint8_t digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    gy_digest_pieces(absorb, state, p, n, false);
    for (unsigned i = 0; i < 16; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
    }
}

static gy_u128 md5_value(const void *data, size_t len)
{
    uint8_t digest[16];
    gyre_hash_md5(data, len, digest);
    return gy_wide(gy_load_be64(digest), gy_load_be64(digest + 8));
}

const struct gy_hash gy_hash_md5 = {"md5", 128, md5_value};
