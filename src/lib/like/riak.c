/* SPDX-License-Identifier: Apache-2.0 */
/*
 * riak.c - Riak: a ring of equal partitions, and the Erlang term of bucket and key hashed by SHA-1.
 * A key's list begins at the partition after the one its hash falls in. Riak's list is of
 * consecutive partitions and may name a node twice; replicas here are distinct nodes. Who claimed a
 * partition is state: see partitions.h. Source: riak_core's chash,
 * docs/compat/SPEC-databases.md section 7. Threads: any.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/partitions.h"

static const struct gy_like_setting settings[] = {
    {GY_SET_RING_CREATION_SIZE, GY_VALUE_NUMBER, "64", "1..1048576"},
    {GY_SET_BUCKET_NAME, GY_VALUE_TEXT, "", "any text of up to 255 bytes"},
    {0, 0, NULL, NULL},
};

struct ring {
    unsigned bits; /* of a partition's number */
    size_t len;
    char bucket[GY_SETTING_TEXT];
};

/* {Bucket, Key} in the external term format: a tuple of two binaries. */
static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    const struct ring *r = m->context;
    uint8_t head[] = {0x83, 0x68, 2, 0x6d, 0, 0, 0, 0}, middle[] = {0x6d, 0, 0, 0, 0}, digest[20];
    gy_store_be32(head + 4, (uint32_t)r->len);
    gy_store_be32(middle + 1, (uint32_t)len);
    struct gy_piece p[] = {
        {head, sizeof head}, {r->bucket, r->len}, {middle, sizeof middle}, {part, len}};
    gy_sha1_pieces(p, 4, digest);
    uint32_t in = r->bits ? gy_load_be32(digest) >> (32 - r->bits) : 0;
    return (in + 1) & ((1u << r->bits) - 1);
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    uint32_t size = (uint32_t)gy_like_number(job, GY_SET_RING_CREATION_SIZE);
    if (size & (size - 1)) {
        return gy_fail(job->e, GYRE_INVALID, "ring_creation_size: %u is no power of two", size);
    }
    struct ring *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(job->e);
    }
    m->context = r;
    r->bits = 0;
    while (1u << r->bits < size) {
        r->bits++;
    }
    r->len = strlen(gy_like_text(job, GY_SET_BUCKET_NAME));
    memcpy(r->bucket, gy_like_text(job, GY_SET_BUCKET_NAME), r->len + 1);
    m->hash = &gy_hash_sha1;
    m->hash_bits = r->bits ? r->bits : 1;
    m->key_hash = key_hash;
    m->key_rule = gy_xxh64(r->bucket, r->len, size);
    return gy_partitions_settle(job, size, 1);
}

const struct gy_like gy_like_riak = {
    .name = "riak", .settings = settings, .options = gy_partition_options, .build = build};
