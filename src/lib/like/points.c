/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.c - see points.h. Positions of 32 bits are kept as the own ring's are (place/ring.h);
 * others as narrow as they are (32, 64 or 128 bits), sorted, beside their owners. An index of about
 * two points a bucket, by the top 32 bits of a position, leads to a handful of points; a bucket
 * that has more (positions of 15 bits crowd into one) is halved until it has not. Threads:
 * immutable once built.
 */
#include "lib/like/points.h"

#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/ring.h"

#define FEW 8u /* points that are looked at one by one */

struct ring {
    uint32_t *start; /* of each bucket: its first point; one more entry ends the last */
    void *position;  /* uint32_t, uint64_t or gy_u128, as bits says */
    uint32_t *owner;
    uint64_t buckets;
    unsigned bits;
};

/* ---- collecting ---- */

int gy_points_init(struct gy_points *points, uint64_t room, gyre_error_t *e)
{
    *points = (struct gy_points){0};
    if (room > GY_POINTS_MAX) {
        return gy_fail(e, GYRE_RANGE,
                       "the weights ask for %llu points on the ring, which is %llu MB of memory "
                       "while it is built; at most %u are allowed: scale the weights down",
                       (unsigned long long)room, (unsigned long long)(room / 20000), GY_POINTS_MAX);
    }
    points->p = gy_mem_alloc((size_t)room + 1, sizeof *points->p); /* + 1: none is no failure */
    points->room = (size_t)room;
    return points->p ? GYRE_OK : gy_fail_nomem(e);
}

void gy_points_fini(struct gy_points *points)
{
    gy_mem_free(points->p);
}

void gy_points_put(struct gy_points *points, gy_u128 at, uint32_t node)
{
    if (points->n < points->room) {
        points->p[points->n] = (struct gy_point){at, node, (uint32_t)points->n};
        points->n++;
    }
}

static int compare_points(const void *a, const void *b)
{
    const struct gy_point *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void gy_points_sort(struct gy_points *points)
{
    qsort(points->p, points->n, sizeof *points->p, compare_points);
}

/* ---- lookup ---- */

static gy_u128 position_at(const struct ring *r, size_t i)
{
    if (r->bits <= 32) {
        return ((const uint32_t *)r->position)[i];
    }
    return r->bits <= 64 ? ((const uint64_t *)r->position)[i] : ((const gy_u128 *)r->position)[i];
}

static size_t bucket_of(const struct ring *r, gy_u128 position)
{
    uint64_t top =
        (uint64_t)(r->bits <= 32 ? position << (32 - r->bits) : position >> (r->bits - 32));
    return (size_t)(top * r->buckets >> 32);
}

/* The first of the points low to high - 1 at or after x, high if there is none. */
#define FIND_IN(type)                                                         \
    static size_t find_##type(const type *p, size_t low, size_t high, type x) \
    {                                                                         \
        while (high - low > FEW) {                                            \
            size_t middle = low + (high - low) / 2;                           \
            if (p[middle] < x) {                                              \
                low = middle + 1;                                             \
            } else {                                                          \
                high = middle;                                                \
            }                                                                 \
        }                                                                     \
        while (low < high && p[low] < x) {                                    \
            low++;                                                            \
        }                                                                     \
        return low;                                                           \
    }
FIND_IN(uint32_t)
FIND_IN(uint64_t)
FIND_IN(gy_u128)
#undef FIND_IN

size_t gy_points_first(const gyre_map_t *m, gy_u128 hash)
{
    const struct ring *r = m->data;
    /* gyre_map_locate_hash takes any 64 bits, also where a hash has fewer. */
    gy_u128 last = gy_ring_last(r->bits), x = hash >> (m->hash_bits - m->position_bits) & last;
    if (m->after) {
        if (x == last) {
            return 0;
        }
        x++;
    }
    size_t bucket = bucket_of(r, x), low = r->start[bucket], high = r->start[bucket + 1], i;
    if (r->bits <= 32) {
        i = find_uint32_t(r->position, low, high, (uint32_t)x);
    } else if (r->bits <= 64) {
        i = find_uint64_t(r->position, low, high, (uint64_t)x);
    } else {
        i = find_gy_u128(r->position, low, high, x);
    }
    return i == m->steps ? 0 : i;
}

uint32_t gy_points_node(const gyre_map_t *m, size_t step)
{
    const struct ring *r = m->data;
    return r->owner[step];
}

gy_u128 gy_points_position(const gyre_map_t *m, size_t step)
{
    return position_at(m->data, step);
}

uint32_t gy_points_locate(const gyre_map_t *m, gy_u128 hash)
{
    return gy_points_node(m, gy_points_first(m, hash));
}

void gy_points_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = gy_points_locate(m, hashes[i]);
    }
}

