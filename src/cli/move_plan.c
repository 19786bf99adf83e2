/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_plan.c - shows what a change would move, before it is asked for: the nodes that change, the
 * shares, the least possible, what hash mod N would have moved, and the flows.
 */
#include "cli/move.h"

#include "cli/move_status.h"

#include <string.h>

enum {
    FLOWS_SHOWN = 20,
    SAMPLES = 1 << 20, /* for placements whose difference is not exact: +- 0.1 % */
};

static void put_clean(FILE *to, const char *text)
{
    struct gy_buf b = {0};
    gy_move_puts_clean(&b, text ? text : "");
    fputs(gy_buf_cstr(&b), to);
    gy_buf_fini(&b);
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

static void show_nodes(FILE *to, const gyre_topology_t *a, const gyre_topology_t *b)
{
    for (size_t i = 0; i < gyre_topology_count(b); i++) {
        const struct gyre_node *n = gyre_topology_node(b, i);
        const struct gyre_node *old = gyre_topology_find(a, n->name);
        if (!old || replaced(old, n) || old->weight != n->weight) {
            fputs(!old ? "  + " : "  ~ ", to);
            put_clean(to, n->name);
            fputs("  ", to);
            if (replaced(old, n)) {
                put_clean(to, old->address);
                fputs(" -> ", to);
            }
            put_clean(to, n->address);
            if (old && old->weight != n->weight) {
                fprintf(to, "  weight %g -> %g", old->weight, n->weight);
            } else if (!old) {
                fprintf(to, "  weight %g", n->weight);
            }
            fputc('\n', to);
        }
    }
    for (size_t i = 0; i < gyre_topology_count(a); i++) {
        const struct gyre_node *n = gyre_topology_node(a, i);
        if (!gyre_topology_find(b, n->name)) {
            fputs("  - ", to);
            put_clean(to, n->name);
            fputs("  ", to);
            put_clean(to, n->address);
            fputc('\n', to);
        }
    }
}

static void show_flows(FILE *to, const gyre_diff_t *d)
{
    size_t n = gyre_diff_count(d), width[2] = {4, 2};
    size_t shown = n < FLOWS_SHOWN ? n : FLOWS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        width[0] = strlen(f->from) > width[0] ? strlen(f->from) : width[0];
        width[1] = strlen(f->to) > width[1] ? strlen(f->to) : width[1];
    }
    if (n == 0) {
        return;
    }
    /* Names may have 4096 bytes: one such does not push the rest off the screen. */
    int w0 = (int)(width[0] < 40 ? width[0] : 40), w1 = (int)(width[1] < 40 ? width[1] : 40);
    fprintf(to, "\n  %-*s  %-*s  SHARE\n", w0, "FROM", w1, "TO");
    for (size_t i = 0; i < shown; i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        struct gy_buf from = {0}, into = {0};
        gy_move_puts_clean(&from, f->from);
        gy_move_puts_clean(&into, f->to);
        fprintf(to, "  %-*s  %-*s  %5.2f %%\n", w0, gy_buf_cstr(&from), w1, gy_buf_cstr(&into),
                100 * f->share);
        gy_buf_fini(&from);
        gy_buf_fini(&into);
    }
    if (shown < n) {
        fprintf(to, "  ... and %zu smaller flows\n", n - shown);
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

static void show(FILE *to, const gyre_topology_t *a, const gyre_topology_t *b, gyre_map_t *from,
                 const gyre_diff_t *d, bool same_data)
{
    const char *about = gyre_diff_exact(d) ? "" : "about ";
    fprintf(to, "Version %llu -> %llu\n", (unsigned long long)gyre_topology_version(a),
            (unsigned long long)gyre_topology_version(b));
    show_nodes(to, a, b);
    fprintf(to, "\n  moved    %s%.2f %% of the keys change their node\n", about,
            100 * gyre_diff_moved(d));
    fprintf(to, "  minimum  %.2f %%\n", 100 * gyre_diff_minimum(d));
    fprintf(to, "  ratio    %.3f\n", gyre_diff_ratio(d));
    fprintf(to, "  modulo   %.2f %% would have moved with hash mod N\n", 100 * gyre_diff_modulo(d));
    double other = copied(from, b, d);
    if (other > 0) {
        fprintf(to, "  replaced %.2f %% of the keys %s\n", 100 * other,
                same_data ? "are at the new address already, as you say"
                          : "are copied to their node's new address");
    }
    show_flows(to, d);
}

int gy_move_show_plan(FILE *to, const gyre_topology_t *a, const gyre_topology_t *b, bool same_data,
                      gyre_error_t *e)
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
        show(to, a, b, from, d, same_data);
    }
    gyre_diff_free(d);
    gyre_map_unref(from);
    gyre_map_unref(into);
    return err;
}
