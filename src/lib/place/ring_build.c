/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_build.c - makes a ring's points and sorts them. The points are as good as random, so two
 * rounds of a radix sort, by two bits more than tell them apart, leave most in their place; where
 * neighbours are swapped cannot be foretold, so it pays that few are. Both rounds keep the order of
 * equals, which at first is that of the names. Memory: the ring's own, and 8 bytes for each root of
 * the number of points. Threads: one.
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

static void draw_points(uint64_t seed, uint32_t n, uint32_t *position)
{
    for (uint32_t i = 0; i < n; i++) {
        position[i] = (uint32_t)(gy_stream(seed, i) >> 32);
    }
}

#ifdef GY_SIMD_X86
/* The same, and as many more as fill a vector. */
GY_TARGET_AVX2 static void draw_points_avx2(uint64_t seed, uint32_t n, uint32_t *position)
{
    typedef uint64_t whole __attribute__((vector_size(32)));
    const uint64_t next = seed + GY_GOLDEN;
    whole a = {next, next + GY_GOLDEN, next + 2 * GY_GOLDEN, next + 3 * GY_GOLDEN};
    for (uint32_t i = 0; i < n; i += 8, a += 8 * GY_GOLDEN) {
        whole b = a + 4 * GY_GOLDEN;
        whole x = (a ^ a >> 30) * GY_MIX_ONE, y = (b ^ b >> 30) * GY_MIX_ONE;
        x = (x ^ x >> 27) * GY_MIX_TWO;
        y = (y ^ y >> 27) * GY_MIX_TWO;
        /* the upper halves; of the last step they take their first bit alone */
        __m256 halves = _mm256_shuffle_ps((__m256)x, (__m256)y, 0xdd);
        __m256i upper = _mm256_permute4x64_epi64((__m256i)halves, 0xd8);
        __m256i p = _mm256_xor_si256(upper, _mm256_srli_epi32(upper, 31));
        _mm256_storeu_si256((__m256i *)(void *)(position + i), p);
    }
}
#else
#define draw_points_avx2 draw_points
#endif

/* In the order of names, and counted for both rounds. */
static void make_points(const struct gyre_map *m, uint32_t *position, struct radix *low,
                        struct radix *high)
{
    for (uint32_t id = 0; id < m->count; id++) {
        uint64_t seed = gyre_hash_xxh3(m->nodes[id].name, strlen(m->nodes[id].name));
        uint32_t n = m->points[id];
        if (m->simd >= GY_SIMD_AVX2) {
            draw_points_avx2(seed, n, position);
        } else {
            draw_points(seed, n, position);
        }
        for (uint32_t i = 0; i < n; i++) {
            low->end[digit(low, position[i])]++;
            high->end[digit(high, position[i])]++;
        }
        position += n;
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

int gy_ring_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = count_points(m, e);
    err = err ? err : gy_ring_room(m, e);
    if (!err) {
        struct gy_ring *r = m->data;
        r->shift = 32;
        err = sort_points(m) || gy_ring_lay(m) ? gy_fail_nomem(e) : GYRE_OK;
    }
    return err;
}
