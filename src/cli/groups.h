/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - what the nodes of one zone, or of one host, hold together: a fleet balanced node by
 * node may still lose half its keys with one rack. Threads: one thread an object.
 */
#ifndef GY_CLI_GROUPS_H
#define GY_CLI_GROUPS_H

#include "base/json.h"
#include "gyre.h"

struct gy_group {
    char *name;
    uint64_t nodes, keys;
    double weight, share;
};

struct gy_groups {
    struct gy_group *list; /* by name */
    size_t count;
    uint64_t ungrouped; /* nodes without a zone, or an address */
};

enum gy_group_by {
    GY_BY_ZONE, /* the first two parts of the path: region/zone */
    GY_BY_HOST, /* the host of the address */
};

/* keys: per node of the map, or NULL. GYRE_OK or GYRE_NOMEM. */
GYRE_NODISCARD int gy_groups_make(const gyre_map_t *map, const uint64_t *keys, enum gy_group_by by,
                                  struct gy_groups *out);
void gy_groups_fini(struct gy_groups *g);
void gy_groups_table(const struct gy_groups *g, const char *head, uint64_t keys_total,
                     struct gy_buf *out);
/* key: [{<name_key>, nodes, weight, share, keys?, key_share?}] */
void gy_groups_json(const struct gy_groups *g, struct gy_json *j, const char *key,
                    const char *name_key, bool measured, uint64_t keys_total);

#endif
