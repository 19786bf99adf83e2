/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.c - remote_servers of a ClickHouse configuration, below any root or as the root. Each
 * cluster is a pool whose nodes are its shards, by number, with their replicas as servers. The file
 * does not say the sharding expression of a table: keys are taken as the integers it gives. What
 * ClickHouse refuses is refused for its reasons. Threads: one an object.
 */
#include "formats/clickhouse.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"
#include "formats/tree.h"

enum { WEIGHT_MAX = 1000000 };

int gy_clickhouse_sniff(struct gy_slice head)
{
    return gy_slice_has(head, "<remote_servers") || gy_slice_has(head, "<clickhouse_remote_servers")
               ? GY_SURE_YES
               : GY_SURE_NOT;
}

static struct gy_slice text_of(const struct gy_tree *t)
{
    struct gy_slice s = t->text;
    while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0]) {
        s = (struct gy_slice){s.p + 1, s.n - 1};
    }
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1]) {
        s.n--;
    }
    return s;
}

/* A value that stands in the file. */
static int value_of(struct gy_reading *r, const struct gy_tree *map, const char *key,
                    const struct gy_tree **out)
{
    char q[GY_QUOTE];
    *out = gy_tree_get(map, key);
    for (const struct gy_tree *t = *out ? (*out)->first : NULL; t; t = t->next) {
        if (gy_slice_starts(t->key, "@from_") || gy_slice_eq(t->key, GY_LIT("@incl"))) {
            return gy_read_fail(
                r, GYRE_UNSUPPORTED, t->at,
                "'%s' stands elsewhere (%s), which is not known here; write it down", key,
                gy_utf8_quote(q, t->text));
        }
    }
    return GYRE_OK;
}

static int read_number(struct gy_reading *r, const struct gy_tree *map, const char *key,
                       uint64_t most, uint64_t *out)
{
    const struct gy_tree *t;
    char q[GY_QUOTE];
    int rc = value_of(r, map, key, &t);
    return rc || !t || (!gy_num_uint(text_of(t), out) && *out <= most)
               ? rc
               : gy_read_fail(r, GYRE_SYNTAX, t->at, "%s is %s, not a whole number of at most %llu",
                              key, gy_utf8_quote(q, text_of(t)), (unsigned long long)most);
}

static int read_bool(struct gy_reading *r, const struct gy_tree *map, const char *key, bool *out)
{
    static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};
    const struct gy_tree *t;
    uint64_t v = 0;
    char q[GY_QUOTE];
    int rc = value_of(r, map, key, &t);
    if (rc || !t) {
        return rc;
    }
    struct gy_slice s = text_of(t);
    for (size_t i = 0; i < 3; i++) {
        if (gy_slice_eq(s, gy_str(yes[i])) || gy_slice_eq(s, gy_str(no[i]))) {
            *out = gy_slice_eq(s, gy_str(yes[i]));
            return GYRE_OK;
        }
    }
    rc = gy_num_uint(s, &v);
    *out = v != 0;
    return rc ? gy_read_fail(r, GYRE_SYNTAX, t->at, "cannot convert to boolean: %s is %s", key,
                             gy_utf8_quote(q, s))
              : GYRE_OK;
}

/* ---- replicas ---- */

struct making {
    struct gy_reading *r;
    struct gy_pool *pool;
    size_t shards, replicas, internal;
    uint64_t total, heaviest;
};

/* "host:port" of a replica, into out. */
static int read_address(struct gy_reading *r, const struct gy_tree *t, struct gy_buf *out)
{
    const struct gy_tree *host;
    bool secure = false;
    uint64_t port;
    char text[GY_NUM_TEXT], q[GY_QUOTE];
    int rc = value_of(r, t, "host", &host);
    rc = rc ? rc : read_bool(r, t, "secure", &secure);
    port = secure ? 9440 : 9000;
    rc = rc ? rc : read_number(r, t, "port", 65535, &port);
    if (rc) {
        return rc;
    }
    if (!host || text_of(host).n == 0) {
        return gy_read_fail(r, GYRE_SYNTAX, t->at, "a replica without a host");
    }
    gy_num_fmt_micros(text, port * 1000000);
    bool good = gy_address_join(out, text_of(host), gy_str(text));
    if (out->failed) {
        return gy_read_nomem(r);
    }
    return good ? GYRE_OK
                : gy_read_fail(r, GYRE_SYNTAX, host->at, "host %s and port %s are no address",
                               gy_utf8_quote(q, text_of(host)), text);
}

