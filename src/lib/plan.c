/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - a list of changes becomes the topology it leads to. Works on a clone, so that a change
 * that fails leaves nothing half done. Where slots decide, they are settled before the changes, so
 * that what leaves leaves a gap and moves no one else, and after them. Threads: any, if no one
 * writes to the topology meanwhile.
 */
#include "lib/error.h"
#include "lib/topology.h"

static int apply(gyre_topology_t *t, const struct gyre_change *c, gyre_error_t *e)
{
    const struct gyre_node *n = &c->node;
    switch (c->kind) {
    case GYRE_ADD:
        return gyre_topology_add(t, n, e);
    case GYRE_REMOVE:
        return gyre_topology_remove(t, n->name, e);
    case GYRE_WEIGHT:
        return gyre_topology_set_weight(t, n->name, n->weight, e);
    case GYRE_REPLACE:
        return gyre_topology_set_address(t, n->name, n->address, e);
    }
    return gy_fail(e, GYRE_INVALID, "no such kind of change: %d", (int)c->kind);
}

int gyre_plan_apply(const gyre_topology_t *t, const struct gyre_change *changes, size_t n,
                    gyre_topology_t **out, gyre_error_t *e)
{
    *out = NULL;
    if (t->version >= INT64_MAX) { /* what a file or a JSON number can say */
        return gy_fail(e, GYRE_RANGE,
                       "the topology's version is %llu, the highest there is: no changed one can "
                       "follow it; give it a lower one",
                       (unsigned long long)t->version);
    }
    gyre_topology_t *next = gyre_topology_clone(t);
    if (!next) {
        return gy_fail_nomem(e);
    }
    next->version++;
    bool numbered = gy_topology_numbered(next);
    int err = numbered ? gyre_topology_number(next, e) : GYRE_OK;
    for (size_t i = 0; !err && i < n; i++) {
        err = changes[i].size < sizeof changes[i]
                  ? gy_fail(e, GYRE_INVALID, "struct gyre_change: size is not set")
                  : apply(next, &changes[i], e);
    }
    if (!err && numbered) {
        err = gyre_topology_number(next, e);
    }
    if (err) {
        gyre_topology_free(next);
        return err;
    }
    *out = next;
    return GYRE_OK;
}
