/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - see merge.h. Two versions of a fleet have most points in common, so where both rings
 * keep theirs in arrays, blocks of equal points with equal owners are passed over at the speed of
 * memory, without a branch a point; only what differs is taken arc by arc. Threads: any.
 */
#include "lib/merge.h"

#define BLOCK 16u /* points compared at once */

void gy_merge_start(struct gy_merge *g, const gyre_map_t *a, const gyre_map_t *b,
                    const uint16_t *twin)
{
    *g = (struct gy_merge){.a = a, .b = b, .twin = twin, .last = gy_map_last(a)};
    /* Of rings that end before their last points do, as short hashes make them, the arrays do not
     * tell. */
    bool whole = a->position_bits == 32 && b->position_bits == 32 && !a->after && !b->after;
    if (a->place->sorted && b->place->sorted && whole) {
        a->place->sorted(a, &g->p);
        b->place->sorted(b, &g->q);
        return;
    }
    g->i = gy_arc_first(a);
    g->j = gy_arc_first(b);
}

/* ---- points in arrays ---- */

/* May be called up to BLOCK before the end of both. */
static bool same_block(const struct gy_merge *g)
{
    const uint32_t *p = g->p.position + g->i, *q = g->q.position + g->j;
    const uint16_t *from = g->p.owner + g->i, *to = g->q.owner + g->j;
    uint32_t differs = 0;
    for (unsigned k = 0; k < BLOCK; k++) {
        differs |= p[k] ^ q[k];
    }
    if (differs) {
        return false;
    }
    for (unsigned k = 0; k < BLOCK; k++) {
        differs |= (uint32_t)g->twin[from[k]] ^ to[k];
    }
    return differs == 0;
}

/* Past the points that end before start: of several at one position only the first owns. */
static void step_over(struct gy_merge *g)
{
    uint32_t start = (uint32_t)g->start;
    while (g->i < g->p.count && g->p.position[g->i] < start) {
        g->i++;
    }
    while (g->j < g->q.count && g->q.position[g->j] < start) {
        g->j++;
    }
}

static void pass_equal(struct gy_merge *g)
{
    size_t i = g->i;
    while (g->i + BLOCK <= g->p.count && g->j + BLOCK <= g->q.count && same_block(g)) {
        g->i += BLOCK;
        g->j += BLOCK;
    }
    if (g->i == i) {
        return;
    }
    uint32_t end = g->p.position[g->i - 1];
    g->done = end == g->last;
    if (!g->done) {
        g->start = (gy_u128)end + 1;
        step_over(g);
    }
}

/* Past the end of the array stands what wraps: the last position, of the first point's owner. */
static void take_point(struct gy_merge *g, struct gy_stretch *s)
{
    uint32_t a = g->p.position[g->i], b = g->q.position[g->j], end = a < b ? a : b;
    *s = (struct gy_stretch){g->start, end, g->p.owner[g->i], g->q.owner[g->j]};
    g->done = end == g->last;
    if (!g->done) {
        g->start = (gy_u128)end + 1;
        step_over(g);
    }
}

/* ---- any arcs ---- */

static void take_arc(struct gy_merge *g, struct gy_stretch *s)
{
    gy_u128 a = gy_arc_end(g->a, g->i), b = gy_arc_end(g->b, g->j), end = a < b ? a : b;
    *s = (struct gy_stretch){g->start, end, gy_arc_node(g->a, g->i), gy_arc_node(g->b, g->j)};
    g->done = end == g->last;
    if (g->done) {
        return;
    }
    g->start = end + 1;
    while (gy_arc_end(g->a, g->i) < g->start) {
        g->i++;
    }
    while (gy_arc_end(g->b, g->j) < g->start) {
        g->j++;
    }
}

/* ---- both ---- */

static void take(struct gy_merge *g, struct gy_stretch *s)
{
    if (g->p.position) {
        take_point(g, s);
    } else {
        take_arc(g, s);
    }
}

static bool moves(const struct gy_merge *g, const struct gy_stretch *s)
{
    return g->twin[s->from] != s->to;
}

/* Blocks are tried again only past the one that differed: it would differ again at every point. */
static bool next_moved(struct gy_merge *g, struct gy_stretch *s)
{
    size_t again = g->i;
    while (!g->done) {
        if (g->p.position && g->i >= again) {
            pass_equal(g);
            again = g->i + BLOCK;
            if (g->done) {
                return false;
            }
        }
        take(g, s);
        if (moves(g, s)) {
            return true;
        }
    }
    return false;
}

bool gy_merge_next(struct gy_merge *g, struct gy_stretch *out)
{
    if (!next_moved(g, out)) {
        return false;
    }
    while (!g->done) {
        struct gy_merge before = *g;
        struct gy_stretch s;
        take(g, &s);
        if (s.from != out->from || s.to != out->to) {
            if (moves(g, &s)) {
                *g = before;
            }
            break;
        }
        out->last = s.last;
    }
    return true;
}

void gy_merge_ends(const struct gy_merge *g, struct gy_stretch *first, struct gy_stretch *last)
{
    size_t i = gy_arc_first(g->a), j = gy_arc_first(g->b);
    *first = (struct gy_stretch){.from = gy_arc_node(g->a, i), .to = gy_arc_node(g->b, j)};
    *last = (struct gy_stretch){.from = gy_map_last_owner(g->a), .to = gy_map_last_owner(g->b)};
}
