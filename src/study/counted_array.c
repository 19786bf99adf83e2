/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_array.c - a sorted array, searched from its begin, by halves, or through an index of
 * buckets: the positions are hashes, so where one stands among n is known to a few places.
 */
#include "study/counted.h"

#include <stdlib.h>
#include <string.h>

struct array {
    size_t n;
    uint64_t *at;
    uint32_t *first; /* of bucket b: the first place at or after its begin; NULL: no index */
    unsigned shift;
    size_t buckets;
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void array_free(void *set)
{
    struct array *a = set;
    if (a) {
        free(a->at);
        free(a->first);
        free(a);
    }
}

static void *array_build(const uint64_t *positions, size_t n)
{
    struct array *a = calloc(1, sizeof *a);
    if (a) {
        a->n = n;
        a->at = malloc(n * sizeof *a->at);
    }
    if (!a || !a->at) {
        array_free(a);
        return NULL;
    }
    memcpy(a->at, positions, n * sizeof *a->at);
    qsort(a->at, n, sizeof *a->at, by_value);
    return a;
}

/* As many buckets as positions, rounded up to a power of two. */
static void *buckets_build(const uint64_t *positions, size_t n)
{
    struct array *a = array_build(positions, n);
    if (!a) {
        return NULL;
    }
    unsigned bits = 1;
    while ((size_t)1 << bits < n) {
        bits++;
    }
    a->shift = 64 - bits;
    a->buckets = (size_t)1 << bits;
    a->first = calloc(a->buckets, sizeof *a->first);
    if (!a->first) {
        array_free(a);
        return NULL;
    }
    for (size_t b = 0, i = 0; b < a->buckets; b++) {
        while (i < n && a->at[i] >> a->shift < b) {
            i++;
        }
        a->first[b] = (uint32_t)i;
    }
    return a;
}

static uint64_t walk(const struct array *a, size_t i, uint64_t x, uint64_t *compared)
{
    for (; i < a->n; i++) {
        (*compared)++;
        if (a->at[i] >= x) {
            return a->at[i];
        }
    }
    return a->at[0];
}

static uint64_t scan_find(const void *set, uint64_t x, uint64_t *compared)
{
    return walk(set, 0, x, compared);
}

static uint64_t buckets_find(const void *set, uint64_t x, uint64_t *compared)
{
    const struct array *a = set;
    return walk(a, a->first[x >> a->shift], x, compared);
}

static uint64_t array_find(const void *set, uint64_t x, uint64_t *compared)
{
    const struct array *a = set;
    size_t low = 0, high = a->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        (*compared)++;
        if (a->at[mid] < x) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return a->at[low < a->n ? low : 0];
}

static size_t array_bytes(const void *set)
{
    const struct array *a = set;
    return a->n * sizeof *a->at + a->buckets * sizeof *a->first;
}

const struct gy_search gy_search_scan = {"from the begin", array_build, array_free, scan_find,
                                         array_bytes};
const struct gy_search gy_search_array = {"sorted array", array_build, array_free, array_find,
                                          array_bytes};
const struct gy_search gy_search_buckets = {"bucket index", buckets_build, array_free, buckets_find,
                                            array_bytes};
