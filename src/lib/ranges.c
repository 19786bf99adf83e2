/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - the hash space as ranges of keys that the same nodes hold. The replicas of a key
 * depend on the arc it stands on and on nothing else, so each arc's are asked once. A walk keeps
 * its state in the caller's cursor and allocates nothing. Threads: any, one a cursor.
 */
#include <string.h>

#include "lib/map.h"

#define HOLDERS_MAX 64u /* the most that the setting `replicas` allows */

/* Between calls, in the cursor. ENDS_WITH_FIRST: the first range is the end of the last one. */
enum { PHASE, ARC, START_HI, START_LO, FIRST_HI, FIRST_LO };
enum { FRESH, ON_THE_WAY, ENDS_WITH_FIRST, OVER };

struct walk {
    const gyre_map_t *m;
    size_t want, arc;
    gy_u128 start, last;
    bool done;
};

struct range {
    gy_u128 first, last;
    size_t holders;
    unsigned flags;
    uint32_t node[HOLDERS_MAX];
};

bool gy_map_has_ranges(const gyre_map_t *m)
{
    return m->positive && m->place->position && !m->place->start && !m->by_key;
}

static void find_holders(const struct walk *w, struct range *r)
{
    size_t step = w->arc < w->m->steps ? w->arc : 0;
    r->holders = gy_replicas_from(w->m, step, r->node, w->want, &r->flags);
}

/* The arc that w stands on; then w stands on the next one that is not empty. */
static void take_arc(struct walk *w, struct range *r)
{
    r->first = w->start;
    r->last = gy_arc_end(w->m, w->arc);
    find_holders(w, r);
    w->done = r->last == w->last;
    if (!w->done) {
        w->start = r->last + 1;
        while (gy_arc_end(w->m, w->arc) < w->start) {
            w->arc++;
        }
    }
}

static bool same_holders(const struct range *a, const struct range *b)
{
    return a->holders == b->holders && a->flags == b->flags &&
           memcmp(a->node, b->node, a->holders * sizeof *a->node) == 0;
}

static bool take_range(struct walk *w, struct range *r)
{
    if (w->done) {
        return false;
    }
    take_arc(w, r);
    while (!w->done) {
        struct walk before = *w;
        struct range next;
        take_arc(w, &next);
        if (!same_holders(r, &next)) {
            *w = before;
            break;
        }
        r->last = next.last;
    }
    return true;
}

/* Slots do not wrap; and what belongs to the first point's arc beyond the last point does. */
static bool begins_wrapped(const struct walk *w)
{
    const gyre_map_t *m = w->m;
    struct walk end = *w;
    struct range first, last;
    if (m->slots) {
        return false;
    }
    find_holders(w, &first);
    for (end.arc = m->steps; end.arc > 0 && gy_arc_end(m, end.arc - 1) == w->last;) {
        end.arc--;
    }
    find_holders(&end, &last);
    return same_holders(&first, &last);
}

static uint64_t first_phase(struct walk *w, uint64_t *at)
{
    struct walk begin = *w;
    struct range r;
    if (!begins_wrapped(w) || !take_range(w, &r) || w->done) {
        *w = begin;
        return ON_THE_WAY;
    }
    at[FIRST_HI] = (uint64_t)(r.last >> 64);
    at[FIRST_LO] = (uint64_t)r.last;
    return ENDS_WITH_FIRST;
}

static void put_range(const gyre_map_t *m, const struct range *r, struct gyre_range *out)
{
    gy_u128 length = r->first <= r->last ? gy_map_length(m, r->first, r->last)
                                         : gy_map_length(m, r->first, gy_map_last(m)) +
                                               gy_map_length(m, 0, r->last);
    struct gyre_range range = {.size = out->size,
                               .first_hi = (uint64_t)(r->first >> 64),
                               .first_lo = (uint64_t)r->first,
                               .last_hi = (uint64_t)(r->last >> 64),
                               .last_lo = (uint64_t)r->last,
                               .share = gy_map_fraction(m, length),
                               .holders = r->holders,
                               .flags = r->flags};
    memcpy(out, &range, out->size < sizeof range ? out->size : sizeof range);
}

bool gyre_range_next(const gyre_map_t *m, size_t replicas, struct gyre_cursor *cursor,
                     struct gyre_range *out, uint32_t *holders)
{
    uint64_t *at = cursor->state;
    if (!gy_map_has_ranges(m) || replicas < 1 || replicas > HOLDERS_MAX || at[PHASE] >= OVER) {
        return false;
    }
    struct walk w = {.m = m, .want = replicas, .arc = gy_arc_first(m), .last = gy_map_last(m)};
    if (at[PHASE] == FRESH) {
        at[PHASE] = first_phase(&w, at);
    } else {
        w.arc = (size_t)at[ARC];
        w.start = gy_wide(at[START_HI], at[START_LO]);
    }
    struct range r;
    if (!take_range(&w, &r)) {
        at[PHASE] = OVER;
        return false;
    }
    if (w.done && at[PHASE] == ENDS_WITH_FIRST) {
        r.last = gy_wide(at[FIRST_HI], at[FIRST_LO]);
    }
    at[PHASE] = w.done ? OVER : at[PHASE];
    at[ARC] = w.arc;
    at[START_HI] = (uint64_t)(w.start >> 64);
    at[START_LO] = (uint64_t)w.start;
    memcpy(holders, r.node, r.holders * sizeof *holders);
    put_range(m, &r, out);
    return true;
}

/* ---- positions ---- */

bool gyre_map_position(const gyre_map_t *m, const void *key, size_t len, uint64_t *hi, uint64_t *lo)
{
    if (!m->positive || !m->place->position) {
        return false;
    }
    gy_u128 hash = gy_map_hash_wide(m, key, len);
    gy_u128 at = m->slots ? hash % m->slots : hash >> (m->hash_bits - m->position_bits);
    *hi = (uint64_t)(at >> 64);
    *lo = (uint64_t)at;
    return true;
}

unsigned gyre_map_position_bits(const gyre_map_t *m)
{
    return m->positive && m->place->position && !m->slots ? m->position_bits : 0;
}

uint64_t gyre_map_slots(const gyre_map_t *m)
{
    return m->positive ? m->slots : 0;
}
