/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the placement settings as data: one table gives key, default, permitted values and
 * help to parser, command line and manual alike. What an imitated system makes of a setting stands
 * in its own table (lib/like/like.h), which wins while `like` names it. Threads: any.
 */
#ifndef GY_LIB_SETTINGS_H
#define GY_LIB_SETTINGS_H

#include "gyre.h"
#include "lib/like/likes.h"

#define GY_LIKE_OR_WORD(id, word, object) "|" word

/* X(id, key, default, kind, values, help). `values` is what check reads, so it cannot go stale:
 * words parted by |, or least..most; for a tag it is only a remark. Kind LIKE: a setting that only
 * imitated systems have, with their defaults and values. */
#define GY_SETTINGS(X)                                                                           \
    X(ALGORITHM, "algorithm", "ring", WORD,                                                      \
      "ring|modulo|rendezvous|maglev|slots|jump|jumpback|memento|dx",                            \
      "How keys are dealt to nodes.")                                                            \
    X(LIKE, "like", "", WORD, "" GY_LIKES(GY_LIKE_OR_WORD),                                      \
      "Place as an existing system does; sample: the example programs of the articles.")         \
    X(HASH, "hash", "xxh3", WORD, "xxh3|siphash",                                                \
      "Hash function of the key; siphash: under a secret, for keys that an enemy may choose.")   \
    X(SECRET_FILE, "secret_file", "", TEXT, "a path",                                            \
      "hash: siphash: file of the secret, 16 bytes or 32 hexadecimal digits; placement.md 2.")   \
    X(SECRET_CHECK, "secret_check", "", TEXT, "16 hexadecimal digits",                           \
      "hash: siphash: tells another secret from this one and reveals neither; gyre writes it.")  \
    X(POINTS, "points", "1000", NUMBER, "1..100000",                                             \
      "Points on the ring per unit of weight; the spread of shares is about 1/sqrt(points).")    \
    X(TABLE, "table", "65537", NUMBER, "1..16777216",                                            \
      "Slots of the table of maglev (a prime number) and slots.")                                \
    X(CAPACITY, "capacity", "256", NUMBER, "1..1048576",                                         \
      "dx: most nodes there may be, a power of two; part of the mapping.")                       \
    X(HEAVIEST, "heaviest", "1", NUMBER, "1..1000000",                                           \
      "dx: the greatest weight there may be; part of the mapping.")                              \
    X(LEVEL, "level", "none", WORD, "none|region|zone|rack",                                     \
      "Deals keys to regions, zones or racks first, then to a node within: ring, rendezvous, "   \
      "maglev and slots.")                                                                       \
    X(REPLICAS, "replicas", "1", NUMBER, "1..64", "Distinct nodes that hold each key.")          \
    X(SPREAD, "spread", "none", WORD, "none|region|zone|rack",                                   \
      "Replicas go to distinct regions, zones or racks: 1, 2 or 3 parts of a node's zone path.") \
    X(HASH_TAG, "hash_tag", "{}", TAG, "two characters, or empty",                               \
      "Only what stands between these two is hashed; empty: the whole key, as is the rule "      \
      "with `like`.")                                                                            \
    X(MODE, "mode", "md5_64be", WORD, "md5_128|md5_64be|java_md5_32be|sha256_32be",              \
      "like: sample: which article's program.")                                                  \
    X(VNODES, "vnodes", "150", NUMBER, "1..100000", "like: sample: points per unit of weight.")  \
    X(DISTRIBUTION, "distribution", "", LIKE, "the system's words",                              \
      "like: how keys are dealt to servers, where the system has a choice.")                     \
    X(NAMES, "names", "", LIKE, "name|addr",                                                     \
      "like: twemproxy: the nodes' names are the servers' names, or their host:port.")           \
    X(POINT_HASH, "point_hash", "", LIKE, "as hash",                                             \
      "like: libmemcached: hash of the points, if not that of the keys.")                        \
    X(SORT_HOSTS, "sort_hosts", "", LIKE, "0|1",                                                 \
      "like: libmemcached: servers are sorted before use.")                                      \
    X(DIGEST_POINTS, "digest_points", "", LIKE, "1..4",                                          \
      "like: uhashring, npm-hashring, npm-memcached: points of one digest; their `replicas`.")   \
    X(VNODE_COUNT, "vnode_count", "", LIKE, "1..100000",                                         \
      "like: npm-hashring, npm-memcached: digests a server has on average.")                     \
    X(DEFAULT_PORT, "default_port", "", LIKE, "0..65535",                                        \
      "like: npm-hashring, npm-memcached: a port that is left out of points; 0: none.")          \
    X(BALANCE, "balance", "", LIKE, "hdr|fhdr|uri|uri_whole|url_param",                          \
      "like: haproxy: what a key is, and so which part of it counts.")                           \
    X(HASH_TYPE, "hash_type", "", LIKE, "map-based|consistent",                                  \
      "like: haproxy: how keys are dealt to servers.")                                           \
    X(AVALANCHE, "avalanche", "", LIKE, "0|1", "like: haproxy: the modifier of hash-type.")      \
    X(HASH_KEY, "hash_key", "", LIKE, "id|id32|addr|addr-port|guid",                             \
      "like: haproxy: what a server's points are made from.")                                    \
    X(ID_BASE, "id_base", "", LIKE, "plain|full_hash",                                           \
      "like: haproxy: full_hash: the double hash of ids in 3.0 to 3.2.")                         \
    X(IMPLEMENTATION, "implementation", "", LIKE, "go|java", "like: grpc: whose client.")        \
    X(KEY_TYPE, "key_type", "", LIKE, "the system's words",                                      \
      "like: aerospike, clickhouse, mongodb: what a key is.")                                    \
    X(PARTITIONS, "partitions", "", LIKE, "1..1048576",                                          \
      "like: couchbase, elasticsearch, kafka: how many vBuckets, shards, partitions.")           \
    X(ROUTING_SHARDS, "number_of_routing_shards", "", LIKE, "1..1048576",                        \
      "like: elasticsearch: as in the index settings.")                                          \
    X(MINIMUM_RING_SIZE, "minimum_ring_size", "", LIKE, "1..8388608",                            \
      "like: envoy: least points on the ring.")                                                  \
    X(MAXIMUM_RING_SIZE, "maximum_ring_size", "", LIKE, "1..8388608",                            \
      "like: envoy: most points on the ring.")                                                   \
    X(TABLE_SIZE, "table_size", "", LIKE, "2..5000011",                                          \
      "like: envoy: slots of the maglev table, a prime number.")                                 \
    X(LOCALITY_WEIGHTS, "locality_weights", "", LIKE, "LOCALITY:WEIGHT,...",                     \
      "like: envoy: weights of the localities that the nodes' options name.")                    \
    X(MIN_RING_SIZE, "min_ring_size", "", LIKE, "1..8388608",                                    \
      "like: grpc: least points on the ring.")                                                   \
    X(MAX_RING_SIZE, "max_ring_size", "", LIKE, "1..8388608",                                    \
      "like: grpc: most points on the ring.")                                                    \
    X(PARTITIONER, "partitioner", "", LIKE, "Murmur3Partitioner|RandomPartitioner",              \
      "like: cassandra: how keys get tokens.")                                                   \
    X(RF, "rf", "", LIKE, "DATACENTER:FACTOR,...",                                               \
      "like: cassandra: replicas in each datacenter.")                                           \
    X(RING_CREATION_SIZE, "ring_creation_size", "", LIKE, "1..1048576",                          \
      "like: riak: partitions, a power of two.")                                                 \
    X(BUCKET_NAME, "bucket_name", "", LIKE, "any text", "like: riak: the bucket of the keys.")   \
    X(SET, "set", "", LIKE, "any text", "like: aerospike: the set of the keys.")                 \
    X(SALT, "salt", "", LIKE, "any text", "like: mcrouter: hashed behind the key.")              \
    X(PART_POWER, "part_power", "", LIKE, "1..20", "like: swift: 2 to this power partitions.")   \
    X(HASH_PATH_PREFIX, "hash_path_prefix", "", LIKE, "any text",                                \
      "like: swift: the cluster's secret, hashed before the path.")                              \
    X(HASH_PATH_SUFFIX, "hash_path_suffix", "", LIKE, "any text",                                \
      "like: swift: the cluster's secret, hashed behind the path.")

