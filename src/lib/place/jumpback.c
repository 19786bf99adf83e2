/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumpback.c - JumpBackHash (Ertl, "JumpBackHash: say goodbye to the modulo operation to distribute
 * keys uniformly to buckets", 2024, arXiv 2403.18682): jump's jumps taken from the top down, one
 * power of two at a time, so that few are needed and integers do.
 *
 * Cost: fewer than two random words a key on average, whatever the number of nodes. Memory: none
 * but the slots' names.
 * Guaranteed and not: as jump.c says of jump; the two place keys differently.
 * Threads: immutable once built.
 */
#include <stdio.h>

#include "lib/place/mix.h"
#include "lib/place/number.h"
#include "lib/place/range.h"
#include "lib/place/weights.h"

#define BLOCK 64u /* keys looked at before the undecided ones are returned to */

static uint32_t low(uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t high(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

/*
 * Bits of u say between which powers of two the key would jump, were the range unlimited. The top
 * one of them below n names an interval [q, 2q); where in it is one number for a whole interval,
 * and if that is not below n, further draws from [0, 2q) tell the last jump before n.
 */
uint32_t gy_jumpback(uint64_t hash, uint32_t n)
{
    uint64_t state = hash;
    uint64_t v = gy_mix(state += GY_GOLDEN);
    uint32_t mask = n > 1 ? UINT32_MAX >> __builtin_clz(n - 1) : 0;
    uint32_t u = (low(v) ^ high(v)) & mask;
    while (u) {
        uint32_t q = (uint32_t)1 << (31 - __builtin_clz(u));
        uint32_t half = __builtin_popcount(u) & 1 ? high(v) : low(v);
        uint32_t r = q + (half & (q - 1));
        if (r < n) {
            return r;
        }
        for (;;) {
            uint64_t w = gy_mix(state += GY_GOLDEN);
            r = low(w) & (2 * q - 1);
            if (r < q) {
                break;
            }
            if (r < n) {
                return r;
            }
            r = high(w) & (2 * q - 1);
            if (r < q) {
                break;
            }
            if (r < n) {
                return r;
            }
        }
        u ^= q;
    }
    return 0;
}

/* Whether the first word decides cannot be foretold, so it is not branched upon: those it does not
 * decide are put on a list, and done again from the start. */
void gy_jumpback_batch(const uint64_t *hashes, size_t count, uint32_t n, uint32_t *out)
{
    uint32_t mask = n > 1 ? UINT32_MAX >> __builtin_clz(n - 1) : 0;
    uint32_t open[BLOCK];
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t now = count - done < BLOCK ? count - done : BLOCK, left = 0;
        for (size_t i = 0; i < now; i++) {
            uint64_t v = gy_mix(hashes[done + i] + GY_GOLDEN);
            uint32_t u = (low(v) ^ high(v)) & mask;
            uint32_t q = (uint32_t)1 << (31 - __builtin_clz(u | 1));
            uint32_t half = (uint32_t)(v >> (__builtin_popcount(u) & 1) * 32);
            uint32_t r = u ? q + (half & (q - 1)) : 0;
            out[done + i] = r;
            open[left] = (uint32_t)i;
            left += r >= n;
        }
        for (size_t k = 0; k < left; k++) {
            out[done + open[k]] = gy_jumpback(hashes[done + open[k]], n);
        }
    }
}

/*
 * With q < larger <= 2 q: the further draws are fresh, and so is the next interval's half of the
 * word, for its bits have not been looked at. The one after that takes the first half again, whose
 * lower bits the number in q shows; it matters if it is the smaller range's first one.
 */
bool gy_jumpback_independent(uint32_t n, uint32_t m)
{
    uint32_t smaller = n < m ? n : m, larger = n < m ? m : n;
    uint32_t q = larger > 1 ? (uint32_t)1 << (31 - __builtin_clz(larger - 1)) : 0;
    return smaller >= q;
}

static bool jumpback_expected(const gyre_map_t *a, const gyre_map_t *b)
{
    return gy_jumpback_independent((uint32_t)a->steps, (uint32_t)b->steps);
}

static uint32_t jumpback_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_numbers *x = m->data;
    return x->node[gy_jumpback((uint64_t)hash, x->n)];
}

static void jumpback_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                  uint32_t *out)
{
    const struct gy_numbers *x = m->data;
    gy_jumpback_batch(hashes, n, x->n, out);
    for (size_t i = 0; i < n; i++) {
        out[i] = x->node[out[i]];
    }
}

static void jumpback_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct gy_numbers *x = m->data;
    snprintf(out, size, "slot %u of %u", gy_jumpback((uint64_t)hash, x->n) + 1, x->n);
}

const struct gy_place gy_place_jumpback = {
    .name = "jumpback",
    .numbered = true,
    .explain = jumpback_explain,
    .build = gy_range_build,
    .fini = gy_range_fini,
    .locate = jumpback_locate,
    .locate_batch = jumpback_locate_batch,
    .start = gy_numbers_start,
    .next = gy_numbers_next,
    .expected = jumpback_expected,
    .mass = gy_weight_one,
    .same = gy_numbers_same,
};
