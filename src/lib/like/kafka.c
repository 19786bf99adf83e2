/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka.c - systems whose keys go to partitions by one hash of the key and a modulo: Kafka's
 * default partitioner (without `partitions` a node is a partition) and Couchbase's vBuckets. A
 * change of their number moves most keys. Source: docs/compat/SPEC-databases.md section 9. Threads:
 * any.
 */
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/partitions.h"

static const struct gy_like_setting kafka_settings[] = {
    {GY_SET_PARTITIONS, GY_VALUE_NUMBER, "", "1..1048576"},
    {0, 0, NULL, NULL},
};

static gy_u128 kafka_hash(const gyre_map_t *m, const void *part, size_t len)
{
    return m->hash->value(part, len) & INT32_MAX; /* masked, not made positive */
}

static int kafka_build(const struct gy_like_job *job)
{
    uint64_t count = gy_like_number(job, GY_SET_PARTITIONS);
    job->m->hash = &gy_hash_murmur2_32_kafka;
    job->m->hash_bits = 32;
    job->m->key_hash = kafka_hash;
    return gy_partitions_settle(job, count ? (uint32_t)count : job->n, 1);
}

const struct gy_like gy_like_kafka = {.name = "kafka",
                                      .settings = kafka_settings,
                                      .options = gy_partition_options,
                                      .build = kafka_build};

static const struct gy_like_setting couchbase_settings[] = {
    {GY_SET_PARTITIONS, GY_VALUE_NUMBER, "1024", "1..1048576"},
    {0, 0, NULL, NULL},
};

static int couchbase_build(const struct gy_like_job *job)
{
    job->m->hash = &gy_hash_crc32_15; /* the same 15 bits as those of libmemcached */
    job->m->hash_bits = 15;
    return gy_partitions_settle(job, (uint32_t)gy_like_number(job, GY_SET_PARTITIONS), 1);
}

const struct gy_like gy_like_couchbase = {.name = "couchbase",
                                          .settings = couchbase_settings,
                                          .options = gy_partition_options,
                                          .build = couchbase_build};
