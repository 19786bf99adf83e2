/* SPDX-License-Identifier: Apache-2.0 */
/*
 * special.c - see special.h. Textbook methods: Newton for the root, series for logarithm and
 * exponential, Stirling's series for ln Gamma (Abramowitz and Stegun 6.1.41), the series 6.5.29 and
 * Lentz's evaluation of the continued fraction 6.5.31 for the incomplete gamma function. Threads:
 * any.
 */
#include "lib/special.h"

#include <stdint.h>
#include <string.h>

#define LN2       0.69314718055994530942
#define HALF_LN2P 0.91893853320467274178 /* ln(2 pi) / 2 */
#define TERMS_MAX 1000000                /* both expansions take some 10 sqrt(a) terms */
#define EPSILON   1e-16

/* Starts above the root, falls, and ends at the first value that no longer falls. */
double gy_sqrt(double x)
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

static double power_of_two(int n)
{
    uint64_t bits = (uint64_t)(1023 + n) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double gy_exp(double x)
{
    if (x < -700) {
        return 0;
    }
    if (x > 700) {
        return __builtin_inf();
    }
    int n = (int)(x / LN2 + (x < 0 ? -0.5 : 0.5));
    double r = x - n * LN2, term = 1, sum = 1;
    for (int k = 1; k < 20; k++) {
        term *= r / k;
        sum += term;
    }
    return sum * power_of_two(n);
}

/* ln m = 2 artanh((m - 1) / (m + 1)) for the mantissa m, brought near 1. */
double gy_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 2047) - 1023;
    double m = x / power_of_two(exponent);
    if (m > 1.4142135623730951) {
        m /= 2;
        exponent++;
    }
    double s = (m - 1) / (m + 1), power = s, sum = 0;
    for (int k = 1; k < 30; k += 2) {
        sum += power / k;
        power *= s * s;
    }
    return 2 * sum + exponent * LN2;
}

static double log_gamma(double a)
{
    double below = 1;
    for (; a < 10; a++) {
        below *= a;
    }
    double r = 1 / (a * a);
    double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680)))) / a;
    return (a - 0.5) * gy_log(a) - a + HALF_LN2P + series - gy_log(below);
}

static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < TERMS_MAX && term > sum * EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum;
}

static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int n = 1; n < TERMS_MAX; n++) {
        double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (d * c - 1 < EPSILON && 1 - d * c < EPSILON) {
            break;
        }
    }
    return h;
}

double gy_gamma_q(double a, double x)
{
    if (!(x > 0)) {
        return 1;
    }
    double front = gy_exp(a * gy_log(x) - x - log_gamma(a));
    double q = x < a + 1 ? 1 - front * gamma_series(a, x) : front * gamma_fraction(a, x);
    return q < 0 ? 0 : q > 1 ? 1 : q;
}

double gy_normal_above(double p)
{
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        if (gy_gamma_q(0.5, z * z / 2) / 2 > p) {
            low = z;
        } else {
            high = z;
        }
    }
    return low;
}
