/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - what counted keys say of a placement: do they fall as its shares say (Pearson's
 * chi-square), which share has a node of all keys (Wilson's interval), and how uneven are all keys
 * of which these are a sample (an interval for the CV). No resampling, so the same counts give the
 * same answer. Threads: any.
 */
#include <string.h>

#include "lib/map.h"
#include "lib/special.h"

#define EXPECTED_MIN 5.0 /* keys in a cell of the chi-square; Cochran, Biometrics 10, 1954 */

/* ---- chi-square ---- */

struct cells {
    double chi, last_expected, last_got; /* of the cell added last */
    uint32_t count;
};

static double cell(double got, double expected)
{
    return (got - expected) * (got - expected) / expected;
}

static void cells_add(struct cells *c, double got, double expected)
{
    c->chi += cell(got, expected);
    c->last_got = got;
    c->last_expected = expected;
    c->count++;
}

/* Those that expect too few: one cell, or, if even that expects too few, part of the last one. */
static void cells_rest(struct cells *c, double got, double expected)
{
    if (expected >= EXPECTED_MIN) {
        cells_add(c, got, expected);
    } else if (c->count) {
        c->chi += cell(c->last_got + got, c->last_expected + expected) -
                  cell(c->last_got, c->last_expected);
    }
}

static void judge_shares(const gyre_map_t *m, const uint64_t *keys, struct gyre_evidence *out)
{
    struct cells c = {0};
    double rest = 0, rest_got = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double expected = gyre_map_share(m, i) * (double)out->keys;
        if (expected >= EXPECTED_MIN) {
            cells_add(&c, (double)keys[i], expected);
        } else {
            rest += expected;
            rest_got += (double)keys[i];
        }
    }
    cells_rest(&c, rest_got, rest);
    out->p = 1;
    if (c.count > 1) {
        out->chi_square = c.chi > 0 ? c.chi : 0;
        out->degrees = c.count - 1;
        out->p = gy_gamma_q(out->degrees / 2.0, out->chi_square / 2);
    }
}

/* ---- the interval of the CV ---- */

/* How many standard deviations x lies above the middle of a non-central chi-square. */
static double deviations(double x, double df, double noncentral)
{
    double mean = df + noncentral, both = df + 2 * noncentral;
    double h = 1 - 2.0 / 3 * mean * (df + 3 * noncentral) / (both * both);
    double p = both / (mean * mean), m = (h - 1) * (1 - 3 * h);
    double middle = 1 + h * p * (h - 1 - 0.5 * (2 - h) * m * p);
    double spread = h * gy_sqrt(2 * p) * (1 + 0.5 * m * p);
    return (gy_exp(h * gy_log(x / mean)) - middle) / spread;
}

/* The non-centrality under which x lies z deviations up; 0 if it lies lower under any. */
static double noncentrality(double x, double df, double z)
{
    double low = 0, high = 1;
    if (!(x > 0) || deviations(x, df, 0) <= z) {
        return 0;
    }
    while (deviations(x, df, high) > z) {
        high *= 2;
    }
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (deviations(x, df, middle) > z) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * n nodes of fair shares q; N keys on them. Chance alone makes CV^2 a quadratic form in multinomial
 * counts: mean (S1 - n) / (n N), variance 2 (S2 - 2 S1 + n^2) / (n N)^2, where S1 and S2 are the
 * sums of 1/q and 1/q^2. With equal nodes that is chi-square on n - 1 degrees over N, exactly; else
 * the chi-square of the same two moments. What is uneven besides makes it non-central by CV^2.
 */
static void judge_spread(const gyre_map_t *m, double confidence, struct gyre_evidence *out)
{
    double n = m->positive, keys = (double)out->keys, one = 0, two = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double inverse = m->weight[i] ? (double)m->heavy / (double)m->weight[i] : 0;
        one += inverse;
        two += inverse * inverse;
    }
    if (m->positive < 2 || out->keys == 0) {
        return;
    }
    double mean = (one - n) / (n * keys), half = (two - 2 * one + n * n) / (n * keys * n * keys);
    double unit = half / mean, df = mean / unit, x = out->cv * out->cv / unit;
    double z = gy_normal_above((1 - confidence) / 2);
    out->cv_low = gy_sqrt(unit * noncentrality(x, df, z));
    out->cv_high = gy_sqrt(unit * noncentrality(x, df, -z));
}

static double measured_cv(const gyre_map_t *m, const uint64_t *keys)
{
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        mean += m->weight[i] ? (double)keys[i] / m->nodes[i].weight / m->positive : 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        double off = m->weight[i] ? (double)keys[i] / m->nodes[i].weight - mean : 0;
        squares += off * off / m->positive;
    }
    return mean > 0 ? gy_sqrt(squares) / mean : 0;
}

int gyre_map_judge(const gyre_map_t *m, const uint64_t *keys, double confidence,
                   struct gyre_evidence *out)
{
    if (out->size < sizeof out->size || !(confidence > 0 && confidence < 1)) {
        return GYRE_INVALID;
    }
    struct gyre_evidence x = {.size = out->size, .p = 1};
    for (uint32_t i = 0; i < m->count; i++) {
        x.keys += keys[i];
    }
    if (x.keys && m->positive) {
        x.cv = measured_cv(m, keys);
        judge_shares(m, keys, &x);
        judge_spread(m, confidence, &x);
    }
    memcpy(out, &x, out->size < sizeof x ? out->size : sizeof x);
    return GYRE_OK;
}

/* ---- one node's share ---- */

void gyre_share_interval(uint64_t hits, uint64_t keys, double confidence, double *low, double *high)
{
    double sure = confidence > 1 - 1e-12 ? 1 - 1e-12 : confidence > 0.5 ? confidence : 0.5;
    double n = (double)keys, z = gy_normal_above((1 - sure) / 2), zz = z * z;
    *low = 0;
    *high = 1;
    if (keys == 0) {
        return;
    }
    hits = hits < keys ? hits : keys; /* more than there were: all of them */
    double p = (double)hits / n, middle = p + zz / (2 * n);
    double reach = z * gy_sqrt(p * (1 - p) / n + zz / (4 * n * n)), all = 1 + zz / n;
    *low = hits == 0 ? 0 : (middle - reach) / all;
    *high = hits == keys ? 1 : (middle + reach) / all;
}
