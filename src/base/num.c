/* SPDX-License-Identifier: Apache-2.0 */
/* num.c - see num.h. */
#include "base/num.h"

#include <stdio.h>

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

/* v = v * 10 + digit; false when it would not fit. */
static bool push_digit(uint64_t *v, uint8_t c)
{
    uint64_t d = (uint64_t)(c - '0');
    if (*v > (UINT64_MAX - d) / 10) {
        return false;
    }
    *v = *v * 10 + d;
    return true;
}

/* Digits at the front of s into *v; returns how many bytes were digits. *fits says whether all of
 * them could be held. */
static size_t digits(struct gy_slice s, uint64_t *v, bool *fits)
{
    size_t i = 0;
    *v = 0;
    *fits = true;
    for (; i < s.n && is_digit(s.p[i]); i++) {
        *fits = *fits && push_digit(v, s.p[i]);
    }
    return i;
}

int gy_num_uint(struct gy_slice s, uint64_t *out)
{
    uint64_t v;
    bool fits;
    size_t n = digits(s, &v, &fits);
    if (n == 0 || n != s.n) {
        return GYRE_SYNTAX;
    }
    if (!fits) {
        return GYRE_RANGE;
    }
    *out = v;
    return GYRE_OK;
}

/* A decimal taken apart: mantissa * 10^exponent. */
struct decimal {
    uint64_t mantissa;
    long exponent;
    bool negative, fits;
};

#define EXPONENT_MAX 10000 /* beyond it the value is 0 or out of range in any case */

static int read_exponent(struct gy_slice s, size_t i, struct decimal *d)
{
    bool minus = i < s.n && s.p[i] == '-';
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+')) {
        i++;
    }
    uint64_t e;
    bool fits;
    struct gy_slice rest = {s.p + i, s.n - i};
    size_t n = digits(rest, &e, &fits);
    if (n == 0 || n != rest.n) {
        return GYRE_SYNTAX;
    }
    long step = !fits || e > EXPONENT_MAX ? EXPONENT_MAX : (long)e;
    d->exponent += minus ? -step : step;
    return GYRE_OK;
}

static int read_decimal(struct gy_slice s, struct decimal *d)
{
    size_t i = 0, seen = 0;
    bool point = false;
    *d = (struct decimal){.fits = true};
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+')) {
        d->negative = s.p[i++] == '-';
    }
    for (; i < s.n; i++) {
        if (s.p[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(s.p[i])) {
            break;
        }
        seen++;
        d->fits = d->fits && push_digit(&d->mantissa, s.p[i]);
        /* Counting stops mattering past the clamp, so a megabyte of zeros cannot overflow it. */
        if (point && d->exponent > -EXPONENT_MAX) {
            d->exponent--;
        }
    }
    if (seen == 0) {
        return GYRE_SYNTAX;
    }
    if (i == s.n) {
        return GYRE_OK;
    }
    return lower(s.p[i]) == 'e' ? read_exponent(s, i + 1, d) : GYRE_SYNTAX;
}

int gy_num_micros(struct gy_slice s, uint64_t *out)
{
    struct decimal d;
    int rc = read_decimal(s, &d);
    if (rc) {
        return rc;
    }
    if (!d.fits || (d.negative && d.mantissa)) {
        return GYRE_RANGE;
    }
    uint64_t v = d.mantissa;
    long shift = d.exponent + 6;
    for (; shift > 0 && v; shift--) {
        if (!push_digit(&v, '0')) {
            return GYRE_RANGE;
        }
    }
    for (; shift < 0 && v; shift++) {
        if (v % 10) {
            return GYRE_RANGE;
        }
        v /= 10;
    }
    *out = v;
    return GYRE_OK;
}

struct unit {
    const char *word;
    uint64_t factor;
};

