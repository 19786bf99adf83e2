/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lut.c - see lut.h. Threads: immutable once built.
 */
#include "lib/place/lut.h"

#include <stdio.h>

#include "lib/alloc.h"
#include "lib/error.h"

#define AHEAD 16u /* lookups of a batch under way at once */

static size_t slot_of(const gyre_map_t *m, uint64_t hash)
{
    return (size_t)((hash >> 32) * m->table >> 32);
}

int gy_lut_init(struct gyre_map *m, gyre_error_t *e)
{
    if (m->positive > m->table) {
        return gy_fail(e, GYRE_RANGE, "%u nodes do not fit a table of %u slots: raise `table`",
                       m->positive, m->table);
    }
    m->data = gy_mem_alloc(m->table, sizeof(uint16_t));
    if (!m->data) {
        return gy_fail_nomem(e);
    }
    m->steps = m->table;
    m->bytes = m->table * sizeof(uint16_t);
    return GYRE_OK;
}

void gy_lut_done(struct gyre_map *m)
{
    gy_map_measure(m);
}

void gy_lut_fini(struct gyre_map *m)
{
    gy_mem_free(m->data);
}

uint32_t gy_lut_node(const gyre_map_t *m, size_t slot)
{
    return ((const uint16_t *)m->data)[slot];
}

size_t gy_lut_first(const gyre_map_t *m, gy_u128 hash)
{
    return slot_of(m, (uint64_t)hash);
}

uint32_t gy_lut_locate(const gyre_map_t *m, gy_u128 hash)
{
    return gy_lut_node(m, slot_of(m, (uint64_t)hash));
}

void gy_lut_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    snprintf(out, size, "slot %zu of %u, from 0", slot_of(m, (uint64_t)hash), m->table);
}

void gy_lut_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const uint16_t *owner = m->data;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < AHEAD ? n - done : AHEAD;
        for (size_t i = 0; i < now; i++) {
            out[done + i] = (uint32_t)slot_of(m, hashes[done + i]);
            __builtin_prefetch(owner + out[done + i]);
        }
        for (size_t i = 0; i < now; i++) {
            out[done + i] = owner[out[done + i]];
        }
        done += now;
    }
}

/* The last position in the slot: the largest p with p * M / 2^32 < slot + 1. */
gy_u128 gy_lut_position(const gyre_map_t *m, size_t slot)
{
    return ((((uint64_t)slot + 1) << 32) - 1) / m->table;
}
