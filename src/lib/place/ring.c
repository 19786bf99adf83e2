/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the consistent-hashing ring (Karger et al., STOC 1997), placement contract V1; the rule
 * itself is docs/placement.md and may never change.
 *
 * Cost: one cache line a lookup, whatever the number of points. Of 10^4 lookups about 35 meet a
 * point so near, or a stretch so crowded, that the line cannot tell; they search the stretch's
 * points by halves. Memory: 14 bytes a point.
 * Guaranteed: a change of one node's presence or weight moves keys only to or from that node, for
 * each of a key's replicas; no history.
 * Not: even shares; their spread is about 1 / sqrt(points). Threads: immutable once built.
 */
#include <stddef.h>
#include <string.h>

#include "lib/place/ring.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>
#endif

#define AHEAD 16u /* lookups of a batch whose lines are asked for before they are needed */

static const struct gy_line *line_of(const struct gy_ring *r, uint64_t place)
{
    return r->line + (place >> 32);
}

/* The first point at or after the position, among those of the line's stretch or the next one. */
static __attribute__((noinline)) size_t search(const struct gy_ring *r, const struct gy_line *line,
                                               uint32_t position)
{
    size_t low = line->first, high = line[1].first;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->position[middle] < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* below: one of line.h's ways to count. */
static inline __attribute__((always_inline)) uint32_t
owner_by(unsigned (*below)(const struct gy_line *, uint16_t), const struct gy_ring *r,
         uint32_t position)
{
    uint64_t place = gy_ring_place(position, r->lines);
    const struct gy_line *line = line_of(r, place);
    unsigned n = below(line, gy_ring_cut(place));
    if (__builtin_expect(!gy_line_tells(line, n, gy_ring_cut(place)), 0)) {
        return r->owner[search(r, line, position)];
    }
    return line->owner[n];
}

static inline uint32_t owner_of(const struct gy_ring *r, uint32_t position)
{
    return owner_by(gy_line_below, r, position);
}

static inline uint32_t position_of(const struct gy_ring *r, gy_u128 hash)
{
    return (uint32_t)(hash >> r->shift) + r->after;
}

/* The same of a hash of at most 64 bits. */
static inline uint32_t position_of_64(const struct gy_ring *r, uint64_t hash)
{
    return (uint32_t)(hash >> r->shift) + r->after;
}

static uint32_t ring_locate(const gyre_map_t *m, gy_u128 hash)
{
    return owner_of(m->data, (uint32_t)((uint64_t)hash >> 32));
}

static uint32_t locate_32(const gyre_map_t *m, gy_u128 hash)
{
    return owner_of(m->data, position_of(m->data, hash));
}

/* ---- batches: the lines of a group are asked for before the first is needed, so that cache misses
 * overlap ---- */

static void locate_group(const struct gy_ring *r, const uint64_t *hashes, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(line_of(r, gy_ring_place(position_of_64(r, hashes[i]), r->lines)));
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = owner_of(r, position_of_64(r, hashes[i]));
    }
}

#ifdef GY_SIMD_X86
/* ---- with AVX2 and POPCNT: as owner_of, in fewer instructions ---- */

/* A lookup alone: halves of a line, for what takes a whole one has to clear the upper halves. */
GY_TARGET_AVX2 static inline uint32_t owner_avx2(const struct gy_ring *r, uint32_t position)
{
    return owner_by(gy_line_count, r, position);
}

GY_TARGET_AVX2 static uint32_t ring_locate_avx2(const gyre_map_t *m, gy_u128 hash)
{
    return owner_avx2(m->data, (uint32_t)((uint64_t)hash >> 32));
}

GY_TARGET_AVX2 static uint32_t locate_32_avx2(const gyre_map_t *m, gy_u128 hash)
{
    return owner_avx2(m->data, position_of(m->data, hash));
}

/* Where a key is to be looked for. There are at most 2^24 lines, so their bytes fit. */
struct aim {
    uint32_t cut, line; /* the line in bytes from the first */
};
_Static_assert(sizeof(struct aim) == sizeof(uint64_t), "four to a vector");

/* A group's aims, and its lines asked for. */
GY_TARGET_AVX2 static inline void take_aim(const struct gy_ring *r, const uint64_t *hashes,
                                           struct aim *aims)
{
    const __m256i lines = _mm256_set1_epi64x(r->lines), after = _mm256_set1_epi64x(r->after);
    const __m128i shift = _mm_cvtsi32_si128((int)r->shift);
    const uint8_t *base = (const uint8_t *)r->line;
    for (unsigned i = 0; i < AHEAD; i += 4) {
        __m256i hash = _mm256_loadu_si256((const __m256i *)(const void *)(hashes + i));
        __m256i position = _mm256_add_epi64(_mm256_srl_epi64(hash, shift), after);
        __m256i place = _mm256_mul_epu32(position, lines);
        __m256i aim =
            _mm256_blend_epi32(_mm256_srli_epi32(place, 17), _mm256_slli_epi32(place, 6), 0xaa);
        _mm256_store_si256((__m256i *)(void *)(aims + i), aim);
    }
#pragma GCC unroll 8
    for (unsigned i = 0; i < AHEAD; i++) {
        __builtin_prefetch(base + aims[i].line);
    }
}

