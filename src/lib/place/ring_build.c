/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_build.c - makes a ring's points, sorts them and lays them out in lines. The points are as
 * good as random, so two rounds of a radix sort, by as many leading bits as tell most of them
 * apart, leave each within a step or two of its place. Both rounds keep the order of equals, which
 * at first is that of the names. Memory: the ring's own, half a byte a point, 8 bytes a node.
 * Threads: one.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/mix.h"
#include "lib/place/ring.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>
#endif

#define POINTS_MAX (1u << 27) /* 1.9 GB of ring */
#define DENSITY    8u         /* points a line on average: 14 bytes each, with the sorted ones */
#define STEPS_FAIR 4u         /* a point, on average, that sorting by insertion may take */

/* One round: ways it deals to, by the bits of the position from `shift` on. */
struct radix {
    uint32_t *end; /* of each way: where its next point goes, so at last where it ends */
    uint32_t mask;
    unsigned shift;
};

static uint32_t digit(const struct radix *x, uint32_t position)
{
    return position >> x->shift & x->mask;
}

static int count_points(struct gyre_map *m, gyre_error_t *e)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t n = gy_point_count(m->weight[i], m->per_unit);
        total += n; /* at most 65535 x 1e11 */
        m->points[i] = (uint32_t)(n > POINTS_MAX ? POINTS_MAX : n);
    }
    if (total > POINTS_MAX) {
        return gy_fail(
            e, GYRE_RANGE,
            "the weights ask for %llu points on the ring, which is %llu MB of memory; at most %u "
            "are allowed: scale the weights or `points` (%u) down",
            (unsigned long long)total, (unsigned long long)(total / 1000 * 14 / 1000), POINTS_MAX,
            m->per_unit);
    }
    m->steps = (size_t)total;
    return GYRE_OK;
}

/* ---- sorting ---- */

static int radix_init(struct radix *x, unsigned bits, unsigned shift)
{
    *x = (struct radix){gy_mem_alloc((size_t)1 << bits, sizeof *x->end), (1u << bits) - 1, shift};
    if (!x->end) {
        return GYRE_NOMEM;
    }
    memset(x->end, 0, ((size_t)1 << bits) * sizeof *x->end);
    return GYRE_OK;
}

/* From how many points each way has to where it begins. */
static void radix_begin(struct radix *x)
{
    uint32_t begin = 0;
    for (uint32_t k = 0; k <= x->mask; k++) {
        uint32_t n = x->end[k];
        x->end[k] = begin;
        begin += n;
    }
}

/* In the order of names, and counted for both rounds. */
static void make_points(const struct gyre_map *m, uint32_t *position, struct radix *low,
                        struct radix *high)
{
    for (uint32_t id = 0; id < m->count; id++) {
        uint64_t seed = gyre_hash_xxh3(m->nodes[id].name, strlen(m->nodes[id].name));
        for (uint32_t i = 0, n = m->points[id]; i < n; i++) {
            uint32_t p = (uint32_t)(gy_stream(seed, i) >> 32);
            *position++ = p;
            low->end[digit(low, p)]++;
            high->end[digit(high, p)]++;
        }
    }
}

/* Position and owner as one number. */
static uint64_t pack(uint32_t position, uint32_t owner)
{
    return (uint64_t)position << 16 | owner;
}

