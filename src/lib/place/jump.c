/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump.c - jump consistent hash (Lamping and Veach, "A fast, minimal memory, consistent hash
 * algorithm", 2014, arXiv 1406.2294), its published code to the bit.
 *
 * Cost: about ln(nodes) + 1 divisions, one after the other. Memory: none but the slots' names.
 * Guaranteed: even shares (1/N each, as exact as hashing is); adding the node of the next slot, or
 * taking away that of the last one, moves keys only to or from it; no history.
 * Not: taking away any other node. That is refused, with the reason, once slots are given; without
 * given slots the nodes are numbered by name, and a name in the middle renumbers those after it.
 * No weights. A replica is a further hash's node, so each of them moves as little as the first.
 * Threads: immutable once built.
 */
#include <stdio.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/number.h"
#include "lib/place/range.h"

/* One division, one multiplication, both rounded to double, then cut: in this order. */
static uint32_t jump(uint64_t key, uint32_t n)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)n) {
        b = j;
        key = key * 2862933555777941757u + 1;
        j = (int64_t)((double)(b + 1) * ((double)(1u << 31) / (double)((key >> 33) + 1)));
    }
    return (uint32_t)b;
}

static uint32_t jump_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct gy_numbers *x = m->data;
    return x->node[jump((uint64_t)hash, x->n)];
}

static void jump_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct gy_numbers *x = m->data;
    for (size_t i = 0; i < n; i++) {
        out[i] = x->node[jump(hashes[i], x->n)];
    }
}

static void jump_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct gy_numbers *x = m->data;
    snprintf(out, size, "slot %u of %u", jump((uint64_t)hash, x->n) + 1, x->n);
}

const struct gy_place gy_place_jump = {
    .name = "jump",
    .numbered = true,
    .explain = jump_explain,
    .build = gy_range_build,
    .fini = gy_range_fini,
    .locate = jump_locate,
    .locate_batch = jump_locate_batch,
    .start = gy_numbers_start,
    .next = gy_numbers_next,
    .same = gy_numbers_same,
};
