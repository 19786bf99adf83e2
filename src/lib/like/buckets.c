/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buckets.c - see buckets.h. Shares are even, as far as the function is. Threads: immutable once
 * built.
 */
#include "lib/like/buckets.h"

#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/weights.h"

struct buckets {
    gy_bucket *f;
    uint32_t *node;
    uint32_t n;
};

static size_t buckets_first(const gyre_map_t *m, gy_u128 hash)
{
    const struct buckets *b = m->data;
    uint32_t i = b->f((uint64_t)hash, b->n);
    return i < b->n ? i : b->n - 1;
}

static uint32_t buckets_node(const gyre_map_t *m, size_t step)
{
    const struct buckets *b = m->data;
    return b->node[step];
}

static uint32_t buckets_locate(const gyre_map_t *m, gy_u128 hash)
{
    return buckets_node(m, buckets_first(m, hash));
}

static void buckets_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                 uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = buckets_locate(m, hashes[i]);
    }
}

static void buckets_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    snprintf(out, size, "bucket %zu of %zu", buckets_first(m, hash), m->steps);
}

static void buckets_fini(struct gyre_map *m)
{
    struct buckets *b = m->data;
    gy_mem_free(b->node);
    gy_mem_free(b);
}

static const struct gy_place place_buckets = {
    .name = "buckets",
    .explain = buckets_explain,
    .fini = buckets_fini,
    .locate = buckets_locate,
    .locate_batch = buckets_locate_batch,
    .first = buckets_first,
    .node = buckets_node,
    .share = gy_weight_share,
};

int gy_buckets_weighted(const struct gy_like_job *job, gy_bucket *f)
{
    struct gyre_map *m = job->m;
    m->place = &place_buckets;
    m->position_bits = m->hash_bits;
    m->steps = 0;
    if (job->n == 0) {
        return GYRE_OK;
    }
    struct buckets *b = gy_mem_alloc(1, sizeof *b);
    if (!b) {
        return gy_fail_nomem(job->e);
    }
    *b = (struct buckets){f, gy_mem_alloc(job->n, sizeof *b->node), job->n};
    m->data = b;
    if (!b->node) {
        return gy_fail_nomem(job->e);
    }
    memcpy(b->node, job->list, job->n * sizeof *b->node);
    m->steps = job->n;
    m->bytes = job->n * sizeof *b->node;
    for (uint32_t i = 0; i < job->n; i++) {
        m->points[job->list[i]] = 1;
    }
    return GYRE_OK;
}

int gy_buckets_settle(const struct gy_like_job *job, gy_bucket *f)
{
    if (job->n && !gy_weights_equal(job->m)) {
        return gy_fail(job->e, GYRE_UNSUPPORTED,
                       "the nodes weigh differently, and with like: %s the buckets are all alike",
                       gy_like_of(job->s->value[GY_SET_LIKE])->name);
    }
    return gy_buckets_weighted(job, f);
}
