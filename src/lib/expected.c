/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected.c - see expected.h. There are two kinds of drawing.
 *
 * A race (rendezvous): node k of mass m has the cost E / m, E exponential and the same before and
 * after; the least cost wins. Let a and b be the masses of all before and after, s and t the
 * costs of the winners, q = t / s. That i wins before and j != i after has the density
 * a_i b_j exp(-sum of max(a_k s, b_k t)) where a_j / b_j < q < a_i / b_i, so the flow from i to j
 * is a_i b_j times the integral of dq / S(q)^2 from a_j / b_j to a_i / b_i, S(q) = sum of max(a_k,
 * b_k q); and i keeps a_i / S(a_i / b_i). Between two neighbouring ratios S is linear.
 *
 * A sequence of draws (dx; with masses of 1 jump, jumpback and memento): each draw is of a slot,
 * and taken with a chance that goes by its mass. The first draw that either map takes decides: both
 * do, or one of them goes on drawing as if nothing had happened.
 *
 * Masses are whole numbers and so are all numerators and denominators here, up to 128 bits: figures
 * of any size come out to about a double's precision. tests/property counts keys against them.
 * Threads: any.
 */
#include "lib/expected.h"

#include <stdlib.h>

#include "lib/alloc.h"
#include "lib/merge.h"

/* Sums of 65535 quotients err by less; what is within it of the minimum is the minimum. */
#define ROUNDING 1e-11

/* One that may be drawn: a node of both maps or of one; for draws, a slot of both or of one. */
struct part {
    uint64_t before, after; /* mass, 0 where it is not there */
    uint32_t from, to;      /* the node's numbers, GYRE_NONE where it is not there */
    /* Draws: mass that the node `from` has after, and that `to` had before, wherever they stand. */
    uint64_t will, was;
    /* A race: the integral since the part before, and the first part of equal ratio. */
    double piece;
    size_t first;
};

struct drawing {
    const gyre_map_t *a, *b;
    const uint16_t *twin;
    struct part *part;
    size_t count, most;
    uint64_t all_before, all_after;
    struct gy_flows *flows;
};

bool gy_expected_pair(const gyre_map_t *a, const gyre_map_t *b)
{
    return a->place == b->place && a->place->expected && gy_map_one_hash(a, b) && !a->by_key &&
           !b->by_key && a->place->expected(a, b);
}

static uint64_t mass_of(const gyre_map_t *m, uint32_t node)
{
    return node < m->count && m->weight[node] ? m->place->mass(m, node) : 0;
}

static uint32_t twin_of(const struct drawing *d, uint32_t from)
{
    return d->twin[from] == GY_TWIN_NONE ? GYRE_NONE : d->twin[from];
}

static bool full(const struct drawing *d)
{
    return d->flows->count >= d->most;
}

static int add(const struct drawing *d, uint32_t from, uint32_t to, double share)
{
    gy_u128 amount = (gy_u128)((share < 1 ? share : 1) * GY_EXPECTED_ALL);
    return amount && twin_of(d, from) != to ? gy_flows_add(d->flows, from, to, amount) : GYRE_OK;
}

/* What the nodes that shrink lose, in all: before / all_before - after / all_after, where positive.
 * At most 65535 * 2^40 * 2^56. */
static double least(const struct drawing *d)
{
    gy_u128 sum = 0;
    for (uint32_t i = 0; i < d->a->count; i++) {
        gy_u128 before = (gy_u128)mass_of(d->a, i) * d->all_after;
        gy_u128 after = (gy_u128)mass_of(d->b, twin_of(d, i)) * d->all_before;
        sum += before > after ? before - after : 0;
    }
    return (double)sum / ((double)d->all_before * (double)d->all_after);
}

/* ---- a race ---- */

