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
#include "lib/place/ring.h"

#define AHEAD 16u /* lookups of a batch under way at once */

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

static uint32_t ring_locate(const gyre_map_t *m, gy_u128 hash)
{
    return owner_of(m->data, (uint32_t)((uint64_t)hash >> 32));
}

/* The lines of a group are asked for before the first is needed, so that cache misses overlap. */
static void ring_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct gy_ring *r = m->data;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < AHEAD ? n - done : AHEAD;
        for (size_t i = 0; i < now; i++) {
            uint32_t position = (uint32_t)(hashes[done + i] >> 32);
            __builtin_prefetch(line_of(r, gy_ring_place(position, r->lines)));
        }
        for (size_t i = 0; i < now; i++) {
            out[done + i] = owner_of(r, (uint32_t)(hashes[done + i] >> 32));
        }
        done += now;
    }
}

static size_t ring_first(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_ring *r = m->data;
    uint32_t position = (uint32_t)((uint64_t)hash >> 32);
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

const struct gy_place gy_place_ring = {
    .name = "ring",
    .ring = true,
    .build = gy_ring_build,
    .fini = gy_ring_fini,
    .locate = ring_locate,
    .locate_batch = ring_locate_batch,
    .first = ring_first,
    .node = ring_node,
    .position = ring_position,
    .sorted = ring_sorted,
};
