/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prop.h - property tests on a choice sequence. A property draws all it needs through prop_below
 * and its like; the draws come from a seed, from bytes (a fuzzer's, or a kept file's), or, past a
 * limit, are all 0. A failing seed is shrunk by shortening: the smallest limit that still fails is
 * sought, so draws should be made such that 0 is the plainest case.
 *
 *     GYRE_SEED=7    only that seed        GYRE_RUNS=1000    more seeds than the test asks for
 *     GYRE_FROM=now  seeds nobody has tried, from the clock; GYRE_FROM=100: from that one on
 *
 * Under a sanitizer each draw costs several times as much and looks for another kind of fault:
 * there the first quarter of the seeds has to do.
 */
#ifndef TESTS_LIB_PROP_H
#define TESTS_LIB_PROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
#define PROP_SHARE 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PROP_SHARE 4
#endif
#endif
#ifndef PROP_SHARE
#define PROP_SHARE 1
#endif

struct prop {
    uint64_t state;
    const uint8_t *bytes; /* NULL: draw from state */
    size_t len;
    size_t drawn, limit; /* draws made; from limit on they are 0 */
    bool quiet;
};

/* SplitMix64. */
static inline uint64_t prop_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* One draw, all 64 bits. */
static inline uint64_t prop_draw(struct prop *p)
{
    size_t i = p->drawn++;
    if (i >= p->limit) {
        return 0;
    }
    if (!p->bytes) {
        return prop_next(&p->state);
    }
    uint64_t x = 0;
    for (size_t k = 0; k < 8 && i * 8 + k < p->len; k++) {
        x |= (uint64_t)p->bytes[i * 8 + k] << 8 * k;
    }
    return x;
}

/* 0 to n - 1. */
static inline uint64_t prop_below(struct prop *p, uint64_t n)
{
    return prop_draw(p) % n;
}

/* From least to most, often small: half of all draws fall in each half of the bits. */
static inline uint64_t prop_size(struct prop *p, uint64_t least, uint64_t most)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(most - least + 1);
    uint64_t range = ((uint64_t)1 << prop_below(p, bits)) * 2;
    uint64_t room = most - least + 1;
    return least + prop_below(p, range < room ? range : room);
}

static inline bool prop_failed(const struct prop *p, const char *what, const char *file, int line)
{
    if (!p->quiet) {
        printf("%s:%d: does not hold: %s\n", file, line, what);
    }
    return false;
}

/* For the body of a property, which returns true if it holds. */
#define PROP(condition)                                            \
    do {                                                           \
        if (!(condition)) {                                        \
            return prop_failed(p, #condition, __FILE__, __LINE__); \
        }                                                          \
    } while (0)

typedef bool prop_fn(struct prop *p);

static inline bool prop_once(prop_fn *fn, uint64_t seed, size_t limit, bool quiet, size_t *drawn)
{
    struct prop p = {.state = seed, .limit = limit, .quiet = quiet};
    bool holds = fn(&p);
    *drawn = p.drawn;
    return holds;
}

static inline uint64_t prop_env(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : fallback;
}

static inline uint64_t prop_from(void)
{
    const char *text = getenv("GYRE_FROM");
    return text && strcmp(text, "now") == 0 ? (uint64_t)time(NULL) << 20 : prop_env("GYRE_FROM", 1);
}

/* Returns the number of failures, 0 or 1; prints the seed of a failure and its shortest form. */
static inline int prop_run(const char *name, prop_fn *fn, uint64_t runs)
{
    uint64_t first = prop_env("GYRE_SEED", prop_from()), last = first;
    if (!getenv("GYRE_SEED")) {
        last = first + prop_env("GYRE_RUNS", (runs + PROP_SHARE - 1) / PROP_SHARE) - 1;
    }
    for (uint64_t seed = first; seed <= last; seed++) {
        size_t drawn, spare;
        if (prop_once(fn, seed, SIZE_MAX, true, &drawn)) {
            continue;
        }
        size_t low = 0, high = drawn;
        while (low < high) { /* not monotonic in general; any limit that fails will do */
            size_t mid = low + (high - low) / 2;
            if (prop_once(fn, seed, mid, true, &spare)) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        (void)prop_once(fn, seed, high, false, &spare);
        printf("not ok %s: GYRE_SEED=%llu fails with %zu of %zu draws\n", name,
               (unsigned long long)seed, high, drawn);
        return 1;
    }
    printf("ok %s: seeds %llu to %llu\n", name, (unsigned long long)first,
           (unsigned long long)last);
    return 0;
}

#endif
