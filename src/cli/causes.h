/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.h - why a node has the part that it has. Its share over an even one is a product: of its
 * weight, of what its points own, of the keys that come again, of hash tags and uneven hashing, and
 * of chance. The factor that is farthest from 1 is the cause. Pure but for memory. Threads: one
 * thread an object.
 */
#ifndef GY_CLI_CAUSES_H
#define GY_CLI_CAUSES_H

#include "base/json.h"
#include "cli/parts.h"
#include "cli/topo.h"

#define GY_CAUSES_MOST 6
#define GY_CAUSE_WHY   200

struct gy_cause {
    const char *code; /* stable, in JSON: docs/json.md */
    double times;
    char why[GY_CAUSE_WHY];
};

struct gy_causes {
    uint32_t node; /* GYRE_NONE: no node takes keys */
    bool of_keys;
    double share, even, times; /* times: share / even */
    struct gy_cause list[GY_CAUSES_MOST];
    size_t count;
    const struct gy_cause *main; /* NULL: no factor is 5 % off */
};

/* node GYRE_NONE: the fullest. keys: counts of each node, NULL: none were given. NOMEM. */
GYRE_NODISCARD int gy_causes_find(struct gy_causes *c, const struct gy_topo *topo, uint32_t node,
                                  const uint64_t *keys, const struct gy_parts *parts);
void gy_causes_text(const struct gy_causes *c, const gyre_map_t *m, struct gy_buf *out);
/* Member "why" of the object that is open. */
void gy_causes_json(const struct gy_causes *c, const gyre_map_t *m, struct gy_json *j);
/* Weights differ, and the placement is the same without: *unused. NOMEM. */
GYRE_NODISCARD int gy_weights_unused(const struct gy_topo *topo, bool *unused);

#endif
