/* SPDX-License-Identifier: Apache-2.0 */
/*
 * down.h - servers that are taken to be down (--down, as often as wanted): a node by its name, else
 * all that stand in a zone ("eu", "eu/a", "eu/a/r1") or on a host. Of a Redis Cluster replicas
 * count too: there a replica, not another master, takes over. Threads: one thread an object.
 */
#ifndef GY_CLI_DOWN_H
#define GY_CLI_DOWN_H

#include "cli/topo.h"

#define GY_DOWN_MAX 64

/* What the options said. */
struct gy_down_from {
    const char *names[GY_DOWN_MAX];
    size_t count;
};

int gy_down_take(void *from, const char *value); /* for GY_OPT_CALL */
/* clang-format off */
#define GY_DOWN_OPTION(type, help)                                                                 \
    {0, "down", "NAME", help, GY_OPT_CALL, offsetof(type, down_from), 0, 0, gy_down_take}
/* clang-format on */

struct gy_downed {
    bool *node, *server; /* of each node of the map, and of each server of the pool */
    uint32_t nodes;      /* how many of the map's are down */
    bool cluster;        /* replicas take over */
};

/* GY_EXIT_OK, or after reporting a name that is none. Fini in every case. */
int gy_down_find(struct gy_downed *d, const struct gy_down_from *from, const struct gy_topo *topo);
void gy_down_fini(struct gy_downed *d);
/* All that are up; NULL: out of memory. */
gyre_mask_t *gy_down_mask(const struct gy_downed *d, gyre_map_t *map);

/* The replica of a Redis Cluster's master that takes over: one that is up, and not in d (NULL:
 * none is). NULL: nobody does. */
const struct gy_server *gy_standby(const struct gy_pool *p, const struct gy_server *master,
                                   const struct gy_downed *d);
bool gy_is_cluster(const struct gy_pool *p);

#endif
