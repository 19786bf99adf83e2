/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weigh.h - which weight gives a node the share that is wanted, found by the rule and then tried:
 * the map is built, so that the share, its points and what it moves are measured, not guessed.
 * Threads: main only.
 */
#ifndef GY_CLI_WEIGH_H
#define GY_CLI_WEIGH_H

#include "base/json.h"
#include "gyre.h"

/* A weight and what a map built with it has. */
struct gy_weighed {
    double weight, share, moved, minimum;
    uint64_t points;
    size_t bytes;
};

struct gy_weigh {
    const char *name; /* of the node, the map's */
    double wanted, now;
    uint64_t points_now;
    bool whole; /* the system counts in whole numbers */
    struct gy_weighed found;
    /* Where these are too coarse: the weights of all nodes times factor, and this one. 0: none. */
    unsigned factor;
    struct gy_weighed scaled;
};

/* text: NODE=SHARE, as "cache-1=25%" or "cache-1=0.25". GY_EXIT_OK, or GY_EXIT_USAGE after saying
 * why there is no answer. */
int gy_weigh_find(const gyre_topology_t *t, gyre_map_t *map, const char *text,
                  struct gy_weigh *out);
void gy_weigh_text(const struct gy_weigh *w, struct gy_buf *out);
/* Member "weight_for" of the object that is open. */
void gy_weigh_json(const struct gy_weigh *w, struct gy_json *j);

#endif
