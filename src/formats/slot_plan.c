/* SPDX-License-Identifier: Apache-2.0 */
/* slot_plan.c - see slot_plan.h. */
#include "formats/slot_plan.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"

#include <stdlib.h>

/* ---- who owns what ---- */

static int nomem(gyre_error_t *e)
{
    return gy_format_fail(e, GYRE_NOMEM, NULL, "out of memory");
}

static int take_ranges(const struct gyre_node *node, struct gy_slice ranges, uint32_t owner,
                       struct gy_slot_owners *out, gyre_error_t *e)
{
    char q[GY_QUOTE];
    while (ranges.n) {
        uint32_t first, last;
        if (!gy_redis_range(gy_slice_cut(&ranges, ','), &first, &last)) {
            return gy_format_fail(e, GYRE_INVALID, NULL, "node %s: its slots are no slots",
                                  gy_utf8_quote(q, gy_str(node->name)));
        }
        for (; first <= last; first++) {
            out->server[first] = owner;
        }
    }
    return GYRE_OK;
}

int gy_slot_owners_of(const gyre_topology_t *t, struct gy_slot_owners *out, gyre_error_t *e)
{
    int rc = GYRE_OK;
    *out = (struct gy_slot_owners){{0}};
    for (uint32_t i = 0; !rc && i < gyre_topology_count(t); i++) {
        const struct gyre_node *node = gyre_topology_node(t, i);
        struct gy_slice ranges;
        if (gy_write_option(node, "slots", &ranges)) {
            rc = take_ranges(node, ranges, i + 1, out, e);
        }
    }
    for (uint32_t slot = 0; !rc && slot < GY_REDIS_SLOTS; slot++) {
        if (!out->server[slot]) {
            rc = gy_format_fail(e, GYRE_INVALID, NULL,
                                "slot %u has no owner: each must be in the option slots= of a node",
                                slot);
        }
    }
    return rc;
}

/* ---- the plan ---- */

/* The masters: next's nodes by their place, then those of old that go. */
struct cast {
    uint64_t *weight;
    uint32_t *number; /* of old's nodes */
    uint32_t *owner, *to;
    uint32_t n;
    struct gy_slot_owners *owners;
};

static void cast_fini(struct cast *c)
{
    free(c->weight);
    free(c->number);
    free(c->owner);
    free(c->to);
    free(c->owners);
}

/* Where the node of old stands in next; count where it goes. */
static uint32_t place_of(const gyre_topology_t *next, const char *name)
{
    size_t n = gyre_topology_count(next), i = 0;
    while (i < n && strcmp(gyre_topology_node(next, i)->name, name) != 0) {
        i++;
    }
    return (uint32_t)i;
}

static int make_cast(const struct gy_slot_plan *p, struct cast *c, gyre_error_t *e)
{
    size_t old = gyre_topology_count(p->old), next = gyre_topology_count(p->next);
    c->weight = calloc(old + next + 1, sizeof *c->weight);
    c->number = calloc(old + 1, sizeof *c->number);
    c->owner = calloc(GY_REDIS_SLOTS, sizeof *c->owner);
    c->to = calloc(GY_REDIS_SLOTS, sizeof *c->to);
    c->owners = calloc(1, sizeof *c->owners);
    if (!c->weight || !c->number || !c->owner || !c->to || !c->owners) {
        return nomem(e);
    }
    for (c->n = 0; c->n < next; c->n++) {
        c->weight[c->n] = p->weights[c->n];
    }
    for (size_t i = 0; i < old; i++) {
        uint32_t at = place_of(p->next, gyre_topology_node(p->old, i)->name);
        c->number[i] = at < next ? at : c->n++;
    }
    int rc = gy_slot_owners_of(p->old, c->owners, e);
    for (uint32_t slot = 0; !rc && slot < GY_REDIS_SLOTS; slot++) {
        c->owner[slot] = c->number[c->owners->server[slot] - 1];
    }
    return rc;
}

static int add_node(const struct gy_slot_plan *p, gyre_topology_t *t,
                    const struct gy_slot_groups *g, uint32_t i, gyre_error_t *e)
{
    struct gy_buf options = {0};
    struct gyre_node node = *gyre_topology_node(p->next, i);
    const struct gy_server *s = p->servers ? gy_pool_find(p->servers, node.name) : NULL;
    node.zone = node.zone || !s ? node.zone : s->zone;
    gy_buf_puts(&options, "slots=");
    node.options = gy_redis_ranges(g, i + 1, &options) ? gy_buf_cstr(&options) : NULL;
    int rc = options.failed ? nomem(e) : gyre_topology_add(t, &node, e);
    gy_buf_fini(&options);
    return rc;
}

