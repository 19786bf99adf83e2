/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - see pairs.h. */
#include "cli/pairs.h"
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 256
/* Shares are sums of doubles: what is left below this is rounding, not keys. */
#define ROUNDING 1e-12

struct by_address {
    const char *address;
    uint32_t node;
};

static int by_address(const void *a, const void *b)
{
    return strcmp(((const struct by_address *)a)->address, ((const struct by_address *)b)->address);
}

/* The addresses that are one node's only, sorted; NULL: out of memory. */
static struct by_address *addresses(const gyre_map_t *m, size_t *count)
{
    uint32_t n = gyre_map_count(m);
    size_t all = 0, kept = 0;
    struct by_address *list = calloc((size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; list && i < n; i++) {
        const char *address = gyre_map_node(m, i)->address;
        if (address) {
            list[all++] = (struct by_address){address, i};
        }
    }
    if (list) {
        qsort(list, all, sizeof *list, by_address);
    }
    for (size_t i = 0, j; i < all; i = j) {
        for (j = i + 1; j < all && by_address(&list[i], &list[j]) == 0;) {
            j++;
        }
        if (j == i + 1) {
            list[kept++] = list[i];
        }
    }
    *count = kept;
    return list;
}

static void join(struct gy_pairs *p, uint32_t a, uint32_t b)
{
    if (b != GYRE_NONE && p->to[a] == GYRE_NONE && p->from[b] == GYRE_NONE) {
        p->to[a] = b;
        p->from[b] = a;
    }
}

int gy_pairs_make(struct gy_pairs *p, gyre_map_t *a, gyre_map_t *b)
{
    uint32_t n = gyre_map_count(a), m = gyre_map_count(b);
    size_t x = 0, y = 0;
    struct by_address *in_a = addresses(a, &x), *in_b = addresses(b, &y);
    *p = (struct gy_pairs){a, b, calloc((size_t)n + 1, sizeof *p->to),
                           calloc((size_t)m + 1, sizeof *p->from)};
    int rc = in_a && in_b && p->to && p->from ? GYRE_OK : GYRE_NOMEM;
    for (uint32_t i = 0; !rc && i < n; i++) {
        p->to[i] = GYRE_NONE;
    }
    for (uint32_t i = 0; !rc && i < m; i++) {
        p->from[i] = GYRE_NONE;
    }
    for (size_t i = 0; !rc && i < x; i++) {
        const struct by_address *other = bsearch(&in_a[i], in_b, y, sizeof *in_b, by_address);
        join(p, in_a[i].node, other ? other->node : GYRE_NONE);
    }
    for (uint32_t i = 0; !rc && i < n; i++) {
        join(p, i, gyre_map_find(b, gyre_map_node(a, i)->name));
    }
    free(in_a);
    free(in_b);
    return rc;
}

void gy_pairs_fini(struct gy_pairs *p)
{
    free(p->to);
    free(p->from);
    *p = (struct gy_pairs){0};
}

bool gy_pairs_same(const struct gy_pairs *p, uint32_t in_a, uint32_t in_b)
{
    if (in_a == GYRE_NONE || in_b == GYRE_NONE) {
        return in_a == in_b;
    }
    return p->to[in_a] == in_b;
}

size_t gy_sample_key(char out[GY_SAMPLE_ROOM], uint64_t i)
{
    return (size_t)snprintf(out, GY_SAMPLE_ROOM, "key:%llu", (unsigned long long)i);
}

/* The diff compares names; keys that stay with a name count where the name is another server's. */
static int by_diff(const struct gy_pairs *p, const gyre_diff_t *d, double *share, bool *whole)
{
    uint32_t n = gyre_map_count(p->a);
    double *stays = calloc((size_t)n + 1, sizeof *stays), listed = 0;
    *share = 0;
    if (!stays) {
        return GYRE_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        stays[i] = gyre_map_share(p->a, i);
    }
    for (size_t i = 0; i < gyre_diff_count(d); i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        uint32_t from = gyre_map_find(p->a, f->from);
        listed += f->share;
        stays[from] -= f->share;
        *share += gy_pairs_same(p, from, gyre_map_find(p->b, f->to)) ? 0 : f->share;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t there = gyre_map_find(p->b, gyre_map_node(p->a, i)->name);
        if (stays[i] > ROUNDING && !gy_pairs_same(p, i, there)) {
            *share += stays[i];
        }
    }
    /* Of two modulos not every flow may be listed; and what is expected of the hash is no proof
     * that two configurations agree. */
    *whole = gyre_diff_exact(d) && fabs(listed - gyre_diff_moved(d)) < 1e-9;
    free(stays);
    return GYRE_OK;
}

static void by_samples(const struct gy_pairs *p, uint64_t samples, struct gy_disagreement *out)
{
    uint64_t differ = 0;
    gy_progress_begin("comparing keys", samples);
    for (uint64_t done = 0; done < samples;) {
        char text[BATCH][GY_SAMPLE_ROOM];
        const void *keys[BATCH];
        size_t lens[BATCH], n = samples - done < BATCH ? (size_t)(samples - done) : BATCH;
        uint32_t a[BATCH], b[BATCH];
        for (size_t i = 0; i < n; i++) {
            lens[i] = gy_sample_key(text[i], done + i);
            keys[i] = text[i];
        }
        gyre_map_locate_batch(p->a, keys, lens, n, a);
        gyre_map_locate_batch(p->b, keys, lens, n, b);
        for (size_t i = 0; i < n; i++) {
            differ += gy_pairs_same(p, a[i], b[i]) ? 0 : 1;
        }
        done += n;
        gy_progress_at(done);
    }
    gy_progress_end();
    double share = (double)differ / (double)samples;
    /* At the ends, where the normal approximation says 0: the rule of three. */
    bool end = differ == 0 || differ == samples;
    *out = (struct gy_disagreement){
        .share = share,
        .error = end ? 3 / (double)samples : 1.96 * sqrt(share * (1 - share) / (double)samples)};
}

int gy_pairs_compare(const struct gy_pairs *p, uint64_t samples, struct gy_disagreement *out)
{
    gyre_diff_t *d = NULL;
    *out = (struct gy_disagreement){0};
    int rc = gyre_diff_build(p->a, p->b, 0, &d, NULL);
    if (rc == GYRE_OK) {
        rc = by_diff(p, d, &out->share, &out->exact);
    }
    if (rc == GYRE_MISMATCH || (rc == GYRE_OK && !out->exact)) {
        by_samples(p, samples, out);
        rc = GYRE_OK;
    }
    gyre_diff_free(d);
    return rc;
}
