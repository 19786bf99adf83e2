/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump.c - jump consistent hash in the four forms that are about, for keys that are numbers
 * (hash: none) or hashed; and Guava 31.1, Hashing.consistentHash of a long or of a HashCode, whose
 * first 8 bytes are read little-endian, zeros after a shorter one. Source:
 * docs/compat/SPEC-databases.md section 2. Threads: any.
 */
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/buckets.h"
#include "lib/like/digits.h"

static const struct gy_like_setting jump_settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "published", "published|clickhouse|guava|exact"},
    {GY_SET_HASH, GY_VALUE_WORD, "xxh64",
     "none|xxh64|xxh3|city64|fnv1_64|fnv1a_64|murmur2_64a|siphash24|md5_be64|md5_le64"},
    {0, 0, NULL, NULL},
};

static int jump_build(const struct gy_like_job *job)
{
    static gy_bucket *const forms[] = {gy_jump_published, gy_jump_published, gy_jump_guava,
                                       gy_jump_exact};
    unsigned form = gy_like_word(job, GY_SET_DISTRIBUTION);
    job->m->hash = gy_like_word(job, GY_SET_HASH) == 0
                       ? &gy_hash_number
                       : gy_hash_find(gy_like_text(job, GY_SET_HASH));
    job->m->hash_bits = 64;
    job->m->key_rule = form;
    return gy_buckets_settle(job, forms[form]);
}

const struct gy_like gy_like_jump = {
    .name = "jump", .settings = jump_settings, .build = jump_build};

/* ---- Guava ---- */

static const struct gy_like_setting guava_settings[] = {
    {GY_SET_HASH, GY_VALUE_WORD, "murmur3_128",
     "none|murmur3_128|sipHash24|murmur3_32_fixed|sha256|crc32c"},
    {0, 0, NULL, NULL},
};

uint64_t gy_guava_long(const struct gy_hash *hash, gy_u128 value)
{
    uint64_t first = (uint64_t)(hash->bits > 64 ? value >> (hash->bits - 64) : value);
    return hash == &gy_hash_sha256 ? __builtin_bswap64(first) : first;
}

static gy_u128 guava_hash(const gyre_map_t *m, const void *part, size_t len)
{
    static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return gy_guava_long(m->hash, m->hash == &gy_hash_siphash24 ? gy_siphash24(part, len, key)
                                                                : m->hash->value(part, len));
}

static int guava_build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    const char *name = gy_like_text(job, GY_SET_HASH);
    if (gy_like_word(job, GY_SET_HASH) == 0) {
        m->hash = &gy_hash_number;
    } else {
        m->hash = gy_hash_find_alias("guava", name);
        m->key_hash = guava_hash;
    }
    m->hash_bits = m->hash->bits < 64 ? m->hash->bits : 64;
    return gy_buckets_settle(job, gy_jump_guava);
}

const struct gy_like gy_like_guava = {
    .name = "guava", .settings = guava_settings, .build = guava_build};
