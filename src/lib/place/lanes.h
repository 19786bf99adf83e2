/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - what the placements' kernels need beside what C has for vectors: gy_mix (mix.h) in
 * lanes of 64 bits; two vectors of those as their lower and their upper halves, in order; and
 * choosing between numbers of 32 bits by flags, which AVX2 keeps in the upper bits of such numbers
 * and AVX-512 in registers of their own. Needs <immintrin.h>, see simd.h. Threads: any.
 */
#ifndef GY_LIB_LANES_H
#define GY_LIB_LANES_H

#include <stdint.h>

#include "lib/place/mix.h"
#include "lib/place/simd.h"

typedef uint64_t gy_four __attribute__((vector_size(32)));
typedef uint64_t gy_eight __attribute__((vector_size(64)));
typedef uint32_t gy_eight_halves __attribute__((vector_size(32)));

/* AVX2 has no product of 64 bits. Two instructions give four products of 32 bits: low by low,
 * whole, and the lower halves of low by high and of high by low, which meet in the upper half. */
GY_TARGET_AVX2 static inline gy_four gy_times_avx2(gy_four a, uint64_t b)
{
    const gy_four low = (gy_four){0} + b, crossed = (gy_four){0} + (b >> 32 | b << 32);
    __m256i cross = _mm256_mullo_epi32((__m256i)a, (__m256i)crossed);
    cross = _mm256_add_epi32(cross, _mm256_slli_epi64(cross, 32));
    cross = _mm256_blend_epi32(_mm256_setzero_si256(), cross, 0xaa);
    return (gy_four)_mm256_mul_epu32((__m256i)a, (__m256i)low) + (gy_four)cross;
}

GY_TARGET_AVX2 static inline gy_four gy_mix_avx2(gy_four z)
{
    z = gy_times_avx2(z ^ z >> 30, GY_MIX_ONE);
    z = gy_times_avx2(z ^ z >> 27, GY_MIX_TWO);
    return z ^ z >> 31;
}

GY_TARGET_AVX512 static inline gy_eight gy_mix_avx512(gy_eight z)
{
    z = (z ^ z >> 30) * GY_MIX_ONE;
    z = (z ^ z >> 27) * GY_MIX_TWO;
    return z ^ z >> 31;
}

/* AVX2 shuffles within 128 bits, so pairs of halves have to be put in order. */
#define GY_IN_ORDER_AVX2(x) _mm256_permute4x64_epi64(_mm256_castps_si256(x), 0xd8)
#define GY_EVEN_AVX2(a, b)  _mm256_shuffle_ps((__m256)(a), (__m256)(b), 0x88)
#define GY_ODD_AVX2(a, b)   _mm256_shuffle_ps((__m256)(a), (__m256)(b), 0xdd)
#define GY_LOWER_AVX2(a, b) GY_IN_ORDER_AVX2(GY_EVEN_AVX2(a, b))
#define GY_UPPER_AVX2(a, b) GY_IN_ORDER_AVX2(GY_ODD_AVX2(a, b))
#define GY_PICK_AVX2(flags, a, b) \
    _mm256_blendv_ps((__m256)(b), (__m256)(a), _mm256_castsi256_ps(flags))
#define GY_BITS_AVX2(flags) (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(flags))

#define GY_IN_ORDER_AVX512(x) \
    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _mm512_castps_si512(x))
#define GY_LOWER_AVX512(a, b)       GY_IN_ORDER_AVX512(_mm512_shuffle_ps((__m512)(a), (__m512)(b), 0x88))
#define GY_UPPER_AVX512(a, b)       GY_IN_ORDER_AVX512(_mm512_shuffle_ps((__m512)(a), (__m512)(b), 0xdd))
#define GY_PICK_AVX512(flags, a, b) _mm512_mask_blend_ps(flags, (__m512)(b), (__m512)(a))
#define GY_BITS_AVX512(flags)       (unsigned)(flags)

/* Of the products of eight numbers the upper halves alone, in the order 0 1 4 5 2 3 6 7. */
GY_TARGET_AVX2 static inline gy_eight_halves gy_upper_times_avx2(gy_four a, gy_four b, uint64_t c)
{
    const __m256i low = (__m256i)((gy_four){0} + c);
    const __m256i crossed = (__m256i)((gy_four){0} + (c >> 32 | c << 32));
    __m256i x = _mm256_mullo_epi32((__m256i)a, crossed);
    __m256i y = _mm256_mullo_epi32((__m256i)b, crossed);
    __m256i p = _mm256_mul_epu32((__m256i)a, low), q = _mm256_mul_epu32((__m256i)b, low);
    return (gy_eight_halves)GY_ODD_AVX2(p, q) + (gy_eight_halves)GY_ODD_AVX2(x, y) +
           (gy_eight_halves)GY_EVEN_AVX2(x, y);
}

#endif
