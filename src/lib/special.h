/* SPDX-License-Identifier: Apache-2.0 */
/*
 * special.h - the few functions of analysis that statistics need, without libm, which the library
 * does not link. Nothing here takes part in a placement. Relative errors are below 10^-10 within
 * the ranges named. Threads: any.
 */
#ifndef GY_LIB_SPECIAL_H
#define GY_LIB_SPECIAL_H

double gy_sqrt(double x); /* 0 for what is not above 0 */
double gy_exp(double x);  /* 0 below -700, infinity above 700 */
double gy_log(double x);  /* of a normal number above 0 */

/* The upper part of the incomplete gamma function, over the whole: of chi-square x on df degrees of
 * freedom, the probability of as much or more is gy_gamma_q(df / 2, x / 2). a above 0, up to 10^6;
 * absolute error below 10^-10. */
double gy_gamma_q(double a, double x);

/* What a normal variable exceeds with probability p, 10^-300 to 0.5. */
double gy_normal_above(double p);

#endif
