/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - what each node of a map was given to do: operations, bytes, keys, or whatever the caller
 * counts; and how evenly. Threads: counting from any, at once; the clock, clearing and adding up
 * one at a time.
 */
#include <stdatomic.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/halve.h"
#include "lib/map.h"

struct gyre_load {
    gyre_map_t *map;
    struct gy_halving halving;
    double *values, *weights; /* scratch of gyre_load_balance */
    atomic_uint_fast64_t counted[];
};

int gyre_load_new(gyre_map_t *m, uint64_t half_life, gyre_load_t **out, gyre_error_t *e)
{
    size_t cells = (size_t)m->count * GYRE_LOADS;
    gyre_load_t *l = gy_mem_alloc(1, sizeof *l + cells * sizeof l->counted[0]);
    double *scratch = gy_mem_alloc((size_t)m->count * 2, sizeof *scratch);
    *out = NULL;
    if (!l || !scratch) {
        gy_mem_free(l);
        gy_mem_free(scratch);
        return gy_fail_nomem(e);
    }
    l->map = gyre_map_ref(m);
    l->halving = (struct gy_halving){.life = half_life};
    l->values = scratch;
    l->weights = scratch + m->count;
    for (size_t i = 0; i < cells; i++) {
        atomic_init(&l->counted[i], 0);
    }
    *out = l;
    return GYRE_OK;
}

void gyre_load_free(gyre_load_t *l)
{
    if (l) {
        gyre_map_unref(l->map);
        gy_mem_free(l->values);
        gy_mem_free(l);
    }
}

/* Relaxed all through: they are counts, and order nothing. */
static uint64_t get(const gyre_load_t *l, uint32_t node, enum gyre_load_kind kind)
{
    return atomic_load_explicit(&l->counted[(size_t)node * GYRE_LOADS + (size_t)kind],
                                memory_order_relaxed);
}

static bool within(const gyre_load_t *l, uint32_t node, enum gyre_load_kind kind)
{
    return node < l->map->count && (unsigned)kind < GYRE_LOADS;
}

void gyre_load_add(gyre_load_t *l, uint32_t node, enum gyre_load_kind kind, uint64_t amount)
{
    if (within(l, node, kind)) {
        atomic_fetch_add_explicit(&l->counted[(size_t)node * GYRE_LOADS + (size_t)kind], amount,
                                  memory_order_relaxed);
    }
}

uint64_t gyre_load_of(const gyre_load_t *l, uint32_t node, enum gyre_load_kind kind)
{
    return within(l, node, kind) ? get(l, node, kind) : 0;
}

/* Takes off what is to be forgotten, so that what is added meanwhile is not lost. */
void gyre_load_clock(gyre_load_t *l, uint64_t now)
{
    unsigned times = gy_halvings_due(&l->halving, now);
    size_t cells = (size_t)l->map->count * GYRE_LOADS;
    for (size_t i = 0; times && i < cells; i++) {
        uint64_t had = atomic_load_explicit(&l->counted[i], memory_order_relaxed);
        uint64_t keep = times < 64 ? had >> times : 0;
        atomic_fetch_sub_explicit(&l->counted[i], had - keep, memory_order_relaxed);
    }
}

int gyre_load_merge(gyre_load_t *into, const gyre_load_t *from, gyre_error_t *e)
{
    if (into->map != from->map || into->halving.life != from->halving.life) {
        return gy_fail(e, GYRE_MISMATCH, "the two loads are of different maps or half-lives");
    }
    if (into == from) {
        return gy_fail(e, GYRE_INVALID, "a load cannot be added to itself");
    }
    unsigned into_behind = gy_halvings_behind(&into->halving, &from->halving);
    unsigned from_behind = gy_halvings_behind(&from->halving, &into->halving);
    if (into_behind) {
        gyre_load_clock(into, from->halving.tick * from->halving.life);
    }
    for (uint32_t i = 0; i < into->map->count; i++) {
        for (unsigned k = 0; k < GYRE_LOADS; k++) {
            uint64_t more = get(from, i, (enum gyre_load_kind)k);
            gyre_load_add(into, i, (enum gyre_load_kind)k,
                          from_behind < 64 ? more >> from_behind : 0);
        }
    }
    return GYRE_OK;
}

int gyre_load_balance(gyre_load_t *l, enum gyre_load_kind kind, struct gyre_balance *out)
{
    if ((unsigned)kind >= GYRE_LOADS || out->size < sizeof out->size) {
        return GYRE_INVALID;
    }
    for (uint32_t i = 0; i < l->map->count; i++) {
        l->values[i] = (double)get(l, i, kind);
        l->weights[i] = l->map->nodes[i].weight;
    }
    gyre_balance_of(l->values, l->weights, l->map->count, out);
    return GYRE_OK;
}
