/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix.h - SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), the one source of pseudo-random numbers in
 * the placements: a bijection of 64 bits, and the stream it makes of a seed. Part of the placement
 * contract. Threads: any.
 */
#ifndef GY_LIB_MIX_H
#define GY_LIB_MIX_H

#include <stdint.h>

#define GY_GOLDEN 0x9e3779b97f4a7c15u

#define GY_MIX_ONE 0xbf58476d1ce4e5b9u
#define GY_MIX_TWO 0x94d049bb133111ebu

/* The first step, which of a xor b gives the xor of what it gives of each; and the others. */
static inline uint64_t gy_mix_fold(uint64_t z)
{
    return z ^ z >> 30;
}

static inline uint64_t gy_mix_folded(uint64_t z)
{
    z *= GY_MIX_ONE;
    z = (z ^ z >> 27) * GY_MIX_TWO;
    return z ^ z >> 31;
}

static inline uint64_t gy_mix(uint64_t z)
{
    return gy_mix_folded(gy_mix_fold(z));
}

/* The i-th output, from 0, of the stream seeded with `seed`. */
static inline uint64_t gy_stream(uint64_t seed, uint64_t i)
{
    return gy_mix(seed + (i + 1) * GY_GOLDEN);
}

#endif
