/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dx.c - DxHash (Dong and Wang, "DxHash: a scalable consistent hash based on the pseudo-random
 * sequence", 2021, arXiv 2107.07930) with weights: each key has an endless sequence of draws, each
 * of a slot and of a number; the first draw whose number is below the slot's weight decides. An
 * empty slot weighs nothing. The heaviest weight there may ever be always passes.
 *
 * Cost: on average capacity * heaviest / (sum of weights) draws, or up to three more, for they are
 * taken a few at once. Memory: 6 bytes a slot.
 * Guaranteed: a change of one node's presence or weight moves keys only to or from that node, for
 * each of a key's replicas; shares are the weights', to 2^-31 of the heaviest; no history.
 * Not: growth past `capacity`, or past `heaviest`: both are part of the mapping, and changing
 * either moves nearly all keys. Nodes hold slots (see number.h), which the topology keeps.
 * Threads: immutable once built.
 */
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/mix.h"
#include "lib/place/number.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>

#include "lib/place/lanes.h"

#define NAME   draws_avx2
#define LANES  4
#define TARGET GY_TARGET_AVX2
#define MIX(z) gy_mix_avx2(z)
#include "lib/place/dx_lanes.h"

#define NAME   draws_avx512
#define LANES  8
#define TARGET GY_TARGET_AVX512
#define MIX(z) gy_mix_avx512(z)
#include "lib/place/dx_lanes.h"
#endif

#define LANES_MOST 8u

#define WHOLE     (1u << 31) /* the bar of the heaviest weight: every draw is below it */
#define DRAWS_FEW (1u << 16) /* most on average; more are refused */
#define DRAWS_MAX (1u << 22) /* 64 times that: a key needs more with probability e^-64 */

#define BLOCK  256u /* keys that draw in turn */
#define ROUNDS 64u  /* after which those still without a node draw alone */

struct dx {
    struct gy_numbers numbers; /* first, for gy_numbers_same */
    uint32_t *bar;             /* by slot: what a draw's number has to be below */
    uint32_t mask;             /* capacity - 1 */
    unsigned few;              /* draws that a lookup takes at once, see few_of */
    uint64_t sum;              /* of the bars */
};

/* Draws on from *state until one passes; GYRE_NONE after DRAWS_MAX in all. */
static uint32_t draw(const struct dx *x, uint64_t *state, uint64_t *draws)
{
    for (; *draws < DRAWS_MAX; ++*draws) {
        uint64_t v = gy_mix(*state += GY_GOLDEN);
        uint32_t slot = (uint32_t)v & x->mask;
        if (v >> 33 < x->bar[slot]) {
            ++*draws;
            return x->numbers.node[slot];
        }
    }
    return GYRE_NONE;
}

/*
 * The slot of the first of `few` draws that passes, if one does. Whether a draw passes cannot be
 * foretold, and a branch on it costs as much as three draws; so there is none but, in the callers,
 * on whether any did. The last is looked at first: each that passes puts itself before those after.
 */
static inline __attribute__((always_inline)) bool passes(const struct dx *x, uint64_t hash,
                                                         unsigned few, uint32_t *slot)
{
    uint32_t first = 0, any = 0;
    for (unsigned i = few; i-- > 0;) {
        uint64_t v = gy_stream(hash, i);
        uint32_t at = (uint32_t)v & x->mask, pass = -(uint32_t)(v >> 33 < x->bar[at]);
        first ^= (first ^ at) & pass;
        any |= pass;
    }
    *slot = first;
    return any;
}

/* Out of line, for its registers and its walk would be saved and cleared by every lookup. */
static __attribute__((noinline)) uint32_t find(const gyre_map_t *m, uint64_t hash)
{
    const struct dx *x = m->data;
    uint32_t slot;
    for (uint64_t draws = 0; draws < DRAWS_MAX; draws += 4) {
        if (passes(x, hash + draws * GY_GOLDEN, 4, &slot)) {
            return x->numbers.node[slot];
        }
    }
    struct gy_walk w = {.map = m};
    return gy_walk_by_name(&w);
}

static uint32_t dx_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct dx *x = m->data;
    uint32_t slot;
    if ((x->few == 1 && passes(x, (uint64_t)hash, 1, &slot)) ||
        (x->few == 2 && passes(x, (uint64_t)hash, 2, &slot))) {
        return x->numbers.node[slot];
    }
    return find(m, (uint64_t)hash);
}

