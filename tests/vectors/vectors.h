/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.h - what the driver and the systems say to each other. A new system is one row of the
 * table in main.c and one function.
 */
#ifndef VECTORS_VECTORS_H
#define VECTORS_VECTORS_H

#include "vectors/vfile.h"

/* Of one file. The first failure is the one printed. */
struct verdict {
    size_t passed, failed;
    bool refused; /* the header says something we do not know: no line of the file counts as passed
                   */
    char why[1024];
};

/* Checks every row of f, adding one to passed or failed for each, or calls refuse. */
typedef void check_fn(const struct vfile *f, struct verdict *v);

check_fn check_seeds, check_hashes;
check_fn check_libmemcached, check_twemproxy, check_nginx, check_haproxy, check_libketama,
    check_redis_cluster, check_uhashring, check_npm_hashring, check_npm_memcached, check_npm_ketama;

check_fn check_jump, check_guava, check_kafka, check_couchbase, check_elasticsearch, check_vitess,
    check_clickhouse, check_mcrouter, check_envoy, check_grpc, check_cassandra, check_riak,
    check_aerospike, check_mongodb, check_swift;

/* Parts of the above: a list of weights with no names, asked of a map with these settings and of a
 * function of the whole key; and mcrouter's N servers. */
typedef uint32_t gy_weigh(const void *key, size_t len, const double *weight, uint32_t n);
void check_weights(const struct vfile *f, const char *const *settings, gy_weigh *pure,
                   struct verdict *v);
check_fn check_ch3;

void pass(struct verdict *v);
void fail(struct verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void refuse(struct verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
