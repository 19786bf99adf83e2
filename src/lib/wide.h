/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - 128-bit arithmetic on positions and arcs. A ring of b bits has 2^b positions; at b = 128
 * the whole ring's length does not fit and reads 0. Lengths here are of arcs with something in
 * them, so a sum of 0 always means the whole ring; gy_fraction knows. Threads: any.
 */
#ifndef GY_LIB_WIDE_H
#define GY_LIB_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 gy_u128;

static inline gy_u128 gy_wide(uint64_t hi, uint64_t lo)
{
    return (gy_u128)hi << 64 | lo;
}

/* The highest position of a ring of 1 to 128 bits. */
static inline gy_u128 gy_ring_last(unsigned bits)
{
    return ~(gy_u128)0 >> (128 - bits);
}

/* 2^-bits; halving is exact in binary floating point, so no libm is called for. */
static inline double gy_scale(unsigned bits)
{
    double scale = 1;
    for (unsigned i = 0; i < bits; i++) {
        scale *= 0.5;
    }
    return scale;
}

/* part / 2^bits, rounded once (in the conversion); for a sum of at least one arc. */
static inline double gy_fraction(gy_u128 part, unsigned bits)
{
    return part == 0 ? 1.0 : (double)part * gy_scale(bits);
}

#endif
