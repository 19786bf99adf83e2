/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - see range.h. Threads: one, then immutable.
 */
#include "lib/place/range.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/number.h"
#include "lib/place/weights.h"

int gy_range_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    int err = gy_weights_refuse(m, e);
    if (err) {
        return err;
    }
    struct gy_numbers *x = gy_mem_alloc(1, sizeof *x);
    if (!x) {
        return gy_fail_nomem(e);
    }
    err = gy_numbers_init(x, m, e);
    if (!err) {
        err = gy_numbers_whole(x, m, e);
    }
    m->data = x;
    m->steps = x->n;
    m->bytes = sizeof *x + x->n * sizeof *x->node;
    return err;
}

void gy_range_fini(struct gyre_map *m)
{
    gy_numbers_fini(m->data);
    gy_mem_free(m->data);
}

void gy_range_nodes(const gyre_map_t *m, uint32_t *slots, size_t n)
{
    const struct gy_numbers *x = m->data;
    const uint16_t *node = x->node;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        slots[i] = node[slots[i]];
    }
}
