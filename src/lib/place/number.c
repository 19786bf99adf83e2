/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - see number.h. Threads: one, then immutable.
 */
#include "lib/place/number.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/mix.h"

#define DRAWS 32u /* of a walk for each node, before names decide */

/* ---- slots given up ---- */

int gy_removed_push(struct gy_removed *r, uint32_t slot)
{
    if (r->count == r->room) {
        uint32_t room = r->room ? r->room * 2 : 8;
        uint32_t *grown = gy_mem_grow(r->slot, room, sizeof *grown);
        if (!grown) {
            return GYRE_NOMEM;
        }
        r->slot = grown;
        r->room = room;
    }
    r->slot[r->count++] = slot;
    return GYRE_OK;
}

int gy_removed_copy(struct gy_removed *to, const struct gy_removed *from)
{
    *to = (struct gy_removed){0};
    if (from->count == 0) {
        return GYRE_OK;
    }
    to->slot = gy_mem_alloc(from->count, sizeof *to->slot);
    if (!to->slot) {
        return GYRE_NOMEM;
    }
    memcpy(to->slot, from->slot, from->count * sizeof *to->slot);
    to->count = to->room = from->count;
    return GYRE_OK;
}

static void take_out(struct gy_removed *r, uint32_t i)
{
    r->count--;
    memmove(r->slot + i, r->slot + i + 1, (r->count - i) * sizeof *r->slot);
}

void gy_removed_drop(struct gy_removed *r, uint32_t slot)
{
    for (uint32_t i = r->count; i-- > 0;) {
        if (r->slot[i] == slot) {
            take_out(r, i);
        }
    }
}

void gy_removed_fini(struct gy_removed *r)
{
    gy_mem_free(r->slot);
    *r = (struct gy_removed){0};
}

/* ---- settling ---- */

enum { EMPTY, LIVE, LISTED };

/* What stands on each slot, and the highest that counts. */
struct board {
    uint8_t *state; /* by slot, from 1 */
    uint32_t top;
};

static int put_nodes(struct board *b, struct gyre_node *const *nodes, uint32_t count,
                     gyre_error_t *e)
{
    char shown[GY_SHOW];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = nodes[i]->slot;
        if (slot == 0 || !(nodes[i]->weight > 0)) {
            nodes[i]->slot = 0;
            continue;
        }
        if (slot > GY_SLOT_MAX) {
            return gy_fail(e, GYRE_RANGE, "node '%s': slot %u is above %u",
                           gy_show(nodes[i]->name, shown), slot, GY_SLOT_MAX);
        }
        if (b->state[slot]) {
            return gy_fail(e, GYRE_DUPLICATE, "node '%s': slot %u is another node's already",
                           gy_show(nodes[i]->name, shown), slot);
        }
        b->state[slot] = LIVE;
        b->top = slot > b->top ? slot : b->top;
    }
    return GYRE_OK;
}

/* Leaves each slot once that is not in use, and adds those the list does not know. */
static int complete(struct board *b, struct gy_removed *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t slot = r->slot[i];
        if (slot == 0 || slot > GY_SLOT_MAX || b->state[slot] != EMPTY) {
            continue;
        }
        b->state[slot] = LISTED;
        b->top = slot > b->top ? slot : b->top;
        r->slot[kept++] = slot;
    }
    r->count = kept;
    for (uint32_t slot = b->top; slot > 0; slot--) {
        if (b->state[slot] == EMPTY && gy_removed_push(r, slot)) {
            return GYRE_NOMEM;
        }
    }
    return GYRE_OK;
}

static uint32_t next_slot(struct board *b, struct gy_removed *r)
{
    return r->count ? r->slot[--r->count] : ++b->top;
}

static int give_slots(struct board *b, struct gyre_node *const *nodes, uint32_t count,
                      struct gy_removed *r, gyre_error_t *e)
{
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i]->slot || !(nodes[i]->weight > 0)) {
            continue;
        }
        uint32_t slot = next_slot(b, r);
        if (slot > GY_SLOT_MAX) {
            return gy_fail(e, GYRE_RANGE, "more than %u slots", GY_SLOT_MAX);
        }
        nodes[i]->slot = slot;
    }
    return GYRE_OK;
}

int gy_slots_settle(struct gyre_node *const *nodes, uint32_t count, struct gy_removed *r,
                    uint32_t *top, gyre_error_t *e)
{
    struct board b = {.state = gy_mem_alloc(GY_SLOT_MAX + 1, 1)};
    if (!b.state) {
        return gy_fail_nomem(e);
    }
    memset(b.state, 0, GY_SLOT_MAX + 1);
    int err = put_nodes(&b, nodes, count, e);
    if (!err && complete(&b, r)) {
        err = gy_fail_nomem(e);
    }
    if (!err) {
        err = give_slots(&b, nodes, count, r, e);
    }
    *top = b.top;
    gy_mem_free(b.state);
    return err;
}

/* ---- of a map ---- */

int gy_numbers_init(struct gy_numbers *x, struct gyre_map *m, gyre_error_t *e)
{
    *x = (struct gy_numbers){0};
    struct gyre_node **nodes = gy_mem_alloc(m->count, sizeof *nodes);
    if (!nodes) {
        return gy_fail_nomem(e);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        nodes[i] = &m->nodes[i];
    }
    int err = gy_slots_settle(nodes, m->count, &m->removed, &x->n, e);
    gy_mem_free(nodes);
    if (err) {
        return err;
    }
    x->node = gy_mem_alloc(x->n, sizeof *x->node);
    if (!x->node) {
        return gy_fail_nomem(e);
    }
    memset(x->node, UINT8_MAX, x->n * sizeof *x->node);
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->weight[i]) {
            x->node[m->nodes[i].slot - 1] = (uint16_t)i;
        }
    }
    return GYRE_OK;
}

void gy_numbers_fini(struct gy_numbers *x)
{
    gy_mem_free(x->node);
}

int gy_numbers_whole(const struct gy_numbers *x, const struct gyre_map *m, gyre_error_t *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->node[i] == GY_NO_NODE) {
            return gy_fail(e, GYRE_UNSUPPORTED,
                           "%s can only give up its highest slot, and slot %u of %u is empty: put "
                           "a node there, or use memento or dx",
                           m->place->name, i + 1, x->n);
        }
    }
    return GYRE_OK;
}

bool gy_numbers_same(const gyre_map_t *a, const gyre_map_t *b)
{
    const struct gy_numbers *x = a->data, *y = b->data;
    if (x->n != y->n || a->removed.count != b->removed.count) {
        return false;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        bool none = x->node[i] == GY_NO_NODE;
        if (none != (y->node[i] == GY_NO_NODE) ||
            (!none && strcmp(a->nodes[x->node[i]].name, b->nodes[y->node[i]].name) != 0)) {
            return false;
        }
    }
    size_t bytes = a->removed.count * sizeof *a->removed.slot;
    return bytes == 0 || memcmp(a->removed.slot, b->removed.slot, bytes) == 0;
}

/* ---- the walk ---- */

void gy_numbers_start(struct gy_walk *w)
{
    w->left = (size_t)DRAWS * w->map->positive;
}

uint32_t gy_numbers_next(struct gy_walk *w)
{
    if (w->left == 0) {
        return gy_walk_by_name(w);
    }
    w->left--;
    uint64_t hash = w->state == 0 ? w->hash : gy_stream(~w->hash, w->state - 1);
    w->state++;
    return w->map->place->locate(w->map, hash);
}
