/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c - a router over two zones: each key on two nodes in different zones, and what is done
 * when a node is down, and when it is back.
 *
 *     cc route.c $(pkg-config --cflags --libs gyre) -o route
 */
#include <gyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int err, const gyre_error_t *e)
{
    if (err) {
        fprintf(stderr, "route: %s\n", e->message);
        exit(1);
    }
}

static gyre_map_t *fleet(void)
{
    static const struct gyre_node nodes[] = {
        {sizeof nodes[0], "cache-0", "10.0.0.1:6379", 1, "eu/a", NULL, 0},
        {sizeof nodes[0], "cache-1", "10.0.0.2:6379", 1, "eu/a", NULL, 0},
        {sizeof nodes[0], "cache-2", "10.0.1.1:6379", 1, "eu/b", NULL, 0},
        {sizeof nodes[0], "cache-3", "10.0.1.2:6379", 1, "eu/b", NULL, 0},
    };
    gyre_error_t e = {0};
    gyre_map_t *map = NULL;
    gyre_topology_t *t = gyre_topology_new();
    must(t ? gyre_topology_set(t, "spread", "zone", &e) : GYRE_NOMEM, &e);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        must(gyre_topology_add(t, &nodes[i], &e), &e);
    }
    must(gyre_map_build(t, &map, &e), &e);
    gyre_topology_free(t);
    return map;
}

static void show(const char *when, const gyre_mask_t *up)
{
    static const char *const keys[] = {"user:1", "user:2", "user:3"};
    const gyre_map_t *map = gyre_mask_map(up);
    printf("%s\n", when);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint32_t where[2];
        unsigned flags;
        size_t n = gyre_mask_replicas(up, keys[i], strlen(keys[i]), where, 2, &flags);
        printf("  %s ", keys[i]);
        for (size_t k = 0; k < n; k++) {
            const struct gyre_node *node = gyre_map_node(map, where[k]);
            printf(" %s (%s)", node->name, node->zone);
        }
        printf("%s\n", flags & GYRE_REPLICAS_SPREAD ? "  both in one zone" : "");
    }
}

int main(void)
{
    gyre_error_t e = {0};
    gyre_map_t *map = fleet();
    gyre_mask_t *up = NULL;
    must(gyre_mask_new(map, NULL, &up, &e), &e);

    show("all are up", up);
    /* What a health check does, from any thread: */
    gyre_mask_set(up, gyre_map_find(map, "cache-2"), false);
    show("cache-2 is down: only what was there has moved", up);
    gyre_mask_set(up, gyre_map_find(map, "cache-3"), false);
    show("zone eu/b is down", up);
    gyre_mask_set(up, gyre_map_find(map, "cache-2"), true);
    gyre_mask_set(up, gyre_map_find(map, "cache-3"), true);
    show("all are back: as before", up);

    gyre_mask_unref(up);
    gyre_map_unref(map);
    return 0;
}