static int compare_packed(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void deal(const struct gyre_map *m, struct gy_ring *r, struct radix *low, struct radix *high,
                 uint64_t *packed)
{
    const uint32_t *p = r->position;
    for (uint32_t id = 0; id < m->count; id++) {
        for (uint32_t i = 0, n = m->points[id]; i < n; i++, p++) {
            packed[low->end[digit(low, *p)]++] = pack(*p, id);
        }
    }
    for (size_t i = 0; i < m->steps; i++) {
        uint32_t to = high->end[digit(high, (uint32_t)(packed[i] >> 16))]++;
        r->position[to] = (uint32_t)(packed[i] >> 16);
        r->owner[to] = (uint16_t)packed[i];
    }
}

/* Insertion; false if it takes so long that the names must have been chosen with ill will. */
static bool finish(struct gy_ring *r, size_t n)
{
    size_t taken = 0;
    for (size_t i = 1; i < n && taken <= n * STEPS_FAIR; i++) {
        uint32_t p = r->position[i];
        if (r->position[i - 1] <= p) {
            continue;
        }
        uint16_t owner = r->owner[i];
        size_t k = i;
        for (; k > 0 && r->position[k - 1] > p; k--) {
            r->position[k] = r->position[k - 1];
            r->owner[k] = r->owner[k - 1];
        }
        r->position[k] = p;
        r->owner[k] = owner;
        taken += i - k;
    }
    return taken <= n * STEPS_FAIR;
}

static void finish_slowly(struct gy_ring *r, size_t n, uint64_t *packed)
{
    for (size_t i = 0; i < n; i++) {
        packed[i] = pack(r->position[i], r->owner[i]);
    }
    qsort(packed, n, sizeof *packed, compare_packed);
    for (size_t i = 0; i < n; i++) {
        r->position[i] = (uint32_t)(packed[i] >> 16);
        r->owner[i] = (uint16_t)packed[i];
    }
}

static int sort_points(struct gyre_map *m)
{
    struct gy_ring *r = m->data;
    uint64_t *packed = (uint64_t *)(void *)r->line; /* 8 bytes a point, as the lines will take */
    unsigned bits = 2;                              /* at least four times as many ways as points */
    while (m->steps << 2 >> bits) {
        bits++;
    }
    unsigned lower = (bits + 1) / 2; /* the second round writes twice to each way */
    struct radix low = {0}, high = {0};
    int err = radix_init(&low, lower, 32 - bits);
    err = err ? err : radix_init(&high, bits - lower, 32 - bits + lower);
    if (!err) {
        make_points(m, r->position, &low, &high);
        radix_begin(&low);
        radix_begin(&high);
        deal(m, r, &low, &high, packed);
        if (!finish(r, m->steps)) {
            finish_slowly(r, m->steps, packed);
        }
    }
    gy_mem_free(low.end);
    gy_mem_free(high.end);
    return err;
}

/* ---- the rest ---- */

/* What each node owns, as gy_map_measure, and how many points stand before each line's stretch and
 * the end. */
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

/* One stretch's positions cut, with GY_LINE_PAST for what is past the stretch's `count`. */
static void cut_positions(struct gy_line *line, const uint32_t *position, uint32_t count,
                          uint32_t lines)
{
    for (uint32_t i = 0; i < GY_LINE; i++) {
        uint16_t past = (uint16_t)(0u - (i >= count)) & GY_LINE_PAST;
        line->at[i] = gy_ring_cut(gy_ring_place(position[i], lines)) | past;
    }
}

#ifdef GY_SIMD_X86
/* The same, and the 16th: it is an owner, and written after. */
GY_TARGET_AVX2 static void cut_positions_avx2(struct gy_line *line, const uint32_t *position,
                                              uint32_t count, uint32_t lines)
{
    const __m256i *from = (const __m256i *)(const void *)position;
    const __m256i each = _mm256_set1_epi32((int)lines);
    __m256i low = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_loadu_si256(from), each), 17);
    __m256i high = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_loadu_si256(from + 1), each), 17);
    __m256i cut = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    const __m256i turn = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const short n = (short)(count < GY_LINE ? count : GY_LINE);
    __m256i within = _mm256_cmpgt_epi16(_mm256_set1_epi16(n), turn);
    __m256i past = _mm256_andnot_si256(within, _mm256_set1_epi16(GY_LINE_PAST));
    _mm256_store_si256((__m256i *)(void *)line, _mm256_or_si256(cut, past));
}

#else
#define cut_positions_avx2 cut_positions
#endif

/* Nothing in a line depends on a branch, for how many points a stretch has cannot be foretold. */
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

void gy_ring_fini(struct gyre_map *m)
{
    struct gy_ring *r = m->data;
    gy_mem_free(r->position);
    gy_mem_free(r->owner);
    gy_mem_free(r->block);
    gy_mem_free(r);
}

static int make_room(struct gyre_map *m)
{
    struct gy_ring *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return GYRE_NOMEM;
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
        return GYRE_NOMEM;
    }
    uintptr_t block = (uintptr_t)r->block;
    r->line = (struct gy_line *)(block + (-block & (sizeof *r->line - 1)));
    return GYRE_OK;
}

int gy_ring_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = count_points(m, e);
    if (err) {
        return err;
    }
    if (make_room(m) || sort_points(m)) {
        return gy_fail_nomem(e);
    }
    struct gy_ring *r = m->data;
    uint32_t *first = gy_mem_alloc((size_t)r->lines + 1, sizeof *first);
    uint64_t *owned = gy_mem_alloc(m->count, sizeof *owned);
    if (!first || !owned) {
        gy_mem_free(first);
        gy_mem_free(owned);
        return gy_fail_nomem(e);
    }
    for (size_t i = m->steps; i < m->steps + GY_TAIL; i++) {
        r->position[i] = UINT32_MAX;
        r->owner[i] = r->owner[0];
    }
    measure(m, r, owned, first);
    lay_lines(r, first, m->simd);
    gy_mem_free(first);
    gy_mem_free(owned);
    return GYRE_OK;
}
