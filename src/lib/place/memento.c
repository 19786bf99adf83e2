/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memento.c - MementoHash (Coluzzi, Brocco, Antonucci, Leidi, "MementoHash: a stateful, minimal
 * memory, best performing consistent hash algorithm", 2023, arXiv 2306.09783), written from the
 * paper, on JumpBackHash instead of jump.
 *
 * A slot given up remembers how many were left working; keys that fall on it are hashed again over
 * that many, where the slots given up earlier stand for those that took their places then.
 *
 * Cost: one JumpBackHash, and further hashes for keys that meet slots given up: on average
 * (1 + ln(range / working))^2 at most. Memory: 6 bytes a slot.
 * Guaranteed: any one node taken away or added moves keys only from or to it; even shares.
 * Not: freedom from history: where keys are depends on the order in which slots were given up. The
 * topology keeps it (gyre_topology_removed) and it must be saved with the topology. No weights.
 * Threads: immutable once built.
 */
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/mix.h"
#include "lib/place/number.h"
#include "lib/place/range.h"
#include "lib/place/weights.h"

struct memento {
    struct gy_numbers numbers; /* first, for gy_numbers_same */
    uint32_t *left;            /* by slot: how many worked after it was given up; WORKS */
};

#define WORKS UINT32_MAX

/* The further hash for a key that met slot b: uniform below n. */
static uint32_t again(uint64_t hash, uint32_t b, uint32_t n)
{
    return (uint32_t)((gy_stream(gy_mix(~hash), b) >> 32) * n >> 32);
}

static uint32_t go_on(const struct memento *x, uint64_t hash, uint32_t b)
{
    while (x->left[b] != WORKS) {
        uint32_t n = x->left[b];
        b = again(hash, b, n);
        /* Given up before: at that time slot left[b] had taken its place. */
        while (x->left[b] != WORKS && x->left[b] >= n) {
            b = x->left[b];
        }
    }
    return b;
}

static uint32_t find(const struct memento *x, uint64_t hash)
{
    return go_on(x, hash, gy_jumpback(hash, x->numbers.n));
}

static uint32_t memento_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct memento *x = m->data;
    return x->numbers.node[find(x, (uint64_t)hash)];
}

static void memento_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                 uint32_t *out)
{
    const struct memento *x = m->data;
    gy_jumpback_batch(m->simd, hashes, n, x->numbers.n, out);
    if (m->removed.count == 0) {
        gy_range_nodes(m, out, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = x->numbers.node[go_on(x, hashes[i], out[i])];
    }
}

/* Slots given up one after the other, or taken again, in one range; or a range that none is missing
 * from grows or shrinks. */
static bool memento_expected(const gyre_map_t *a, const gyre_map_t *b)
{
    const struct gy_removed *x = &a->removed, *y = &b->removed;
    uint32_t common = x->count < y->count ? x->count : y->count;
    if (a->steps != b->steps) {
        return x->count + y->count == 0 &&
               gy_jumpback_independent((uint32_t)a->steps, (uint32_t)b->steps);
    }
    return common == 0 || memcmp(x->slot, y->slot, common * sizeof *x->slot) == 0;
}

static void memento_fini(struct gyre_map *m)
{
    struct memento *x = m->data;
    gy_numbers_fini(&x->numbers);
    gy_mem_free(x->left);
    gy_mem_free(x);
}

static int memento_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = gy_weights_refuse(m, e);
    if (err) {
        return err;
    }
    struct memento *x = gy_mem_alloc(1, sizeof *x);
    if (!x) {
        return gy_fail_nomem(e);
    }
    *x = (struct memento){0};
    m->data = x;
    err = gy_numbers_init(&x->numbers, m, e);
    if (err) {
        return err;
    }
    x->left = gy_mem_alloc(x->numbers.n, sizeof *x->left);
    if (!x->left) {
        return gy_fail_nomem(e);
    }
    memset(x->left, UINT8_MAX, x->numbers.n * sizeof *x->left);
    for (uint32_t i = 0; i < m->removed.count; i++) {
        x->left[m->removed.slot[i] - 1] = x->numbers.n - i - 1;
    }
    m->steps = x->numbers.n;
    m->bytes = x->numbers.n * (sizeof *x->left + sizeof *x->numbers.node);
    return GYRE_OK;
}

static void memento_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct memento *x = m->data;
    uint32_t b = gy_jumpback((uint64_t)hash, x->numbers.n), found = find(x, (uint64_t)hash);
    if (b == found) {
        snprintf(out, size, "slot %u of %u", b + 1, x->numbers.n);
    } else {
        snprintf(out, size, "slot %u of %u, for slot %u is given up", found + 1, x->numbers.n,
                 b + 1);
    }
}

const struct gy_place gy_place_memento = {
    .name = "memento",
    .numbered = true,
    .explain = memento_explain,
    .build = memento_build,
    .fini = memento_fini,
    .locate = memento_locate,
    .locate_batch = memento_locate_batch,
    .start = gy_numbers_start,
    .next = gy_numbers_next,
    .expected = memento_expected,
    .mass = gy_weight_one,
    .same = gy_numbers_same,
};
