/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.c - ClickHouse 18.16: the shard of a Distributed table, and its consistent hash
 * functions with the nodes as buckets. distributed is a modulo of the sharding expression: a change
 * of a weight or of the list moves most keys. A column of integers (key_type) is hashed at its own
 * width, and cityHash64 of one is intHash64. Source: behaviour of 18.16.1,
 * docs/compat/SPEC-databases.md section 3. Threads: any.
 */
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/buckets.h"
#include "lib/like/digits.h"
#include "lib/like/ranges.h"

enum { DISTRIBUTED, JUMP, YANDEX, KOSTIK, SUMBUR };
enum { BYTES, INT32, INT64, UINT32, UINT64 };
enum { NONE, CITY, INT_HASH32, INT_HASH64 };

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "distributed",
     "distributed|jumpConsistentHash|yandexConsistentHash|kostikConsistentHash|"
     "sumburConsistentHash"},
    {GY_SET_HASH, GY_VALUE_WORD, "cityHash64",
     "none|cityHash64|intHash32|intHash64|sipHash64|halfMD5|murmurHash2_32|murmurHash2_64|"
     "murmurHash3_32|murmurHash3_64|xxHash64"},
    {GY_SET_KEY_TYPE, GY_VALUE_WORD, "bytes", "bytes|int32|int64|uint32|uint64"},
    {0, 0, NULL, NULL},
};

struct rule {
    unsigned hash, type, width; /* width: bytes of the integer */
    bool cast;                  /* what is not hashed is the unsigned integer of its width */
};

/* An int32 below 0 is widened by its sign where 18.16 takes any UInt64: by the consistent hash
 * functions, intHash32 and intHash64. The others see its own four bytes. */
static gy_u128 hash_number(const gyre_map_t *m, const void *part, size_t len)
{
    const struct rule *rule = m->context;
    uint64_t x = gy_digits_key(part, len), own = rule->width == 4 ? (uint32_t)x : x;
    uint8_t bytes[8];
    x = rule->type == INT32 ? (uint64_t)(int32_t)own : own;
    switch (rule->hash) {
    case NONE:
        return rule->cast ? own : x;
    case CITY:
        return gy_int_hash64(own);
    case INT_HASH64:
        return gy_int_hash64(x);
    case INT_HASH32:
        return gy_int_hash32(x);
    default:
        gy_store_le32(bytes, (uint32_t)own);
        gy_store_le32(bytes + 4, (uint32_t)(own >> 32));
        return m->hash->value(bytes, rule->width);
    }
}

static int take_rule(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    struct rule *rule = gy_mem_alloc(1, sizeof *rule);
    if (!rule) {
        return gy_fail_nomem(job->e);
    }
    m->context = rule;
    rule->hash = gy_like_word(job, GY_SET_HASH);
    rule->type = gy_like_word(job, GY_SET_KEY_TYPE);
    rule->width = rule->type == INT32 || rule->type == UINT32 ? 4 : 8;
    rule->cast = gy_like_word(job, GY_SET_DISTRIBUTION) == DISTRIBUTED;
    bool number = rule->hash == NONE || rule->hash == INT_HASH32 || rule->hash == INT_HASH64;
    if (number && rule->type == BYTES) {
        return gy_fail(job->e, GYRE_INVALID, "hash: %s is for integers; key_type says bytes",
                       gy_like_text(job, GY_SET_HASH));
    }
    m->hash =
        number ? &gy_hash_number : gy_hash_find_alias("clickhouse", gy_like_text(job, GY_SET_HASH));
    m->hash_bits = m->hash->bits;
    m->key_hash = rule->type == BYTES ? NULL : hash_number;
    m->key_rule = (uint64_t)gy_like_word(job, GY_SET_DISTRIBUTION) << 16 | rule->hash << 8 |
                  (uint64_t)(rule->type == INT32) << 7 | (rule->type == BYTES ? 0 : rule->width);
    return GYRE_OK;
}

static int build_distributed(const struct gy_like_job *job)
{
    struct gy_ranges ranges;
    int err = gy_like_whole_weights(job, UINT32_MAX);
    if (err) {
        return err;
    }
    err = gy_ranges_init(&ranges, job->n, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        gy_ranges_put(&ranges, gy_like_weight(job, job->list[i]), job->list[i]);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    return err;
}

static int build(const struct gy_like_job *job)
{
    static gy_bucket *const functions[] = {NULL, gy_jump_published, gy_bucket_yandex,
                                           gy_bucket_yandex, gy_bucket_sumbur};
    unsigned how = gy_like_word(job, GY_SET_DISTRIBUTION);
    int err = take_rule(job);
    if (err) {
        return err;
    }
    if ((how == YANDEX || how == KOSTIK) && job->n > GY_YANDEX_MAX) {
        return gy_fail(job->e, GYRE_RANGE, "%s has at most %d buckets",
                       gy_like_text(job, GY_SET_DISTRIBUTION), GY_YANDEX_MAX);
    }
    return how == DISTRIBUTED ? build_distributed(job) : gy_buckets_settle(job, functions[how]);
}

const struct gy_like gy_like_clickhouse = {
    .name = "clickhouse", .settings = settings, .build = build};
