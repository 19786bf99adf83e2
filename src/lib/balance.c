/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - how evenly a map, or a measured load, is spread. Threads: any.
 */
#include <string.h>

#include "lib/map.h"

/* Newton's method, so that the library needs no libm; not part of any placement. Starts above the
 * root, falls, and ends at the first value that no longer falls. */
static double square_root(double x)
{
    double root = x < 1 ? 1 : x;
    if (!(x > 0)) {
        return 0;
    }
    for (;;) {
        double next = (root + x / root) / 2;
        if (!(next < root)) {
            return root;
        }
        root = next;
    }
}

/* Mean first, squares of what differs from it second: no cancellation, two passes over the loads.
 */
struct spread {
    double sum, squares, most, least;
    uint32_t n;
};

static void spread_add(struct spread *s, double x)
{
    s->most = s->n == 0 || x > s->most ? x : s->most;
    s->least = s->n == 0 || x < s->least ? x : s->least;
    s->sum += x;
    s->n++;
}

/* Writes no more than the caller's struct, which may be an older and shorter one. */
static void spread_end(const struct spread *s, double expected_cv, struct gyre_balance *out)
{
    double mean = s->n ? s->sum / s->n : 0;
    struct gyre_balance b = {.size = out->size, .expected_cv = expected_cv, .nodes = s->n};
    if (mean > 0) {
        b.cv = square_root(s->squares / s->n) / mean;
        b.peak = s->most / mean;
        b.least = s->least / mean;
    }
    memcpy(out, &b, out->size < sizeof b ? out->size : sizeof b);
}

static double deviation(const struct spread *s, double x)
{
    double d = x - s->sum / s->n;
    return d * d;
}

/*
 * The arcs of P random points are exchangeable, so a node with k of them owns a Beta(k, P - k)
 * part: mean k/P, squared coefficient of variation (P - k) / (k (P + 1)).
 */
static double expected_cv(const gyre_map_t *m)
{
    double sum = 0, total = (double)m->steps;
    if (!m->place->ring || !m->positive) {
        return 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        double k = m->points[i];
        sum += k > 0 ? (total - k) / (k * (total + 1)) : 0;
    }
    return square_root(sum / m->positive);
}

void gyre_map_balance(const gyre_map_t *m, struct gyre_balance *out)
{
    struct spread s = {0};
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i]) {
            spread_add(&s, gyre_map_share(m, i) / m->nodes[i].weight);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i]) {
            s.squares += deviation(&s, gyre_map_share(m, i) / m->nodes[i].weight);
        }
    }
    spread_end(&s, expected_cv(m), out);
}

void gyre_balance_of(const double *loads, const double *weights, size_t n, struct gyre_balance *out)
{
    struct spread s = {0};
    for (size_t i = 0; i < n; i++) {
        double weight = weights ? weights[i] : 1;
        if (weight > 0) {
            spread_add(&s, loads[i] / weight);
        }
    }
    for (size_t i = 0; i < n; i++) {
        double weight = weights ? weights[i] : 1;
        if (weight > 0) {
            s.squares += deviation(&s, loads[i] / weight);
        }
    }
    spread_end(&s, 0, out);
}
