/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5_batch.c - MD5 of many keys at once: those of one block stand side by side in the lanes of
 * vectors. No other hash gets lanes: MD5 of a short key takes several times what the lookup takes,
 * the fast hashes less than it, and SHA-1 and SHA-256 are those of few clients. Threads: any.
 */
#include <stdbool.h>
#include <string.h>

#include "lib/hash/md5.h"
#include "lib/hash/md5_block.h"
#include "lib/hash/md5_tables.h"

static void hash_alone(const void *data, size_t len, size_t i, struct gy_md5_words *out)
{
    uint32_t state[4];
    gy_md5_words(data, len, state);
    for (unsigned w = 0; w < 4; w++) {
        out->word[w][i] = state[w];
    }
}

#ifdef GY_SIMD_X86
#include <immintrin.h>

/* 64 steps, unrolled over arrays of fixed size: instrumented they take half a minute to compile. */
#ifdef __clang__
#define BARE __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define BARE
#endif

#define HOLD(x) __asm__ volatile("" : "+v"(x))

#define NAME    md5_avx2
#define LANES   8
#define VECTORS 3 /* sixteen registers hold no more */
#define TERNARY false
#define TARGET  GY_TARGET_AVX2 BARE
#include "lib/hash/md5_lanes.h"

#define NAME    md5_avx512
#define LANES   16
#define VECTORS 2 /* a third would wait for the two units such vectors have, and for more keys */
#define TERNARY true
#define TARGET  GY_TARGET_AVX512 BARE
#include "lib/hash/md5_lanes.h"

static const unsigned room[] = {[GY_SIMD_AVX2] = 24, [GY_SIMD_AVX512] = 32};
_Static_assert(GY_MD5_MOST % 24 == 0 && GY_MD5_MOST % 32 == 0, "no group goes past the end");

/* Below so many the vectors are not worth filling. */
#define FEWEST 3

struct group {
    _Alignas(64) uint32_t word[16][GY_MD5_LANES];
    _Alignas(64) struct gy_md5_block block[GY_MD5_LANES];
};

/* Four words of eight blocks: from each block's to each word's. */
GY_TARGET_AVX2 static void turn_chunk(struct group *g, size_t lane, size_t chunk)
{
    __m256i row[4], pair[4];
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t *low = g->block[lane + i].word + 4 * chunk;
        const uint32_t *high = g->block[lane + i + 4].word + 4 * chunk;
        row[i] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_load_si128((const __m128i *)(const void *)low)),
            _mm_load_si128((const __m128i *)(const void *)high), 1);
    }
    pair[0] = _mm256_unpacklo_epi32(row[0], row[1]);
    pair[1] = _mm256_unpacklo_epi32(row[2], row[3]);
    pair[2] = _mm256_unpackhi_epi32(row[0], row[1]);
    pair[3] = _mm256_unpackhi_epi32(row[2], row[3]);
#pragma GCC unroll 2
    for (unsigned i = 0; i < 4; i += 2) {
        uint32_t(*word)[GY_MD5_LANES] = g->word + 4 * chunk + i;
        _mm256_store_si256((__m256i *)(void *)(word[0] + lane),
                           _mm256_unpacklo_epi64(pair[i], pair[i + 1]));
        _mm256_store_si256((__m256i *)(void *)(word[1] + lane),
                           _mm256_unpackhi_epi64(pair[i], pair[i + 1]));
    }
}

static bool is_long(size_t len)
{
    return len > GY_MD5_ONE;
}

/* Lanes that no message is in hold what there was, and are not looked at. */
static void hash_group(enum gy_simd level, const void *const *data, const size_t *len, size_t n,
                       struct gy_md5_words *out, size_t at)
{
    struct group g;
    for (size_t i = 0; i < n; i++) {
        gy_md5_fill(&g.block[i], data[i], is_long(len[i]) ? 0 : len[i]);
    }
    for (size_t lane = 0; lane < n; lane += 8) {
        for (size_t chunk = 0; chunk < 4; chunk++) {
            turn_chunk(&g, lane, chunk);
        }
    }
    (level == GY_SIMD_AVX512 ? md5_avx512 : md5_avx2)((const uint32_t(*)[GY_MD5_LANES])g.word, out,
                                                      at);
    for (size_t i = 0; i < n; i++) {
        if (is_long(len[i])) {
            hash_alone(data[i], len[i], at + i, out);
        }
    }
}
#endif

void gy_md5_batch(enum gy_simd level, const void *const *data, const size_t *len, size_t n,
                  struct gy_md5_words *out)
{
    size_t i = 0;
#ifdef GY_SIMD_X86
    if (level != GY_SIMD_NONE) {
        for (size_t now; n - i >= FEWEST; i += now) {
            now = n - i < room[level] ? n - i : room[level];
            hash_group(level, data + i, len + i, now, out, i);
        }
    }
#endif
    for (; i < n; i++) {
        hash_alone(data[i], len[i], i, out);
    }
}
