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

/* One division, one multiplication, both rounded to double, then cut: in this order. */
static uint32_t jump(uint64_t key, uint32_t n)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)n) {
        b = j;
        key = key * 2862933555777941757u + 1;
        j = (int64_t)((double)(b + 1) * ((double)(1u << 31) / (double)((key >> 33) + 1)));
    }
    return (uint32_t)b;
}

static uint32_t jump_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_numbers *x = m->data;
    return x->node[jump((uint64_t)hash, x->n)];
}

#define GROUPS 4

#ifdef GY_SIMD_X86
#define NAME   jump_avx2
#define LANES  4
#define TARGET GY_TARGET_AVX2
#define ANY(m) _mm256_movemask_pd((__m256d)(m))
#include "lib/place/jump_lanes.h"

#define NAME   jump_avx512
#define LANES  8
#define TARGET GY_TARGET_AVX512
#define ANY(m) _mm512_movepi64_mask((__m512i)(m))
#include "lib/place/jump_lanes.h"
#endif

static void jump_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct gy_numbers *x = m->data;
    size_t i = 0;
#ifdef GY_SIMD_X86
    for (; m->simd == GY_SIMD_AVX512 && i + 8 * GROUPS <= n; i += 8 * GROUPS) {
        jump_avx512(hashes + i, x->n, out + i);
    }
    for (; m->simd == GY_SIMD_AVX2 && i + 4 * GROUPS <= n; i += 4 * GROUPS) {
        jump_avx2(hashes + i, x->n, out + i);
    }
#endif
    for (; i < n; i++) {
        out[i] = jump(hashes[i], x->n);
    }
    for (i = 0; i < n; i++) {
        out[i] = x->node[out[i]];
    }
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
    .same = gy_numbers_same,
};
