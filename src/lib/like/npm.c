/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npm.c - three packages for Node.js: hashring 3.2.0; memcached 2.2.2, which places by hashring;
 * and ketama 1.0.0, which is no ketama: positions are signed, weights may be fractions, and a
 * node's points depend on nothing else. The first two count points from all weights, so a change of
 * one server moves some keys between others. Keys and names are UTF-8. Source: behaviour of those
 * versions, docs/compat/SPEC-servers.md sections 8 and 9. Threads: any.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"
#include "lib/hash/table.h"
#include "lib/like/ketama.h"

enum { MD5, SHA1, SHA256 }; /* of every table below */

static const struct gy_like_setting hashring_settings[] = {
    {GY_SET_HASH, GY_VALUE_WORD, "md5", "md5|sha1|sha256"},
    {GY_SET_VNODE_COUNT, GY_VALUE_NUMBER, "40", "1..100000"},
    {GY_SET_DIGEST_POINTS, GY_VALUE_NUMBER, "4", "1..4"},
    {GY_SET_DEFAULT_PORT, GY_VALUE_NUMBER, "0", "0..65535"}, /* 0: none */
    {0, 0, NULL, NULL},
};

static const struct gy_like_setting memcached_settings[] = {
    {GY_SET_HASH, GY_VALUE_WORD, "md5", "md5|sha1|sha256"},
    {GY_SET_VNODE_COUNT, GY_VALUE_NUMBER, "40", "1..100000"},
    {GY_SET_DIGEST_POINTS, GY_VALUE_NUMBER, "4", "1..4"},
    {GY_SET_DEFAULT_PORT, GY_VALUE_NUMBER, "11211", "0..65535"},
    {0, 0, NULL, NULL},
};

static const struct gy_like_setting ketama_settings[] = {
    {GY_SET_HASH, GY_VALUE_WORD, "sha1", "md5|sha1|sha256"},
    {0, 0, NULL, NULL},
};

static const struct gy_like_option hashring_options[] = {{"vnodes", true}, {NULL, false}};

static const struct gy_hash *const digests[] = {
    [MD5] = &gy_hash_md5, [SHA1] = &gy_hash_sha1, [SHA256] = &gy_hash_sha256};

static gy_u128 sha256_le32_value(const void *data, size_t len)
{
    uint8_t digest[32];
    gyre_hash_sha256(data, len, digest);
    return gy_load_le32(digest);
}
static const struct gy_hash sha256_le32 = {"sha256_le32", 32, sha256_le32_value, NULL, NULL};

static const struct gy_hash *const key_hashes[] = {
    [MD5] = &gy_hash_md5_le32, [SHA1] = &gy_hash_sha1_le32, [SHA256] = &sha256_le32};

/* ---- hashring, memcached ---- */

static void server_name(const struct gy_like_job *job, uint32_t node, struct gy_point_name *out)
{
    gy_ketama_plain_name(job, node, out);
    if (gy_like_number(job, GY_SET_DEFAULT_PORT)) {
        gy_ketama_strip_port(out, gy_like_text(job, GY_SET_DEFAULT_PORT));
    }
}

/* A server's own `vnodes` is its count, unless it says no more than the setting. */
static int count_digests(const struct gy_like_job *job, uint64_t *counts)
{
    uint64_t unit = gy_like_number(job, GY_SET_VNODE_COUNT), total = gy_like_total(job);
    int err = GYRE_OK;
    for (uint32_t i = 0; !err && i < job->n; i++) {
        uint64_t own = unit;
        err = gy_like_option_number(&job->m->nodes[job->list[i]], "vnodes", 100000, &own, job->e);
        counts[i] = own != unit
                        ? own
                        : gy_ketama_doubles(gy_like_weight(job, job->list[i]), total, job->n, unit);
    }
    return err;
}

static int build_hashring(const struct gy_like_job *job)
{
    unsigned hash = gy_like_word(job, GY_SET_HASH);
    job->m->hash = key_hashes[hash];
    job->m->hash_bits = 32;
    uint64_t *counts = gy_mem_alloc((size_t)job->n + 1, sizeof *counts);
    int err = counts ? gy_like_whole_weights(job, UINT32_MAX) : gy_fail_nomem(job->e);
    err = err ? err : count_digests(job, counts);
    if (!err) {
        struct gy_ketama k = {.name = server_name,
                              .counts = counts,
                              .hash = digests[hash],
                              .per_digest = (unsigned)gy_like_number(job, GY_SET_DIGEST_POINTS)};
        err = gy_ketama_build(job, &k);
    }
    gy_mem_free(counts);
    return err;
}

const struct gy_like gy_like_npm_hashring = {.name = "npm-hashring",
                                             .settings = hashring_settings,
                                             .options = hashring_options,
                                             .build = build_hashring};
const struct gy_like gy_like_npm_memcached = {.name = "npm-memcached",
                                              .settings = memcached_settings,
                                              .options = hashring_options,
                                              .build = build_hashring};

/* ---- ketama ---- */

#define SIGN UINT32_C(0x80000000) /* flipped, so that signed numbers sort as unsigned ones */

static gy_u128 signed_hash(const gyre_map_t *m, const void *part, size_t len)
{
    return (uint32_t)(m->hash->value(part, len) >> (m->hash->bits - 32)) ^ SIGN;
}

/* JavaScript's Math.round: to the nearest, half up. */
static uint64_t round_half_up(double x)
{
    uint64_t whole = (uint64_t)x;
    return whole + (x - (double)whole >= 0.5);
}

static uint64_t ketama_count(const struct gy_like_job *job, uint32_t node)
{
    return job->m->weight[node] ? round_half_up(50 * job->m->nodes[node].weight) : 0;
}

static void put_points(const struct gy_like_job *job, struct gy_points *points,
                       struct gy_point_name *name, uint32_t node)
{
    gy_ketama_plain_name(job, node, name);
    for (uint64_t i = ketama_count(job, node); i; i--) {
        size_t len = gy_point_name_number(name, '\0', i);
        gy_points_put(points, signed_hash(job->m, name->text, len), node);
    }
}

static int build_ketama(const struct gy_like_job *job)
{
    job->m->hash = digests[gy_like_word(job, GY_SET_HASH)];
    job->m->hash_bits = 32;
    job->m->key_hash = signed_hash;
    struct gy_points points = {0};
    struct gy_point_name *name = gy_mem_alloc(1, sizeof *name);
    uint64_t all = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        all += ketama_count(job, job->list[i]);
    }
    int err = name ? gy_points_init(&points, all, job->e) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        put_points(job, &points, name, job->list[i]);
    }
    err = err ? err : gy_points_settle(job->m, &points, 32, job->e);
    gy_points_fini(&points);
    gy_mem_free(name);
    return err;
}

const struct gy_like gy_like_npm_ketama = {
    .name = "npm-ketama", .settings = ketama_settings, .build = build_ketama};
