/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - `gyre explain`: finds out how a key comes to its nodes, step by step, and who gets it
 * when they are down. Threads: main only.
 */
#include "cli/explain.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/outage.h"
#include "cli/term.h"

static const struct gy_opt OPTIONS[] = {
    {'n', "replicas", "R", "nodes that hold a key (default: as the topology says)", GY_OPT_UINT,
     offsetof(struct gy_explain, replicas), 1, GY_EXPLAIN_REPLICAS, NULL},
    GY_REQUEST_OPTIONS(struct gy_explain, from),
    {0, "encoded", NULL, "the key is percent-encoded, and shown so", GY_OPT_FLAG,
     offsetof(struct gy_explain, encoded), 0, 0, NULL},
    GY_DOWN_OPTION(struct gy_explain, "this node, zone or host is down (repeatable)"),
    GY_TOPO_OPTIONS(struct gy_explain),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct gy_explain, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre explain fleet.yaml user:1",
    "gyre explain fleet.yaml 'cart:{user:1}' -n 3",
    "gyre explain fleet.yaml user:1 --down cache-2 --down eu/a",
    "gyre explain edge.yaml --key 'host+path' https://cdn.example/v/1.ts",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre explain",
    "TOPOLOGY KEY",
    "Shows how a key comes to its node, step by step, and who gets it when that node is down.",
    OPTIONS,
    EXAMPLES,
    2,
    2,
    GY_EXITS_ASKED,
};

/* ---- the facts ---- */

/* The walk is what the replicas are without regard to zones. */
static int find_walk(struct gy_explain *x)
{
    gyre_map_t *map = NULL;
    int rc = gy_plain_map(x->topo.config->topology, &map);
    if (!rc) {
        x->walk_count = gyre_map_replicas(map, x->key.p, x->key.n, x->walk, GY_EXPLAIN_WALK, NULL);
    }
    gyre_map_unref(map);
    return rc;
}

/* The replicas, and who answers, once those of --down are passed over. */
static int find_down(struct gy_explain *x)
{
    int rc = gy_down_find(&x->down, &x->down_from, &x->topo);
    gyre_mask_t *mask = rc ? NULL : gy_down_mask(&x->down, x->topo.map);
    if (!rc && !mask) {
        rc = gy_complain_memory();
    }
    if (!rc) {
        x->serves = gyre_mask_locate(mask, x->key.p, x->key.n);
        x->chosen_count =
            gyre_mask_replicas(mask, x->key.p, x->key.n, x->chosen, x->replicas, &x->flags);
    }
    gyre_mask_unref(mask);
    return rc;
}

static int find_facts(struct gy_explain *x)
{
    const gyre_topology_t *t = x->topo.config->topology;
    gyre_map_t *map = x->topo.map;
    x->replicas = x->replicas ? x->replicas : gy_copies_of(t);
    x->replicas = x->replicas < GY_EXPLAIN_REPLICAS ? x->replicas : GY_EXPLAIN_REPLICAS;
    x->x.size = sizeof x->x;
    int rc = gyre_map_explain(map, x->key.p, x->key.n, &x->x);
    if (rc) {
        gy_complain("%s", gyre_err_text(rc));
        return GY_EXIT_USAGE;
    }
    const char *like = gyre_topology_get(t, "like");
    x->like = like && *like ? like : NULL;
    bool sample = x->like && strcmp(x->like, "sample") == 0;
    x->hash = gyre_topology_get(t, sample ? "mode" : "hash"); /* empty: the system has but one */
    x->chosen_count = gyre_map_replicas(map, x->key.p, x->key.n, x->chosen, x->replicas, &x->flags);
    if (gy_is_cluster(x->topo.pool) && x->x.node != GYRE_NONE) {
        x->master = gy_pool_find(x->topo.pool, gyre_map_node(map, x->x.node)->name);
    }
    rc = x->down_from.count ? find_down(x) : GY_EXIT_OK;
    return rc ? rc : find_walk(x);
}

static int make_key(struct gy_explain *x)
{
    struct gy_requests r;
    int rc = gy_requests_init(&r, &x->from);
    if (!rc && r.recipe) {
        const char *wrong = gy_request_key(&r, x->key, &x->made, &x->url);
        if (wrong) {
            gy_complain("the key: %s", wrong);
            rc = GY_EXIT_USAGE;
        } else if (x->made.failed) {
            rc = gy_complain_memory();
        }
        x->key = (struct gy_slice){gy_buf_head(&x->made), gy_buf_size(&x->made)};
    }
    gy_requests_fini(&r);
    return rc;
}

int gy_cmd_explain(int argc, char **argv)
{
    struct gy_explain x = {0};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &x, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    size_t len = strlen(words[1]);
    if (x.encoded && !gy_term_decode((uint8_t *)words[1], &len)) {
        gy_complain("the key: '%%' must be followed by two hex digits (--encoded)");
        return GY_EXIT_USAGE;
    }
    x.key = (struct gy_slice){(const uint8_t *)words[1], len};
    struct gy_buf out = {0};
    rc = gy_topo_load(words[0], &x.topo_from, &x.topo);
    if (!rc) {
        rc = make_key(&x);
    }
    if (!rc) {
        rc = find_facts(&x);
    }
    if (!rc && x.json) {
        gy_explain_json(&out, &x);
    } else if (!rc) {
        gy_explain_text(&out, &x);
    }
    int wrote = gy_out_end(&out);
    gy_buf_fini(&x.made);
    gy_down_fini(&x.down);
    gy_topo_fini(&x.topo);
    return rc ? rc : wrote;
}
