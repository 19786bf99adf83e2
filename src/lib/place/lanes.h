/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - products of 64 bits in lanes, which AVX2 lacks and AVX-512 has. For the kernels of the
 * placements that mix (mix.h). Needs <immintrin.h>, see simd.h. Threads: any.
 */
#ifndef GY_LIB_LANES_H
#define GY_LIB_LANES_H

#include <stdint.h>

#include "lib/place/simd.h"

typedef uint64_t gy_four __attribute__((vector_size(32)));

/* Two instructions give four products of 32 bits: low by low, whole, and the lower halves of low by
 * high and of high by low, which meet in the upper half. */
GY_TARGET_AVX2 static inline gy_four gy_times_avx2(gy_four a, uint64_t b)
{
    const gy_four low = (gy_four){0} + b, crossed = (gy_four){0} + (b >> 32 | b << 32);
    __m256i cross = _mm256_mullo_epi32((__m256i)a, (__m256i)crossed);
    cross = _mm256_add_epi32(cross, _mm256_slli_epi64(cross, 32));
    cross = _mm256_blend_epi32(_mm256_setzero_si256(), cross, 0xaa);
    return (gy_four)_mm256_mul_epu32((__m256i)a, (__m256i)low) + (gy_four)cross;
}

#endif
