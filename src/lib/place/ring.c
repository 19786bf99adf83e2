/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the consistent-hashing ring (Karger et al., STOC 1997), placement contract V1; the rule
 * itself is docs/placement.md and may never change. Positions are 32 bits, sorted, beside 16-bit
 * owners; an index of about two points a bucket (multiply-shift of the position) leads to within
 * one 8-wide compare of the answer. 8 bytes a point. Threads: immutable once built.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/below8.h"
#include "lib/place/mix.h"

#define POINTS_MAX (1u << 27) /* 1 GB of ring, and again while it is built */
#define SMALL_SORT 48u        /* points of a bucket that insertion still sorts faster */
#define AHEAD      16u        /* lookups of a batch under way at once */

struct ring {
    uint32_t *start;    /* of each bucket: index of its first point; one more entry ends the last */
    uint32_t *position; /* and GY_BELOW of UINT32_MAX, so that a compare may read past the end */
    uint16_t *owner; /* and GY_BELOW of the first point's, so that the wrap is no case of its own */
    uint32_t buckets;
};

static uint32_t point(uint64_t seed, uint64_t i)
{
    return (uint32_t)(gy_stream(seed, i) >> 32);
}

static uint32_t bucket_of(uint32_t buckets, uint32_t position)
{
    return (uint32_t)((uint64_t)position * buckets >> 32);
}

/* ---- lookup ---- */

static size_t find_from(const struct ring *r, size_t i, uint32_t position)
{
    for (;;) {
        unsigned below = gy_below8(r->position + i, position);
        i += below;
        if (below < GY_BELOW) {
            return i; /* may be one past the last point: the sentinels stand there */
        }
    }
}

static size_t find(const struct ring *r, uint32_t position)
{
    return find_from(r, r->start[bucket_of(r->buckets, position)], position);
}

static uint32_t ring_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct ring *r = m->data;
    return r->owner[find(r, (uint32_t)((uint64_t)hash >> 32))];
}

/* All index reads of a group are issued before the first point is needed, so that cache misses
 * overlap. */
static void ring_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct ring *r = m->data;
    uint32_t start[AHEAD];
    for (size_t done = 0; done < n;) {
        size_t now = n - done < AHEAD ? n - done : AHEAD;
        for (size_t i = 0; i < now; i++) {
            start[i] = r->start[bucket_of(r->buckets, (uint32_t)(hashes[done + i] >> 32))];
            __builtin_prefetch(r->position + start[i]);
            __builtin_prefetch(r->owner + start[i]);
        }
        for (size_t i = 0; i < now; i++) {
            uint32_t position = (uint32_t)(hashes[done + i] >> 32);
            out[done + i] = r->owner[find_from(r, start[i], position)];
        }
        done += now;
    }
}

static size_t ring_first(const gyre_map_t *m, gy_u128 hash)
{
    size_t i = find(m->data, (uint32_t)((uint64_t)hash >> 32));
    return i == m->steps ? 0 : i;
}

static uint32_t ring_node(const gyre_map_t *m, size_t step)
{
    const struct ring *r = m->data;
    return r->owner[step];
}

static gy_u128 ring_position(const gyre_map_t *m, size_t step)
{
    const struct ring *r = m->data;
    return r->position[step];
}

static void ring_sorted(const gyre_map_t *m, struct gy_sorted *out)
{
    const struct ring *r = m->data;
    *out = (struct gy_sorted){r->position, r->owner, m->steps};
}

/* ---- build ---- */

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
            "the weights ask for %llu points on the ring, which is %llu MB of memory and "
            "as much again while it is built; at most %u are allowed: scale the weights "
            "or `points` (%u) down",
            (unsigned long long)total, (unsigned long long)(total / 125000), POINTS_MAX,
            m->per_unit);
    }
    m->steps = (size_t)total;
    return GYRE_OK;
}

/* Position and owner as one number, so that sorting numbers sorts by position, then name. */
static uint64_t pack(uint32_t position, uint32_t owner)
{
    return (uint64_t)position << 16 | owner;
}

