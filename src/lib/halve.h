/* SPDX-License-Identifier: Apache-2.0 */
/*
 * halve.h - forgetting by halves: what was counted loses half its weight each time the caller's
 * clock passes a multiple of the half-life. Multiples of the clock itself, not of when counting
 * began, so that all sketches of a program halve at the same moments and can be added up. Threads:
 * any; nothing is kept here.
 */
#ifndef GY_LIB_HALVE_H
#define GY_LIB_HALVE_H

#include <stdint.h>

struct gy_halving {
    uint64_t life; /* 0: nothing is forgotten */
    uint64_t tick; /* multiples of life that have passed */
};

/* How many halvings are due at `now`; a clock that goes back is taken to stand still. */
static inline unsigned gy_halvings_due(struct gy_halving *h, uint64_t now)
{
    uint64_t tick = h->life ? now / h->life : 0;
    uint64_t due = tick > h->tick ? tick - h->tick : 0;
    h->tick += due;
    return due > 64 ? 64 : (unsigned)due;
}

/* How many halvings `from` is behind `into`; both of one life. */
static inline unsigned gy_halvings_behind(const struct gy_halving *from,
                                          const struct gy_halving *into)
{
    uint64_t due = into->tick > from->tick ? into->tick - from->tick : 0;
    return due > 64 ? 64 : (unsigned)due;
}

/* Half, rounded up: what is more than 0 stays so, and an upper bound stays one. */
static inline uint64_t gy_half(uint64_t x)
{
    return x / 2 + x % 2;
}

static inline uint64_t gy_halved(uint64_t x, unsigned times)
{
    for (; times && x > 1; times--) {
        x = gy_half(x);
    }
    return x;
}

#endif
