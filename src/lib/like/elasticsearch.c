/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elasticsearch.c - Elasticsearch: the shard of a routing value (by default the document's id).
 * `partitions` are the index's shards, without it a node is a shard. Indices made before 7.0 have
 * number_of_routing_shards equal to their shards; since then the default is the largest power of
 * two times the shards up to 1024. A byte that is no UTF-8 counts as U+FFFD. Source:
 * docs/compat/SPEC-databases.md section 9. Threads: any.
 */
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/partitions.h"

static const struct gy_like_setting settings[] = {
    {GY_SET_PARTITIONS, GY_VALUE_NUMBER, "", "1..1048576"},
    {GY_SET_ROUTING_SHARDS, GY_VALUE_NUMBER, "", "1..1048576"},
    {0, 0, NULL, NULL},
};

/* Murmur3_x86_32 of code units as they come, two to a block. */
struct murmur {
    uint32_t h, half, units;
};

static void put_unit(struct murmur *m, uint32_t unit)
{
    if (m->units++ % 2 == 0) {
        m->half = unit;
        return;
    }
    uint32_t k = (unit << 16 | m->half) * 0xcc9e2d51;
    m->h ^= gy_rotl32(k, 15) * 0x1b873593;
    m->h = gy_rotl32(m->h, 13) * 5 + 0xe6546b64;
}

static uint32_t finish(struct murmur *m)
{
    uint32_t h = m->h;
    if (m->units % 2) {
        h ^= gy_rotl32(m->half * 0xcc9e2d51, 15) * 0x1b873593;
    }
    h ^= m->units * 2;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

/* The code point at p, and how many bytes it took. */
static uint32_t code_at(const uint8_t *p, size_t len, size_t *took)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    unsigned lead = p[0], more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    *took = 1;
    if (lead < 0x80) {
        return lead;
    }
    uint32_t code = lead & (0x3fu >> more);
    bool good = more && lead < 0xf8 && more < len;
    for (unsigned i = 1; good && i <= more; i++) {
        good = (p[i] & 0xc0) == 0x80;
        code = code << 6 | (p[i] & 0x3fu);
    }
    good = good && code >= least[more] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    *took = good ? more + 1 : 1;
    return good ? code : 0xfffd;
}

static uint32_t hash_text(const void *key, size_t len)
{
    struct murmur m = {0};
    const uint8_t *p = key;
    for (size_t took; len; p += took, len -= took) {
        uint32_t code = code_at(p, len, &took);
        if (code < 0x10000) {
            put_unit(&m, code);
        } else {
            put_unit(&m, 0xd800 + ((code - 0x10000) >> 10));
            put_unit(&m, 0xdc00 + (code & 0x3ff));
        }
    }
    return finish(&m);
}

/* The remainder of the signed hash, never negative. */
static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    int64_t h = (int32_t)hash_text(part, len), n = (int64_t)m->key_rule;
    return (uint64_t)((h % n + n) % n);
}

static uint32_t default_routing(uint32_t shards)
{
    unsigned log = 0;
    while (1u << log < shards) {
        log++;
    }
    return shards << (log < 9 ? 10 - log : 1);
}

static int build(const struct gy_like_job *job)
{
    uint32_t shards = (uint32_t)gy_like_number(job, GY_SET_PARTITIONS);
    uint32_t routing = (uint32_t)gy_like_number(job, GY_SET_ROUTING_SHARDS);
    shards = shards ? shards : job->n;
    routing = routing ? routing : default_routing(shards);
    job->m->hash = &gy_hash_murmur3_32;
    job->m->hash_bits = 32;
    job->m->key_hash = key_hash;
    job->m->key_rule = routing ? routing : 1;
    if (shards && routing % shards) {
        return gy_fail(job->e, GYRE_INVALID,
                       "number_of_routing_shards: %u is no multiple of the %u shards", routing,
                       shards);
    }
    return gy_partitions_settle(job, shards, shards ? routing / shards : 1);
}

const struct gy_like gy_like_elasticsearch = {
    .name = "elasticsearch", .settings = settings, .options = gy_partition_options, .build = build};
