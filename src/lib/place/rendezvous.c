/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.c - highest random weight (Thaler and Ravishankar, CSE-TR-316-96, 1996), weighted by
 * the logarithm method (Schindelhauer and Schomaker, SPAA 2005: the least of independent
 * exponential variates of rates w).
 *
 * Cost: every node is hashed for every key, and few are scored; R replicas are one such pass for
 * each 8. Memory: 10 bytes a node, 22 with unequal weights.
 * Guaranteed: a change of one node's presence or weight moves keys only to or from that node, for
 * each of a key's replicas; shares are the weights' expectation, without points; no history.
 * Not: exact shares (a sample of n keys varies as any sample does); shares below about 2^-40.
 * Threads: immutable once built.
 */
#include "lib/place/rendezvous.h"

#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/log2.h"
#include "lib/place/mix.h"
#include "lib/place/weights.h"

#ifdef GY_SIMD_X86
#include <immintrin.h>

#include "lib/place/lanes.h"
#endif

/* Where a node stands for a key; `first` is the order. */
struct score {
    double cost;
    uint64_t z;
    uint32_t i;
};

static uint64_t scramble(const struct gy_rendezvous *r, uint64_t hash, uint32_t i)
{
    return gy_mix_folded(gy_mix_fold(hash) ^ r->seed[i]);
}

static struct score score(const struct gy_rendezvous *r, uint64_t hash, uint32_t i)
{
    uint64_t z = scramble(r, hash, i);
    double cost = r->inverse ? gy_log2_cost(z) * r->inverse[i] : 0;
    return (struct score){cost, z, i};
}

/* Least cost, then largest z, then the name. */
static bool first(const struct score *a, const struct score *b)
{
    if (a->cost < b->cost || a->cost > b->cost) {
        return a->cost < b->cost;
    }
    return a->z != b->z ? a->z > b->z : a->i < b->i;
}

/*
 * Costs are dear, and nearly all nodes lose by far. So each gets a distance first, a whole number,
 * and the nearest one a limit, such that no node farther than that comes first. Mostly there is no
 * other within it, and nothing is left to do; else those that are get scored.
 *
 * Equal weights: the distance is the upper half of not z. Its last bit says nothing, for the lanes
 * leave out the last step of the mix, which leaves the first 31 alone; the limit is the distance
 * with that bit set.
 *
 * Else, with v = the first 31 bits of not z, x = v / 2^31 and y = (v + 1) / 2^31: x < 1 - u <= y,
 * so x + x^2/2 < -ln(u) <= y + y^2/2 + y^3 / (3 (1 - y)). The left side by 1.4426 / w, the
 * distance, is below the cost, and the right one by 1.4428 / w, the limit, above; each by 6 in
 * 100000 or more, far more than floats and the recipe of log2.h err by. They are floats, none
 * negative, whose bits are in the order of the numbers.
 */
struct nearest {
    uint32_t best, second, limit; /* a node, the least distance of all others, and its limit */
};

/* Of numbers as of vectors of them; times the node's scale. */
#define BELOW(v) ((v) * ((v)*0x1p-32f + 1.0f))
#define ABOVE(v) ((v) * (1.0f + (v)*0x1p-31f * (0.5f + (v) / (0x3p31f - 3.0f * (v)))))

#define BELOW_COST (1.4426 / 0x1p31) /* in the scale */
#define ABOVE_COST (1.4428f / 1.4426f)

/* Part of the lanes' functions too, always: code compiled without AVX, called while the upper
 * halves of its registers are in use, costs a hundred nanoseconds on some machines. */
#define WITHIN static inline __attribute__((always_inline))

WITHIN uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* These are for unequal weights. */
static float v_of(uint64_t z)
{
    return (float)(int32_t)(~z >> 33);
}

static uint32_t distance_of(const struct gy_rendezvous *r, uint64_t z, uint32_t i)
{
    float v = v_of(z);
    return bits_of(BELOW(v) * r->scale[i]);
}

WITHIN uint32_t limit_of(float v, float scale)
{
    return bits_of(ABOVE(v + 1.0f) * scale * ABOVE_COST);
}

/* Functions of their own, or the short ones would save the registers that the long ones need. */
#define OWN_FRAME __attribute__((noinline))

/* Seldom. */
static OWN_FRAME uint32_t best_within(const struct gy_rendezvous *r, uint64_t hash, uint32_t limit)
{
    struct score best = {DBL_MAX, 0, 0};
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t z = scramble(r, hash, i);
        if ((r->inverse ? distance_of(r, z, i) : (uint32_t)(~z >> 32)) <= limit) {
            struct score s = score(r, hash, i);
            best = first(&s, &best) ? s : best;
        }
    }
    return best.i;
}

