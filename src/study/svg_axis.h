/* SPDX-License-Identifier: Apache-2.0 */
/* svg_axis.h - an axis of a chart: what it spans, where its ticks are. Threads: any. */
#ifndef GY_STUDY_SVG_AXIS_H
#define GY_STUDY_SVG_AXIS_H

#include "base/buf.h"

#define GY_AXIS_TICKS 24

struct gy_axis {
    double low, high; /* of what it shows */
    bool log, share;  /* share: values are fractions, shown in percent */
    bool loose;       /* may begin above 0: lengths from it mean nothing */
};

/* Widens it to take v in; what a logarithm has no place for is left out. */
void gy_axis_take(struct gy_axis *a, double v);
/* Rounds it outward to its ticks. A linear one begins at 0, or, if it is loose, where that would
 * leave a third of it empty. */
void gy_axis_settle(struct gy_axis *a);
/* 0 at its low end, 1 at the high one; false for what has no place. */
bool gy_axis_place(const struct gy_axis *a, double v, double *at);
size_t gy_axis_ticks(const struct gy_axis *a, double out[GY_AXIS_TICKS]);
/* "1500", "15k", "12 %". */
void gy_axis_print(struct gy_buf *out, double v, bool share);

#endif
