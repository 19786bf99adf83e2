/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the consistent-hashing ring (Karger et al., STOC 1997), placement contract V1; the rule
 * itself is docs/placement.md and may never change.
 *
 * Cost: one cache line a lookup, whatever the number of points. Of 10^4 lookups about 25 meet a
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

#define AHEAD 32u /* lookups of a batch under way at once */

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

/* How many of the line's points are below the position, which is at `place`; GY_LINE if that is for
 * search to say. */
static inline unsigned below(const struct gy_line *line, uint64_t place)
{
    unsigned n = gy_line_below(line, gy_ring_cut(place));
    return n < GY_LINE && line->at[n] == gy_ring_cut(place) ? GY_LINE : n;
}

static inline uint32_t owner_of(const struct gy_ring *r, uint32_t position)
{
    uint64_t place = gy_ring_place(position, r->lines);
    const struct gy_line *line = line_of(r, place);
    unsigned n = below(line, place);
    if (__builtin_expect(n == GY_LINE, 0)) {
        return r->owner[search(r, line, position)];
    }
    return line->owner[n];
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
/* Where a key is to be looked for. There are at most 2^24 lines, so their bytes fit. */
struct aim {
    uint32_t cut, line; /* the line in bytes from the first */
};
_Static_assert(sizeof(struct aim) == sizeof(uint64_t), "four to a vector");

GY_TARGET_AVX2 static inline void take_aim(const struct gy_ring *r, const uint64_t *hashes,
                                           struct aim *aims)
{
    const __m256i lines = _mm256_set1_epi64x(r->lines), after = _mm256_set1_epi64x(r->after);
    const __m128i shift = _mm_cvtsi32_si128((int)r->shift);
    for (unsigned i = 0; i < AHEAD; i += 4) {
        __m256i hash = _mm256_loadu_si256((const __m256i *)(const void *)(hashes + i));
        __m256i position = _mm256_add_epi64(_mm256_srl_epi64(hash, shift), after);
        __m256i place = _mm256_mul_epu32(position, lines);
        __m256i aim =
            _mm256_blend_epi32(_mm256_srli_epi32(place, 17), _mm256_slli_epi32(place, 6), 0xaa);
        _mm256_store_si256((__m256i *)(void *)(aims + i), aim);
    }
}

/* As owner_of, with all of a line's points in one comparison: two bits of the mask are a point, as
 * two bytes are an owner. */
GY_TARGET_AVX2 static void locate_groups(const struct gy_ring *r, const uint64_t *hashes, size_t n,
                                         uint32_t *out)
{
    _Alignas(32) struct aim aims[AHEAD];
    const uint8_t *base = (const uint8_t *)r->line;
    for (; n >= AHEAD; n -= AHEAD, hashes += AHEAD, out += AHEAD) {
        take_aim(r, hashes, aims);
        for (unsigned i = 0; i < AHEAD; i++) {
            __builtin_prefetch(base + aims[i].line);
        }
        for (unsigned i = 0; i < AHEAD; i++) {
            const uint8_t *at = base + aims[i].line;
            uint16_t cut = (uint16_t)aims[i].cut, next;
            __m256i points = _mm256_load_si256((const __m256i *)(const void *)at);
            __m256i is_below = _mm256_cmpgt_epi16(_mm256_set1_epi16((short)cut), points);
            unsigned offset = (unsigned)__builtin_ctz(~(unsigned)_mm256_movemask_epi8(is_below) |
                                                      1u << 2 * GY_LINE);
            memcpy(&next, at + offset, sizeof next);
            if (__builtin_expect(offset == 2 * GY_LINE || next == cut, 0)) {
                const struct gy_line *line = (const struct gy_line *)(const void *)at;
                out[i] = r->owner[search(r, line, position_of_64(r, hashes[i]))];
                continue;
            }
            memcpy(&next, at + offsetof(struct gy_line, owner) + offset, sizeof next);
            out[i] = next;
        }
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
    unsigned n = below(line, place);
    size_t i = n == GY_LINE ? search(r, line, position) : (size_t)line->first + n;
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

#define RING                                                                               \
    .name = "ring", .ring = true, .fini = gy_ring_fini, .locate_batch = ring_locate_batch, \
    .first = ring_first, .node = ring_node, .position = ring_position, .sorted = ring_sorted

const struct gy_place gy_place_ring = {RING, .build = gy_ring_build, .locate = ring_locate};
const struct gy_place gy_place_ring_32 = {RING, .locate = locate_32};
