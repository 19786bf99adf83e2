/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.c - highest random weight (Thaler and Ravishankar, CSE-TR-316-96, 1996), weighted by
 * the logarithm method (Schindelhauer and Schomaker, SPAA 2005: the least of independent
 * exponential variates of rates w).
 *
 * Cost: every node is hashed for every key, and few are scored; R replicas are one such pass for
 * each 8. Memory: 14 bytes a node, 22 with unequal weights.
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

/* Part of the lanes' functions too, always: code compiled without AVX, called while the upper
 * halves of its registers are in use, costs a hundred nanoseconds on some machines. */
#define WITHIN static inline __attribute__((always_inline))

WITHIN struct score score(const struct gy_rendezvous *r, uint64_t hash, uint32_t i)
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
 * Costs are dear, and nearly all nodes lose by far, so first each gets a bound below its cost:
 * -log2(u) > (1 - u) / ln 2 = 1.4427 (1 - u), and by v = the first 31 bits of not z, 1 - u is above
 * v / 2^31. So v * scale, scale being 1.44 / 2^31 / w, is below the cost by a thousandth or more:
 * far more than floats and the recipe of log2.h err by, and close enough where u is near 1, as the
 * first one's is. With equal weights scale is 1, and v falls or stays as z grows. Either way no
 * node comes before another whose worst case (see limit_of) its bound is above.
 */
WITHIN float bound_of(const struct gy_rendezvous *r, uint64_t z, uint32_t i)
{
    return (float)(int32_t)(~z >> 33) * r->scale[i];
}

WITHIN float limit_of(const struct gy_rendezvous *r, const struct score *s)
{
    return r->inverse ? (float)s->cost : bound_of(r, s->z, s->i);
}

/* Without branches, for which node is first cannot be foretold. */
static void improve_equal(const struct gy_rendezvous *r, uint64_t hash, uint32_t i,
                          struct score *best)
{
    const uint64_t *seed = r->seed, folded = gy_mix_fold(hash);
    uint64_t most = best->z;
    uint32_t at = best->i;
    for (uint32_t n = r->count; i < n; i++) {
        uint64_t z = gy_mix_folded(folded ^ seed[i]);
        at = z > most ? i : at;
        most = z > most ? z : most;
    }
    best->z = most;
    best->i = at;
}

/* Goes through the nodes from number i on one by one. */
static void improve(const struct gy_rendezvous *r, uint64_t hash, uint32_t i, struct score *best)
{
    if (!r->inverse) {
        improve_equal(r, hash, i, best);
        return;
    }
    float limit = limit_of(r, best);
    for (; i < r->count; i++) {
        if (bound_of(r, scramble(r, hash, i), i) <= limit) {
            struct score s = score(r, hash, i);
            if (first(&s, best)) {
                *best = s;
                limit = limit_of(r, best);
            }
        }
    }
}

#ifdef GY_SIMD_X86
#define NAME              lanes_avx2
#define LANES             8
#define TARGET            GY_TARGET_AVX2
#define LEAST(a, b)       (real) _mm256_min_ps((__m256)(a), (__m256)(b))
#define MOST(a, b)        (real) _mm256_max_ps((__m256)(a), (__m256)(b))
#define WHERE(p, a, b)    _mm256_cmp_ps((__m256)(a), (__m256)(b), p)
#define BELOW(x, y, a, b) _mm256_blendv_ps((__m256)(b), (__m256)(a), WHERE(_CMP_LT_OQ, x, y))
#define LOWEST(a)         lowest_avx2((__m256)(a))
#define MASK(a, b)        (unsigned)_mm256_movemask_ps(WHERE(_CMP_LE_OQ, a, b))
#define UPPER(a, b)       __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
GY_TARGET_AVX2 static float lowest_avx2(__m256 a)
{
    __m128 x = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_shuffle_ps(x, x, 1)));
}
#include "lib/place/rendezvous_lanes.h"
#undef WHERE

#define NAME              lanes_avx512
#define LANES             16
#define TARGET            GY_TARGET_AVX512
#define LEAST(a, b)       (real) _mm512_min_ps((__m512)(a), (__m512)(b))
#define MOST(a, b)        (real) _mm512_max_ps((__m512)(a), (__m512)(b))
#define WHERE(p, a, b)    _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), p)
#define BELOW(x, y, a, b) _mm512_mask_blend_ps(WHERE(_CMP_LT_OQ, x, y), (__m512)(b), (__m512)(a))
#define LOWEST(a)         _mm512_reduce_min_ps((__m512)(a))
#define MASK(a, b)        (unsigned)WHERE(_CMP_LE_OQ, a, b)
#define UPPER(a, b) \
    __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#include "lib/place/rendezvous_lanes.h"
#undef WHERE
#endif

/* Nodes from which lanes win. */
#define WORTH          32u
#define WORTH_WEIGHTED 4u

/* The number among r's of the node that comes first. */
static uint32_t best_of(const struct gy_rendezvous *r, uint64_t hash)
{
#ifdef GY_SIMD_X86
    if (r->simd != GY_SIMD_NONE && r->count >= (r->inverse ? WORTH_WEIGHTED : WORTH)) {
        return r->simd == GY_SIMD_AVX512 ? lanes_avx512(r, hash).i : lanes_avx2(r, hash).i;
    }
#endif
    struct score best = score(r, hash, 0);
    improve(r, hash, 1, &best);
    return best.i;
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
    for (size_t i = 0; i < n; i++) {
        out[i] = gy_rendezvous_best(m->data, hashes[i]);
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
                                .scale = gy_mem_alloc(room, sizeof *r->scale),
                                .node = gy_mem_alloc(m->positive, sizeof *r->node)};
    if (!equal) {
        r->inverse = gy_mem_alloc(m->positive, sizeof *r->inverse);
    }
    if (!r->seed || !r->scale || !r->node || (!equal && !r->inverse)) {
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
        r->scale[r->count] = 1;
        if (r->inverse) {
            r->inverse[r->count] = 1.0 / (double)m->weight[i]; /* below 2^53: exact before / */
            r->scale[r->count] = (float)(r->inverse[r->count] * (1.44 / 0x1p31));
        }
        r->count++;
    }
    for (size_t i = r->count; i < room; i++) { /* what fills the lanes loses, or is seen through */
        r->seed[i] = 0;
        r->scale[i] = FLT_MAX;
    }
    return GYRE_OK;
}

size_t gy_rendezvous_bytes(const struct gy_rendezvous *r)
{
    size_t each = sizeof *r->seed + sizeof *r->scale + sizeof *r->node +
                  (r->inverse ? sizeof *r->inverse : 0);
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