static int add_replica(struct making *m, const struct gy_tree *t, const char *shard,
                       struct gy_buf *address)
{
    struct gy_server *out;
    int rc = read_address(m->r, t, address);
    rc = rc ? rc : gy_read_server(m->r, m->pool, t->at, gy_str(gy_buf_cstr(address)), &out);
    rc = rc ? rc : gy_read_text(m->r, &out->address, gy_str(gy_buf_cstr(address)));
    rc = rc ? rc : gy_read_text(m->r, &out->replica_of, gy_str(shard));
    if (!rc) {
        out->role = GY_ROLE_REPLICA;
        m->replicas++;
    }
    return rc;
}

/* ---- shards: <shard> with its replicas, or <node>, which is its own replica ---- */

static int count_replicas(struct gy_reading *r, const struct gy_tree *shard, size_t *count)
{
    char q[GY_QUOTE];
    *count = 0;
    for (const struct gy_tree *t = shard->first; t; t = t->next) {
        if (gy_slice_starts(t->key, "replica")) {
            ++*count;
        } else if (!gy_slice_starts(t->key, "@") && !gy_slice_starts(t->key, "weight") &&
                   !gy_slice_starts(t->key, "internal_replication") &&
                   !gy_slice_eq(t->key, GY_LIT("name"))) {
            return gy_read_fail(r, GYRE_UNKNOWN, t->at, "unknown element %s of a shard",
                                gy_utf8_quote(q, t->key));
        }
    }
    return *count ? GYRE_OK
                  : gy_read_fail(r, GYRE_EMPTY, shard->at, "there is no replica in this shard");
}

static int put_shard(struct making *m, const struct gy_tree *shard, const char *name,
                     uint64_t weight, const char *address)
{
    struct gy_server *out;
    struct gyre_node n = {.size = sizeof n,
                          .name = name,
                          .address = address,
                          .weight = weight > WEIGHT_MAX ? 0 : (double)weight};
    int rc = gy_read_both(m->r, m->pool, shard->at, &n, &out);
    if (!rc) {
        out->role = GY_ROLE_PRIMARY;
        out->weight = (double)weight;
        out->states |= weight ? 0 : GY_STATE_DRAINING;
    }
    return rc;
}

static int read_shard(struct making *m, const struct gy_tree *shard, bool node)
{
    struct gy_buf name = {0}, address = {0};
    uint64_t weight = 1;
    bool internal = false;
    size_t count = 1;
    gy_buf_printf(&name, "shard%zu", ++m->shards);
    int rc =
        name.failed ? gy_read_nomem(m->r) : read_number(m->r, shard, "weight", UINT32_MAX, &weight);
    rc = rc ? rc : read_bool(m->r, shard, "internal_replication", &internal);
    rc = rc || node ? rc : count_replicas(m->r, shard, &count);
    if (!rc && count == 1) { /* the shard's address is that of its only replica */
        const struct gy_tree *t = node ? shard : shard->first;
        while (!node && !gy_slice_starts(t->key, "replica")) {
            t = t->next;
        }
        rc = read_address(m->r, t, &address);
    }
    rc = rc ? rc
            : put_shard(m, shard, gy_buf_cstr(&name), weight,
                        gy_buf_size(&address) ? gy_buf_cstr(&address) : NULL);
    for (const struct gy_tree *t = node ? shard : shard->first; t && !rc;
         t = node ? NULL : t->next) {
        if (node || gy_slice_starts(t->key, "replica")) {
            gy_buf_reset(&address);
            rc = add_replica(m, t, gy_buf_cstr(&name), &address);
        }
    }
    m->internal += internal;
    m->total += weight;
    m->heaviest = weight > m->heaviest ? weight : m->heaviest;
    gy_buf_fini(&name);
    gy_buf_fini(&address);
    return rc;
}

/* ---- clusters ---- */

static int read_elements(struct making *m, const struct gy_tree *cluster, bool *discovered)
{
    static const char *const others[] = {"secret", "allow_distributed_ddl_queries", "name"};
    char q[GY_QUOTE];
    int rc = GYRE_OK;
    for (const struct gy_tree *t = cluster->first; t && !rc; t = t->next) {
        bool node = gy_slice_starts(t->key, "node"), known = gy_slice_starts(t->key, "@");
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            known = known || gy_slice_eq(t->key, gy_str(others[i]));
        }
        if (node || gy_slice_starts(t->key, "shard")) {
            rc = read_shard(m, t, node);
        } else if (gy_slice_eq(t->key, GY_LIT("discovery"))) {
            *discovered = true;
        } else if (!known) {
            rc = gy_read_fail(m->r, GYRE_UNKNOWN, t->at,
                              "unknown element %s of a cluster; there may be shard and node",
                              gy_utf8_quote(q, t->key));
        }
    }
    return rc;
}

