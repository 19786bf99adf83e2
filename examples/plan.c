/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - before a fifth cache is added: what would move, and what it would have been with modulo.
 *
 *     cc plan.c $(pkg-config --cflags --libs gyre) -o plan
 */
#include <gyre.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int err, const gyre_error_t *e)
{
    if (err) {
        fprintf(stderr, "plan: %s\n", e->message);
        exit(1);
    }
}

static gyre_topology_t *today(void)
{
    gyre_error_t e = {0};
    gyre_topology_t *t = gyre_topology_new();
    for (int i = 0; t && i < 4; i++) {
        char name[16];
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        snprintf(name, sizeof name, "cache-%d", i);
        must(gyre_topology_add(t, &n, &e), &e);
    }
    return t;
}

int main(void)
{
    const struct gyre_change change = {
        .size = sizeof change,
        .kind = GYRE_ADD,
        .node = {.size = sizeof change.node, .name = "cache-4", .weight = 1},
    };
    gyre_error_t e = {0};
    gyre_topology_t *now = today(), *next = NULL;
    gyre_map_t *from = NULL, *to = NULL;
    gyre_diff_t *diff = NULL;
    if (!now) {
        return 1;
    }
    must(gyre_plan_apply(now, &change, 1, &next, &e), &e);
    must(gyre_map_build(now, &from, &e), &e);
    must(gyre_map_build(next, &to, &e), &e);
    must(gyre_diff_build(from, to, 0, &diff, &e), &e);

    printf("moved    %.2f %%\n", 100 * gyre_diff_moved(diff));
    printf("minimum  %.2f %%\n", 100 * gyre_diff_minimum(diff));
    printf("ratio    %.3f\n", gyre_diff_ratio(diff));
    printf("modulo   %.2f %%\n", 100 * gyre_diff_modulo(diff));
    for (size_t i = 0; i < gyre_diff_count(diff); i++) {
        const struct gyre_flow *f = gyre_diff_flow(diff, i);
        printf("%s -> %s  %.2f %%\n", f->from, f->to, 100 * f->share);
    }
    gyre_diff_free(diff);
    gyre_map_unref(from);
    gyre_map_unref(to);
    gyre_topology_free(now);
    gyre_topology_free(next);
    return 0;
}