static uint32_t settle(const struct gy_rendezvous *r, uint64_t hash, struct nearest near)
{
    return near.second > near.limit ? near.best : best_within(r, hash, near.limit);
}

/* ---- the search, one node after the other ---- */

/* Without branches, for which node is first cannot be foretold; so too below. */
static OWN_FRAME uint32_t search_equal(const struct gy_rendezvous *r, uint64_t hash)
{
    const uint64_t *seed = r->seed, folded = gy_mix_fold(hash);
    uint64_t most = 0;
    uint32_t at = 0;
    for (uint32_t i = 0, n = r->count; i < n; i++) {
        uint64_t z = gy_mix_folded(folded ^ seed[i]);
        at = z > most ? i : at;
        most = z > most ? z : most;
    }
    return at;
}

/* Two keys: neither waits for what the other's comparison says. */
static void search_equal_two(const struct gy_rendezvous *r, const uint64_t *hashes, uint32_t *out)
{
    const uint64_t *seed = r->seed, a = gy_mix_fold(hashes[0]), b = gy_mix_fold(hashes[1]);
    uint64_t most_a = 0, most_b = 0;
    uint32_t at_a = 0, at_b = 0;
    for (uint32_t i = 0, n = r->count; i < n; i++) {
        uint64_t y = gy_mix_folded(a ^ seed[i]), z = gy_mix_folded(b ^ seed[i]);
        at_a = y > most_a ? i : at_a;
        most_a = y > most_a ? y : most_a;
        at_b = z > most_b ? i : at_b;
        most_b = z > most_b ? z : most_b;
    }
    out[0] = r->node[at_a];
    out[1] = r->node[at_b];
}

/* *least is the distance of near->best. */
static inline void meet(struct nearest *near, uint32_t *least, uint32_t far, uint32_t i)
{
    uint32_t farther = far > *least ? far : *least;
    near->second = farther < near->second ? farther : near->second;
    near->best = far < *least ? i : near->best;
    *least = far < *least ? far : *least;
}

/* After the first nodes few come nearer, and that is foretold well. */
#define UNSURE 16u

static OWN_FRAME uint32_t search_weighted(const struct gy_rendezvous *r, uint64_t hash)
{
    struct nearest near = {0, UINT32_MAX, 0};
    uint32_t least = UINT32_MAX, i = 0, n = r->count;
    for (; i < n && i < UNSURE; i++) {
        meet(&near, &least, distance_of(r, scramble(r, hash, i), i), i);
    }
    for (; i < n; i++) {
        uint64_t z = scramble(r, hash, i);
        if (bits_of(v_of(z) * r->scale[i]) < near.second) { /* x alone is below all the more */
            meet(&near, &least, distance_of(r, z, i), i);
        }
    }
    near.limit = limit_of(v_of(scramble(r, hash, near.best)), r->scale[near.best]);
    return settle(r, hash, near);
}

/* ---- the search in vectors ---- */

#ifdef GY_SIMD_X86
struct nearests {
    uint32_t key[GY_LANES_MOST]; /* which one of the keys it is about */
    uint32_t best[GY_LANES_MOST], second[GY_LANES_MOST], limit[GY_LANES_MOST];
};

