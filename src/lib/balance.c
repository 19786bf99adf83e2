/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - how evenly a map, or a measured load, is spread. Threads: any.
 */
#include <string.h>

#include "lib/map.h"
#include "lib/special.h"

#define POINTS_MAX 100000u /* a unit of weight; the setting's limit */

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
        b.cv = gy_sqrt(s->squares / s->n) / mean;
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
 * part: mean k/P, squared coefficient of variation (P - k) / (k (P + 1)). Over its weight the mean
 * is the same for all nodes only as far as whole points can be; that counts as spread too.
 */
struct expected {
    double total, n;      /* points; nodes that are not drained */
    double mean, squares; /* of the nodes' mean shares over their weights */
};

static void expect_mean(struct expected *x, double points, double weight)
{
    x->mean += points / x->total / weight / x->n;
}

static void expect_square(struct expected *x, double points, double weight)
{
    double share = points / x->total;
    double own = share * (1 - share) / (x->total + 1) / weight / weight;
    double off = share / weight - x->mean;
    x->squares += (own + off * off) / x->n;
}

/* 0 where nodes have no points of their own: turns fill a maglev table, chance does not. */
static double expect_cv(const struct expected *x)
{
    return x->mean > 0 ? gy_sqrt(x->squares) / x->mean : 0;
}

static double expected_cv(const gyre_map_t *m)
{
    struct expected x = {.total = (double)m->steps, .n = m->positive};
    if (!m->place->ring || !m->positive) {
        return 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->points[i]) {
            expect_mean(&x, m->points[i], m->nodes[i].weight);
        }
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->points[i]) {
            expect_square(&x, m->points[i], m->nodes[i].weight);
        }
    }
    return expect_cv(&x);
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

/* ---- how many points ---- */

static double points_of(double weight, uint32_t per_unit)
{
    return (double)gy_point_count(gy_weight_steps(weight), per_unit);
}

static double cv_with(const double *weights, size_t n, uint32_t per_unit)
{
    struct expected x = {0};
    for (size_t i = 0; i < n; i++) {
        double weight = weights ? weights[i] : 1;
        x.total += weight > 0 ? points_of(weight, per_unit) : 0;
        x.n += weight > 0;
    }
    for (size_t i = 0; i < n; i++) {
        double weight = weights ? weights[i] : 1;
        if (weight > 0) {
            expect_mean(&x, points_of(weight, per_unit), weight);
        }
    }
    for (size_t i = 0; i < n; i++) {
        double weight = weights ? weights[i] : 1;
        if (weight > 0) {
            expect_square(&x, points_of(weight, per_unit), weight);
        }
    }
    return x.n > 0 ? expect_cv(&x) : 0;
}

/* Rounded counts of light nodes make it fall unevenly: at what halving finds it is low enough, and
 * one point less is not. */
uint32_t gyre_points_for(const double *weights, size_t n, double cv)
{
    uint32_t low = 0, high = POINTS_MAX;
    if (!(cv > 0) || cv_with(weights, n, high) > cv) {
        return 0;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (cv_with(weights, n, middle) > cv) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}
