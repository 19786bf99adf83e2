/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modulo.c - hash mod N: what everyone starts from, and the measure of what the others save. The
 * nodes that are not drained are numbered in name order (in the topology's order where an existing
 * system is imitated). All must weigh the same. Threads: immutable once built.
 */
#include <stdio.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/weights.h"

void gy_modulo_slots(const gyre_map_t *m, uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i]) {
            out[n++] = i;
        }
    }
    if (m->hash == &gy_hash_xxh3) {
        return;
    }
    /* Shell sort (gaps of Knuth 1973) by place in the topology: no room needed, and the comparison
     * needs the map. */
    uint32_t gap = 1;
    while (gap < n / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap; gap /= 3) {
        for (uint32_t i = gap; i < n; i++) {
            uint32_t x = out[i], j = i;
            for (; j >= gap && m->order[out[j - gap]] > m->order[x]; j -= gap) {
                out[j] = out[j - gap];
            }
            out[j] = x;
        }
    }
}

static int modulo_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = gy_weights_refuse(m, e);
    if (err) {
        return err;
    }
    m->data = gy_mem_alloc(m->positive, sizeof(uint32_t));
    if (!m->data) {
        return gy_fail_nomem(e);
    }
    gy_modulo_slots(m, m->data);
    m->steps = m->positive;
    m->bytes = m->positive * sizeof(uint32_t);
    return GYRE_OK;
}

static void modulo_fini(struct gyre_map *m)
{
    gy_mem_free(m->data);
}

static size_t modulo_first(const gyre_map_t *m, gy_u128 hash)
{
    return (size_t)(hash % m->steps);
}

static uint32_t modulo_node(const gyre_map_t *m, size_t step)
{
    return ((const uint32_t *)m->data)[step];
}

static uint32_t modulo_locate(const gyre_map_t *m, gy_u128 hash)
{
    return modulo_node(m, modulo_first(m, hash));
}

static void modulo_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                uint32_t *out)
{
    const uint32_t *slots = m->data;
    for (size_t i = 0; i < n; i++) {
        out[i] = slots[hashes[i] % m->steps];
    }
}

static void modulo_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    (void)hash;
    snprintf(out, size, "hash modulo %zu nodes", m->steps);
}

const struct gy_place gy_place_modulo = {
    .name = "modulo",
    .residues = true,
    .explain = modulo_explain,
    .build = modulo_build,
    .fini = modulo_fini,
    .locate = modulo_locate,
    .locate_batch = modulo_locate_batch,
    .first = modulo_first,
    .node = modulo_node,
};
