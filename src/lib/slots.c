/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - a topology's slots: which node has which, and in which order slots were given up. The
 * rules themselves are lib/place/number.c's. A failed call changes nothing. Threads: one at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/topology.h"

int gy_slot_check(const char *name, uint32_t slot, gyre_error_t *e)
{
    char shown[GY_SHOW];
    if (slot > GY_SLOT_MAX) {
        return gy_fail(e, GYRE_RANGE, "node '%s': slot %u is above %u", gy_show(name, shown), slot,
                       GY_SLOT_MAX);
    }
    return GYRE_OK;
}

bool gy_topology_numbered(const gyre_topology_t *t)
{
    uint64_t algorithm = t->settings.value[GY_SET_ALGORITHM];
    return algorithm == GY_ALGORITHM_JUMP || algorithm == GY_ALGORITHM_JUMPBACK ||
           algorithm == GY_ALGORITHM_MEMENTO || algorithm == GY_ALGORITHM_DX;
}

/* While nothing has been given up, leaving the highest slot just makes the range shorter. */
int gy_topology_give_up(gyre_topology_t *t, uint32_t slot)
{
    uint32_t highest = 0;
    if (slot == 0) {
        return GYRE_OK;
    }
    for (size_t i = 0; t->removed.count == 0 && i < t->count; i++) {
        const struct gyre_node *n = &t->nodes[i];
        highest = n->slot > highest ? n->slot : highest;
    }
    return highest == slot ? GYRE_OK : gy_removed_push(&t->removed, slot);
}

static int compare_names(const void *a, const void *b)
{
    const struct gyre_node *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

int gyre_topology_number(gyre_topology_t *t, gyre_error_t *e)
{
    uint32_t top;
    struct gy_removed removed;
    struct gyre_node *copy = gy_mem_alloc(t->count, sizeof *copy);
    struct gyre_node **sorted = gy_mem_alloc(t->count, sizeof(struct gyre_node *));
    int err = gy_removed_copy(&removed, &t->removed);
    if (!copy || !sorted || err) {
        err = gy_fail_nomem(e);
        goto out;
    }
    for (size_t i = 0; i < t->count; i++) {
        copy[i] = t->nodes[i];
        sorted[i] = &copy[i];
    }
    if (t->count) {
        qsort(sorted, t->count, sizeof(struct gyre_node *), compare_names);
    }
    err = gy_slots_settle(sorted, (uint32_t)t->count, &removed, &top, e);
    if (err) {
        goto out;
    }
    for (size_t i = 0; i < t->count; i++) {
        t->nodes[i].slot = copy[i].slot;
    }
    gy_removed_fini(&t->removed);
    t->removed = removed;
    removed = (struct gy_removed){0};
out:
    gy_removed_fini(&removed);
    gy_mem_free(copy);
    gy_mem_free(sorted);
    return err;
}

int gy_topology_move_slot(gyre_topology_t *t, struct gyre_node *n, uint32_t slot)
{
    if (n->slot == slot) {
        return GYRE_OK;
    }
    if (gy_topology_give_up(t, n->slot)) {
        return GYRE_NOMEM;
    }
    gy_removed_drop(&t->removed, slot);
    n->slot = slot;
    return GYRE_OK;
}

const uint32_t *gyre_topology_removed(const gyre_topology_t *t, size_t *count)
{
    *count = t->removed.count;
    return t->removed.slot;
}

int gyre_topology_set_removed(gyre_topology_t *t, const uint32_t *slots, size_t count,
                              gyre_error_t *e)
{
    struct gy_removed list = {0};
    if (count > GY_SLOT_MAX) {
        return gy_fail(e, GYRE_RANGE, "%zu slots given up; there are %u", count, GY_SLOT_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        if (slots[i] == 0 || slots[i] > GY_SLOT_MAX) {
            gy_removed_fini(&list);
            return gy_fail(e, GYRE_RANGE, "slot %u given up; slots are 1 to %u", slots[i],
                           GY_SLOT_MAX);
        }
        if (gy_removed_push(&list, slots[i])) {
            gy_removed_fini(&list);
            return gy_fail_nomem(e);
        }
    }
    gy_removed_fini(&t->removed);
    t->removed = list;
    return GYRE_OK;
}