/* What a line cannot tell. No vectors here: the narrow ones of a build for any x86-64 would wait
 * for the wide ones in use. */
static __attribute__((noinline, cold)) uint32_t owner_far(const struct gy_ring *r,
                                                          const uint64_t *hash)
{
    uint32_t position = position_of_64(r, *hash);
    return r->owner[search(r, line_of(r, gy_ring_place(position, r->lines)), position)];
}

/* All of a line's points in one comparison: two bits of the mask are a point, as two bytes are an
 * owner. */
GY_TARGET_AVX2 static inline void locate_aimed(const struct gy_ring *r, const struct aim *aims,
                                               const uint64_t *hashes, uint32_t *out)
{
    const uint8_t *base = (const uint8_t *)r->line;
#pragma GCC unroll 4
    for (unsigned i = 0; i < AHEAD; i++) {
        const uint8_t *at = base + aims[i].line;
        uint16_t cut = (uint16_t)aims[i].cut, next, owner;
        __m256i points = _mm256_load_si256((const __m256i *)(const void *)at);
        __m256i is_below = _mm256_cmpgt_epi16(_mm256_set1_epi16((short)cut), points);
        unsigned mask = (unsigned)_mm256_movemask_epi8(is_below) & ((1u << 2 * GY_LINE) - 1);
        unsigned offset = (unsigned)__builtin_popcount(mask);
        memcpy(&next, at + offset, sizeof next); /* gy_line_tells */
        memcpy(&owner, at + offsetof(struct gy_line, owner) + offset, sizeof owner);
        out[i] = owner;
        if (__builtin_expect(next <= cut, 0)) {
            out[i] = owner_far(r, &hashes[i]);
        }
    }
}

/* The next group's lines are on their way while this one's are looked at. */
GY_TARGET_AVX2 static void locate_groups(const struct gy_ring *r, const uint64_t *hashes, size_t n,
                                         uint32_t *out)
{
    _Alignas(32) struct aim aims[2][AHEAD];
    unsigned now = 0;
    if (n) {
        take_aim(r, hashes, aims[now]);
    }
    for (; n; n -= AHEAD, hashes += AHEAD, out += AHEAD, now ^= 1) {
        if (n > AHEAD) {
            take_aim(r, hashes + AHEAD, aims[now ^ 1]);
        }
        locate_aimed(r, aims[now], hashes, out);
    }
}
#endif

static void ring_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct gy_ring *r = m->data;
    size_t done = 0;
#ifdef GY_SIMD_X86
    if (m->simd >= GY_SIMD_AVX2) {
        done = n - n % AHEAD;
        locate_groups(r, hashes, done, out);
    }
#endif
    while (done < n) {
        size_t now = n - done < AHEAD ? n - done : AHEAD;
        locate_group(r, hashes + done, now, out + done);
        done += now;
    }
}

static size_t ring_first(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_ring *r = m->data;
    uint32_t position = position_of(r, hash);
    uint64_t place = gy_ring_place(position, r->lines);
    const struct gy_line *line = line_of(r, place);
    unsigned n = gy_line_below(line, gy_ring_cut(place));
    size_t i = gy_line_tells(line, n, gy_ring_cut(place)) ? (size_t)line->first + n
                                                          : search(r, line, position);
    return i == m->steps ? 0 : i;
}

static uint32_t ring_node(const gyre_map_t *m, size_t step)
{
    const struct gy_ring *r = m->data;
    return r->owner[step];
}

static gy_u128 ring_position(const gyre_map_t *m, size_t step)
{
    const struct gy_ring *r = m->data;
    return r->position[step];
}

static void ring_sorted(const gyre_map_t *m, struct gy_sorted *out)
{
    const struct gy_ring *r = m->data;
    *out = (struct gy_sorted){r->position, r->owner, m->steps};
}

#ifdef GY_SIMD_X86
#define AVX2(function) .locate_avx2 = function
#else
#define AVX2(function) .locate_avx2 = NULL
#endif

#define RING                                                                               \
    .name = "ring", .ring = true, .fini = gy_ring_fini, .locate_batch = ring_locate_batch, \
    .first = ring_first, .node = ring_node, .position = ring_position, .sorted = ring_sorted

const struct gy_place gy_place_ring = {RING, .build = gy_ring_build, .locate = ring_locate,
                                       AVX2(ring_locate_avx2)};
const struct gy_place gy_place_ring_32 = {RING, .locate = locate_32, AVX2(locate_32_avx2)};
