/* SPDX-License-Identifier: Apache-2.0 */
/*
 * des.c - one block of DES (FIPS 46-3) under the key of zeros, which is Vitess' vindex `hash`
 * (written there as triple DES with that key three times: the same). All sixteen round keys are
 * zero, so there is no key schedule; it is a permutation of the 64-bit numbers, no protection.
 * Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

/* FIPS 46-3's tables: S-boxes by row and column, and the permutation P, bits counted from 1. */
static const uint8_t boxes[8][64] = {
    {14, 4,  13, 1, 2,  15, 11, 8, 3, 10, 6, 12, 5,  9,  0,  7,  0,  15, 7,  4,  14, 2,
     13, 1,  10, 6, 12, 11, 9,  5, 3, 8,  4, 1,  14, 8,  13, 6,  2,  11, 15, 12, 9,  7,
     3,  10, 5,  0, 15, 12, 8,  2, 4, 9,  1, 7,  5,  11, 3,  14, 10, 0,  6,  13},
    {15, 1,  8,  14, 6,  11, 3,  4, 9,  7,  2, 13, 12, 0,  5,  10, 3,  13, 4,  7, 15, 2,
     8,  14, 12, 0,  1,  10, 6,  9, 11, 5,  0, 14, 7,  11, 10, 4,  13, 1,  5,  8, 12, 6,
     9,  3,  2,  15, 13, 8,  10, 1, 3,  15, 4, 2,  11, 6,  7,  12, 0,  5,  14, 9},
    {10, 0,  9,  14, 6, 3,  15, 5,  1,  13, 12, 7, 11, 4,  2,  8,  13, 7, 0,  9, 3, 4,
     6,  10, 2,  8,  5, 14, 12, 11, 15, 1,  13, 6, 4,  9,  8,  15, 3,  0, 11, 1, 2, 12,
     5,  10, 14, 7,  1, 10, 13, 0,  6,  9,  8,  7, 4,  15, 14, 3,  11, 5, 2,  12},
    {7, 13, 14, 3, 0, 6,  9, 10, 1,  2, 8,  5, 11, 12, 4,  15, 13, 8,  11, 5, 6, 15,
     0, 3,  4,  7, 2, 12, 1, 10, 14, 9, 10, 6, 9,  0,  12, 11, 7,  13, 15, 1, 3, 14,
     5, 2,  8,  4, 3, 15, 0, 6,  10, 1, 13, 8, 9,  4,  5,  11, 12, 7,  2,  14},
    {2,  12, 4, 1,  7,  10, 11, 6, 8, 5,  3, 15, 13, 0,  14, 9,  14, 11, 2,  12, 4,  7,
     13, 1,  5, 0,  15, 10, 3,  9, 8, 6,  4, 2,  1,  11, 10, 13, 7,  8,  15, 9,  12, 5,
     6,  3,  0, 14, 11, 8,  12, 7, 1, 14, 2, 13, 6,  15, 0,  9,  10, 4,  5,  3},
    {12, 1,  10, 15, 9,  2,  6, 8,  0, 13, 3,  4,  14, 7,  5, 11, 10, 15, 4, 2, 7, 12,
     9,  5,  6,  1,  13, 14, 0, 11, 3, 8,  9,  14, 15, 5,  2, 8,  12, 3,  7, 0, 4, 10,
     1,  13, 11, 6,  4,  3,  2, 12, 9, 5,  15, 10, 11, 14, 1, 7,  6,  0,  8, 13},
    {4, 11, 2,  14, 15, 0,  8,  13, 3, 12, 9,  7, 5,  10, 6,  1,  13, 0,  11, 7,  4, 9,
     1, 10, 14, 3,  5,  12, 2,  15, 8, 6,  1,  4, 11, 13, 12, 3,  7,  14, 10, 15, 6, 8,
     0, 5,  9,  2,  6,  11, 13, 8,  1, 4,  10, 7, 9,  5,  0,  15, 14, 2,  3,  12},
    {13, 2, 8,  4, 6, 15, 11, 1,  10, 9,  3, 14, 5,  0,  12, 7,  1,  15, 13, 8, 10, 3,
     7,  4, 12, 5, 6, 11, 0,  14, 9,  2,  7, 11, 4,  1,  9,  12, 14, 2,  0,  6, 10, 13,
     15, 3, 5,  8, 2, 1,  14, 7,  4,  10, 8, 13, 15, 12, 9,  0,  3,  5,  6,  11}};
static const uint8_t places[32] = {16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23, 26, 5,  18, 31, 10,
                                   2,  8, 24, 14, 32, 27, 3,  9,  19, 13, 30, 6,  22, 11, 4,  25};

/* Bit i (from the left, from 0) of the permuted block is this bit of the input: the standard's
 * table IP, which goes through every second column of an 8 x 8 square, bottom up. */
static unsigned initial(unsigned i)
{
    unsigned row = i / 8, column = i % 8;
    return 8 * (7 - column) + (row < 4 ? 2 * row + 1 : 2 * (row - 4));
}

/* The round function: each box sees four bits and a neighbour on either side, as E has it. */
static uint32_t round_of(uint32_t half)
{
    uint32_t out = 0, permuted = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned six = gy_rotl32(half, 4 * i + 5) & 63;
        unsigned row = (six >> 4 & 2) | (six & 1), column = six >> 1 & 15;
        out = out << 4 | boxes[i][16 * row + column];
    }
    for (unsigned i = 0; i < 32; i++) {
        permuted = permuted << 1 | (out >> (32 - places[i]) & 1);
    }
    return permuted;
}

uint64_t gy_des_zero_key(uint64_t block)
{
    uint64_t in = 0, out = 0;
    for (unsigned i = 0; i < 64; i++) {
        in = in << 1 | (block >> (63 - initial(i)) & 1);
    }
    uint32_t left = (uint32_t)(in >> 32), right = (uint32_t)in;
    for (unsigned i = 0; i < 16; i++) {
        uint32_t next = left ^ round_of(right);
        left = right;
        right = next;
    }
    in = (uint64_t)right << 32 | left;
    for (unsigned i = 0; i < 64; i++) {
        out |= (in >> (63 - i) & 1) << (63 - initial(i));
    }
    return out;
}