GY_TARGET_AVX2 static uint32_t lowest_avx2(gy_eight_halves a)
{
    __m128i x = _mm256_castsi256_si128((__m256i)a);
    x = _mm_min_epu32(x, _mm256_extracti128_si256((__m256i)a, 1));
    x = _mm_min_epu32(x, _mm_shuffle_epi32(x, _MM_SHUFFLE(1, 0, 3, 2)));
    x = _mm_min_epu32(x, _mm_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(x);
}

#define LEVEL(name)          name##_avx2
#define LANES                8
#define TARGET               GY_TARGET_AVX2
#define LESSER(a, b)         (half_avx2) _mm256_min_epu32((__m256i)(a), (__m256i)(b))
#define GREATER(a, b)        (half_avx2) _mm256_max_epu32((__m256i)(a), (__m256i)(b))
#define LOWEST(a)            lowest_avx2(a)
#define EQUAL(x, y)          _mm256_cmpeq_epi32((__m256i)(x), (__m256i)(y))
#define PICK(x, y, a, b)     (half_avx2) _mm256_blendv_epi8((__m256i)(b), (__m256i)(a), EQUAL(x, y))
#define SAME(x, y)           (unsigned)_mm256_movemask_ps((__m256)EQUAL(x, y))
#define TIMES(a, c)          gy_times_avx2(a, c)
#define UPPER_TIMES(a, b, c) gy_upper_times_avx2(a, b, c)
#define ORDER                  \
    {                          \
        0, 1, 4, 5, 2, 3, 6, 7 \
    }
#define LAID(a) __builtin_shufflevector((whole_avx2)(a), (whole_avx2)(a), 0, 2, 1, 3)
#include "lib/place/rendezvous_lanes.h"
#undef EQUAL

#define LEVEL(name)   name##_avx512
#define LANES         16
#define TARGET        GY_TARGET_AVX512
#define LESSER(a, b)  (half_avx512) _mm512_min_epu32((__m512i)(a), (__m512i)(b))
#define GREATER(a, b) (half_avx512) _mm512_max_epu32((__m512i)(a), (__m512i)(b))
#define LOWEST(a)     _mm512_reduce_min_epu32((__m512i)(a))
#define EQUAL(x, y)   _mm512_cmpeq_epi32_mask((__m512i)(x), (__m512i)(y))
#define PICK(x, y, a, b) \
    (half_avx512) _mm512_mask_blend_epi32(EQUAL(x, y), (__m512i)(b), (__m512i)(a))
#define SAME(x, y)  (unsigned)EQUAL(x, y)
#define TIMES(a, c) ((a) * (c))
#define UPPER_TIMES(a, b, c) \
    (half_avx512)            \
        _mm512_shuffle_ps((__m512)((a) * (c)), (__m512)((b) * (c)), _MM_SHUFFLE(3, 1, 3, 1))
#define ORDER                                                \
    {                                                        \
        0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15 \
    }
#define LAID(a) \
    __builtin_shufflevector((whole_avx512)(a), (whole_avx512)(a), 0, 4, 1, 5, 2, 6, 3, 7)
#include "lib/place/rendezvous_lanes.h"
#undef EQUAL

/* As many keys as there are lanes; what n of them answer is written. */
static void locate_each(const struct gy_rendezvous *r, const uint64_t *hashes, size_t lanes,
                        size_t n, uint32_t *out)
{
    struct nearests x;
    if (r->simd == GY_SIMD_AVX512) {
        each_avx512(r, hashes, &x);
    } else {
        each_avx2(r, hashes, &x);
    }
    for (size_t k = 0; k < lanes; k++) {
        uint32_t at = x.key[k];
        struct nearest near = {x.best[k], x.second[k], x.limit[k]};
        if (at < n) {
            out[at] = r->node[settle(r, hashes[at], near)];
        }
    }
}

/* All but a few of the last: half of the lanes are idle at most. Answers how many. */
static size_t locate_lanes(const struct gy_rendezvous *r, const uint64_t *hashes, size_t n,
                           uint32_t *out)
{
    size_t lanes = r->simd == GY_SIMD_AVX512 ? 16 : 8, i = 0;
    for (; n - i >= lanes; i += lanes) {
        locate_each(r, hashes + i, lanes, lanes, out + i);
    }
    if (n - i < lanes / 2) {
        return i;
    }
    uint64_t last[GY_LANES_MOST] = {0};
    memcpy(last, hashes + i, (n - i) * sizeof *last);
    locate_each(r, last, lanes, n - i, out + i);
    return n;
}

static OWN_FRAME uint32_t search_lanes(const struct gy_rendezvous *r, uint64_t hash)
{
    struct nearest near = r->simd == GY_SIMD_AVX512 ? one_avx512(r, hash) : one_avx2(r, hash);
    return settle(r, hash, near);
}
#endif

/* Nodes from which lanes win. */
#define WORTH          14u
#define WORTH_WEIGHTED 6u

/* The number among r's of the node that comes first. */
static uint32_t best_of(const struct gy_rendezvous *r, uint64_t hash)
{
#ifdef GY_SIMD_X86
    if (r->simd != GY_SIMD_NONE && r->count >= (r->inverse ? WORTH_WEIGHTED : WORTH)) {
        return search_lanes(r, hash);
    }
#endif
    return r->inverse ? search_weighted(r, hash) : search_equal(r, hash);
}

uint32_t gy_rendezvous_best(const struct gy_rendezvous *r, uint64_t hash)
{
    return r->node[best_of(r, hash)];
}

static uint32_t rendezvous_locate(const gyre_map_t *m, gy_u128 hash)
{
    return gy_rendezvous_best(m->data, (uint64_t)hash);
}

static void rendezvous_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                    uint32_t *out)
{
    const struct gy_rendezvous *r = m->data;
    size_t i = 0;
#ifdef GY_SIMD_X86
    if (r->simd != GY_SIMD_NONE) {
        i = locate_lanes(r, hashes, n, out);
    }
#endif
    for (; !r->inverse && n - i >= 2; i += 2) {
        search_equal_two(r, hashes + i, out + i);
    }
    for (; i < n; i++) {
        out[i] = gy_rendezvous_best(r, hashes[i]);
    }
}

/* ---- the walk: the next few at a time, so that few replicas cost one pass ---- */

