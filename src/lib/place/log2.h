/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log2.h - the logarithm weighted rendezvous needs, defined to the bit: IEEE double +, - and *
 * only, in the order written, never fused (meson.build forbids it), so that every machine and SIMD
 * level gets the same number. No libm: those differ.
 *
 * cost(z) = -log2(u), u = ((z >> 20) | 1) / 2^44. The error is below 2^-49 * (1 + cost): Taylor's
 * remainder on |r| <= 0.0325 is below 2^-52, the rest is rounding. Neighbouring u are at least
 * 2^-42.5 apart in log2, so cost strictly falls as z >> 21 grows: with equal weights the order by
 * cost, then by z, is the order by z. Threads: any.
 */
#ifndef GY_LIB_LOG2_H
#define GY_LIB_LOG2_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "placements need plain IEEE double arithmetic: compile with -msse2 -mfpmath=sse"
#endif

#define GY_LOG2_DEGREE 9
#define GY_LOG2_BITS   44 /* of u; 9 more for an inverse, and their product still fits a double */

/* About 1 / (1 + (i + 1/2) / 16), in 512ths so that m * inverse is exact; the last is exactly a
 * half, so that the cost of u near 1 has no constant to cancel. */
static const double gy_log2_inverse[16] = {
    496 / 512.0, 468 / 512.0, 443 / 512.0, 420 / 512.0, 400 / 512.0, 381 / 512.0,
    364 / 512.0, 349 / 512.0, 334 / 512.0, 321 / 512.0, 309 / 512.0, 298 / 512.0,
    287 / 512.0, 278 / 512.0, 269 / 512.0, 256 / 512.0,
};

/* -log2 of the inverse, rounded to nearest. */
static const double gy_log2_offset[16] = {
    0x1.77394c9d958d5p-5, 0x1.097e38ce60649p-3, 0x1.abb2ca9ec7472p-3, 0x1.249cd2b13cd6cp-2,
    0x1.6cb0f6865c8eap-2, 0x1.b495d4e9185f7p-2, 0x1.f804ae8d0cd02p-2, 0x1.1b17e849adc26p-1,
    0x1.3b8b1c68fa6edp-1, 0x1.58de3bf8b824bp-1, 0x1.7502cc4a27b80p-1, 0x1.8fc924c89ac84p-1,
    0x1.ab9151be168ddp-1, 0x1.c31a27dd00b4ap-1, 0x1.db694903d94b8p-1, 0x1.0000000000000p+0,
};

/* (-1)^(k+1) / (k ln 2) for k = 1 to 9, rounded to nearest: log2(1 + r) by Taylor. */
static const double gy_log2_taylor[GY_LOG2_DEGREE] = {
    0x1.71547652b82fep+0,  -0x1.71547652b82fep-1, 0x1.ec709dc3a03fdp-2,
    -0x1.71547652b82fep-2, 0x1.2776c50ef9bfep-2,  -0x1.ec709dc3a03fdp-3,
    0x1.a61762a7aded9p-3,  -0x1.71547652b82fep-3, 0x1.484b13d7c02a9p-3,
};

static inline double gy_log2_cost(uint64_t z)
{
    double x = (double)(z >> (64 - GY_LOG2_BITS) | 1); /* exact */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    unsigned i = bits >> 48 & 15;
    int64_t below = GY_LOG2_BITS + 1023 - (int64_t)(bits >> 52); /* u = m / 2^below */
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    double r = m * gy_log2_inverse[i] - 1; /* exact */
    double p = gy_log2_taylor[GY_LOG2_DEGREE - 1];
    for (int k = GY_LOG2_DEGREE - 2; k >= 0; k--) {
        p = p * r + gy_log2_taylor[k];
    }
    return ((double)below - gy_log2_offset[i]) - p * r;
}

#endif
