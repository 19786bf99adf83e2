/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h - how one key comes to its nodes: what `gyre explain` finds out (explain.c), and how it
 * is shown (explain_show.c), which asks nothing more. Threads: main only.
 */
#ifndef GY_CLI_EXPLAIN_H
#define GY_CLI_EXPLAIN_H

#include "cli/down.h"
#include "cli/request.h"
#include "cli/topo.h"

#define GY_EXPLAIN_WALK     1024 /* nodes of the walk in JSON */
#define GY_EXPLAIN_REPLICAS 64

struct gy_explain {
    struct gy_topo_from topo_from;
    bool json, encoded;
    struct gy_request_from from;
    struct gy_down_from down_from;
    /* inside */
    struct gy_topo topo;
    struct gy_downed down;
    uint32_t serves;                /* with --down: who answers then; GYRE_NONE: nobody */
    const struct gy_server *master; /* of a Redis Cluster: the owner, NULL: nobody, or no cluster */
    struct gy_slice key, url;       /* url: what the key was made of, with a recipe */
    struct gy_buf made;
    struct gyre_explain x;
    const char *like, *hash;
    uint64_t replicas;
    unsigned flags;                       /* of the replicas */
    uint32_t chosen[GY_EXPLAIN_REPLICAS]; /* the nodes that hold the key */
    size_t chosen_count;
    uint32_t walk[GY_EXPLAIN_WALK]; /* distinct nodes in the key's order, zones not looked at */
    size_t walk_count;
};

void gy_explain_text(struct gy_buf *out, const struct gy_explain *x);
void gy_explain_json(struct gy_buf *out, const struct gy_explain *x);

#endif
