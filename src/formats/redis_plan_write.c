/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_plan_write.c - a plan is what differs between the cluster that the topology was planned
 * from and the topology; without such a file nothing differs, and there is nothing to do. Lines
 * stand by slot number, so that two plans can be compared line by line. Threads: one an object.
 */
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/format.h"
#include "formats/lines.h"
#include "formats/redis_plan.h"
#include "formats/replica_moves.h"
#include "formats/slot_plan.h"

#include <stdlib.h>

struct writing {
    struct gy_writing *w;
    const gyre_topology_t *old; /* the same as w->t where nothing was planned */
    struct gy_slot_owners *before, *after;
    struct gy_slot_groups groups; /* of before */
    struct gy_buf lines;          /* what is to be done */
    uint64_t moves, bytes;
};

static void put_word(struct gy_buf *out, const char *text)
{
    for (; *text; text++) {
        uint8_t c = (uint8_t)*text;
        gy_buf_printf(out, c <= ' ' || c == '%' || c == 0x7f ? "%%%02X" : "%c", c);
    }
}

static void put_pair(struct gy_buf *out, const char *key, const char *value)
{
    if (value) {
        gy_buf_printf(out, " %s=", key);
        put_word(out, value);
    }
}

static bool says(const char *name, const char *address)
{
    return address && strcmp(name, address) == 0;
}

static void put_master(const struct writing *n, const struct gyre_node *node, uint32_t owner,
                       bool leaves)
{
    struct gy_buf *out = n->w->out, ranges = {0};
    const struct gy_pool *p = n->w->what->from;
    const struct gy_server *s = p ? gy_pool_find(p, node->name) : NULL;
    gy_buf_puts(out, "master ");
    put_word(out, node->name);
    put_pair(out, "id", s ? s->id : NULL);
    put_pair(out, "address", says(node->name, node->address) ? NULL : node->address);
    put_pair(out, "zone", node->zone ? node->zone : s ? s->zone : NULL);
    if (node->weight != 1) {
        gy_buf_puts(out, " weight=");
        gy_write_weight(out, node->weight);
    }
    if (owner && gy_redis_ranges(&n->groups, owner, &ranges)) {
        gy_buf_printf(out, " slots=%s", gy_buf_cstr(&ranges));
    }
    gy_buf_puts(out, leaves ? " leaves\n" : "\n");
    out->failed |= ranges.failed;
    gy_buf_fini(&ranges);
}

/* Place + 1 in the topology, 0: not in it. */
static uint32_t place_in(const gyre_topology_t *t, const char *name)
{
    const struct gyre_node *node = gyre_topology_find(t, name);
    return node ? (uint32_t)(node - gyre_topology_node(t, 0)) + 1 : 0;
}

static void put_masters(const struct writing *n)
{
    for (size_t i = 0; i < gyre_topology_count(n->w->t); i++) {
        const struct gyre_node *node = gyre_topology_node(n->w->t, i);
        put_master(n, node, place_in(n->old, node->name), false);
    }
    for (uint32_t i = 0; i < gyre_topology_count(n->old); i++) {
        const struct gyre_node *node = gyre_topology_node(n->old, i);
        if (!gyre_topology_find(n->w->t, node->name)) {
            put_master(n, node, i + 1, true);
        }
    }
}

/* ---- moves ---- */

static const char *name_of(const gyre_topology_t *t, const struct gy_slot_owners *o, uint32_t slot)
{
    return gyre_topology_node(t, o->server[slot] - 1)->name;
}

static void find_moves(struct writing *n)
{
    const uint64_t *sizes = n->w->what->slot_sizes;
    for (uint32_t slot = 0; slot < GY_REDIS_SLOTS;) {
        const char *from = name_of(n->old, n->before, slot);
        const char *to = name_of(n->w->t, n->after, slot);
        uint32_t first = slot;
        uint64_t bytes = 0;
        if (strcmp(from, to) == 0) {
            slot++;
            continue;
        }
        while (slot < GY_REDIS_SLOTS && strcmp(name_of(n->old, n->before, slot), from) == 0 &&
               strcmp(name_of(n->w->t, n->after, slot), to) == 0) {
            bytes += sizes ? sizes[slot] : 0;
            slot++;
        }
        gy_buf_printf(&n->lines, slot - first > 1 ? "move %u-%u " : "move %u ", first, slot - 1);
        put_word(&n->lines, from);
        gy_buf_putc(&n->lines, ' ');
        put_word(&n->lines, to);
        if (sizes) {
            gy_buf_printf(&n->lines, " bytes=%llu", (unsigned long long)bytes);
        }
        gy_buf_putc(&n->lines, '\n');
        n->moves += slot - first;
        n->bytes += bytes;
    }
}

/* ---- replicas ---- */

struct replicas {
    const struct gy_pool *p;
    bool *takes;
    uint32_t *of, *was;
};

