/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_plan.c - shows what a change would move, before it is asked for: the nodes that change, then
 * what `gyre plan` shows of the keys, then what only a replaced machine copies.
 */
#include "cli/move.h"

#include "cli/movement.h"
#include "cli/term.h"
#include "cli/topo.h"

#include <string.h>

enum { FLOWS_SHOWN = 20, SAMPLES = 200000 }; /* as `gyre plan` has them */
#define RATIO_LIMIT 1.001

static void put_name(struct gy_buf *out, const char *text)
{
    gy_term_encode(out, gy_str(text ? text : "?"));
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Its data travels from one machine to another although no key changes its node. */
static bool replaced(const struct gyre_node *old, const struct gyre_node *new)
{
    return old && !same_text(old->address, new->address);
}

static void put_zone(struct gy_buf *out, const char *zone)
{
    if (zone) {
        put_name(out, zone);
    } else {
        gy_buf_puts(out, "none");
    }
}

static void show_zone(struct gy_buf *out, const struct gyre_node *old, const struct gyre_node *new)
{
    if (old ? same_text(old->zone, new->zone) : !new->zone) {
        return;
    }
    gy_buf_puts(out, "  zone ");
    if (old) {
        put_zone(out, old->zone);
        gy_buf_puts(out, " -> ");
    }
    put_zone(out, new->zone);
}

static void show_changed(struct gy_buf *out, const struct gyre_node *old,
                         const struct gyre_node *new)
{
    gy_buf_puts(out, old ? "  ~ " : "  + ");
    put_name(out, new->name);
    gy_buf_puts(out, "  ");
    if (replaced(old, new)) {
        put_name(out, old->address);
        gy_buf_puts(out, " -> ");
    }
    put_name(out, new->address);
    if (!old) {
        gy_buf_printf(out, "  weight %g", new->weight);
    } else if (old->weight != new->weight) {
        gy_buf_printf(out, "  weight %g -> %g", old->weight, new->weight);
    }
    show_zone(out, old, new);
    gy_buf_putc(out, '\n');
}

void gy_move_show_nodes(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b)
{
    for (size_t i = 0; i < gyre_topology_count(b); i++) {
        const struct gyre_node *n = gyre_topology_node(b, i);
        const struct gyre_node *old = gyre_topology_find(a, n->name);
        if (!old || replaced(old, n) || old->weight != n->weight ||
            !same_text(old->zone, n->zone)) {
            show_changed(out, old, n);
        }
    }
    for (size_t i = 0; i < gyre_topology_count(a); i++) {
        const struct gyre_node *n = gyre_topology_node(a, i);
        if (!gyre_topology_find(b, n->name)) {
            gy_buf_puts(out, "  - ");
            put_name(out, n->name);
            gy_buf_puts(out, "  ");
            put_name(out, n->address);
            gy_buf_putc(out, '\n');
        }
    }
}

/* What a replaced machine holds and keeps owning: its share less what flows away from it. */
static double copied(gyre_map_t *from, const gyre_topology_t *b, const gyre_diff_t *d)
{
    double sum = 0;
    for (uint32_t i = 0; i < gyre_map_count(from); i++) {
        const struct gyre_node *n = gyre_map_node(from, i);
        const struct gyre_node *now = gyre_topology_find(b, n->name);
        if (!now || !replaced(n, now)) {
            continue;
        }
        sum += gyre_map_share(from, i);
        for (size_t k = 0; k < gyre_diff_count(d); k++) {
            const struct gyre_flow *f = gyre_diff_flow(d, k);
            sum -= strcmp(f->from, n->name) == 0 ? f->share : 0;
        }
    }
    return sum;
}

static void show(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b,
                 const struct gy_movement *m, bool same_data)
{
    gy_buf_printf(out, "version %llu -> %llu\n", (unsigned long long)gyre_topology_version(a),
                  (unsigned long long)gyre_topology_version(b));
    gy_move_show_nodes(out, a, b);
    gy_buf_putc(out, '\n');
    double other = copied(m->from, b, m->diff);
    if (other > 0 && gyre_diff_count(m->diff) == 0) {
        gy_buf_puts(out, "no key changes its node\n");
    } else {
        gy_movement_text(m, RATIO_LIMIT, FLOWS_SHOWN, out);
    }
    if (other > 0) {
        gy_buf_printf(out, "replaced  %9.4f %%  %s\n", 100 * other,
                      same_data ? "is at the new address already, as you say"
                                : "is copied to its node's new address");
    }
}

int gy_move_show_plan(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b,
                      bool same_data)
{
    static const struct gy_keys_from no_keys;
    gyre_map_t *from = NULL, *to = NULL;
    struct gy_movement m = {0};
    int rc = gy_topo_build(a, "the proxy's topology", &from);
    if (!rc) {
        rc = gy_topo_build(b, "the new topology", &to);
    }
    if (!rc) {
        rc = gy_movement_make(&m, from, to, SAMPLES, &no_keys);
    }
    if (!rc) {
        show(out, a, b, &m, same_data);
    }
    gy_movement_fini(&m);
    gyre_map_unref(from);
    gyre_map_unref(to);
    return rc;
}