static int make_topology(const struct gy_slot_plan *p, struct cast *c, gyre_topology_t **out,
                         gyre_error_t *e)
{
    static const char *const settings[] = {"like", "replicas", "spread"};
    struct gy_slot_groups g = {NULL, NULL, 0};
    gyre_topology_t *t = gyre_topology_new();
    int rc = t ? GYRE_OK : nomem(e);
    for (size_t i = 0; !rc && i < 3; i++) {
        rc = gyre_topology_set(t, settings[i], gyre_topology_get(p->next, settings[i]), e);
    }
    for (uint32_t slot = 0; slot < GY_REDIS_SLOTS; slot++) {
        c->owners->server[slot] = c->to[slot] + 1;
    }
    if (!rc && gy_slot_groups_init(&g, c->owners, c->n)) {
        rc = nomem(e);
    }
    for (uint32_t i = 0; !rc && i < gyre_topology_count(p->next); i++) {
        rc = add_node(p, t, &g, i, e);
    }
    gy_slot_groups_fini(&g);
    if (rc) {
        gyre_topology_free(t);
        return rc;
    }
    gyre_topology_set_version(t, gyre_topology_version(p->next));
    *out = t;
    return GYRE_OK;
}

int gy_slot_plan(const struct gy_slot_plan *p, gyre_topology_t **out, gyre_error_t *e)
{
    struct cast c = {0};
    *out = NULL;
    int rc = make_cast(p, &c, e);
    struct gy_deal d = {.n = c.n,
                        .weight = c.weight,
                        .owner = c.owner,
                        .slots = GY_REDIS_SLOTS,
                        .size = p->size,
                        .by_bytes = p->by_bytes};
    rc = rc ? rc : gy_deal_slots(&d, c.to, e);
    rc = rc ? rc : make_topology(p, &c, out, e);
    cast_fini(&c);
    return rc;
}

/* ---- sizes ---- */

struct sizes {
    uint64_t *size;
    bool told[GY_REDIS_SLOTS];
    bool any;
};

static int read_size(const struct gy_lines *l, const char *file, struct sizes *out, gyre_error_t *e)
{
    struct gy_slice rest = l->line, slots, bytes, more;
    uint32_t first, last;
    uint64_t size;
    char q[GY_QUOTE];
    if (!gy_word_next(&rest, &slots) || slots.p[0] == '#') {
        return GYRE_OK;
    }
    if (!gy_redis_range(slots, &first, &last)) {
        return gy_format_fail_at(e, GYRE_SYNTAX, file, gy_lines_mark(l, slots),
                                 "%s is no slot, 0 to %u, and no range of them",
                                 gy_utf8_quote(q, slots), GY_REDIS_SLOTS - 1);
    }
    bool told = gy_word_next(&rest, &bytes);
    int rc = told ? gy_num_uint(bytes, &size) : GYRE_SYNTAX;
    if (rc && rc != GYRE_RANGE) {
        return gy_format_fail_at(e, GYRE_SYNTAX, file, gy_lines_mark(l, told ? bytes : slots),
                                 "behind a slot stands how many bytes it has");
    }
    if (rc || size > GY_SLOT_BYTES_MAX) {
        return gy_format_fail_at(e, GYRE_RANGE, file, gy_lines_mark(l, bytes),
                                 "%s bytes are more than a slot can have (%llu)",
                                 gy_utf8_quote(q, bytes), (unsigned long long)GY_SLOT_BYTES_MAX);
    }
    if (gy_word_next(&rest, &more) && more.p[0] != '#') {
        return gy_format_fail_at(e, GYRE_SYNTAX, file, gy_lines_mark(l, more),
                                 "%s stands behind the bytes of a slot", gy_utf8_quote(q, more));
    }
    for (; first <= last; first++) {
        if (out->told[first]) {
            return gy_format_fail_at(e, GYRE_DUPLICATE, file, gy_lines_mark(l, slots),
                                     "the size of slot %u stands in it twice", first);
        }
        out->told[first] = out->any = true;
        out->size[first] = size;
    }
    return GYRE_OK;
}

int gy_slot_sizes_parse(struct gy_slice text, const char *file, uint64_t *sizes, gyre_error_t *e)
{
    int rc = GYRE_OK;
    struct sizes all = {.size = sizes};
    memset(sizes, 0, GY_REDIS_SLOTS * sizeof *sizes);
    for (struct gy_lines l = gy_lines_of(text); !rc && gy_lines_next(&l);) {
        rc = read_size(&l, file, &all, e);
    }
    return rc || all.any ? rc
                         : gy_format_fail_at(e, GYRE_EMPTY, file, (struct gy_mark){1, 1},
                                             "there is no slot's size in it");
}