static void add_part(struct drawing *d, uint32_t from, uint32_t to)
{
    struct part x = {
        .from = from, .to = to, .before = mass_of(d->a, from), .after = mass_of(d->b, to)};
    if (x.before || x.after) {
        d->part[d->count++] = x;
    }
}

/* Both maps sort by name, so twins rise. */
static void parts_by_name(struct drawing *d)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < d->a->count; i++) {
        uint32_t twin = twin_of(d, i);
        for (; twin != GYRE_NONE && j < twin; j++) {
            add_part(d, GYRE_NONE, j);
        }
        add_part(d, i, twin);
        j = twin == GYRE_NONE ? j : twin + 1;
    }
    for (; j < d->b->count; j++) {
        add_part(d, GYRE_NONE, j);
    }
}

/* By before / after; those that leave come last. */
static int compare_ratios(const struct part *x, const struct part *y)
{
    gy_u128 left = (gy_u128)x->before * y->after, right = (gy_u128)y->before * x->after;
    return left < right ? -1 : left > right;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = compare_ratios(x, y);
    if (order) {
        return order;
    }
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

/*
 * With B = after of all parts up to x and A = before of those beyond: S(ratio) * x.after is
 * T = B x.before + A x.after, and the integral from the last ratio p / r is
 * (x.before r - p x.after) / (T of the last one * T). What leaves x is
 * x.before / all * (1 - all / S). Returns the sum of that.
 */
static double run_race(struct drawing *d)
{
    struct part last = {.after = 1};
    double last_t = (double)d->all_before, moved = 0;
    uint64_t up_to = 0, beyond = d->all_before, passed = 0;
    qsort(d->part, d->count, sizeof *d->part, compare_parts);
    for (size_t k = 0; k < d->count; k++) {
        struct part *x = &d->part[k];
        gy_u128 t = (gy_u128)up_to * x->before + (gy_u128)beyond * x->after;
        gy_u128 gain = (gy_u128)up_to * x->before - (gy_u128)passed * x->after;
        gy_u128 step = (gy_u128)x->before * last.after - (gy_u128)last.before * x->after;
        x->first = k && compare_ratios(x, x - 1) == 0 ? x[-1].first : k;
        x->piece = (double)step / (last_t * (double)t);
        moved += (double)x->before / (double)d->all_before * ((double)gain / (double)t);
        last = *x;
        last_t = (double)t;
        up_to += x->after;
        beyond -= x->before;
        passed += x->before;
    }
    return moved;
}

static int race_flows(const struct drawing *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct part *x = &d->part[i];
        double integral = 0;
        for (size_t j = x->before ? x->first : 0; j > 0 && !full(d); j--) {
            const struct part *y = &d->part[j - 1];
            integral += d->part[j].piece;
            if (y->after &&
                add(d, x->from, y->to, (double)x->before * (double)y->after * integral)) {
                return GYRE_NOMEM;
            }
        }
    }
    return GYRE_OK;
}

/* ---- a sequence of draws ---- */

static void parts_by_slot(struct drawing *d, size_t slots)
{
    for (size_t s = 0; s < slots; s++) {
        d->part[s] = (struct part){.from = GYRE_NONE, .to = GYRE_NONE};
    }
    for (uint32_t i = 0; i < d->b->count; i++) {
        if (mass_of(d->b, i)) {
            struct part *x = &d->part[d->b->nodes[i].slot - 1];
            x->to = i;
            x->after = mass_of(d->b, i);
        }
    }
    for (uint32_t i = 0; i < d->a->count; i++) {
        uint32_t twin = twin_of(d, i);
        uint64_t before = mass_of(d->a, i), after = mass_of(d->b, twin);
        if (before) {
            struct part *x = &d->part[d->a->nodes[i].slot - 1];
            x->from = i;
            x->before = before;
            x->will = after;
        }
        if (after) {
            d->part[d->b->nodes[twin].slot - 1].was = before;
        }
    }
    for (size_t s = 0; s < slots; s++) {
        if (d->part[s].before || d->part[s].after) {
            d->part[d->count++] = d->part[s];
        }
    }
}

