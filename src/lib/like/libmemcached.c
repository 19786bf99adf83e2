/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmemcached.c - libmemcached 1.1.4. Points are made anew from all live servers, so with weights
 * a change of one moves some keys between others. A weight above 1 turns weighted ketama on,
 * whatever consistent distribution was asked for. Hash `crc` has 15 bits: most points then get
 * nothing. Source: behaviour of 1.1.4, docs/compat/SPEC-servers.md section 1. Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/table.h"
#include "lib/like/ketama.h"
#include "lib/like/ranges.h"

enum { MODULA, CONSISTENT, KETAMA_WEIGHTED, KETAMA_SPY, KETAMA_SPY_UNWEIGHTED };
enum { POINTS = 100 }; /* of a server where weights do not count */

#define HASHES "default|md5|crc|fnv1_64|fnv1a_64|fnv1_32|fnv1a_32|hsieh|murmur|jenkins|murmur3"

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "modula",
     "modula|consistent|ketama_weighted|ketama_spy|ketama_spy_unweighted"},
    {GY_SET_HASH, GY_VALUE_WORD, "", HASHES}, /* default; weighted distributions set it to md5 */
    {GY_SET_POINT_HASH, GY_VALUE_WORD, "", HASHES}, /* as hash */
    {GY_SET_SORT_HOSTS, GY_VALUE_WORD, "0", "0|1"},
    {0, 0, NULL, NULL},
};

/* The length of the host in "host:port"; of a name without a port, all of it. */
static size_t host_len(const char *name)
{
    const char *colon = strrchr(name, ':');
    bool port = colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
    return port ? (size_t)(colon - name) : strlen(name);
}

static void ketama_name(const struct gy_like_job *job, uint32_t node, struct gy_point_name *out)
{
    gy_ketama_plain_name(job, node, out);
    gy_ketama_strip_port(out, "11211");
}

/* "/host:port", memcached's own port included. */
static void spy_name(const struct gy_like_job *job, uint32_t node, struct gy_point_name *out)
{
    const char *name = job->m->nodes[node].name, *port = ":11211";
    size_t len = strlen(name);
    out->text[0] = '/';
    memcpy(out->text + 1, name, len);
    out->len = len + 1;
    if (host_len(name) == len) {
        memcpy(out->text + out->len, port, strlen(port));
        out->len += strlen(port);
    }
}

struct host {
    const char *name;
    size_t len;
    uint64_t port;
    uint32_t node;
};

static int compare_hosts(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
    if (order || x->len != y->len) {
        return order ? order : x->len < y->len ? -1 : 1;
    }
    return x->port < y->port ? -1 : x->port > y->port;
}

static uint64_t port_of(const char *name, size_t host)
{
    uint64_t port = name[host] ? 0 : 11211;
    for (const char *p = name + host; *p && p[1]; p++) {
        port = port * 10 + (uint64_t)(p[1] - '0');
    }
    return port;
}

/* SORT_HOSTS: by host, then by port as a number. */
static int order_servers(const struct gy_like_job *job, uint32_t *list)
{
    memcpy(list, job->list, job->n * sizeof *list);
    if (gy_like_word(job, GY_SET_SORT_HOSTS) == 0) {
        return GYRE_OK;
    }
    struct host *hosts = gy_mem_alloc((size_t)job->n + 1, sizeof *hosts);
    if (!hosts) {
        return gy_fail_nomem(job->e);
    }
    for (uint32_t i = 0; i < job->n; i++) {
        const char *name = job->m->nodes[list[i]].name;
        size_t len = host_len(name);
        hosts[i] = (struct host){name, len, port_of(name, len), list[i]};
    }
    qsort(hosts, job->n, sizeof *hosts, compare_hosts);
    for (uint32_t i = 0; i < job->n; i++) {
        list[i] = hosts[i].node;
    }
    gy_mem_free(hosts);
    return GYRE_OK;
}

static int build_modula(const struct gy_like_job *job, const uint32_t *list)
{
    struct gy_ranges ranges;
    int err = gy_ranges_init(&ranges, job->n, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        gy_ranges_put(&ranges, 1, list[i]);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    return err;
}

static bool is_weighted(const struct gy_like_job *job, unsigned distribution)
{
    bool weighted = distribution == KETAMA_WEIGHTED || distribution == KETAMA_SPY;
    for (uint32_t i = 0; i < job->n; i++) {
        weighted = weighted || gy_like_weight(job, job->list[i]) > 1;
    }
    return weighted;
}

static uint64_t hundred(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    (void)w;
    (void)total;
    (void)n;
    return unit;
}

static int build(const struct gy_like_job *job)
{
    unsigned distribution = gy_like_word(job, GY_SET_DISTRIBUTION);
    bool sets_md5 = distribution == KETAMA_WEIGHTED || distribution == KETAMA_SPY;
    const char *hash = gy_like_text(job, GY_SET_HASH);
    const char *point_hash = gy_like_text(job, GY_SET_POINT_HASH);
    hash = *hash ? hash : sets_md5 ? "md5" : "default";
    job->m->hash = gy_hash_find_alias("libmemcached", hash);
    job->m->hash_bits = job->m->hash->bits;
    uint32_t *list = gy_mem_alloc((size_t)job->n + 1, sizeof *list);
    int err = list ? gy_like_whole_weights(job, UINT32_MAX) : gy_fail_nomem(job->e);
    err = err ? err : order_servers(job, list);
    if (!err && distribution == MODULA) {
        err = build_modula(job, list);
    } else if (!err) {
        bool spy = distribution == KETAMA_SPY || distribution == KETAMA_SPY_UNWEIGHTED;
        bool weighted = is_weighted(job, distribution);
        struct gy_ketama k = {.name = spy ? spy_name : ketama_name,
                              .count = weighted ? gy_ketama_libmemcached : hundred,
                              .unit = POINTS,
                              .hash = weighted      ? &gy_hash_md5
                                      : *point_hash ? gy_hash_find_alias("libmemcached", point_hash)
                                                    : job->m->hash,
                              .per_digest = weighted ? 4 : 1,
                              .list = list};
        err = gy_ketama_build(job, &k);
    }
    gy_mem_free(list);
    return err;
}

const struct gy_like gy_like_libmemcached = {
    .name = "libmemcached", .settings = settings, .build = build};
