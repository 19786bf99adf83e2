/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carbon.c - the clusters of carbon-c-relay 3.x that hash: carbon_ch (as Graphite's carbon does),
 * fnv1a_ch, jump_fnv1a_ch. A node's name is host:port; option `instance=X` is the relay's "=X": it
 * takes part in the points, for fnv1a_ch instead of host and port, and orders the servers of
 * jump_fnv1a_ch. Rings have 65536 positions and 100 points a server, so points collide, and who is
 * first by host wins. Source: consistent-hash.c of the 3.x releases, read; there are no vectors,
 * a live test asks the relay itself. Threads: any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/buckets.h"
#include "lib/like/digits.h"
#include "lib/like/points.h"

enum { CARBON_CH, FNV1A_CH, JUMP_FNV1A_CH };
enum { POINTS = 100, POSITION_BITS = 16, NAME_BYTES = 256 };

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "carbon_ch", "carbon_ch|fnv1a_ch|jump_fnv1a_ch"},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"instance", true}, {NULL, false}};

struct server {
    uint32_t node, turn;
    const char *host, *port, *instance; /* instance: NULL without one */
    size_t host_len, instance_len;
};

/* ---- hashes ---- */

/* The halves of FNV-1a, one upon the other. Its bytes have a sign, as plain char has on x86-64. */
static uint32_t folded(const void *text, size_t len)
{
    uint32_t h = gy_fnv1a_32_signed(text, len);
    return (h >> 16 ^ h) & 0xffff;
}

static gy_u128 fnv1a_key(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    return folded(part, len);
}

