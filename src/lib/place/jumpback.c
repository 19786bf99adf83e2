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
#include <string.h>

#include "lib/place/mix.h"
#include "lib/place/number.h"
#include "lib/place/range.h"
#include "lib/place/weights.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>

#include "lib/place/lanes.h"
#endif

static uint32_t low(uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t high(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

static uint32_t pick(bool which, uint32_t yes, uint32_t no)
{
    return no ^ ((yes ^ no) & (0u - which));
}

/* The power of two that is x's top bit, and 1 for 0. */
static uint32_t top_bit(uint32_t x)
{
    return (uint32_t)1 << (__builtin_clz(x | 1) ^ 31);
}

/* The highest power of two below n; 1 for n = 1, which nothing but 0 is below. */
static uint32_t top_of(uint32_t n)
{
    return top_bit(n - 1);
}

/*
 * Bits of u, which the halves of a key's first word make, say between which powers of two the key
 * would jump, were the range unlimited: the top one of them names an interval [q, 2q), and where in
 * it is one number for a whole interval, in the half that the parity of the bits up to q tells.
 *
 * Only the highest interval, [top, 2 top), can end past n. So `lower`, the last jump below top, is
 * made of u's bits below top, and the jump to the highest interval of the other half, for it counts
 * one bit more. If that is not below n, further draws from [0, 2 top) tell the last jump before n:
 * it is the first of them below n, or `lower` if that is below top. The first word is such a draw
 * too, and without its bit at top it is one below top.
 */
struct first {
    uint32_t lower, drawn;
};

static inline struct first first_word(uint64_t hash, uint32_t top)
{
    uint64_t v = gy_mix(hash + GY_GOLDEN);
    uint32_t u = low(v) ^ high(v), inner = u & (top - 1);
    unsigned half = (unsigned)__builtin_parity(inner) * 32;
    v = v << half | v >> (-half & 63);
    return (struct first){.lower = inner ^ ((inner ^ low(v)) & (top_bit(inner) - 1)),
                          .drawn = (u & top) | (high(v) & (top - 1))};
}

/* The draws of one more word: the first of both that is below n, if one is. */
static inline uint32_t next_word(uint64_t state, uint32_t n, uint32_t top)
{
    uint64_t w = gy_mix(state);
    uint32_t first = low(w) & (2 * top - 1), second = high(w) & (2 * top - 1);
    return pick(first < n, first, second);
}

/*
 * Whether the first draws decide; they mostly do. Which of them does cannot be foretold, and to
 * branch on it costs more than the second word; but where seven of eight first words decide, the
 * second is not worth its price.
 */
static inline bool decide(uint64_t hash, uint32_t n, uint32_t top, uint32_t *slot)
{
    struct first f = first_word(hash, top);
    if (n < top + top / 4 * 3) {
        f.drawn = pick(f.drawn < n, f.drawn, next_word(hash + 2 * GY_GOLDEN, n, top));
    }
    *slot = pick(f.drawn < top, f.lower, f.drawn);
    return f.drawn < n;
}

/* For the others. Out of line, for its registers would be saved by every lookup. */
static __attribute__((noinline)) uint32_t draw_on(uint64_t hash, uint32_t n)
{
    uint32_t top = top_of(n), drawn;
    struct first f = first_word(hash, top);
    hash += GY_GOLDEN;
    do {
        drawn = next_word(hash += GY_GOLDEN, n, top);
    } while (drawn >= n);
    return pick(drawn < top, f.lower, drawn);
}

uint32_t gy_jumpback(uint64_t hash, uint32_t n)
{
    uint32_t slot;
    return decide(hash, n, top_of(n), &slot) ? slot : draw_on(hash, n);
}

#ifdef GY_SIMD_X86
#define LANES_MOST 16u

#define NAME              jumpbacks_avx2
#define LANES             8
#define TARGET            GY_TARGET_AVX2
#define MIX(z)            gy_mix_avx2(z)
#define LOWER(a, b)       GY_LOWER_AVX2(a, b)
#define UPPER(a, b)       GY_UPPER_AVX2(a, b)
#define PICK(flags, a, b) GY_PICK_AVX2(flags, a, b)
#define BITS(flags)       GY_BITS_AVX2(flags)
#define FLAGS             __m256i
#define BELOW(x, y)       _mm256_cmpgt_epi32((__m256i)(y), (__m256i)(x))
#define SIGN(x)           (__m256i)(x)
#include "lib/place/jumpback_lanes.h"

#define NAME              jumpbacks_avx512
#define LANES             16
#define TARGET            GY_TARGET_AVX512
#define MIX(z)            gy_mix_avx512(z)
#define LOWER(a, b)       GY_LOWER_AVX512(a, b)
#define UPPER(a, b)       GY_UPPER_AVX512(a, b)
#define PICK(flags, a, b) GY_PICK_AVX512(flags, a, b)
#define BITS(flags)       GY_BITS_AVX512(flags)
#define FLAGS             __mmask16
#define BELOW(x, y)       _mm512_cmpgt_epi32_mask((__m512i)(y), (__m512i)(x))
#define SIGN(x)           _mm512_movepi32_mask((__m512i)(x))
#include "lib/place/jumpback_lanes.h"

static void jumpbacks(enum gy_simd simd, const uint64_t *hashes, size_t count, uint32_t n,
                      uint32_t *out)
{
    if (simd == GY_SIMD_AVX512) {
        jumpbacks_avx512(hashes, count, n, out);
    } else {
        jumpbacks_avx2(hashes, count, n, out);
    }
}
#endif

void gy_jumpback_batch(enum gy_simd simd, const uint64_t *hashes, size_t count, uint32_t n,
                       uint32_t *out)
{
    size_t i = 0;
#ifdef GY_SIMD_X86
    if (simd != GY_SIMD_NONE) {
        i = count - count % LANES_MOST;
        jumpbacks(simd, hashes, i, n, out);
    }
#else
    (void)simd;
#endif
    const uint32_t top = top_of(n);
    for (; i < count; i++) {
        uint32_t slot;
        out[i] = decide(hashes[i], n, top, &slot) ? slot : draw_on(hashes[i], n);
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

static int jumpback_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    int err = gy_range_build(m, rule, e);
    if (!err) {
        struct gy_numbers *x = m->data;
        x->top = top_of(x->n);
    }
    return err;
}

static __attribute__((noinline)) uint32_t late(const struct gy_numbers *x, uint64_t hash)
{
    return x->node[draw_on(hash, x->n)];
}

static uint32_t jumpback_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_numbers *x = m->data;
    uint32_t slot;
    return decide((uint64_t)hash, x->n, x->top, &slot) ? x->node[slot] : late(x, (uint64_t)hash);
}

static void jumpback_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                  uint32_t *out)
{
    const struct gy_numbers *x = m->data;
    gy_jumpback_batch(m->simd, hashes, n, x->n, out);
    gy_range_nodes(m, out, n);
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
    .build = jumpback_build,
    .fini = gy_range_fini,
    .locate = jumpback_locate,
    .locate_batch = jumpback_locate_batch,
    .start = gy_numbers_start,
    .next = gy_numbers_next,
    .expected = jumpback_expected,
    .mass = gy_weight_one,
    .same = gy_numbers_same,
};