static void refill(struct gy_walk *w)
{
    const struct gy_rendezvous *r = w->map->data;
    struct score best[GY_WALK_AHEAD], last = {0};
    uint32_t n = 0;
    if (w->have) {
        last = score(r, w->hash, w->ahead[w->have - 1]);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        struct score s = score(r, w->hash, i);
        if ((w->have && !first(&last, &s)) ||
            (n == GY_WALK_AHEAD && !first(&s, &best[GY_WALK_AHEAD - 1]))) {
            continue;
        }
        uint32_t at = n < GY_WALK_AHEAD ? n++ : n - 1;
        for (; at > 0 && first(&s, &best[at - 1]); at--) {
            best[at] = best[at - 1];
        }
        best[at] = s;
    }
    for (uint32_t i = 0; i < n; i++) {
        w->ahead[i] = best[i].i;
    }
    w->have = n;
    w->used = 0;
}

static void rendezvous_start(struct gy_walk *w)
{
    (void)w; /* have is 0: nothing has been met yet */
}

static uint32_t rendezvous_next(struct gy_walk *w)
{
    const struct gy_rendezvous *r = w->map->data;
    if (w->draws == r->count) {
        return GYRE_NONE;
    }
    if (w->used == w->have) {
        refill(w);
    }
    w->draws++;
    return r->node[w->ahead[w->used++]];
}

/* ---- build ---- */

void gy_rendezvous_fini(struct gy_rendezvous *r)
{
    gy_mem_free(r->seed);
    gy_mem_free(r->inverse);
    gy_mem_free(r->scale);
    gy_mem_free(r->node);
}

int gy_rendezvous_init(struct gy_rendezvous *r, const gyre_map_t *m)
{
    bool equal = gy_weights_equal(m);
    size_t room = m->positive + (GY_LANES_MOST - m->positive % GY_LANES_MOST) % GY_LANES_MOST;
    *r = (struct gy_rendezvous){.simd = m->simd,
                                .seed = gy_mem_alloc(room, sizeof *r->seed),
                                .node = gy_mem_alloc(m->positive, sizeof *r->node)};
    if (!equal) {
        r->inverse = gy_mem_alloc(m->positive, sizeof *r->inverse);
        r->scale = gy_mem_alloc(room, sizeof *r->scale);
    }
    if (!r->seed || !r->node || (!equal && (!r->inverse || !r->scale))) {
        gy_rendezvous_fini(r);
        return GYRE_NOMEM;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i] == 0) {
            continue;
        }
        uint64_t seed = gyre_hash_xxh3(m->nodes[i].name, strlen(m->nodes[i].name));
        r->seed[r->count] = gy_mix_fold(seed);
        r->node[r->count] = (uint16_t)i;
        if (r->inverse) {
            r->inverse[r->count] = 1.0 / (double)m->weight[i]; /* below 2^53: exact before / */
            r->scale[r->count] = (float)(r->inverse[r->count] * BELOW_COST);
        }
        r->count++;
    }
    for (size_t i = r->count; i < room; i++) { /* the lanes read them, and do not look */
        r->seed[i] = 0;
        if (r->scale) {
            r->scale[i] = 0;
        }
    }
    return GYRE_OK;
}

size_t gy_rendezvous_bytes(const struct gy_rendezvous *r)
{
    size_t each = sizeof *r->seed + sizeof *r->node +
                  (r->inverse ? sizeof *r->inverse + sizeof *r->scale : 0);
    return each * r->count;
}

static void rendezvous_fini(struct gyre_map *m)
{
    gy_rendezvous_fini(m->data);
    gy_mem_free(m->data);
}

static int rendezvous_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    struct gy_rendezvous *r = gy_mem_alloc(1, sizeof *r);
    if (!r || gy_rendezvous_init(r, m)) {
        gy_mem_free(r);
        return gy_fail_nomem(e);
    }
    m->data = r;
    m->steps = m->positive;
    m->bytes = gy_rendezvous_bytes(r);
    return GYRE_OK;
}

static void rendezvous_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct gy_rendezvous *r = m->data;
    uint64_t h = (uint64_t)hash;
    uint32_t i = best_of(r, h);
    snprintf(out, size, "score 0x%016llx, the highest of %u%s",
             (unsigned long long)scramble(r, h, i), r->count, r->inverse ? " by weight" : "");
}

const struct gy_place gy_place_rendezvous = {
    .name = "rendezvous",
    .explain = rendezvous_explain,
    .build = rendezvous_build,
    .fini = rendezvous_fini,
    .locate = rendezvous_locate,
    .locate_batch = rendezvous_locate_batch,
    .start = rendezvous_start,
    .next = rendezvous_next,
    .share = gy_weight_share,
    .expected = gy_expected_always,
    .mass = gy_weight_mass,
    .same = gy_weights_same,
};