void gy_points_drop(struct gyre_map *m)
{
    struct ring *r = m->data;
    gy_mem_free(r->start);
    gy_mem_free(r->position);
    gy_mem_free(r->owner);
    gy_mem_free(r);
}

/* ---- build ---- */

static size_t width(unsigned bits)
{
    return bits <= 32 ? sizeof(uint32_t) : bits <= 64 ? sizeof(uint64_t) : sizeof(gy_u128);
}

static void fill(struct ring *r, const struct gy_points *points)
{
    for (size_t i = 0; i < points->n; i++) {
        gy_u128 at = points->p[i].at;
        if (r->bits <= 32) {
            ((uint32_t *)r->position)[i] = (uint32_t)at;
        } else if (r->bits <= 64) {
            ((uint64_t *)r->position)[i] = (uint64_t)at;
        } else {
            ((gy_u128 *)r->position)[i] = at;
        }
        r->owner[i] = points->p[i].node;
    }
    size_t i = 0;
    for (size_t b = 0; b <= r->buckets; b++) {
        while (i < points->n && bucket_of(r, points->p[i].at) < b) {
            i++;
        }
        r->start[b] = (uint32_t)i;
    }
}

static int settle_wide(struct gyre_map *m, const struct gy_points *points, unsigned bits,
                       gyre_error_t *e)
{
    struct ring *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(e);
    }
    *r = (struct ring){.buckets = (points->n + 1) / 2, .bits = bits};
    r->start = gy_mem_alloc((size_t)r->buckets + 1, sizeof *r->start);
    r->position = gy_mem_alloc(points->n, width(bits));
    r->owner = gy_mem_alloc(points->n, sizeof *r->owner);
    m->data = r;
    if (!r->start || !r->position || !r->owner) {
        return gy_fail_nomem(e);
    }
    m->steps = points->n;
    m->bytes =
        ((size_t)r->buckets + 1) * sizeof *r->start + points->n * (width(bits) + sizeof *r->owner);
    fill(r, points);
    return GYRE_OK;
}

/* Nearly all systems: these are kept, and looked up, as the own ring is. */
static int settle_32(struct gyre_map *m, const struct gy_points *points, gyre_error_t *e)
{
    m->place = &gy_place_ring_32;
    m->steps = points->n;
    int err = gy_ring_room(m, e);
    if (err) {
        return err;
    }
    struct gy_ring *r = m->data;
    r->shift = m->hash_bits - m->position_bits;
    r->after = m->after;
    for (size_t i = 0; i < points->n; i++) {
        r->position[i] = (uint32_t)points->p[i].at;
        r->owner[i] = (uint16_t)points->p[i].node;
    }
    return gy_ring_lay(m) ? gy_fail_nomem(e) : GYRE_OK;
}

static const struct gy_place place_points;

int gy_points_settle(struct gyre_map *m, struct gy_points *points, unsigned point_bits,
                     gyre_error_t *e)
{
    m->place = &place_points;
    m->position_bits = point_bits < m->hash_bits ? point_bits : m->hash_bits;
    m->steps = 0;
    if (points->n == 0) {
        return GYRE_OK;
    }
    gy_points_sort(points);
    int err = point_bits == 32 ? settle_32(m, points, e) : settle_wide(m, points, point_bits, e);
    if (err) {
        return err;
    }
    memset(m->owned, 0, m->count * sizeof *m->owned);
    gy_map_measure(m);
    for (size_t i = 0; i < points->n; i++) {
        m->points[points->p[i].node]++;
    }
    return GYRE_OK;
}

static const struct gy_place place_points = {
    GY_POINTS_PLACE,
};
