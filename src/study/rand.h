/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rand.h - the chance in a study: SplitMix64, so that a seed gives one sequence on every machine,
 * and ranks by Zipf's law. Threads: any, a state each.
 */
#ifndef GY_STUDY_RAND_H
#define GY_STUDY_RAND_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t gy_rand(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 to n - 1, n at most 2^32: the multiplication's bias is below 2^-32. */
static inline uint64_t gy_rand_below(uint64_t *state, uint64_t n)
{
    return (gy_rand(state) >> 32) * n >> 32;
}

/* 0 to 1, 1 not in it. */
static inline double gy_rand_unit(uint64_t *state)
{
    return (double)(gy_rand(state) >> 11) * 0x1p-53;
}

/* Ranks 0 to n - 1 of which rank i comes in proportion to 1 / (i + 1)^exponent. */
struct gy_zipf {
    double *below; /* the probability of a rank below i + 1 */
    size_t n;
};

/* GYRE_OK or NOMEM. */
int gy_zipf_init(struct gy_zipf *z, size_t n, double exponent);
void gy_zipf_fini(struct gy_zipf *z);
size_t gy_zipf_draw(const struct gy_zipf *z, uint64_t *state);

#endif