/* A byte is widened to 32 bits with its sign, and to 64 without. */
static gy_u128 jump_key(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++) {
        uint32_t byte = (uint32_t)(int32_t)((const signed char *)part)[i];
        h = (h ^ (uint64_t)byte) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* ---- servers ---- */

static struct server read_server(const struct gy_like_job *job, uint32_t turn)
{
    const struct gyre_node *node = &job->m->nodes[job->list[turn]];
    struct server s = {.node = job->list[turn], .turn = turn, .host = node->name};
    const char *colon = strrchr(node->name, ':');
    s.host_len = colon ? (size_t)(colon - node->name) : strlen(node->name);
    s.port = colon ? colon + 1 : "2003";
    if (s.host_len > 1 && s.host[0] == '[' && s.host[s.host_len - 1] == ']') {
        s.host++;
        s.host_len -= 2;
    }
    s.instance = gy_like_option(node, "instance", &s.instance_len);
    return s;
}

static int compare_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

/* Those with an instance come first. */
static int compare_instances(const struct server *x, const struct server *y)
{
    return !x->instance || !y->instance
               ? !x->instance - !y->instance
               : compare_text(x->instance, x->instance_len, y->instance, y->instance_len);
}

static int by_turn(const struct server *x, const struct server *y)
{
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static int compare_carbon(const void *a, const void *b)
{
    const struct server *x = a, *y = b;
    int order = compare_text(x->host, x->host_len, y->host, y->host_len);
    order = order ? order : compare_instances(x, y);
    return order ? order : by_turn(x, y);
}

static uint64_t port_of(const struct server *s)
{
    const char *at = s->port;
    uint64_t port;
    return gy_digits_read(&at, at + strlen(at), &port) ? port : 0;
}

static int compare_fnv1a(const void *a, const void *b)
{
    const struct server *x = a, *y = b;
    int order = compare_text(x->host, x->host_len, y->host, y->host_len);
    uint64_t mine = port_of(x), other = port_of(y);
    return order ? order : mine != other ? (mine < other ? -1 : 1) : by_turn(x, y);
}

static bool is_number(const struct server *s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s->instance_len; i++) {
        if (s->instance[i] < '0' || s->instance[i] > '9' || i > 8) {
            return false;
        }
        *out = *out * 10 + (uint64_t)(s->instance[i] - '0');
    }
    return s->instance_len > 0;
}

/* Instances that are numbers go by their value. */
static int compare_jump(const void *a, const void *b)
{
    const struct server *x = a, *y = b;
    uint64_t m, n;
    int order = x->instance && y->instance && is_number(x, &m) && is_number(y, &n)
                    ? (m < n ? -1 : m > n)
                    : compare_instances(x, y);
    return order ? order : by_turn(x, y);
}

/* ---- the ring ---- */

static uint32_t point_of(const struct server *s, unsigned how, int i)
{
    char text[NAME_BYTES]; /* the relay's own buffer, which cuts longer ones */
    int host = (int)s->host_len, instance = (int)s->instance_len;
    if (how == CARBON_CH && s->instance) {
        snprintf(text, sizeof text, "('%.*s', '%.*s'):%d", host, s->host, instance, s->instance, i);
    } else if (how == CARBON_CH) {
        snprintf(text, sizeof text, "('%.*s', None):%d", host, s->host, i);
    } else if (s->instance) {
        snprintf(text, sizeof text, "%d-%.*s", i, instance, s->instance);
    } else {
        snprintf(text, sizeof text, "%d-%.*s:%s", i, host, s->host, s->port);
    }
    size_t len = strlen(text);
    return how == CARBON_CH ? (uint32_t)(gy_hash_md5_be64.value(text, len) >> 48)
                            : folded(text, len);
}

/* Of points at one position the first stays. */
static void drop_hidden(struct gy_points *points)
{
    size_t n = 0;
    gy_points_sort(points);
    for (size_t i = 0; i < points->n; i++) {
        if (n == 0 || points->p[i].at != points->p[n - 1].at) {
            points->p[n++] = points->p[i];
        }
    }
    points->n = n;
}

static int build_ring(const struct gy_like_job *job, const struct server *servers, unsigned how)
{
    struct gy_points points;
    int err = gy_points_init(&points, (uint64_t)job->n * POINTS, job->e);
    for (uint32_t k = 0; !err && k < job->n; k++) {
        for (int i = 0; i < POINTS; i++) {
            gy_points_put(&points, point_of(&servers[k], how, i), servers[k].node);
        }
    }
    if (!err) {
        drop_hidden(&points);
        err = gy_points_settle(job->m, &points, POSITION_BITS, job->e);
    }
    gy_points_fini(&points);
    return err;
}

static int build_jump(const struct gy_like_job *job, const struct server *servers)
{
    uint32_t *list = gy_mem_alloc((size_t)job->n + 1, sizeof *list);
    struct gy_like_job sorted = *job;
    if (!list) {
        return gy_fail_nomem(job->e);
    }
    for (uint32_t i = 0; i < job->n; i++) {
        list[i] = servers[i].node;
    }
    sorted.list = list;
    int err = gy_buckets_settle(&sorted, gy_jump_published);
    gy_mem_free(list);
    return err;
}

static int build(const struct gy_like_job *job)
{
    static int (*const compare[])(const void *, const void *) = {compare_carbon, compare_fnv1a,
                                                                 compare_jump};
    unsigned how = gy_like_word(job, GY_SET_DISTRIBUTION);
    struct gyre_map *m = job->m;
    m->hash = how == CARBON_CH  ? &gy_hash_md5_be64
              : how == FNV1A_CH ? &gy_hash_fnv1a_32_signed
                                : &gy_hash_fnv1a_64;
    m->hash_bits = how == FNV1A_CH ? POSITION_BITS : 64;
    m->key_hash = how == CARBON_CH ? NULL : how == FNV1A_CH ? fnv1a_key : jump_key;
    m->key_rule = how;
    struct server *servers = gy_mem_alloc((size_t)job->n + 1, sizeof *servers);
    if (!servers) {
        return gy_fail_nomem(job->e);
    }
    for (uint32_t i = 0; i < job->n; i++) {
        servers[i] = read_server(job, i);
    }
    qsort(servers, job->n, sizeof *servers, compare[how]);
    int err = how == JUMP_FNV1A_CH ? build_jump(job, servers) : build_ring(job, servers, how);
    gy_mem_free(servers);
    return err;
}

const struct gy_like gy_like_carbon_c_relay = {
    .name = "carbon-c-relay", .settings = settings, .options = options, .build = build};