static int end_cluster(struct making *m, const struct gy_tree *cluster, bool discovered)
{
    char q[GY_QUOTE];
    gy_utf8_quote(q, cluster->key);
    if (m->shards == 0 && !discovered) {
        return gy_read_fail(m->r, GYRE_EMPTY, cluster->at,
                            "no cluster elements (shard, node) in cluster %s", q);
    }
    int rc = gy_read_fact(m->r, m->pool, "shards", "%zu", m->shards);
    rc = rc ? rc : gy_read_fact(m->r, m->pool, "replicas", "%zu", m->replicas);
    rc =
        rc ? rc : gy_read_fact(m->r, m->pool, "total_weight", "%llu", (unsigned long long)m->total);
    rc = rc ? rc : gy_read_fact(m->r, m->pool, "internal_replication", "%zu", m->internal);
    if (!rc && discovered) {
        return gy_read_unplaced(m->r, m->pool, cluster->at,
                                "cluster %s: its servers find each other in Keeper (discovery)", q);
    }
    if (!rc && m->heaviest > WEIGHT_MAX) {
        return gy_read_unplaced(m->r, m->pool, cluster->at,
                                "cluster %s has a weight of %llu; gyre takes at most %d: only the "
                                "ratio counts, so scale them down",
                                q, (unsigned long long)m->heaviest, WEIGHT_MAX);
    }
    return rc ? rc
              : gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "sharding-key", cluster->at,
                             "keys are the integers that a table's sharding expression gives; for "
                             "cityHash64(x) and the like set hash and key_type in gyre's own YAML");
}

static int read_cluster(struct gy_reading *r, const struct gy_tree *cluster)
{
    struct making m = {.r = r};
    bool discovered = false;
    char q[GY_QUOTE];
    if (memchr(cluster->key.p, '.', cluster->key.n)) {
        return gy_read_fail(r, GYRE_SYNTAX, cluster->at,
                            "cluster names with dots are not supported: %s",
                            gy_utf8_quote(q, cluster->key));
    }
    int rc = gy_read_pool(r, cluster->key, cluster->at, &m.pool);
    rc = rc ? rc : gy_read_set(r, m.pool, cluster->at, "like", "clickhouse");
    rc = rc ? rc : gy_read_set(r, m.pool, cluster->at, "distribution", "distributed");
    rc = rc ? rc : gy_read_set(r, m.pool, cluster->at, "hash", "none");
    rc = rc ? rc : gy_read_set(r, m.pool, cluster->at, "key_type", "int64");
    rc = rc ? rc : read_elements(&m, cluster, &discovered);
    return rc ? rc : end_cluster(&m, cluster, discovered);
}

static bool is_servers(const struct gy_tree *t)
{
    return gy_slice_eq(t->key, GY_LIT("remote_servers")) ||
           gy_slice_eq(t->key, GY_LIT("clickhouse_remote_servers"));
}

static int read_servers(struct gy_reading *r, const struct gy_tree *servers)
{
    char q[GY_QUOTE];
    const struct gy_tree *elsewhere = gy_tree_get(servers, "@incl");
    int rc = GYRE_OK;
    for (const struct gy_tree *t = servers->first; t && !rc; t = t->next) {
        if (!gy_slice_starts(t->key, "@")) {
            rc = read_cluster(r, t);
        }
    }
    return rc || r->into->count || !elsewhere
               ? rc
               : gy_read_fail(r, GYRE_UNSUPPORTED, servers->at,
                              "the clusters stand in another file, below %s: give that one",
                              gy_utf8_quote(q, elsewhere->text));
}

int gy_clickhouse_parse(struct gy_reading *r)
{
    struct gy_doc d;
    int rc = gy_doc_xml(&d, r->text, r->file, r->e);
    bool found = !rc && is_servers(d.root);
    if (found) {
        rc = read_servers(r, d.root);
    }
    for (const struct gy_tree *t = rc || found ? NULL : d.root->first; t && !rc; t = t->next) {
        if (is_servers(t)) {
            found = true;
            rc = read_servers(r, t);
        }
    }
    if (!rc && !found) {
        rc = gy_read_fail(r, GYRE_EMPTY, d.root->at, "there is no remote_servers in it");
    }
    gy_doc_fini(&d);
    return rc;
}
