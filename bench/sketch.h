/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch.h - two placements that libgyre does not have, as short as they can be, to be measured:
 * AnchorHash (Mendelson, Vargaftik, Barabash, Lorenz, Keslassy, Orda, "AnchorHash: a scalable
 * consistent hash", 2018, arXiv 1812.09674) and FlipHash (Masson, Lee, "FlipHash: a constant-time
 * consistent range-hashing algorithm", 2024, arXiv 2402.17549), from the papers' formulas on
 * SplitMix64. Slots count from 0. Threads: any number read, one changes.
 */
#ifndef BENCH_SKETCH_H
#define BENCH_SKETCH_H

#include "lib/place/mix.h"

/* What a lookup reads lies together. */
struct anchor_slot {
    uint32_t left; /* how many worked once it was given up; 0: it works */
    uint32_t next; /* which of them stood at that time where it had stood */
};

struct anchor {
    struct anchor_slot *slot; /* `room` of each */
    uint32_t *at, *where;     /* the working slots, the first `working` of it; and its inverse */
    uint32_t *gone;           /* slots given up, in order */
    uint32_t room, working;
};

static inline uint32_t scaled(uint64_t hash, uint32_t n)
{
    return (uint32_t)((hash >> 32) * n >> 32);
}

static inline void anchor_remove(struct anchor *a, uint32_t b)
{
    a->gone[a->room - a->working] = b;
    uint32_t last = a->at[--a->working];
    a->at[a->where[b]] = last;
    a->where[last] = a->where[b];
    a->slot[b] = (struct anchor_slot){a->working, last};
}

/* The slot given up last, which works again. */
static inline uint32_t anchor_add(struct anchor *a)
{
    uint32_t b = a->gone[a->room - a->working - 1];
    a->where[a->at[a->working]] = a->working;
    a->at[a->where[b]] = b;
    a->working++;
    a->slot[b] = (struct anchor_slot){0, b};
    return b;
}

/* From slot b on, which the key's own hash gave. */
static inline uint32_t anchor_go_on(const struct anchor *a, uint64_t hash, uint32_t b)
{
    while (a->slot[b].left) {
        uint32_t n = a->slot[b].left;
        hash = gy_stream(hash, b);
        b = scaled(hash, n);
        while (a->slot[b].left >= n) {
            b = a->slot[b].next;
        }
    }
    return b;
}

static inline uint32_t anchor_locate(const struct anchor *a, uint64_t hash)
{
    return anchor_go_on(a, hash, scaled(hash, a->room));
}

/* Uniform on [0, mask]; the same for the next wider mask, or in its upper half. */
static inline uint32_t flip_whole(uint64_t hash, uint32_t mask)
{
    uint32_t x = (uint32_t)hash & mask;
    uint32_t top = 31 - (uint32_t)__builtin_clz(x | 1);
    return x ? x ^ ((uint32_t)gy_stream(hash, top) & (((uint32_t)1 << top) - 1)) : 0;
}

static inline uint32_t flip_mask(uint32_t n)
{
    return n > 1 ? UINT32_MAX >> __builtin_clz(n - 1) : 0;
}

/* For keys whose first answer is not below n. */
static inline uint32_t flip_go_on(uint64_t hash, uint32_t n, uint32_t mask)
{
    uint32_t half = mask >> 1;
    for (uint64_t i = 0; i < 64; i++) {
        uint32_t d = (uint32_t)gy_stream(hash, 64 + i) & mask;
        if (d <= half) {
            break;
        }
        if (d < n) {
            return d;
        }
    }
    return flip_whole(hash, half);
}

static inline uint32_t flip_locate(uint64_t hash, uint32_t n)
{
    uint32_t mask = flip_mask(n), f = flip_whole(hash, mask);
    return f < n ? f : flip_go_on(hash, n, mask);
}

#endif
