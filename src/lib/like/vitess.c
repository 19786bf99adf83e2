/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vitess.c - Vitess: keyspace ids of 8 bytes by the vindexes `hash` (of numbers) and `xxhash`, and
 * the shard in whose range an id falls. A node is a shard; its option `shard=40-80` is the name of
 * the shard, which is its range. Without any the ranges are those Vitess generates for so many
 * shards, whole numbers of the first byte (above 256 shards: of the first two), and what is left
 * over for the last. Source: docs/compat/SPEC-databases.md section 9. Threads: any.
 */
#include <string.h>

#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/like.h"
#include "lib/like/points.h"

static const struct gy_like_setting settings[] = {
    {GY_SET_HASH, GY_VALUE_WORD, "xxhash", "hash|xxhash"},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"shard", true}, {NULL, false}};

/* Ids are compared as bytes, so they are numbers with the first byte highest. */
static gy_u128 number_hash(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    return gy_des_zero_key(gy_digits_key(part, len));
}

static gy_u128 text_hash(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    return __builtin_bswap64(gy_xxh64(part, len, 0));
}

static unsigned hex_digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (unsigned)(at - digits) : 16;
}

/* What follows the '-': the first id that is the next shard's; 0 where there is none. */
static bool read_end(const char *p, size_t len, uint64_t *end)
{
    const char *dash = memchr(p, '-', len);
    size_t digits = dash ? len - (size_t)(dash + 1 - p) : 0;
    bool good = dash && digits <= 16 && digits % 2 == 0;
    *end = 0;
    for (size_t i = 0; good && i < digits; i++) {
        unsigned digit = hex_digit(dash[1 + i]);
        good = digit < 16;
        *end |= (uint64_t)(digit & 15) << (60 - 4 * i);
    }
    return good;
}

static int put_shard(const struct gy_like_job *job, uint32_t i, bool named,
                     struct gy_points *points)
{
    uint32_t node = job->list[i];
    size_t len;
    const char *p = gy_like_option(&job->m->nodes[node], "shard", &len);
    uint64_t end = 0;
    char name[GY_SHOW];
    if (!named && i + 1 < job->n) {
        unsigned bits = job->n <= 256 ? 8 : 16;
        end = (uint64_t)((1u << bits) / job->n * (i + 1)) << (64 - bits);
    } else if (named && (!p || !read_end(p, len, &end))) {
        return gy_fail(job->e, GYRE_INVALID, "node '%s': shard is a range of ids in hex, like %s",
                       gy_show(job->m->nodes[node].name, name), "40-80, -40 or c0-");
    }
    gy_points_put(points, end - 1, node); /* a point ends what its node owns */
    return GYRE_OK;
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    bool named = false;
    m->hash = gy_like_word(job, GY_SET_HASH) == 0 ? &gy_hash_number : &gy_hash_xxh64;
    m->hash_bits = 64;
    m->key_hash = gy_like_word(job, GY_SET_HASH) == 0 ? number_hash : text_hash;
    for (uint32_t i = 0; i < job->n; i++) {
        named = named || gy_like_has(&m->nodes[job->list[i]], "shard");
    }
    struct gy_points points;
    int err = gy_points_init(&points, job->n, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        err = put_shard(job, i, named, &points);
    }
    err = err ? err : gy_points_settle(m, &points, 64, job->e);
    gy_points_fini(&points);
    return err;
}

const struct gy_like gy_like_vitess = {
    .name = "vitess", .settings = settings, .options = options, .build = build};
