/* SPDX-License-Identifier: Apache-2.0 */
/* svg_axis.c - see svg_axis.h. */
#include "study/svg_axis.h"

#include <math.h>

static bool shown(const struct gy_axis *a, double v)
{
    return isfinite(v) && (!a->log || v > 0);
}

void gy_axis_take(struct gy_axis *a, double v)
{
    if (!shown(a, v)) {
        return;
    }
    bool fresh = a->low == 0 && a->high == 0;
    a->low = fresh || v < a->low ? v : a->low;
    a->high = fresh || v > a->high ? v : a->high;
}

/* 1, 2 or 5 times a power of ten: about six steps make up the span. */
static double step_for(double span)
{
    double power = pow(10, floor(log10(span / 6)));
    double part = span / 6 / power;
    return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

/* The next of 1, 2, 5, 10, ... at or below v, or at or above it. */
static double nice(double v, bool up)
{
    double power = pow(10, floor(log10(v) + 1e-9));
    double part = v / power;
    if (up) {
        return power * (part > 5.0001 ? 10 : part > 2.0001 ? 5 : part > 1.0001 ? 2 : 1);
    }
    return power * (part >= 4.9999 ? 5 : part >= 1.9999 ? 2 : 1);
}

void gy_axis_settle(struct gy_axis *a)
{
    if (a->log) {
        a->low = a->low > 0 ? nice(a->low, false) : 1;
        a->high = a->high > a->low ? nice(a->high, true) : a->low * 10;
        return;
    }
    bool kept = a->low < 0 || (a->loose && a->low > a->high / 3);
    a->low = kept ? a->low : 0;
    a->high = a->high > a->low ? a->high : a->low + 1;
    double step = step_for(a->high - a->low);
    a->low = floor(a->low / step) * step;
    a->high = ceil(a->high / step - 1e-9) * step;
}

bool gy_axis_place(const struct gy_axis *a, double v, double *at)
{
    if (!shown(a, v)) {
        return false;
    }
    *at = a->log ? log(v / a->low) / log(a->high / a->low) : (v - a->low) / (a->high - a->low);
    return true;
}

static size_t log_ticks(const struct gy_axis *a, double out[GY_AXIS_TICKS])
{
    static const double parts[] = {1, 2, 5};
    size_t n = 0;
    double decades = log10(a->high / a->low);
    size_t each = decades > 3.2 ? 1 : 3;
    for (double p = pow(10, floor(log10(a->low) + 1e-9)); p <= a->high * 1.0001; p *= 10) {
        for (size_t k = 0; k < each; k++) {
            double v = p * parts[k];
            if (v >= a->low * 0.9999 && v <= a->high * 1.0001 && n < GY_AXIS_TICKS) {
                out[n++] = v;
            }
        }
    }
    return n;
}

size_t gy_axis_ticks(const struct gy_axis *a, double out[GY_AXIS_TICKS])
{
    if (a->log) {
        return log_ticks(a, out);
    }
    size_t n = 0;
    double step = step_for(a->high - a->low);
    for (double v = a->low; v <= a->high + step / 2 && n < GY_AXIS_TICKS; v += step) {
        out[n++] = fabs(v) < step / 1000 ? 0 : v;
    }
    return n;
}

void gy_axis_print(struct gy_buf *out, double v, bool share)
{
    double shown_as = share ? 100 * v : v;
    const char *unit = share ? " %" : "";
    if (shown_as >= 1e6) {
        shown_as /= 1e6;
        unit = share ? "M %" : "M";
    } else if (shown_as >= 1e4) {
        shown_as /= 1e3;
        unit = share ? "k %" : "k";
    }
    /* Three digits, and no exponents. */
    gy_buf_printf(out, shown_as < 100 ? "%.3g%s" : "%.0f%s", shown_as, unit);
}