/* Largest first: the formatters take the first that divides. */
static const struct unit SIZES[] = {
    {"TB", UINT64_C(1) << 40},
    {"GB", UINT64_C(1) << 30},
    {"MB", UINT64_C(1) << 20},
    {"KB", UINT64_C(1) << 10},
    {"B", 1},
};
static const struct unit DURATIONS[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool same_word(struct gy_slice s, const char *word)
{
    size_t i = 0;
    for (; i < s.n && word[i]; i++) {
        if (lower(s.p[i]) != lower((uint8_t)word[i])) {
            return false;
        }
    }
    return i == s.n && !word[i];
}

static int scaled(uint64_t v, bool fits, uint64_t factor, uint64_t *out)
{
    if (!fits || v > UINT64_MAX / factor) {
        return GYRE_RANGE;
    }
    *out = v * factor;
    return GYRE_OK;
}

/* The number before the unit; what is left of s is the unit. */
static bool number_then_unit(struct gy_slice *s, uint64_t *v, bool *fits)
{
    size_t n = digits(*s, v, fits);
    bool some = n > 0;
    while (n < s->n && s->p[n] == ' ') {
        n++;
    }
    *s = (struct gy_slice){s->p + n, s->n - n};
    return some;
}

int gy_num_size(struct gy_slice s, uint64_t *out)
{
    uint64_t v;
    bool fits;
    if (!number_then_unit(&s, &v, &fits)) {
        return GYRE_SYNTAX;
    }
    if (s.n == 0) {
        return scaled(v, fits, 1, out);
    }
    for (size_t i = 0; i < COUNT(SIZES); i++) {
        const char *w = SIZES[i].word;
        char one[2] = {w[0], 0}, binary[4] = {w[0], 'i', 'B', 0};
        if (same_word(s, w) || same_word(s, one) || (w[1] && same_word(s, binary))) {
            return scaled(v, fits, SIZES[i].factor, out);
        }
    }
    return GYRE_SYNTAX;
}

int gy_num_duration(struct gy_slice s, uint64_t *out)
{
    uint64_t v;
    bool fits;
    if (!number_then_unit(&s, &v, &fits) || (s.n == 0 && v != 0)) {
        return GYRE_SYNTAX;
    }
    if (s.n == 0) {
        return scaled(v, fits, 1, out);
    }
    for (size_t i = 0; i < COUNT(DURATIONS); i++) {
        if (same_word(s, DURATIONS[i].word)) {
            return scaled(v, fits, DURATIONS[i].factor, out);
        }
    }
    return GYRE_SYNTAX;
}

/* One correctly rounded division of two exact doubles: the same value strtod gives. */
double gy_num_from_micros(uint64_t micros)
{
    return (double)micros / 1e6;
}

uint64_t gy_num_to_micros(double v)
{
    return v > 0 && v < 1e12 ? (uint64_t)(v * 1e6 + 0.5) : 0;
}

char *gy_num_fmt_micros(char out[GY_NUM_TEXT], uint64_t micros)
{
    int n = snprintf(out, GY_NUM_TEXT, "%llu.%06llu", (unsigned long long)(micros / 1000000),
                     (unsigned long long)(micros % 1000000));
    while (out[n - 1] == '0') {
        out[--n] = 0;
    }
    if (out[n - 1] == '.') {
        out[--n] = 0;
    }
    return out;
}

static char *fmt_unit(char *out, uint64_t v, const struct unit *units, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (v && v % units[i].factor == 0) {
            snprintf(out, GY_NUM_TEXT, "%llu%s", (unsigned long long)(v / units[i].factor),
                     units[i].word);
            return out;
        }
    }
    snprintf(out, GY_NUM_TEXT, "0");
    return out;
}

char *gy_num_fmt_size(char out[GY_NUM_TEXT], uint64_t bytes)
{
    return fmt_unit(out, bytes, SIZES, COUNT(SIZES));
}

char *gy_num_fmt_duration(char out[GY_NUM_TEXT], uint64_t ms)
{
    return fmt_unit(out, ms, DURATIONS, COUNT(DURATIONS));
}