/* Where nearly every draw passes, a second is in vain; where few do, four cost less than another
 * branch. */
static unsigned few_of(const struct dx *x)
{
    uint64_t all = ((uint64_t)x->mask + 1) * WHOLE;
    return x->sum >= all / 10 * 9 ? 1 : x->sum >= all / 2 ? 2 : 4;
}

/* Draw number `round` of each key. There are as many keys after the n as fill the lanes. */
static void draw_each(enum gy_simd simd, const uint64_t *key, size_t n, uint64_t round,
                      uint64_t *drawn)
{
#ifdef GY_SIMD_X86
    if (simd == GY_SIMD_AVX512) {
        draws_avx512(key, n, round, drawn);
    } else if (simd == GY_SIMD_AVX2) {
        draws_avx2(key, n, round, drawn);
    }
#else
    (void)simd, (void)key, (void)n, (void)round, (void)drawn;
#endif
}

/* One draw for each key that still has no node, without branching on what cannot be foretold: a
 * draw that passes takes its key off the list. */
static inline __attribute__((always_inline)) void
find_block(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out, bool lanes)
{
    const struct dx *x = m->data;
    const uint32_t *bar = x->bar, mask = x->mask; /* or each answer written might change them */
    uint64_t key[BLOCK], drawn[BLOCK];
    uint16_t who[BLOCK];
    size_t left = n;
    for (size_t i = 0; i < n; i++) {
        who[i] = (uint16_t)i;
    }
    if (lanes) {
        memcpy(key, hashes, n * sizeof *hashes);
        for (size_t i = n; i % LANES_MOST; i++) {
            key[i] = 0;
        }
    }
    for (uint64_t round = 0; left && round < ROUNDS; round++) {
        size_t kept = 0;
        if (lanes) {
            draw_each(m->simd, key, left, round, drawn);
        }
        for (size_t k = 0; k < left; k++) {
            uint64_t v = lanes ? drawn[k] : gy_stream(hashes[who[k]], round);
            uint32_t slot = (uint32_t)v & mask;
            out[who[k]] = slot;
            who[kept] = who[k];
            if (lanes) {
                key[kept] = key[k];
            }
            kept += v >> 33 >= bar[slot];
        }
        left = kept;
    }
    for (size_t k = 0; k < left; k++) {
        out[who[k]] = m->nodes[find(m, hashes[who[k]])].slot - 1;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = x->numbers.node[out[i]];
    }
}

static void dx_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    for (size_t done = 0; done < n; done += BLOCK) {
        size_t now = n - done < BLOCK ? n - done : BLOCK;
        if (m->simd == GY_SIMD_NONE) {
            find_block(m, hashes + done, now, out + done, false);
        } else {
            find_block(m, hashes + done, now, out + done, true);
        }
    }
}

static void dx_start(struct gy_walk *w)
{
    w->state = w->hash;
}

static uint32_t dx_next(struct gy_walk *w)
{
    uint64_t draws = w->left; /* how many there were, here */
    uint32_t node = draw(w->map->data, &w->state, &draws);
    w->left = (size_t)draws;
    return node == GYRE_NONE ? gy_walk_by_name(w) : node;
}

static uint64_t dx_mass(const gyre_map_t *m, uint32_t i)
{
    const struct dx *x = m->data;
    return x->bar[m->nodes[i].slot - 1];
}

static double dx_share(const gyre_map_t *m, uint32_t i)
{
    const struct dx *x = m->data;
    return (double)dx_mass(m, i) / (double)x->sum;
}

/* One sequence of draws for both, and one scale of the bars. */
static bool dx_expected(const gyre_map_t *a, const gyre_map_t *b)
{
    return a->capacity == b->capacity && a->heaviest == b->heaviest;
}

