/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h: the table, recognition by content, and the way from bytes to pools.
 */
#include "formats/format.h"
#include "base/utf8.h"
#include "formats/carbon.h"
#include "formats/cassandra_describering.h"
#include "formats/cassandra_ring.h"
#include "formats/cassandra_status.h"
#include "formats/cassandra_tokens.h"
#include "formats/clickhouse.h"
#include "formats/cortex.h"
#include "formats/envoy.h"
#include "formats/gunzip.h"
#include "formats/gyreyaml.h"
#include "formats/haproxy.h"
#include "formats/lines.h"
#include "formats/mcrouter.h"
#include "formats/memcached.h"
#include "formats/nginx.h"
#include "formats/redis_info.h"
#include "formats/redis_nodes.h"
#include "formats/redis_plan.h"
#include "formats/redis_shards.h"
#include "formats/swift_builder.h"
#include "formats/swift_ring.h"
#include "formats/thanos.h"
#include "formats/twemproxy.h"

#include <stdio.h>
#include <stdlib.h>

static int sniff_gyre(struct gy_slice head)
{
    bool utf16 = head.n >= 2 && ((head.p[0] == 0xff && head.p[1] == 0xfe) ||
                                 (head.p[0] == 0xfe && head.p[1] == 0xff));
    int sure = utf16 ? GY_SURE_MAYBE : GY_SURE_NOT;
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        if (gy_slice_starts(l.line, "gyre:")) {
            return GY_SURE_YES;
        }
        if (gy_slice_starts(l.line, "placement:") || gy_slice_starts(l.line, "nodes:") ||
            gy_slice_starts(l.line, "{gyre:")) {
            sure = GY_SURE_LIKELY;
        }
    }
    return sure;
}

static int parse_gyre(struct gy_reading *r)
{
    struct gy_pool *p;
    int rc = gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &p);
    if (!rc) {
        rc = gy_gyreyaml_read((const char *)r->text.p, r->text.n, r->file, p->config, r->e);
    }
    size_t count = rc ? 0 : gyre_topology_count(p->config->topology);
    for (size_t i = 0; i < count && !rc; i++) {
        const struct gyre_node *node = gyre_topology_node(p->config->topology, i);
        struct gy_server *s;
        rc = gy_read_server(r, p, (struct gy_mark){0, 0}, gy_str(node->name), &s);
        if (!rc) {
            s->is_node = true;
            s->weight = node->weight;
        }
        if (!rc && node->address) {
            rc = gy_read_text(r, &s->address, gy_str(node->address));
        }
        if (!rc && node->zone) {
            rc = gy_read_text(r, &s->zone, gy_str(node->zone));
        }
    }
    return rc;
}

static int write_gyre(struct gy_writing *w)
{
    gy_config_dump(w->t, w->what->proxy, w->out);
    return GYRE_OK;
}

/* ---- what is written: see write.h ---- */

static const struct gy_writer GYRE = {
    .system = "gyre's YAML", .keeps = GY_KEEPS_ALL, .write = write_gyre};
static const struct gy_writer CASSANDRA = {.system = "a list of Cassandra's tokens",
                                           .like = "cassandra",
                                           .keeps = GY_KEEPS_ZONES | GY_KEEPS_DRAINED |
                                                    GY_KEEPS_REPLICAS | GY_KEEPS_SERVERS,
                                           .write = gy_cassandra_tokens_write};
static const struct gy_writer TWEMPROXY = {.system = "nutcracker.yml",
                                           .like = "twemproxy",
                                           .others =
                                               "timeouts, passwords and limits of nutcracker.yml",
                                           .write = gy_twemproxy_write};
static const struct gy_writer ENVOY = {.system = "a cluster of Envoy",
                                       .like = "envoy",
                                       .keeps = GY_KEEPS_ZONES | GY_KEEPS_DRAINED,
                                       .others =
                                           "timeouts, health checks, TLS and limits of the cluster",
                                       .write = gy_envoy_write};
static const struct gy_writer HAPROXY = {
    .system = "a backend of HAProxy",
    .like = "haproxy",
    .keeps = GY_KEEPS_DRAINED,
    .others = "checks, timeouts, TLS and other words of the backend and its servers",
    .write = gy_haproxy_write};