static void fill(const struct writing *n, struct replicas *r)
{
    for (uint32_t i = 0; i < r->p->server_count; i++) {
        const struct gy_server *s = &r->p->servers[i];
        const struct gyre_node *node = gyre_topology_find(n->w->t, s->name);
        const struct gy_server *primary = s->role == GY_ROLE_REPLICA && s->replica_of
                                              ? gy_pool_find_id(r->p, s->replica_of)
                                              : NULL;
        primary = primary || s->role != GY_ROLE_REPLICA || !s->replica_of
                      ? primary
                      : gy_pool_find(r->p, s->replica_of);
        r->takes[i] = node && node->weight != 0 && !(s->states & GY_STATE_DOWN);
        r->was[i] = r->of[i] = primary ? (uint32_t)(primary - r->p->servers) + 1 : 0;
    }
}

static void put_replicas(struct writing *n, const struct replicas *r)
{
    for (uint32_t i = 0; i < r->p->server_count; i++) {
        const struct gy_server *s = &r->p->servers[i];
        if (r->was[i] == 0) {
            continue;
        }
        gy_buf_puts(n->w->out, "replica ");
        put_word(n->w->out, s->name);
        put_pair(n->w->out, "of", r->p->servers[r->was[i] - 1].name);
        put_pair(n->w->out, "id", s->id);
        put_pair(n->w->out, "address", says(s->name, s->address) ? NULL : s->address);
        put_pair(n->w->out, "zone", s->zone);
        gy_buf_putc(n->w->out, '\n');
        if (r->of[i] != r->was[i]) {
            gy_buf_puts(&n->lines, "replicate ");
            put_word(&n->lines, s->name);
            gy_buf_putc(&n->lines, ' ');
            put_word(&n->lines, r->p->servers[r->of[i] - 1].name);
            gy_buf_putc(&n->lines, '\n');
        }
    }
}

/* How many fall together with their primary, and what comes of it. */
static void tell_replicas(const struct writing *n, const struct replicas *r)
{
    unsigned near = 0, moved = 0;
    for (uint32_t i = 0; i < r->p->server_count; i++) {
        const struct gy_server *s = &r->p->servers[i];
        near += r->was[i] && gy_replica_cost(s, &r->p->servers[r->was[i] - 1]);
        moved += r->of[i] != r->was[i];
    }
    if (near) {
        gy_write_choice(n->w,
                        "%u replica%s on %s primary's host or in its zone; %u %s proposed another "
                        "primary",
                        near, near == 1 ? " is" : "s are", near == 1 ? "its" : "their", moved,
                        moved == 1 ? "is" : "are");
    }
}

static int find_replicas(struct writing *n)
{
    struct replicas r = {.p = n->w->what->from};
    if (!r.p) {
        return GYRE_OK;
    }
    r.takes = calloc(r.p->server_count + 1, sizeof *r.takes);
    r.of = calloc(r.p->server_count + 1, sizeof *r.of);
    r.was = calloc(r.p->server_count + 1, sizeof *r.was);
    int rc = r.takes && r.of && r.was ? GYRE_OK : GYRE_NOMEM;
    if (!rc) {
        fill(n, &r);
        rc = n->old == n->w->t ? GYRE_OK : gy_replica_moves(r.p, r.takes, r.of);
    }
    if (!rc) {
        put_replicas(n, &r);
    }
    if (!rc && n->old != n->w->t) {
        tell_replicas(n, &r);
    }
    free(r.takes);
    free(r.of);
    free(r.was);
    return rc ? gy_format_fail(n->w->e, rc, NULL, "out of memory") : GYRE_OK;
}

/* ---- all of it ---- */

static int write(struct writing *n)
{
    struct gy_buf *out = n->w->out;
    int rc = gy_slot_owners_of(n->old, n->before, n->w->e);
    rc = rc ? rc : gy_slot_owners_of(n->w->t, n->after, n->w->e);
    if (rc) {
        return rc;
    }
    if (gy_slot_groups_init(&n->groups, n->before, gyre_topology_count(n->old))) {
        return gy_format_fail(n->w->e, GYRE_NOMEM, NULL, "out of memory");
    }
    gy_buf_puts(out, "redis-plan 1\n");
    find_moves(n);
    gy_buf_printf(out, "# %llu of %u slots move", (unsigned long long)n->moves, GY_REDIS_SLOTS);
    if (n->w->what->slot_sizes) {
        gy_buf_printf(out, ", with %llu bytes", (unsigned long long)n->bytes);
    }
    gy_buf_puts(out, "; slots= is what each owns before\n");
    put_masters(n);
    rc = find_replicas(n);
    gy_buf_add(out, gy_buf_head(&n->lines), gy_buf_size(&n->lines));
    gy_buf_puts(out, "end\n");
    out->failed |= n->lines.failed;
    return rc;
}

int gy_redis_plan_write(struct gy_writing *w)
{
    const struct gy_pool *from = w->what->from;
    const gyre_topology_t *old = from && from->config ? from->config->topology : w->t;
    bool cluster = strcmp(gyre_topology_get(old, "like"), "redis-cluster") == 0;
    struct writing n = {.w = w, .old = cluster ? old : w->t};
    n.before = calloc(1, sizeof *n.before);
    n.after = calloc(1, sizeof *n.after);
    int rc =
        n.before && n.after ? write(&n) : gy_format_fail(w->e, GYRE_NOMEM, NULL, "out of memory");
    gy_buf_fini(&n.lines);
    gy_slot_groups_fini(&n.groups);
    free(n.before);
    free(n.after);
    return rc;
}
