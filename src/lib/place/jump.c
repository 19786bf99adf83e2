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
#endif

#define JUMP_FACTOR 2862933555777941757u

/* One division, one multiplication, both rounded to double, then cut: in this order. */
static uint32_t jump(uint64_t key, uint32_t n)
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
#define BLOCK 256 /* keys under way at once */
#define STEPS 3   /* all take before those that have arrived are let go */

struct walkers {
    uint64_t key[BLOCK];
    double at[BLOCK], next[BLOCK]; /* where the jumps have led, and will lead */
};

#define NAME              steps_avx2
#define LANES             4
#define TARGET            GY_TARGET_AVX2
#define FLOOR(x)          (real) _mm256_floor_pd((__m256d)(x))
#define BELOW(x, y, a, b) (real) _mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)((x) < (y)))
#include "lib/place/jump_lanes.h"

#define NAME     steps_avx512
#define LANES    8
#define TARGET   GY_TARGET_AVX512
#define FLOOR(x) (real) _mm512_floor_pd((__m512d)(x))
#define BELOW(x, y, a, b)                                                                   \
    (real) _mm512_mask_blend_pd(_mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), _CMP_LT_OQ), \
                                (__m512d)(b), (__m512d)(a))
#include "lib/place/jump_lanes.h"

/* Keys need from one to two dozen steps. Who has arrived cannot be foretold, so it is not branched
 * upon: every key's place is written down, and only those still on their way are kept. */
static void jump_block(enum gy_simd simd, const uint64_t *hashes, size_t n, uint32_t nodes,
                       uint32_t *out)
{
    struct walkers w = {{0}, {0}, {0}};
    uint32_t who[BLOCK];
    memcpy(w.key, hashes, n * sizeof *hashes);
    for (uint32_t i = 0; i < n; i++) {
        who[i] = i;
    }
    while (n) {
        if (simd == GY_SIMD_AVX512) {
            steps_avx512(&w, n, nodes);
        } else {
            steps_avx2(&w, n, nodes);
        }
        size_t kept = 0;
        for (size_t k = 0; k < n; k++) {
            out[who[k]] = (uint32_t)(int32_t)w.at[k];
            who[kept] = who[k];
            w.key[kept] = w.key[k];
            w.next[kept] = w.next[k];
            kept += w.next[k] < nodes;
        }
        n = kept;
    }
}
#endif

static void jump_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct gy_numbers *x = m->data;
    size_t i = 0;
#ifdef GY_SIMD_X86
    for (size_t now; m->simd != GY_SIMD_NONE && i < n; i += now) {
        now = n - i < BLOCK ? n - i : BLOCK;
        jump_block(m->simd, hashes + i, now, x->n, out + i);
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
    .expected = gy_expected_always,
    .mass = gy_weight_one,
    .same = gy_numbers_same,
};