static const struct gy_writer MEMCACHED = {.system = "a list of memcached servers",
                                           .like = "libmemcached|npm-memcached|libketama",
                                           .write = gy_memcached_write};
static const struct gy_writer NGINX = {
    .system = "an upstream of nginx",
    .like = "nginx",
    .others = "keepalive, max_fails and other words of the upstream and its servers",
    .write = gy_nginx_write};

static const struct gy_writer REDIS_PLAN = {.system = "a plan for a Redis Cluster",
                                            .like = "redis-cluster",
                                            .keeps = GY_KEEPS_ZONES | GY_KEEPS_DRAINED |
                                                     GY_KEEPS_SERVERS,
                                            .write = gy_redis_plan_write};

/* The one place that knows all of them; of two that are equally sure the first wins. */
static const struct gy_format FORMATS[] = {
    {"gyre", "gyre's own YAML", sniff_gyre, parse_gyre, &GYRE},
    {"cassandra-describering", "Cassandra: nodetool describering", gy_cassandra_describering_sniff,
     gy_cassandra_describering_parse, NULL},
    {"cassandra-ring", "Cassandra: nodetool ring", gy_cassandra_ring_sniff, gy_cassandra_ring_parse,
     NULL},
    {"cassandra-status", "Cassandra: nodetool status", gy_cassandra_status_sniff,
     gy_cassandra_status_parse, NULL},
    {"cassandra-tokens", "Cassandra: initial_token of each node", gy_cassandra_tokens_sniff,
     gy_cassandra_tokens_parse, &CASSANDRA},
    {"cortex", "the ring of Cortex, Mimir, Loki, Tempo or Pyroscope, as JSON", gy_cortex_sniff,
     gy_cortex_parse, NULL},
    {"swift-builder", "OpenStack Swift: what swift-ring-builder prints", gy_swift_builder_sniff,
     gy_swift_builder_parse, NULL},
    {"swift-ring", "OpenStack Swift: a .ring.gz", gy_swift_ring_sniff, gy_swift_ring_parse, NULL},
    {"thanos", "hashrings of Thanos Receive", gy_thanos_sniff, gy_thanos_parse, NULL},
    {"twemproxy", "nutcracker.yml of twemproxy", gy_twemproxy_sniff, gy_twemproxy_parse,
     &TWEMPROXY},
    {"carbon-c-relay", "clusters of carbon-c-relay", gy_carbon_sniff, gy_carbon_parse, NULL},
    {"clickhouse", "remote_servers of ClickHouse, XML", gy_clickhouse_sniff, gy_clickhouse_parse,
     NULL},
    {"envoy", "clusters of Envoy, YAML or JSON", gy_envoy_sniff, gy_envoy_parse, &ENVOY},
    {"haproxy", "backends of HAProxy, in a whole haproxy.cfg or a piece of it", gy_haproxy_sniff,
     gy_haproxy_parse, &HAPROXY},
    {"mcrouter", "mcrouter's JSON", gy_mcrouter_sniff, gy_mcrouter_parse, NULL},
    {"memcached", "memcached servers: JSON of a client, a list, a libketama or libmemcached file",
     gy_memcached_sniff, gy_memcached_parse, &MEMCACHED},
    {"nginx", "upstream blocks of nginx, in a whole nginx.conf or a piece of it", gy_nginx_sniff,
     gy_nginx_parse, &NGINX},
    {"redis-info", "INFO of one Redis server", gy_redis_info_sniff, gy_redis_info_parse, NULL},
    {"redis-nodes", "Redis Cluster: CLUSTER NODES, or a nodes.conf", gy_redis_nodes_sniff,
     gy_redis_nodes_parse, NULL},
    {"redis-plan", "Redis Cluster: a plan of gyre's, as what it leads to", gy_redis_plan_sniff,
     gy_redis_plan_parse, &REDIS_PLAN},
    {"redis-shards", "Redis Cluster: CLUSTER SHARDS", gy_redis_shards_sniff, gy_redis_shards_parse,
     NULL},
    {"redis-slots", "Redis Cluster: CLUSTER SLOTS", gy_redis_slots_sniff, gy_redis_slots_parse,
     NULL},
};

