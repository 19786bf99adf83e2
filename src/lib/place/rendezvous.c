/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.c - highest random weight (Thaler and Ravishankar, CSE-TR-316-96, 1996), weighted by
 * the logarithm method (Schindelhauer and Schomaker, SPAA 2005: the least of independent
 * exponential variates of rates w).
 *
 * Cost: every node is scored for every key; R replicas are one such pass for each 8. Memory: 10
 * bytes a node, 18 with unequal weights.
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

/* Where a node stands for a key; `first` is the order. */
struct score {
    double cost;
    uint64_t z;
    uint32_t i;
};

static uint64_t scramble(const struct gy_rendezvous *r, uint64_t hash, uint32_t i)
{
    return gy_mix(hash ^ r->seed[i]);
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

/* Nodes from which lanes win over the loop, without weights and with. */
#define LANES_WORTH          24u
#define LANES_WORTH_WEIGHTED 8u

#ifdef GY_SIMD_X86
#define EQUAL          equal_avx2
#define WEIGHTED       weighted_avx2
#define LANES          4
#define TARGET         GY_TARGET_AVX2
#define PICK(table, i) (real) _mm256_i64gather_pd(table, (__m256i)(i), 8)
#include "lib/place/rendezvous_lanes.h"

#define EQUAL    equal_avx512
#define WEIGHTED weighted_avx512
#define LANES    8
#define TARGET   GY_TARGET_AVX512
#define PICK(table, i) \
    (real)             \
        _mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)(i), _mm512_loadu_pd((table) + 8))
#include "lib/place/rendezvous_lanes.h"

/* The best of as many nodes as fill the lanes; *done says how many those are. */
static struct score best_of_lanes(const struct gy_rendezvous *r, uint64_t hash, uint32_t *done)
{
    uint32_t lanes = r->simd == GY_SIMD_AVX512 ? 8 : 4;
    *done = r->count - r->count % lanes;
    if (lanes == 8) {
        return r->inverse ? weighted_avx512(r, hash, *done) : equal_avx512(r, hash, *done);
    }
    return r->inverse ? weighted_avx2(r, hash, *done) : equal_avx2(r, hash, *done);
}
#else
static struct score best_of_lanes(const struct gy_rendezvous *r, uint64_t hash, uint32_t *done)
{
    *done = 1;
    return score(r, hash, 0);
}
#endif

/* The number among r's of the node that comes first. */
static uint32_t best_of(const struct gy_rendezvous *r, uint64_t hash)
{
    uint32_t i = 1, worth = r->inverse ? LANES_WORTH_WEIGHTED : LANES_WORTH;
    bool lanes = r->simd != GY_SIMD_NONE && r->count >= worth;
    struct score best = lanes ? best_of_lanes(r, hash, &i) : score(r, hash, 0);
    for (; !r->inverse && i < r->count; i++) { /* the same, without costs */
        uint64_t z = scramble(r, hash, i);
        best.i = z > best.z ? i : best.i;
        best.z = z > best.z ? z : best.z;
    }
    for (; i < r->count; i++) {
        struct score s = score(r, hash, i);
        best = first(&s, &best) ? s : best;
    }
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
    gy_mem_free(r->node);
}

int gy_rendezvous_init(struct gy_rendezvous *r, const gyre_map_t *m)
{
    bool equal = gy_weights_equal(m);
    *r = (struct gy_rendezvous){.simd = m->simd,
                                .seed = gy_mem_alloc(m->positive, sizeof *r->seed),
                                .node = gy_mem_alloc(m->positive, sizeof *r->node)};
    if (!equal) {
        r->inverse = gy_mem_alloc(m->positive, sizeof *r->inverse);
    }
    if (!r->seed || !r->node || (!equal && !r->inverse)) {
        gy_rendezvous_fini(r);
        return GYRE_NOMEM;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i] == 0) {
            continue;
        }
        r->seed[r->count] = gyre_hash_xxh3(m->nodes[i].name, strlen(m->nodes[i].name));
        r->node[r->count] = (uint16_t)i;
        if (r->inverse) {
            r->inverse[r->count] = 1.0 / (double)m->weight[i]; /* below 2^53: exact before / */
        }
        r->count++;
    }
    return GYRE_OK;
}

size_t gy_rendezvous_bytes(const struct gy_rendezvous *r)
{
    size_t each = sizeof *r->seed + sizeof *r->node + (r->inverse ? sizeof *r->inverse : 0);
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
    .same = gy_weights_same,
};