/* weight / heaviest of WHOLE, never nothing. */
static int set_bars(const struct gyre_map *m, struct dx *x, gyre_error_t *e)
{
    uint64_t heaviest = (uint64_t)m->heaviest * GY_WEIGHT_STEPS;
    char shown[GY_SHOW];
    memset(x->bar, 0, ((size_t)x->mask + 1) * sizeof *x->bar);
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i] == 0) {
            continue;
        }
        if (m->weight[i] > heaviest) {
            return gy_fail(e, GYRE_RANGE,
                           "dx: '%s' weighs more than `heaviest` (%u); raising that moves nearly "
                           "all keys",
                           gy_show(m->nodes[i].name, shown), m->heaviest);
        }
        /* 10^12 * 2^31 needs 71 bits */
        uint32_t bar = (uint32_t)((gy_u128)m->weight[i] * WHOLE / heaviest);
        bar = bar ? bar : 1;
        x->bar[m->nodes[i].slot - 1] = bar;
        x->sum += bar;
    }
    uint64_t mean = ((uint64_t)x->mask + 1) * WHOLE / x->sum;
    if (mean > DRAWS_FEW) {
        return gy_fail(e, GYRE_RANGE,
                       "dx: a key would take %llu draws on average, at most %u are allowed: "
                       "`capacity` (%u) or `heaviest` (%u) is far above what the nodes make up",
                       (unsigned long long)mean, DRAWS_FEW, x->mask + 1, m->heaviest);
    }
    x->few = few_of(x);
    return GYRE_OK;
}

static int check_capacity(const struct gyre_map *m, gyre_error_t *e)
{
    if (m->capacity & (m->capacity - 1)) {
        return gy_fail(e, GYRE_INVALID, "capacity: %u is no power of two", m->capacity);
    }
    return GYRE_OK;
}

static int check_slots(const struct gyre_map *m, gyre_error_t *e)
{
    char shown[GY_SHOW];
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i] && m->nodes[i].slot > m->capacity) {
            return gy_fail(e, GYRE_RANGE,
                           "dx: '%s' has slot %u, and there are %u (`capacity`, which must be a "
                           "power of two; changing it moves nearly all keys)",
                           gy_show(m->nodes[i].name, shown), m->nodes[i].slot, m->capacity);
        }
    }
    return GYRE_OK;
}

static void dx_fini(struct gyre_map *m)
{
    struct dx *x = m->data;
    gy_numbers_fini(&x->numbers);
    gy_mem_free(x->bar);
    gy_mem_free(x);
}

static int dx_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = check_capacity(m, e);
    if (err) {
        return err;
    }
    struct dx *x = gy_mem_alloc(1, sizeof *x);
    if (!x) {
        return gy_fail_nomem(e);
    }
    *x = (struct dx){.mask = m->capacity - 1};
    m->data = x;
    err = gy_numbers_init(&x->numbers, m, e);
    if (!err) {
        err = check_slots(m, e);
    }
    if (err) {
        return err;
    }
    x->bar = gy_mem_alloc(m->capacity, sizeof *x->bar);
    if (!x->bar) {
        return gy_fail_nomem(e);
    }
    m->steps = m->capacity;
    m->bytes = m->capacity * sizeof *x->bar + x->numbers.n * sizeof *x->numbers.node;
    return set_bars(m, x, e);
}

/* History is none of its answers' business: names, slots and weights are. */
static bool dx_same(const gyre_map_t *a, const gyre_map_t *b)
{
    const struct dx *x = a->data, *y = b->data;
    for (uint32_t s = 0; s < a->capacity; s++) {
        if (x->bar[s] != y->bar[s] ||
            (x->bar[s] &&
             strcmp(a->nodes[x->numbers.node[s]].name, b->nodes[y->numbers.node[s]].name) != 0)) {
            return false;
        }
    }
    return true;
}

static void dx_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct dx *x = m->data;
    uint64_t state = (uint64_t)hash, draws = 0;
    uint32_t node = draw(x, &state, &draws);
    snprintf(out, size, "slot %u of %u, by draw %llu", node == GYRE_NONE ? 0 : m->nodes[node].slot,
             x->mask + 1, (unsigned long long)draws);
}

const struct gy_place gy_place_dx = {
    .name = "dx",
    .numbered = true,
    .explain = dx_explain,
    .build = dx_build,
    .fini = dx_fini,
    .locate = dx_locate,
    .locate_batch = dx_locate_batch,
    .start = dx_start,
    .next = dx_next,
    .share = dx_share,
    .expected = dx_expected,
    .mass = dx_mass,
    .same = dx_same,
};
