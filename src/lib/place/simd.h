/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h - which vector instructions a placement may use. The level is a property of the machine,
 * found when a map is built, and never of the answers: all levels give the same, and a test forces
 * each. The kernels are one source (jump_lanes.h, rendezvous_lanes.h) in GCC's vector extension,
 * compiled once a level; what includes <immintrin.h> is the file that has a kernel, for reading
 * it takes longer than reading the rest of the library. Threads: any.
 */
#ifndef GY_LIB_SIMD_H
#define GY_LIB_SIMD_H

enum gy_simd { GY_SIMD_NONE, GY_SIMD_AVX2, GY_SIMD_AVX512 };

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define GY_SIMD_X86

#define GY_TARGET_AVX2   __attribute__((target("avx2,popcnt")))
#define GY_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

/* The builtin also asks whether the system keeps the registers. A level has those below it. */
static inline enum gy_simd gy_simd_best(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("popcnt")) {
        return GY_SIMD_NONE;
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return GY_SIMD_AVX512;
    }
    return GY_SIMD_AVX2;
}
#else
static inline enum gy_simd gy_simd_best(void)
{
    return GY_SIMD_NONE;
}
#endif

#endif
