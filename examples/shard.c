/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c - a client that shards: three caches, and the one to ask for each key.
 *
 *     cc shard.c $(pkg-config --cflags --libs gyre) -o shard
 */
#include <gyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int err, const gyre_error_t *e)
{
    if (err) {
        fprintf(stderr, "shard: %s\n", e->message);
        exit(1);
    }
}

int main(void)
{
    static const struct gyre_node nodes[] = {
        {sizeof nodes[0], "cache-0", "10.0.0.1:6379", 1, "eu/a", NULL, 0},
        {sizeof nodes[0], "cache-1", "10.0.0.2:6379", 1, "eu/b", NULL, 0},
        {sizeof nodes[0], "cache-2", "10.0.0.3:6379", 2, "eu/b", NULL, 0}, /* twice the memory */
    };
    static const char *const keys[] = {"user:1", "user:2", "cart:{user:1}", "cart:{user:2}"};
    gyre_error_t e = {0};

    gyre_topology_t *t = gyre_topology_new();
    if (!t) {
        return 1;
    }
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        must(gyre_topology_add(t, &nodes[i], &e), &e);
    }
    must(gyre_topology_set(t, "spread", "zone", &e), &e);

    /* Build once, share among all threads; build a new one when the fleet changes. */
    gyre_map_t *map = NULL;
    must(gyre_map_build(t, &map, &e), &e);
    gyre_topology_free(t);

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint32_t where[2];
        unsigned flags;
        size_t n = gyre_map_replicas(map, keys[i], strlen(keys[i]), where, 2, &flags);
        printf("%-14s %s", keys[i], gyre_map_node(map, where[0])->address);
        if (n == 2 && !flags) {
            printf(", then %s", gyre_map_node(map, where[1])->address);
        }
        putchar('\n');
    }
    for (uint32_t i = 0; i < gyre_map_count(map); i++) {
        printf("%s has %.1f %% of the keys\n", gyre_map_node(map, i)->name,
               100 * gyre_map_share(map, i));
    }
    gyre_map_unref(map);
    return 0;
}
