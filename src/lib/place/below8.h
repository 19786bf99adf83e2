/* SPDX-License-Identifier: Apache-2.0 */
/*
 * below8.h - how many of 8 ascending numbers are below x: the one step of the ring's search. SSE2
 * is part of every x86-64; elsewhere the loop is left to the compiler. Both count the same, and a
 * test compares them. Threads: any.
 */
#ifndef GY_LIB_BELOW8_H
#define GY_LIB_BELOW8_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define GY_BELOW 8u

static inline unsigned gy_below8_plain(const uint32_t *p, uint32_t x)
{
    unsigned n = 0;
    for (unsigned i = 0; i < GY_BELOW; i++) {
        n += p[i] < x;
    }
    return n;
}

#ifdef __SSE2__
/* SSE2 compares signed numbers only; flipping the top bit of both sides keeps their order. */
static inline unsigned gy_below8(const uint32_t *p, uint32_t x)
{
    const __m128i flip = _mm_set1_epi32(INT32_MIN);
    __m128i key = _mm_xor_si128(_mm_set1_epi32((int)x), flip);
    __m128i low = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)p), flip);
    __m128i high = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(p + 4)), flip);
    __m128i below = _mm_packs_epi32(_mm_cmplt_epi32(low, key), _mm_cmplt_epi32(high, key));
    /* Two mask bits a number, ascending: the zeros begin where the numbers stop being below. */
    unsigned mask = (unsigned)_mm_movemask_epi8(below);
    return (unsigned)__builtin_ctz(~mask) / 2;
}
#else
#define gy_below8 gy_below8_plain
#endif

#endif