enum gy_setting {
#define GY_SETTING_ID(id, key, fallback, kind, values, help) GY_SET_##id,
    GY_SETTINGS(GY_SETTING_ID)
#undef GY_SETTING_ID
        GY_SET_COUNT
};

/* Values of the words, in the order of the table above; those of `like` are enum gy_like_id. */
enum {
    GY_ALGORITHM_RING,
    GY_ALGORITHM_MODULO,
    GY_ALGORITHM_RENDEZVOUS,
    GY_ALGORITHM_MAGLEV,
    GY_ALGORITHM_SLOTS,
    GY_ALGORITHM_JUMP,
    GY_ALGORITHM_JUMPBACK,
    GY_ALGORITHM_MEMENTO,
    GY_ALGORITHM_DX
};

enum { GY_HASH_XXH3, GY_HASH_SIPHASH };

#define GY_SETTING_TEXT 256

enum gy_value_kind { GY_VALUE_WORD, GY_VALUE_NUMBER, GY_VALUE_TAG, GY_VALUE_TEXT, GY_VALUE_LIKE };

struct gy_settings {
    uint64_t value[GY_SET_COUNT];             /* index of the word, or the number; without `like` */
    char text[GY_SET_COUNT][GY_SETTING_TEXT]; /* canonical; a default stands in the tables */
    bool chosen[GY_SET_COUNT];                /* set by the user, not by default */
};

void gy_settings_init(struct gy_settings *s);
/* INVALID (bad value), RANGE, UNKNOWN (key or word, with the nearest right one; a setting that the
 * system of `like` has not). s is unchanged on failure. */
int gy_settings_set(struct gy_settings *s, const char *key, const char *value, gyre_error_t *e);
/* Do all that were set go together? What was set before `like` may wait for one that never came. */
int gy_settings_check(const struct gy_settings *s, gyre_error_t *e);
/* Canonical text of the value in force, NULL if there is no such key. */
const char *gy_settings_get(const struct gy_settings *s, const char *key);
/* The same by number, never NULL. */
const char *gy_settings_text(const struct gy_settings *s, enum gy_setting id);
/* Reads text as a value of a kind: *value is the index of the word or the number, text the
 * canonical one. */
int gy_value_read(const char *key, enum gy_value_kind kind, const char *values, const char *given,
                  uint64_t *value, char text[GY_SETTING_TEXT], gyre_error_t *e);
/* The two tag characters in force, "" for the whole key. */
const char *gy_settings_tag(const struct gy_settings *s);

#endif
