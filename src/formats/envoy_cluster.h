/* SPDX-License-Identifier: Apache-2.0 */
/* envoy_cluster.h - what of one cluster of Envoy places keys. Threads: one an object. */
#ifndef GY_FORMATS_ENVOY_CLUSTER_H
#define GY_FORMATS_ENVOY_CLUSTER_H

#include "formats/envoy_fields.h"

enum gy_envoy_type {
    GY_ENVOY_STATIC,
    GY_ENVOY_STRICT_DNS,
    GY_ENVOY_LOGICAL_DNS,
    GY_ENVOY_EDS,
    GY_ENVOY_ORIGINAL_DST,
};

/* The balancer, from lb_policy and its messages or from load_balancing_policy: envoy_policy.c. */
struct gy_envoy_policy {
    const char *name; /* as Envoy has it; constant */
    bool ring, maglev;
    struct gy_mark at;
    uint64_t minimum, maximum, table, factor; /* 0: not there */
    unsigned murmur;
    bool by_hostname, by_locality, subsets;
};

GYRE_NODISCARD int gy_envoy_policy_read(struct gy_reading *r, const struct gy_tree *cluster,
                                        struct gy_envoy_policy *out);

struct gy_envoy_host {
    char *name;    /* what is hashed; "" where there is nothing */
    char *address; /* what can be dialled, or NULL */
    const struct gy_tree *at;
    uint64_t weight;
    unsigned priority, health;
    size_t locality;
    bool resolved; /* the name is resolved, and the address hashed */
};

struct gy_envoy_locality {
    char *zone; /* region/zone/sub_zone, the parts that there are */
    uint64_t weight;
    unsigned priority;
};

/* The endpoints in their order: envoy_hosts.c. */
struct gy_envoy_hosts {
    struct gy_reading *r;
    enum gy_envoy_type type;
    bool by_hostname;
    struct gy_envoy_host *list;
    size_t count, room;
    struct gy_envoy_locality *localities;
    size_t locality_count, locality_room;
};

GYRE_NODISCARD int gy_envoy_hosts_read(struct gy_envoy_hosts *h, const struct gy_tree *cluster);
void gy_envoy_hosts_fini(struct gy_envoy_hosts *h);

#endif
