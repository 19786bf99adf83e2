/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.c - what the placements have in common about weights: are they equal, what part of the
 * whole is one, and the refusal of those that know none. Threads: any.
 */
#include "lib/place/weights.h"

#include "lib/error.h"

/* The first node that is not drained and weighs other than `weight`; GYRE_NONE if there is none. */
static uint32_t find_other(const gyre_map_t *m, uint64_t weight)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i] && m->weight[i] != weight) {
            return i;
        }
    }
    return GYRE_NONE;
}

static uint32_t find_first(const gyre_map_t *m)
{
    return find_other(m, 0);
}

bool gy_weights_equal(const gyre_map_t *m)
{
    return find_other(m, m->weight[find_first(m)]) == GYRE_NONE;
}

int gy_weights_refuse(const gyre_map_t *m, gyre_error_t *e)
{
    uint32_t one = find_first(m), two = find_other(m, m->weight[one]);
    char a[GY_SHOW], b[GY_SHOW];
    if (two == GYRE_NONE) {
        return GYRE_OK;
    }
    return gy_fail(e, GYRE_UNSUPPORTED,
                   "%s knows no weights, but '%s' and '%s' weigh differently; "
                   "ring, rendezvous, maglev, slots and dx do",
                   m->place->name, gy_show(m->nodes[one].name, a), gy_show(m->nodes[two].name, b));
}

double gy_weight_share(const gyre_map_t *m, uint32_t i)
{
    return (double)m->weight[i] / (double)m->heavy;
}

uint64_t gy_weight_mass(const gyre_map_t *m, uint32_t i)
{
    return m->weight[i];
}

uint64_t gy_weight_one(const gyre_map_t *m, uint32_t i)
{
    (void)m, (void)i;
    return 1;
}

bool gy_expected_always(const gyre_map_t *a, const gyre_map_t *b)
{
    (void)a, (void)b;
    return true;
}

bool gy_weights_same(const gyre_map_t *a, const gyre_map_t *b)
{
    if (gy_weights_equal(a) && gy_weights_equal(b)) {
        return true;
    }
    for (uint32_t i = 0, j = 0, n = 0; n < a->positive; i++, j++, n++) {
        while (a->weight[i] == 0) {
            i++;
        }
        while (b->weight[j] == 0) {
            j++;
        }
        if (a->weight[i] != b->weight[j]) {
            return false;
        }
    }
    return true;
}
