/* SPDX-License-Identifier: Apache-2.0 */
/*
 * likes.h - the existing systems that are imitated, one row each: X(ID, name). The row makes the
 * word of the setting `like`, its value GY_LIKE_ID, and its place in the table of systems, which
 * expects a `const struct gy_like gy_like_NAME` with '-' written '_'. Order: as they came.
 */
#ifndef GY_LIB_LIKES_H
#define GY_LIB_LIKES_H

/* X(ID, word, object) */
#define GY_LIKES(X)                                  \
    X(SAMPLE, "sample", sample)                      \
    X(LIBMEMCACHED, "libmemcached", libmemcached)    \
    X(TWEMPROXY, "twemproxy", twemproxy)             \
    X(NGINX, "nginx", nginx)                         \
    X(HAPROXY, "haproxy", haproxy)                   \
    X(LIBKETAMA, "libketama", libketama)             \
    X(REDIS_CLUSTER, "redis-cluster", redis_cluster) \
    X(UHASHRING, "uhashring", uhashring)             \
    X(NPM_HASHRING, "npm-hashring", npm_hashring)    \
    X(NPM_MEMCACHED, "npm-memcached", npm_memcached) \
    X(NPM_KETAMA, "npm-ketama", npm_ketama)          \
    X(ENVOY, "envoy", envoy)                         \
    X(GRPC, "grpc", grpc)                            \
    X(CASSANDRA, "cassandra", cassandra)             \
    X(JUMP, "jump", jump)                            \
    X(GUAVA, "guava", guava)                         \
    X(CLICKHOUSE, "clickhouse", clickhouse)          \
    X(MCROUTER, "mcrouter", mcrouter)                \
    X(SWIFT, "swift", swift)                         \
    X(RIAK, "riak", riak)                            \
    X(KAFKA, "kafka", kafka)                         \
    X(ELASTICSEARCH, "elasticsearch", elasticsearch) \
    X(MONGODB, "mongodb", mongodb)                   \
    X(COUCHBASE, "couchbase", couchbase)             \
    X(VITESS, "vitess", vitess)                      \
    X(AEROSPIKE, "aerospike", aerospike)             \
    X(THANOS, "thanos", thanos)                      \
    X(DSKIT, "dskit", dskit)                         \
    X(CARBON_C_RELAY, "carbon-c-relay", carbon_c_relay)

/* 0 is no system; the others follow in the order of the rows. */
enum gy_like_id {
    GY_LIKE_NOTHING,
#define GY_LIKE_ENUM(id, word, object) GY_LIKE_##id,
    GY_LIKES(GY_LIKE_ENUM)
#undef GY_LIKE_ENUM
        GY_LIKE_COUNT
};

#endif
