/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc.c - gRPC's ring_hash. go: Envoy's ring, dealt to endpoints sorted by name. java: points
 * begin with Java's text of an address ("/10.0.0.1:8080", or "host/<unresolved>:443"), stand and
 * are looked up as signed numbers, and past the last point there is no wrap: the last one has the
 * rest. It deals in the order of a HashMap, which the order of the nodes has to state. Source: the
 * 2026 trees, docs/compat/SPEC-databases.md section 5. Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/dealt.h"

enum { GO, JAVA };
enum { CAP = 4096 }; /* the clients' own limit, whatever the configuration says */
#define SIGN ((uint64_t)1 << 63)

static const struct gy_like_setting settings[] = {
    {GY_SET_IMPLEMENTATION, GY_VALUE_WORD, "go", "go|java"},
    {GY_SET_MIN_RING_SIZE, GY_VALUE_NUMBER, "1024", "1..8388608"},
    {GY_SET_MAX_RING_SIZE, GY_VALUE_NUMBER, "4096", "1..8388608"},
    {0, 0, NULL, NULL},
};

static uint64_t xx_hash(const void *text, size_t len)
{
    return gy_xxh64(text, len, 0);
}

static gy_u128 java_hash(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    return gy_xxh64(part, len, 0) ^ SIGN;
}

size_t gy_grpc_java_name(const char *node, char *out)
{
    static const char unresolved[] = "/<unresolved>";
    const char *colon = strrchr(node, ':');
    size_t len = strlen(node), host = colon ? (size_t)(colon - node) : len;
    bool address = node[0] == '[' || strspn(node, "0123456789.") == host;
    if (address) {
        out[0] = '/';
        memcpy(out + 1, node, len);
        return len + 1;
    }
    memcpy(out, node, host);
    memcpy(out + host, unresolved, sizeof unresolved - 1);
    memcpy(out + host + sizeof unresolved - 1, node + host, len - host);
    return len + sizeof unresolved - 1;
}

static int by_number(const void *a, const void *b)
{
    const struct gy_dealt *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node; /* numbers are in the order of the names */
}

/* What lies past the last point is the last one's too. */
static void close_ring(struct gy_points *points)
{
    gy_points_sort(points);
    if (points->n && points->p[points->n - 1].at != UINT64_MAX) {
        gy_points_put(points, UINT64_MAX, points->p[points->n - 1].node);
    }
}

static int build(const struct gy_like_job *job)
{
    bool java = gy_like_word(job, GY_SET_IMPLEMENTATION) == JAVA;
    uint64_t least = gy_like_number(job, GY_SET_MIN_RING_SIZE);
    uint64_t most = gy_like_number(job, GY_SET_MAX_RING_SIZE);
    job->m->hash = &gy_hash_xxh64;
    job->m->hash_bits = 64;
    job->m->key_hash = java ? java_hash : NULL;
    if (least > most) {
        return gy_fail(job->e, GYRE_INVALID, "min_ring_size is above max_ring_size");
    }
    struct gy_dealt *host = gy_mem_alloc((size_t)job->n + 1, sizeof *host);
    if (!host) {
        return gy_fail_nomem(job->e);
    }
    struct gy_points points = {0};
    struct gy_dealt_ring ring = {.host = host,
                                 .n = job->n,
                                 .least = least < CAP ? least : CAP,
                                 .most = most < CAP ? most : CAP,
                                 .hash = xx_hash,
                                 .flip = java ? SIGN : 0,
                                 .name = java ? gy_grpc_java_name : NULL};
    int err = gy_like_whole_weights(job, UINT32_MAX);
    for (uint32_t i = 0; i < job->n; i++) {
        host[i].node = job->list[i];
    }
    if (!java) {
        qsort(host, job->n, sizeof *host, by_number);
    }
    gy_dealt_normalize(job, host, job->n);
    err = err ? err : gy_dealt_points(job, &ring, &points);
    if (!err && java) {
        close_ring(&points);
    }
    err = err ? err : gy_points_settle(job->m, &points, 64, job->e);
    gy_points_fini(&points);
    gy_mem_free(host);
    return err;
}

const struct gy_like gy_like_grpc = {.name = "grpc", .settings = settings, .build = build};
