/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - are the copies of every key on different hosts, racks, zones? The share of the key
 * space of which two copies stand together, on one host and at each depth of the zones' paths.
 * Nodes without an address or zone stand with nobody. Threads: one thread an object.
 */
#ifndef GY_CLI_APART_H
#define GY_CLI_APART_H

#include "base/json.h"
#include "gyre.h"

#define GY_APART_LEVELS 4 /* of zones: region/zone/rack, and one more */

struct gy_apart {
    const gyre_map_t *map;
    uint64_t replicas;
    bool has_hosts; /* some node has an address */
    double host;
    unsigned levels; /* how deep the deepest zone is, GY_APART_LEVELS at most */
    double level[GY_APART_LEVELS];
    const char *example[GY_APART_LEVELS]; /* a zone as deep */
};

void gy_apart_find(struct gy_apart *a, const gyre_map_t *map, uint64_t replicas, uint64_t samples);
/* Nothing of one copy, or where no node says where it stands. */
void gy_apart_text(const struct gy_apart *a, struct gy_buf *out);
/* Member "together" of the object that is open. */
void gy_apart_json(const struct gy_apart *a, struct gy_json *j);

#endif