#define FORMAT_COUNT (sizeof FORMATS / sizeof FORMATS[0])

const struct gy_format *gy_formats(size_t *count)
{
    *count = FORMAT_COUNT;
    return FORMATS;
}

int gy_format_find(const char *name, const struct gy_format **out, gyre_error_t *e)
{
    const char *names[FORMAT_COUNT];
    char q[GY_QUOTE], list[600] = "";
    *out = NULL;
    for (size_t i = 0, w = 0; i < FORMAT_COUNT; i++) {
        names[i] = FORMATS[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = &FORMATS[i];
            return GYRE_OK;
        }
        w += (size_t)snprintf(list + w, sizeof list - w, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = gyre_nearest(name, names, FORMAT_COUNT);
    gy_utf8_quote(q, gy_str(name));
    return near ? gy_format_fail(e, GYRE_UNKNOWN, NULL, "unknown format %s; did you mean '%s'?", q,
                                 near)
                : gy_format_fail(e, GYRE_UNKNOWN, NULL, "unknown format %s; known: %s", q, list);
}

static int recognise(struct gy_slice text, const char *file, const struct gy_format **out,
                     gyre_error_t *e)
{
    struct gy_slice head = {text.p, text.n < GY_SNIFF_MAX ? text.n : GY_SNIFF_MAX};
    int best = GY_SURE_NOT;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        int sure = FORMATS[i].sniff(head);
        if (sure > best) {
            best = sure;
            *out = &FORMATS[i];
        }
    }
    if (best) {
        return GYRE_OK;
    }
    size_t i = 0;
    while (i < text.n && strchr(" \t\r\n", text.p[i]) && text.p[i]) {
        i++;
    }
    if (i == text.n) {
        return gy_format_fail_at(e, GYRE_SYNTAX, file, (struct gy_mark){1, 1}, "the file is empty");
    }
    return gy_format_fail(e, GYRE_UNKNOWN, file,
                          "not recognised as a topology of any kind; if it is one, say which with "
                          "--format ('gyre show --formats' lists them)");
}

static int parse(struct gy_slice text, const struct gy_source *from, struct gy_pools *f,
                 gyre_error_t *e)
{
    const struct gy_format *format = NULL;
    int rc = from->format ? gy_format_find(from->format, &format, e)
                          : recognise(text, from->file, &format, e);
    if (rc) {
        return rc;
    }
    f->format = format;
    struct gy_reading r = {.text = text,
                           .file = from->file,
                           .root = from->file,
                           .into = f,
                           .e = e,
                           .include = from->include,
                           .include_self = from->include_self};
    rc = format->parse(&r);
    if (!rc && f->count == 0) {
        rc = gy_format_fail(e, GYRE_EMPTY, from->file, "there is no server in it (read as %s)",
                            format->name);
    }
    for (size_t i = 0; !rc && i < f->count; i++) {
        rc = gy_pool_sort(f->list[i]) ? gy_format_fail(e, GYRE_NOMEM, from->file, "out of memory")
                                      : GYRE_OK;
    }
    return rc;
}

int gy_pools_parse(struct gy_slice bytes, const struct gy_source *from, struct gy_pools **out,
                   gyre_error_t *e)
{
    struct gy_buf unpacked = {0};
    int rc = GYRE_OK;
    *out = NULL;
    struct gy_pools *f = gy_pools_new();
    if (!f) {
        return gy_format_fail(e, GYRE_NOMEM, from->file, "out of memory");
    }
    if (gy_is_gzip(bytes)) {
        rc = gy_gunzip(bytes, GY_GUNZIP_MAX, &unpacked, from->file, e);
        bytes = (struct gy_slice){gy_buf_head(&unpacked), gy_buf_size(&unpacked)};
    }
    if (!rc && bytes.n >= 3 && memcmp(bytes.p, "\xef\xbb\xbf", 3) == 0) {
        bytes = (struct gy_slice){bytes.p + 3, bytes.n - 3}; /* a byte order mark */
    }
    if (!rc) {
        rc = parse(bytes, from, f, e);
    }
    gy_buf_fini(&unpacked);
    if (rc) {
        gy_pools_free(f);
        return rc;
    }
    *out = f;
    return GYRE_OK;
}
