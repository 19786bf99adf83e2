/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.c - are two placements one function of the key? Compared is what decides answers: the walk,
 * step by step, with names and positions, and how replicas are chosen along it. Version, addresses
 * and drained nodes do not count. Threads: any.
 */
#include <string.h>

#include "lib/map.h"

/* Names and, where they matter, zone groups of the nodes that take keys; both maps sort by name. */
static bool same_nodes(const gyre_map_t *a, const gyre_map_t *b)
{
    uint32_t i = 0, j = 0;
    for (uint32_t n = 0; n < a->positive; n++, i++, j++) {
        while (a->weight[i] == 0) {
            i++;
        }
        while (b->weight[j] == 0) {
            j++;
        }
        if (strcmp(a->nodes[i].name, b->nodes[j].name) != 0) {
            return false;
        }
        if (a->spread && !gy_zone_same(a, i, b, j)) {
            return false;
        }
    }
    return true;
}

static bool same_walk(const gyre_map_t *a, const gyre_map_t *b)
{
    for (size_t i = 0; i < a->steps; i++) {
        if (a->place->position && a->place->position(a, i) != b->place->position(b, i)) {
            return false;
        }
        const struct gyre_node *x = &a->nodes[a->place->node(a, i)];
        const struct gyre_node *y = &b->nodes[b->place->node(b, i)];
        if (strcmp(x->name, y->name) != 0) {
            return false;
        }
    }
    return true;
}

bool gyre_map_same(const gyre_map_t *a, const gyre_map_t *b)
{
    return a == b ||
           (gy_map_one_hash(a, b) && a->position_bits == b->position_bits && a->place == b->place &&
            a->after == b->after && a->replicas == b->replicas && a->spread == b->spread &&
            a->positive == b->positive && a->steps == b->steps && same_nodes(a, b) &&
            (a->positive == 0 || (a->place->same ? a->place->same(a, b) : same_walk(a, b))));
}
