/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_lines.c - lays sorted points out in lines, and measures what each node owns on the way. All
 * of a line is computed at once: how many points a stretch has cannot be foretold, so nothing is
 * branched upon. Memory beside the ring's: half a byte a point, 8 bytes a node. Threads: one.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/ring.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>
#endif

#define DENSITY 8u /* points a line on average: 14 bytes each, with the sorted ones */

int gy_ring_room(struct gyre_map *m, gyre_error_t *e)
{
    struct gy_ring *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(e);
    }
    size_t lines = (m->steps + DENSITY - 1) / DENSITY;
    *r = (struct gy_ring){.position = gy_mem_alloc(m->steps + GY_TAIL, sizeof *r->position),
                          .owner = gy_mem_alloc(m->steps + GY_TAIL, sizeof *r->owner),
                          .block = gy_mem_alloc(lines + 2, sizeof *r->line),
                          .lines = (uint32_t)lines};
    m->data = r;
    m->bytes = (lines + 2) * sizeof *r->line +
               (m->steps + GY_TAIL) * (sizeof *r->position + sizeof *r->owner);
    if (!r->position || !r->owner || !r->block) {
        return gy_fail_nomem(e);
    }
    uintptr_t block = (uintptr_t)r->block;
    r->line = (struct gy_line *)(block + (-block & (sizeof *r->line - 1)));
    return GYRE_OK;
}

void gy_ring_fini(struct gyre_map *m)
{
    struct gy_ring *r = m->data;
    gy_mem_free(r->position);
    gy_mem_free(r->owner);
    gy_mem_free(r->block);
    gy_mem_free(r);
}

/* What each node owns, as gy_map_measure without `after`, and how many points stand before each
 * line's stretch and the end. */
static void measure(struct gyre_map *m, const struct gy_ring *r, uint64_t *owned, uint32_t *first)
{
    uint64_t start = 0;
    memset(owned, 0, m->count * sizeof *owned);
    memset(first, 0, ((size_t)r->lines + 1) * sizeof *first);
    for (size_t i = 0; i < m->steps; i++) {
        uint32_t position = r->position[i];
        uint64_t end = (uint64_t)position + 1; /* start <= end, for positions are sorted */
        owned[r->owner[i]] += end - start;
        first[(gy_ring_place(position, r->lines) >> 32) + 1] = (uint32_t)i + 1;
        start = end;
    }
    owned[r->owner[0]] += ((uint64_t)1 << 32) - start;
    for (uint32_t i = 0; i < m->count; i++) {
        m->owned[i] = owned[i];
    }
    for (uint32_t b = 0; b < r->lines; b++) { /* a stretch without points begins where it ends */
        first[b + 1] = first[b + 1] ? first[b + 1] : first[b];
    }
}

/* One stretch's positions cut, with GY_LINE_PAST for what is past the stretch's `count`; and zeros.
 */
static void cut_positions(struct gy_line *line, const uint32_t *position, uint32_t count,
                          uint32_t lines)
{
    for (uint32_t i = 0; i < GY_LINE; i++) {
        uint16_t past = (uint16_t)(0u - (i >= count)) & GY_LINE_PAST;
        line->at[i] = gy_ring_cut(gy_ring_place(position[i], lines)) | past;
    }
    for (uint32_t i = GY_LINE; i < GY_LINE_LANES; i++) {
        line->at[i] = 0;
    }
}

#ifdef GY_SIMD_X86
GY_TARGET_AVX2 static void cut_positions_avx2(struct gy_line *line, const uint32_t *position,
                                              uint32_t count, uint32_t lines)
{
    const __m256i *from = (const __m256i *)(const void *)position;
    const __m256i each = _mm256_set1_epi32((int)lines);
    __m256i low = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_loadu_si256(from), each), 17);
    __m256i high = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_loadu_si256(from + 1), each), 17);
    __m256i cut = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    const __m256i turn = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i room = _mm256_cmpgt_epi16(_mm256_set1_epi16(GY_LINE), turn);
    const short n = (short)(count < GY_LINE ? count : GY_LINE);
    __m256i within = _mm256_cmpgt_epi16(_mm256_set1_epi16(n), turn);
    __m256i past = _mm256_andnot_si256(within, _mm256_set1_epi16(GY_LINE_PAST));
    __m256i at = _mm256_and_si256(_mm256_or_si256(cut, past), room);
    _mm256_store_si256((__m256i *)(void *)line, at);
}

#else
#define cut_positions_avx2 cut_positions
#endif

static void lay_lines(struct gy_ring *r, const uint32_t *first, enum gy_simd simd)
{
    for (uint32_t b = 0; b < r->lines; b++) {
        struct gy_line *line = &r->line[b];
        uint32_t count = first[b + 1] - first[b];
        if (simd >= GY_SIMD_AVX2) {
            cut_positions_avx2(line, r->position + first[b], count, r->lines);
        } else {
            cut_positions(line, r->position + first[b], count, r->lines);
        }
        memcpy(line->owner, r->owner + first[b], sizeof line->owner);
        line->first = first[b];
    }
    r->line[r->lines].first = first[r->lines];
}

int gy_ring_lay(struct gyre_map *m)
{
    struct gy_ring *r = m->data;
    uint32_t *first = gy_mem_alloc((size_t)r->lines + 1, sizeof *first);
    uint64_t *owned = gy_mem_alloc(m->count, sizeof *owned);
    int err = first && owned ? GYRE_OK : GYRE_NOMEM;
    if (!err) {
        for (size_t i = m->steps; i < m->steps + GY_TAIL; i++) {
            r->position[i] = UINT32_MAX;
            r->owner[i] = r->owner[0];
        }
        measure(m, r, owned, first);
        lay_lines(r, first, m->simd);
    }
    gy_mem_free(first);
    gy_mem_free(owned);
    return err;
}
