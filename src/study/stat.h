/* SPDX-License-Identifier: Apache-2.0 */
/* stat.h - mean, spread and extremes of what trials gave, one by one (Welford). Threads: any. */
#ifndef GY_STUDY_STAT_H
#define GY_STUDY_STAT_H

#include <math.h>
#include <stdint.h>

struct gy_stat {
    uint64_t n;
    double mean, squares, least, most; /* squares: of the distances from the mean */
};

static inline void gy_stat_add(struct gy_stat *s, double x)
{
    double d = x - s->mean;
    s->n++;
    s->mean += d / (double)s->n;
    s->squares += d * (x - s->mean);
    s->least = s->n == 1 || x < s->least ? x : s->least;
    s->most = s->n == 1 || x > s->most ? x : s->most;
}

static inline double gy_stat_deviation(const struct gy_stat *s)
{
    return s->n ? sqrt(s->squares / (double)s->n) : 0;
}

#endif