static int compare_packed(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Buckets hold two points on average; only names chosen with ill will make a large one. */
static void sort_bucket(uint64_t *p, size_t n)
{
    if (n > SMALL_SORT) {
        qsort(p, n, sizeof *p, compare_packed);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t x = p[i];
        size_t j = i;
        for (; j > 0 && p[j - 1] > x; j--) {
            p[j] = p[j - 1];
        }
        p[j] = x;
    }
}

/* start[b] counts the points of bucket b, then becomes where the bucket begins. */
static void count_buckets(const struct gyre_map *m, struct ring *r, const uint64_t *seeds)
{
    memset(r->start, 0, ((size_t)r->buckets + 1) * sizeof *r->start);
    for (uint32_t id = 0; id < m->count; id++) {
        for (uint32_t i = 0; i < m->points[id]; i++) {
            r->start[bucket_of(r->buckets, point(seeds[id], i))]++;
        }
    }
    uint32_t begin = 0;
    for (uint32_t b = 0; b <= r->buckets; b++) {
        uint32_t n = r->start[b];
        r->start[b] = begin;
        begin += n;
    }
}

/* The points are made a second time rather than kept: it costs less than the memory traffic. */
static void deal_points(const struct gyre_map *m, struct ring *r, const uint64_t *seeds,
                        uint64_t *packed)
{
    for (uint32_t id = 0; id < m->count; id++) {
        for (uint32_t i = 0; i < m->points[id]; i++) {
            uint32_t position = point(seeds[id], i);
            packed[r->start[bucket_of(r->buckets, position)]++] = pack(position, id);
        }
    }
    /* Each start has become its bucket's end, which is the next one's begin. */
    memmove(r->start + 1, r->start, (size_t)r->buckets * sizeof *r->start);
    r->start[0] = 0;
}

static void settle(struct gyre_map *m, struct ring *r, uint64_t *packed)
{
    for (uint32_t b = 0; b < r->buckets; b++) {
        sort_bucket(packed + r->start[b], r->start[b + 1] - r->start[b]);
    }
    for (size_t i = 0; i < m->steps; i++) {
        r->position[i] = (uint32_t)(packed[i] >> 16);
        r->owner[i] = (uint16_t)packed[i];
    }
    for (size_t i = m->steps; i < m->steps + GY_BELOW; i++) {
        r->position[i] = UINT32_MAX;
        r->owner[i] = r->owner[0];
    }
}

/* As gy_map_measure, without a call per point: this is part of every build. */
static void measure(struct gyre_map *m, const struct ring *r)
{
    uint64_t start = 0;
    for (size_t i = 0; i < m->steps; i++) {
        uint64_t end = (uint64_t)r->position[i] + 1; /* start <= end, for positions are sorted */
        m->owned[r->owner[i]] += end - start;
        start = end;
    }
    m->owned[r->owner[0]] += ((uint64_t)1 << 32) - start;
}

static void ring_fini(struct gyre_map *m)
{
    struct ring *r = m->data;
    gy_mem_free(r->start);
    gy_mem_free(r->position);
    gy_mem_free(r->owner);
    gy_mem_free(r);
}

static int ring_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = count_points(m, e);
    if (err) {
        return err;
    }
    struct ring *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(e);
    }
    uint32_t buckets = (uint32_t)((m->steps + 1) / 2);
    *r = (struct ring){.start = gy_mem_alloc((size_t)buckets + 1, sizeof *r->start),
                       .position = gy_mem_alloc(m->steps + GY_BELOW, sizeof *r->position),
                       .owner = gy_mem_alloc(m->steps + GY_BELOW, sizeof *r->owner),
                       .buckets = buckets};
    m->data = r;
    m->bytes = ((size_t)buckets + 1) * sizeof *r->start +
               (m->steps + GY_BELOW) * (sizeof *r->position + sizeof *r->owner);

    uint64_t *seeds = gy_mem_alloc(m->count, sizeof *seeds);
    uint64_t *packed = gy_mem_alloc(m->steps, sizeof *packed);
    if (!r->start || !r->position || !r->owner || !seeds || !packed) {
        err = gy_fail_nomem(e);
        goto out;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        seeds[i] = gyre_hash_xxh3(m->nodes[i].name, strlen(m->nodes[i].name));
    }
    count_buckets(m, r, seeds);
    deal_points(m, r, seeds, packed);
    settle(m, r, packed);
    measure(m, r);
out:
    gy_mem_free(seeds);
    gy_mem_free(packed);
    return err;
}

const struct gy_place gy_place_ring = {
    .name = "ring",
    .ring = true,
    .build = ring_build,
    .fini = ring_fini,
    .locate = ring_locate,
    .locate_batch = ring_locate_batch,
    .first = ring_first,
    .node = ring_node,
    .position = ring_position,
    .sorted = ring_sorted,
};
