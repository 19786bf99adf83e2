/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - a small hash table of sums; see flows.h. Threads: one.
 */
#include "lib/flows.h"

#include <stdlib.h>

#include "lib/alloc.h"

/* Fibonacci hashing of both numbers (Knuth, TAOCP 6.4); the high bits are the good ones. */
static size_t slot_of(const struct gy_flow *cells, size_t size, uint32_t from, uint32_t to)
{
    uint64_t h = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h >> 32) & (size - 1);
    while (cells[i].from != GYRE_NONE && (cells[i].from != from || cells[i].to != to)) {
        i = (i + 1) & (size - 1);
    }
    return i;
}

static int grow(struct gy_flows *f)
{
    size_t size = f->size ? f->size * 2 : 64;
    struct gy_flow *cells = gy_mem_alloc(size, sizeof *cells);
    if (!cells) {
        return GYRE_NOMEM;
    }
    for (size_t i = 0; i < size; i++) {
        cells[i].from = GYRE_NONE;
    }
    for (size_t i = 0; i < f->size; i++) {
        if (f->cells[i].from != GYRE_NONE) {
            cells[slot_of(cells, size, f->cells[i].from, f->cells[i].to)] = f->cells[i];
        }
    }
    gy_mem_free(f->cells);
    f->cells = cells;
    f->size = size;
    return GYRE_OK;
}

gy_u128 *gy_flows_find(struct gy_flows *f, uint32_t from, uint32_t to)
{
    if ((f->count + 1) * 4 > f->size * 3 && grow(f)) {
        return NULL;
    }
    struct gy_flow *cell = &f->cells[slot_of(f->cells, f->size, from, to)];
    if (cell->from == GYRE_NONE) {
        *cell = (struct gy_flow){from, to, 0};
        f->count++;
    }
    return &cell->amount;
}

int gy_flows_add(struct gy_flows *f, uint32_t from, uint32_t to, gy_u128 amount)
{
    gy_u128 *sum = gy_flows_find(f, from, to);
    if (!sum) {
        return GYRE_NOMEM;
    }
    *sum += amount;
    return GYRE_OK;
}

static int compare(const void *a, const void *b)
{
    const struct gy_flow *x = a, *y = b;
    if (x->amount != y->amount) {
        return x->amount - 1 > y->amount - 1 ? -1 : 1; /* minus 1: 0, the whole ring, is largest */
    }
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return x->to < y->to ? -1 : x->to > y->to;
}

void gy_flows_sort(struct gy_flows *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->size; i++) {
        if (f->cells[i].from != GYRE_NONE) {
            f->cells[n++] = f->cells[i];
        }
    }
    if (n) {
        qsort(f->cells, n, sizeof *f->cells, compare);
    }
}

void gy_flows_fini(struct gy_flows *f)
{
    gy_mem_free(f->cells);
    *f = (struct gy_flows){0};
}
