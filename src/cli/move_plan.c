/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_plan.c - shows what a change would move, before it is asked for: the nodes that change, the
 * shares, the least possible, what hash mod N would have moved, and the flows.
 */
#include "cli/move.h"

#include "cli/table.h"
#include "cli/term.h"

#include <string.h>

enum {
    FLOWS_SHOWN = 20,
    SAMPLES = 1 << 20, /* for placements whose difference is not exact: +- 0.1 % */
};

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
    gy_buf_putc(out, '\n');
}

static void show_nodes(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b)
{
    for (size_t i = 0; i < gyre_topology_count(b); i++) {
        const struct gyre_node *n = gyre_topology_node(b, i);
        const struct gyre_node *old = gyre_topology_find(a, n->name);
        if (!old || replaced(old, n) || old->weight != n->weight) {
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

static void show_flows(struct gy_buf *out, const gyre_diff_t *d)
{
    static const char *const heads[] = {"from", "to", ">share", NULL};
    size_t n = gyre_diff_count(d);
    if (n == 0) {
        return;
    }
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t i = 0; i < n && i < FLOWS_SHOWN; i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        gy_table_cell(&t, f->from);
        gy_table_cell(&t, f->to);
        gy_table_format(&t, "%.2f %%", 100 * f->share);
    }
    gy_buf_putc(out, '\n');
    gy_table_end(&t, out);
    if (n > FLOWS_SHOWN) {
        gy_buf_printf(out, "... and %zu smaller flows\n", n - FLOWS_SHOWN);
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
                 gyre_map_t *from, const gyre_diff_t *d, bool same_data)
{
    const char *about = gyre_diff_exact(d) ? "" : "about ";
    gy_buf_printf(out, "version %llu -> %llu\n", (unsigned long long)gyre_topology_version(a),
                  (unsigned long long)gyre_topology_version(b));
    show_nodes(out, a, b);
    gy_buf_printf(out, "\nmoved     %s%.2f %% of the keys change their node\n", about,
                  100 * gyre_diff_moved(d));
    gy_buf_printf(out, "minimum   %.2f %%\n", 100 * gyre_diff_minimum(d));
    gy_buf_printf(out, "ratio     %.3f\n", gyre_diff_ratio(d));
    gy_buf_printf(out, "modulo    %.2f %% would have moved with hash mod N\n",
                  100 * gyre_diff_modulo(d));
    double other = copied(from, b, d);
    if (other > 0) {
        gy_buf_printf(out, "replaced  %.2f %% of the keys %s\n", 100 * other,
                      same_data ? "are at the new address already, as you say"
                                : "are copied to their node's new address");
    }
    show_flows(out, d);
}

int gy_move_show_plan(struct gy_buf *out, const gyre_topology_t *a, const gyre_topology_t *b,
                      bool same_data, gyre_error_t *e)
{
    gyre_map_t *from = NULL, *into = NULL;
    gyre_diff_t *d = NULL;
    int err = gyre_map_build(a, &from, e);
    if (err == GYRE_OK) {
        err = gyre_map_build(b, &into, e);
    }
    if (err == GYRE_OK) {
        err = gyre_diff_build(from, into, SAMPLES, &d, e);
    }
    if (err == GYRE_OK) {
        show(out, a, b, from, d, same_data);
    }
    gyre_diff_free(d);
    gyre_map_unref(from);
    gyre_map_unref(into);
    return err;
}
