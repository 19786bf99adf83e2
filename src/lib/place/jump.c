/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump.c - jump consistent hash (Lamping and Veach, "A fast, minimal memory, consistent hash
 * algorithm", 2014, arXiv 1406.2294), its published code to the bit.
 *
 * Cost: about ln(nodes) + 1 divisions, one after the other. Memory: none but the slots' names.
 * Guaranteed: even shares (1/N each, as exact as hashing is); adding the node of the next slot, or
 * taking away that of the last one, moves keys only to or from it; no history.
 * Not: taking away any other node. That is refused, with the reason, once slots are given; without
 * given slots the nodes are numbered by name, and a name in the middle renumbers those after it.
 * No weights. A replica is a further hash's node, so each of them moves as little as the first.
 * Threads: immutable once built.
 */
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/number.h"
#include "lib/place/range.h"
#include "lib/place/weights.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>

#include "lib/place/lanes.h"
#endif

#define JUMP_FACTOR 2862933555777941757u

/* One division, one multiplication, both rounded to double, then cut: in this order. Part of the
 * lanes' functions too, always: code compiled without AVX, called while the upper halves of its
 * registers are in use, costs a hundred nanoseconds on some machines. */
static inline __attribute__((always_inline)) uint32_t jump(uint64_t key, uint32_t n)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)n) {
        b = j;
        key = key * JUMP_FACTOR + 1;
        j = (int64_t)((double)(b + 1) * ((double)(1u << 31) / (double)((key >> 33) + 1)));
    }
    return (uint32_t)b;
}

static uint32_t jump_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_numbers *x = m->data;
    return x->node[jump((uint64_t)hash, x->n)];
}

#ifdef GY_SIMD_X86
#define GROUP 32u /* what the keys of a call of the lanes must be a multiple of */

#define NAME              jumps_avx2
#define LANES             8
#define TARGET            GY_TARGET_AVX2
#define LOWER(a, b)       GY_LOWER_AVX2(a, b)
#define UPPER(a, b)       GY_UPPER_AVX2(a, b)
#define PICK(flags, a, b) GY_PICK_AVX2(flags, a, b)
#define BITS(flags)       GY_BITS_AVX2(flags)
#define FLAGS             __m256i
#define LESS(x, y)        (__m256i)((x) < (y))
#define PRODUCT(x, y)     _mm256_mul_epu32((__m256i)(x), (__m256i)(y))
#define MERGED(even, odd) _mm256_blend_epi32((__m256i)(even), (__m256i)(odd), 0xaa)
#define FLOOR(x)          _mm256_floor_ps((__m256)(x))
#include "lib/place/jump_lanes.h"

#define NAME              jumps_avx512
#define LANES             16
#define TARGET            GY_TARGET_AVX512
#define LOWER(a, b)       GY_LOWER_AVX512(a, b)
#define UPPER(a, b)       GY_UPPER_AVX512(a, b)
#define PICK(flags, a, b) GY_PICK_AVX512(flags, a, b)
#define BITS(flags)       GY_BITS_AVX512(flags)
#define FLAGS             __mmask16
#define LESS(x, y)        _mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_LT_OQ)
#define PRODUCT(x, y)     _mm512_mul_epu32((__m512i)(x), (__m512i)(y))
#define MERGED(even, odd) _mm512_mask_blend_epi32(0xaaaa, (__m512i)(even), (__m512i)(odd))
#define FLOOR(x)          _mm512_floor_ps((__m512)(x))
#include "lib/place/jump_lanes.h"

static void jumps(enum gy_simd simd, const uint64_t *hashes, size_t n, uint32_t nodes,
                  uint32_t *out)
{
    if (simd == GY_SIMD_AVX512) {
        jumps_avx512(hashes, n, nodes, out);
    } else {
        jumps_avx2(hashes, n, nodes, out);
    }
}

/* Those that fill no group go with keys of no interest. */
static void jump_batch(enum gy_simd simd, const uint64_t *hashes, size_t n, uint32_t nodes,
                       uint32_t *out)
{
    uint64_t rest[GROUP] = {0};
    uint32_t found[GROUP];
    size_t whole = n - n % GROUP;
    jumps(simd, hashes, whole, nodes, out);
    if (whole < n) {
        memcpy(rest, hashes + whole, (n - whole) * sizeof *hashes);
        jumps(simd, rest, GROUP, nodes, found);
        memcpy(out + whole, found, (n - whole) * sizeof *out);
    }
}
#endif

static void jump_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct gy_numbers *x = m->data;
#ifdef GY_SIMD_X86
    if (m->simd != GY_SIMD_NONE) {
        jump_batch(m->simd, hashes, n, x->n, out);
        gy_range_nodes(m, out, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) {
        out[i] = jump(hashes[i], x->n);
    }
    gy_range_nodes(m, out, n);
}

static void jump_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct gy_numbers *x = m->data;
    snprintf(out, size, "slot %u of %u", jump((uint64_t)hash, x->n) + 1, x->n);
}

const struct gy_place gy_place_jump = {
    .name = "jump",
    .numbered = true,
    .explain = jump_explain,
    .build = gy_range_build,
    .fini = gy_range_fini,
    .locate = jump_locate,
    .locate_batch = jump_locate_batch,
    .start = gy_numbers_start,
    .next = gy_numbers_next,
    .expected = gy_expected_always,
    .mass = gy_weight_one,
    .same = gy_numbers_same,
};
