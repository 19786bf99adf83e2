/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ripemd160.c - RIPEMD-160 (Dobbertin, Bosselaers and Preneel, 1996), one call for the whole
 * message: Aerospike's record digest. Two lines of 80 steps run over each block and are added up.
 * Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"

/* Appendix A of the paper: word of the block, rotation and constant of each step, of the left
 * line, then the right. */
static const uint8_t words[2][80] = {
    {0,  1, 2,  3, 4,  5,  6, 7,  8, 9,  10, 11, 12, 13, 14, 15, 7,  4,  13, 1,
     10, 6, 15, 3, 12, 0,  9, 5,  2, 14, 11, 8,  3,  10, 14, 4,  9,  15, 8,  1,
     2,  7, 0,  6, 13, 11, 5, 12, 1, 9,  11, 10, 0,  8,  12, 4,  13, 3,  7,  15,
     14, 5, 6,  2, 4,  0,  5, 9,  7, 12, 2,  10, 14, 1,  3,  8,  11, 6,  15, 13},
    {5,  14, 7,  0,  9,  2,  11, 4,  13, 6, 15, 8, 1,  10, 3,  12, 6, 11, 3, 7,
     0,  13, 5,  10, 14, 15, 8,  12, 4,  9, 1,  2, 15, 5,  1,  3,  7, 14, 6, 9,
     11, 8,  12, 2,  10, 0,  4,  13, 8,  6, 4,  1, 3,  11, 15, 0,  5, 12, 2, 13,
     9,  7,  10, 14, 12, 15, 10, 4,  1,  5, 8,  7, 6,  2,  13, 14, 0, 3,  9, 11}};
static const uint8_t turns[2][80] = {
    {11, 14, 15, 12, 5, 8,  7,  9,  11, 13, 14, 15, 6,  7,  9,  8,  7,  6,  8,  13,
     11, 9,  7,  15, 7, 12, 15, 9,  11, 7,  13, 12, 11, 13, 6,  7,  14, 9,  13, 15,
     14, 8,  13, 6,  5, 12, 7,  5,  11, 12, 14, 15, 14, 15, 9,  8,  9,  14, 5,  6,
     8,  6,  5,  12, 9, 15, 5,  11, 6,  8,  13, 12, 5,  12, 13, 14, 11, 8,  5,  6},
    {8,  9,  9,  11, 13, 15, 15, 5, 7,  7,  8,  11, 14, 14, 12, 6,  9,  13, 15, 7,
     12, 8,  9,  11, 7,  7,  12, 7, 6,  15, 13, 11, 9,  7,  15, 11, 8,  6,  6,  14,
     12, 13, 5,  14, 13, 13, 7,  5, 15, 5,  8,  11, 14, 14, 6,  14, 6,  9,  12, 9,
     12, 5,  15, 8,  8,  5,  12, 9, 12, 5,  14, 6,  8,  13, 6,  5,  15, 13, 11, 11}};
static const uint32_t constants[2][5] = {{0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e},
                                         {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0}};

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    switch (round) {
    case 0:
        return b ^ c ^ d;
    case 1:
        return (b & c) | (~b & d);
    case 2:
        return (b | ~c) ^ d;
    case 3:
        return (b & d) | (c & ~d);
    default:
        return b ^ (c | ~d);
    }
}

/* One line over one block; side 0 takes the functions in order, side 1 backwards. */
static inline void run_line(unsigned side, uint32_t s[5], const uint8_t *block)
{
#pragma GCC unroll 80
    for (unsigned i = 0; i < 80; i++) {
        unsigned round = i / 16;
        uint32_t sum = s[0] + mix(side ? 4 - round : round, s[1], s[2], s[3]) +
                       gy_load_le32(block + 4 * words[side][i]) + constants[side][round];
        uint32_t next = gy_rotl32(sum, turns[side][i]) + s[4];
        s[0] = s[4];
        s[4] = s[3];
        s[3] = gy_rotl32(s[2], 10);
        s[2] = s[1];
        s[1] = next;
    }
}

static void absorb(uint32_t state[5], const uint8_t *block)
{
    uint32_t left[5], right[5];
    memcpy(left, state, sizeof left);
    memcpy(right, state, sizeof right);
    run_line(0, left, block);
    run_line(1, right, block);
    uint32_t first = state[1] + left[2] + right[3];
    for (unsigned i = 1; i < 5; i++) {
        state[i] = state[(i + 1) % 5] + left[(i + 2) % 5] + right[(i + 3) % 5];
    }
    state[0] = first;
}

void gy_ripemd160(const void *data, size_t len, uint8_t digest[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    gy_digest_all(absorb, state, data, len, false);
    for (unsigned i = 0; i < 5; i++) {
        gy_store_le32(digest + 4 * i, state[i]);
    }
}

void gy_ripemd160_pieces(const struct gy_piece *p, size_t n, uint8_t digest[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    gy_digest_pieces(absorb, state, p, n, false);
    for (unsigned i = 0; i < 5; i++) {
        gy_store_le32(digest + 4 * i, state[i]);
    }
}
