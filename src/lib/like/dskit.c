/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dskit.c - the hash ring of Cortex, Mimir, Loki, Tempo and Pyroscope. An instance owns the tokens,
 * 32-bit numbers, that its option `tokens=1000,20000` lists; without any they are evenly spaced,
 * one each. A key belongs to the first token above its hash, which is FNV-1a (Mimir) or FNV-1
 * (Cortex, Loki) of 32 bits of what the program hashes, tenant and labels; or the key is that
 * number itself. Copies in different zones are `spread`. Source: searchToken in dskit's ring.
 * Threads: any.
 */
#include "lib/error.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/like.h"
#include "lib/like/points.h"

enum { FNV1A, FNV1, NONE };

static const struct gy_like_setting settings[] = {
    {GY_SET_HASH, GY_VALUE_WORD, "fnv1a_32", "fnv1a_32|fnv1_32|none"},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"tokens", true}, {NULL, false}};

static gy_u128 number(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    return (uint32_t)gy_digits_key(part, len);
}

static int put_tokens(const struct gy_like_job *job, uint32_t node, struct gy_points *points)
{
    size_t len;
    char name[GY_SHOW];
    const char *p = gy_like_option(&job->m->nodes[node], "tokens", &len), *end = p ? p + len : p;
    while (p) {
        uint64_t at;
        if (*p == '-' || !gy_digits_read(&p, end, &at) || at > UINT32_MAX ||
            (p < end && *p != ',')) {
            return gy_fail(job->e, GYRE_INVALID, "node '%s': tokens are numbers of 0 to %u",
                           gy_show(job->m->nodes[node].name, name), UINT32_MAX);
        }
        gy_points_put(points, at, node);
        p = p < end ? p + 1 : NULL;
    }
    return GYRE_OK;
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    unsigned hash = gy_like_word(job, GY_SET_HASH);
    m->hash = hash == FNV1A ? &gy_hash_fnv1a_32 : hash == FNV1 ? &gy_hash_fnv1_32 : &gy_hash_number;
    m->hash_bits = 32;
    m->key_hash = hash == NONE ? number : NULL;
    m->after = true;
    struct gy_points points;
    uint64_t tokens = gy_like_count_tokens(job);
    int err = gy_points_init(&points, tokens ? tokens : job->n, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        if (tokens) {
            err = put_tokens(job, job->list[i], &points);
        } else { /* evenly, one each */
            gy_points_put(&points, ((uint64_t)i << 32) / job->n, job->list[i]);
        }
    }
    err = err ? err : gy_points_settle(m, &points, 32, job->e);
    gy_points_fini(&points);
    return err;
}

const struct gy_like gy_like_dskit = {
    .name = "dskit", .settings = settings, .options = options, .build = build};
