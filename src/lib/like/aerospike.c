/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aerospike.c - Aerospike: the partition, one of 4096, of a record's digest, RIPEMD-160 of set,
 * type and key. Which node has a partition is the cluster's state. Source: the C client;
 * docs/compat/SPEC-databases.md section 9. Threads: any.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/partitions.h"

enum { PARTITIONS = 4096 };
enum { STR, INT, BLOB };

static const struct gy_like_setting settings[] = {
    {GY_SET_SET, GY_VALUE_TEXT, "", "any text of up to 255 bytes"},
    {GY_SET_KEY_TYPE, GY_VALUE_WORD, "str", "str|int|blob"},
    {0, 0, NULL, NULL},
};

struct record {
    unsigned type;
    size_t len;
    char set[GY_SETTING_TEXT];
};

static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    static const uint8_t code[] = {[STR] = 3, [INT] = 1, [BLOB] = 4};
    const struct record *r = m->context;
    uint8_t number[8], digest[20];
    struct gy_piece p[] = {{r->set, r->len}, {&code[r->type], 1}, {part, len}};
    if (r->type == INT) {
        uint64_t x = gy_digits_key(part, len);
        gy_store_be32(number, (uint32_t)(x >> 32));
        gy_store_be32(number + 4, (uint32_t)x);
        p[2] = (struct gy_piece){number, sizeof number};
    }
    gy_ripemd160_pieces(p, 3, digest);
    return gy_load_le16(digest) % PARTITIONS;
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    struct record *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(job->e);
    }
    m->context = r;
    r->type = gy_like_word(job, GY_SET_KEY_TYPE);
    r->len = strlen(gy_like_text(job, GY_SET_SET));
    memcpy(r->set, gy_like_text(job, GY_SET_SET), r->len + 1);
    m->hash = &gy_hash_ripemd160;
    m->hash_bits = 12;
    m->key_hash = key_hash;
    m->key_rule = gy_xxh64(r->set, r->len, r->type);
    return gy_partitions_settle(job, PARTITIONS, 1);
}

const struct gy_like gy_like_aerospike = {
    .name = "aerospike", .settings = settings, .options = gy_partition_options, .build = build};
