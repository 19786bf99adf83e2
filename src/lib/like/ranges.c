/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - see ranges.h. Where every range is one slot (lookup tables) a slot is looked up
 * directly, otherwise by halving. Ranges of nobody are left out of the walk over the map's steps.
 * Threads: immutable once built.
 */
#include "lib/like/ranges.h"

#include "lib/alloc.h"
#include "lib/error.h"

#define RANGES_MAX (1u << 24)

struct table {
    uint64_t *end;
    uint32_t *owner;
    uint32_t *step;  /* of the range, or of the next one that has an owner */
    uint32_t *range; /* of the step */
    size_t n;
    gy_u128 all; /* hashes that fall in slots with an owner */
};

int gy_ranges_init(struct gy_ranges *r, uint64_t room, gyre_error_t *e)
{
    *r = (struct gy_ranges){0};
    if (room > RANGES_MAX) {
        return gy_fail(e, GYRE_RANGE, "a table of %llu entries; at most %u are allowed",
                       (unsigned long long)room, RANGES_MAX);
    }
    r->room = (size_t)room;
    r->end = gy_mem_alloc(r->room + 1, sizeof *r->end); /* + 1: none is no failure */
    r->owner = gy_mem_alloc(r->room + 1, sizeof *r->owner);
    if (!r->end || !r->owner) {
        gy_ranges_fini(r);
        return gy_fail_nomem(e);
    }
    return GYRE_OK;
}

void gy_ranges_fini(struct gy_ranges *r)
{
    gy_mem_free(r->end);
    gy_mem_free(r->owner);
    *r = (struct gy_ranges){0};
}

void gy_ranges_put(struct gy_ranges *r, uint64_t slots, uint32_t node)
{
    if (slots && r->n < r->room) {
        r->slots += slots;
        r->end[r->n] = r->slots;
        r->owner[r->n++] = node;
    }
}

/* ---- lookup ---- */

static size_t range_of(const struct table *t, uint64_t slots, uint64_t slot)
{
    if (t->n == slots) {
        return (size_t)slot;
    }
    size_t low = 0, n = t->n;
    while (n > 1) {
        size_t half = n / 2;
        low += t->end[low + half - 1] <= slot ? half : 0;
        n -= half;
    }
    return low;
}

static size_t ranges_first(const gyre_map_t *m, gy_u128 hash)
{
    const struct table *t = m->data;
    uint64_t slot = hash >> 64 ? (uint64_t)(hash % m->slots) : (uint64_t)hash % m->slots;
    return t->step[range_of(t, m->slots, slot)];
}

static uint32_t ranges_node(const gyre_map_t *m, size_t step)
{
    const struct table *t = m->data;
    return t->owner[t->range[step]];
}

/* The last slot of the step's range, and of those of nobody that lead to it: see gy_arcs. */
static gy_u128 ranges_position(const gyre_map_t *m, size_t step)
{
    const struct table *t = m->data;
    return t->end[t->range[step]] - 1;
}

static uint32_t ranges_locate(const gyre_map_t *m, gy_u128 hash)
{
    return ranges_node(m, ranges_first(m, hash));
}

static void ranges_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = ranges_locate(m, hashes[i]);
    }
}

static void ranges_fini(struct gyre_map *m)
{
    struct table *t = m->data;
    gy_mem_free(t->end);
    gy_mem_free(t->owner);
    gy_mem_free(t->step);
    gy_mem_free(t->range);
    gy_mem_free(t);
}

uint32_t gy_ranges_owner(const gyre_map_t *m, uint64_t slot)
{
    const struct table *t = m->data;
    return t->owner[range_of(t, m->slots, slot)];
}

uint64_t gy_ranges_first_slot(const gyre_map_t *m, uint32_t node)
{
    const struct table *t = m->data;
    size_t i = 0;
    while (i + 1 < t->n && t->owner[i] != node) {
        i++;
    }
    return i ? t->end[i - 1] : 0;
}

/* ---- build ---- */

static void number_steps(struct gyre_map *m, struct table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->owner[i] != GYRE_NONE) {
            t->range[m->steps++] = (uint32_t)i;
            m->points[t->owner[i]]++;
            gy_u128 hashes = gy_map_length(m, i ? t->end[i - 1] : 0, t->end[i] - 1);
            m->owned[t->owner[i]] += hashes;
            t->all += hashes;
        }
    }
    size_t next = 0;
    for (size_t i = t->n; i-- > 0;) { /* beyond the last with an owner comes the first: step 0 */
        if (t->owner[i] != GYRE_NONE) {
            next = next ? next - 1 : m->steps - 1;
        }
        t->step[i] = (uint32_t)next;
    }
}

static const struct gy_place place_ranges;

int gy_ranges_settle(struct gyre_map *m, struct gy_ranges *r, gyre_error_t *e)
{
    m->place = &place_ranges;
    m->position_bits = 64;
    m->steps = 0;
    m->slots = 0;
    if (r->n == 0) {
        return GYRE_OK;
    }
    struct table *t = gy_mem_alloc(1, sizeof *t);
    if (!t) {
        return gy_fail_nomem(e);
    }
    *t = (struct table){.end = r->end,
                        .owner = r->owner,
                        .step = gy_mem_alloc(r->n, sizeof *t->step),
                        .range = gy_mem_alloc(r->n, sizeof *t->range),
                        .n = r->n};
    m->data = t;
    m->slots = r->slots;
    r->end = NULL; /* the table's now */
    r->owner = NULL;
    if (!t->step || !t->range) {
        return gy_fail_nomem(e);
    }
    m->bytes = t->n * (sizeof *t->end + sizeof *t->owner + sizeof *t->step + sizeof *t->range);
    number_steps(m, t);
    return GYRE_OK;
}

static double ranges_share(const gyre_map_t *m, uint32_t i)
{
    const struct table *t = m->data;
    return (double)m->owned[i] / (double)t->all;
}

static const struct gy_place place_ranges = {
    .name = "table",
    .fini = ranges_fini,
    .locate = ranges_locate,
    .locate_batch = ranges_locate_batch,
    .first = ranges_first,
    .node = ranges_node,
    .position = ranges_position,
    .share = ranges_share,
};