static uint64_t both(const struct part *x)
{
    return x->before < x->after ? x->before : x->after;
}

static bool stays(const struct drawing *d, const struct part *x)
{
    return both(x) == 0 || twin_of(d, x->from) == x->to;
}

/* Draws that one map alone takes; the other one's next is any, of its own node too. */
static double run_draws(const struct drawing *d, double *either)
{
    gy_u128 lost = 0, gained = 0, changed = 0, taken = 0; /* below 2^20 * 2^31 * 2^51 */
    for (size_t k = 0; k < d->count; k++) {
        const struct part *x = &d->part[k];
        taken += x->before > x->after ? x->before : x->after;
        lost += (gy_u128)(x->before - both(x)) * (d->all_after - x->will);
        gained += (gy_u128)(x->after - both(x)) * (d->all_before - x->was);
        changed += stays(d, x) ? 0 : both(x);
    }
    *either = (double)taken;
    return ((double)lost / (double)d->all_after + (double)gained / (double)d->all_before +
            (double)changed) /
           *either;
}

/* To all, as they have of all keys afterwards. */
static int spread_to_all(const struct drawing *d, const struct part *x, double share)
{
    for (size_t k = 0; k < d->count && !full(d); k++) {
        const struct part *y = &d->part[k];
        double part = share * (double)y->after / (double)d->all_after;
        if (y->after && add(d, x->from, y->to, part)) {
            return GYRE_NOMEM;
        }
    }
    return GYRE_OK;
}

static int take_from_all(const struct drawing *d, const struct part *x, double share)
{
    for (size_t k = 0; k < d->count && !full(d); k++) {
        const struct part *y = &d->part[k];
        double part = share * (double)y->before / (double)d->all_before;
        if (y->before && add(d, y->from, x->to, part)) {
            return GYRE_NOMEM;
        }
    }
    return GYRE_OK;
}

static int draws_flows(const struct drawing *d, double either)
{
    int err = GYRE_OK;
    for (size_t k = 0; !err && k < d->count && !full(d); k++) {
        const struct part *x = &d->part[k];
        if (!stays(d, x)) {
            err = add(d, x->from, x->to, (double)both(x) / either);
        }
        if (!err && x->before > x->after) {
            err = spread_to_all(d, x, (double)(x->before - x->after) / either);
        } else if (!err && x->after > x->before) {
            err = take_from_all(d, x, (double)(x->after - x->before) / either);
        }
    }
    return err;
}

/* ---- both ---- */

static uint64_t mass_of_all(const gyre_map_t *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        sum += mass_of(m, i);
    }
    return sum;
}

int gy_expected_flows(const gyre_map_t *a, const gyre_map_t *b, const uint16_t *twin, size_t most,
                      struct gy_flows *flows, struct gy_expected *out)
{
    size_t slots = a->steps > b->steps ? a->steps : b->steps;
    size_t room = a->place->numbered ? slots : (size_t)a->count + b->count;
    struct drawing d = {.a = a,
                        .b = b,
                        .twin = twin,
                        .part = gy_mem_alloc(room, sizeof *d.part),
                        .most = most,
                        .all_before = mass_of_all(a),
                        .all_after = mass_of_all(b),
                        .flows = flows};
    int err;
    if (!d.part) {
        return GYRE_NOMEM;
    }
    if (a->place->numbered) {
        double either;
        parts_by_slot(&d, slots);
        out->moved = run_draws(&d, &either);
        err = draws_flows(&d, either);
    } else {
        parts_by_name(&d);
        out->moved = run_race(&d);
        err = race_flows(&d);
    }
    out->minimum = least(&d);
    if (out->moved <= out->minimum * (1 + ROUNDING)) {
        out->moved = out->minimum;
    }
    gy_mem_free(d.part);
    return err;
}
