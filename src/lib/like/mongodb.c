/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mongodb.c - MongoDB: hashed shard keys, and chunks as ranges of the signed hash. Which shard has
 * a chunk is state: a node's option `chunks=-4611686018427387904,0` lists the lower bounds of
 * its chunks; a hash below all of them belongs to the last. Without any there is one chunk a node,
 * split as an empty hashed collection is (no vector pins that). Source:
 * docs/compat/SPEC-databases.md section 9. Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/like.h"
#include "lib/like/points.h"

enum { STR, INT, DATE, BOOL, OID };
#define SIGN ((uint64_t)1 << 63) /* flipped, signed numbers sort as unsigned ones */

static const struct gy_like_setting settings[] = {
    {GY_SET_KEY_TYPE, GY_VALUE_WORD, "str", "str|int|date|bool|oid"},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"chunks", true}, {NULL, false}};

/* 24 hex digits; what is none counts as 0. */
static void read_oid(const uint8_t *text, size_t len, uint8_t oid[12])
{
    memset(oid, 0, 12);
    for (size_t i = 0; i < len && i < 24; i++) {
        unsigned c = text[i] | 0x20u;
        unsigned digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : 0;
        oid[i / 2] = (uint8_t)(oid[i / 2] | digit << (i % 2 ? 0 : 4));
    }
}

/* MD5 of a seed of 0, the canonical type, and the value as BSON has it. */
static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    static const uint8_t canonical[] = {
        [STR] = 15, [INT] = 10, [DATE] = 45, [BOOL] = 40, [OID] = 35};
    unsigned type = (unsigned)m->key_rule;
    uint8_t head[12] = {0}, value[12], digest[16];
    struct gy_piece p[3] = {{head, 8}, {value, 8}, {"", 0}};
    uint64_t x = gy_digits_key(part, len);
    head[4] = canonical[type];
    gy_store_le32(value, (uint32_t)x);
    gy_store_le32(value + 4, (uint32_t)(x >> 32));
    if (type == STR) {
        gy_store_le32(head + 8, (uint32_t)len + 1);
        p[0].len = 12;
        p[1] = (struct gy_piece){part, len};
        p[2].len = 1;
    } else if (type == BOOL) {
        value[0] = len == 4 && memcmp(part, "true", 4) == 0;
        p[1].len = 1;
    } else if (type == OID) {
        read_oid(part, len, value);
        p[1].len = 12;
    }
    gy_md5_pieces(p, 3, digest);
    return gy_load_le64(digest) ^ SIGN;
}

/* The end of each chunk: one before the next one's lower bound. */
static void end_chunks(struct gy_points *points)
{
    gy_points_sort(points);
    gy_u128 first = points->n ? points->p[0].at : 0;
    for (size_t i = 0; i < points->n; i++) {
        gy_u128 next = i + 1 < points->n ? points->p[i + 1].at : first;
        points->p[i].at = (uint64_t)(next - 1);
    }
}

/* Lower bounds of n chunks as the server splits an empty collection; the first is its MinKey. */
static void split_evenly(const struct gy_like_job *job, struct gy_points *points)
{
    uint64_t width = (SIGN - 1) / job->n * 2;
    uint64_t pairs = (job->n - 1) / 2, middle = job->n % 2 ? width / 2 : width;
    uint64_t bound = pairs ? -(middle + width * (pairs - 1)) : job->n % 2 ? middle : 0;
    for (uint32_t i = 0; i < job->n; i++) {
        gy_points_put(points, i ? bound ^ SIGN : 0, job->list[i]);
        bound += i ? width : 0;
    }
}

static uint64_t count_bounds(const struct gy_like_job *job)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        size_t len;
        const char *p = gy_like_option(&job->m->nodes[job->list[i]], "chunks", &len);
        n += p != NULL;
        for (size_t at = 0; p && at < len; at++) {
            n += p[at] == ',';
        }
    }
    return n;
}

static int take_bounds(const struct gy_like_job *job, uint32_t node, struct gy_points *points)
{
    size_t len;
    char name[GY_SHOW];
    const char *p = gy_like_option(&job->m->nodes[node], "chunks", &len), *end = p ? p + len : p;
    while (p) {
        uint64_t bound;
        bool minus = p < end && *p == '-';
        if (!gy_digits_read(&p, end, &bound) || (!minus && bound >= SIGN) ||
            (p < end && *p != ',')) {
            return gy_fail(job->e, GYRE_INVALID,
                           "node '%s': chunks are lower bounds, signed numbers of 64 bits",
                           gy_show(job->m->nodes[node].name, name));
        }
        gy_points_put(points, bound ^ SIGN, node);
        p = p < end ? p + 1 : NULL;
    }
    return GYRE_OK;
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    m->hash = &gy_hash_md5_le64;
    m->hash_bits = 64;
    m->key_hash = key_hash;
    m->key_rule = gy_like_word(job, GY_SET_KEY_TYPE);
    struct gy_points points;
    uint64_t bounds = count_bounds(job);
    int err = gy_points_init(&points, bounds ? bounds : job->n, job->e);
    if (!err && job->n && !bounds) {
        split_evenly(job, &points);
    }
    for (uint32_t i = 0; !err && bounds && i < job->n; i++) {
        err = take_bounds(job, job->list[i], &points);
    }
    if (!err) {
        end_chunks(&points);
        err = gy_points_settle(m, &points, 64, job->e);
    }
    gy_points_fini(&points);
    return err;
}

const struct gy_like gy_like_mongodb = {
    .name = "mongodb", .settings = settings, .options = options, .build = build};
