/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twemproxy.c - twemproxy (nutcracker) 0.5.0. Servers are sorted by point name, shorter ones first,
 * whatever their order in the file. ketama: every change of a weight or of the number of servers
 * changes all counts, so some keys move between servers that stay. modula: weights by repetition.
 * Source: behaviour of 0.5.0, docs/compat/SPEC-servers.md section 2. Threads: any.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/table.h"
#include "lib/like/ketama.h"
#include "lib/like/ranges.h"

enum { KETAMA, MODULA };
enum { BY_NAME, BY_ADDR };

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "ketama", "ketama|modula"},
    {GY_SET_HASH, GY_VALUE_WORD, "fnv1a_64",
     "one_at_a_time|md5|crc16|crc32|crc32a|fnv1_64|fnv1a_64|fnv1_32|fnv1a_32|hsieh|murmur|jenkins"},
    {GY_SET_HASH_TAG, GY_VALUE_TAG, "", "two characters, or empty"},
    {GY_SET_NAMES, GY_VALUE_WORD, "name", "name|addr"},
    {0, 0, NULL, NULL},
};

/* The empty key, which Redis permits, is not hashed. */
static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    return len ? m->hash->value(part, len) : 0;
}

/* A server line without a name is called by its address: memcached's port goes unsaid, and a Unix
 * socket ends in a colon. */
static void point_name(const struct gy_like_job *job, uint32_t node, struct gy_point_name *out)
{
    gy_ketama_plain_name(job, node, out);
    if (gy_like_word(job, GY_SET_NAMES) == BY_NAME) {
        return;
    }
    if (out->text[0] == '/') {
        out->text[out->len++] = ':';
    } else {
        gy_ketama_strip_port(out, "11211");
    }
}

struct named {
    char *name;
    size_t len;
    uint32_t node, place;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->len != y->len) {
        return x->len < y->len ? -1 : 1;
    }
    int order = memcmp(x->name, y->name, x->len);
    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

static int sort_servers(const struct gy_like_job *job, uint32_t *list)
{
    struct named *named = gy_mem_alloc((size_t)job->n + 1, sizeof *named);
    struct gy_point_name *name = gy_mem_alloc(1, sizeof *name);
    uint32_t n = 0;
    while (named && name && n < job->n) {
        point_name(job, job->list[n], name);
        char *copy = gy_mem_alloc(name->len + 1, 1);
        if (!copy) {
            break;
        }
        memcpy(copy, name->text, name->len);
        named[n] = (struct named){copy, name->len, job->list[n], n};
        n++;
    }
    bool good = named && name && n == job->n;
    if (good) {
        qsort(named, n, sizeof *named, compare_named);
    }
    for (uint32_t i = 0; i < n; i++) {
        list[i] = named[i].node;
        gy_mem_free(named[i].name);
    }
    gy_mem_free(name);
    gy_mem_free(named);
    return good ? GYRE_OK : gy_fail_nomem(job->e);
}

static int build_modula(const struct gy_like_job *job, const uint32_t *list)
{
    struct gy_ranges ranges;
    int err = gy_ranges_init(&ranges, job->n, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        gy_ranges_put(&ranges, gy_like_weight(job, list[i]), list[i]);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    return err;
}

static int build(const struct gy_like_job *job)
{
    job->m->hash = gy_hash_find_alias("twemproxy", gy_like_text(job, GY_SET_HASH));
    job->m->hash_bits = job->m->hash->bits;
    job->m->key_hash = key_hash;
    job->m->key_hash_plain = true;
    uint32_t *list = gy_mem_alloc((size_t)job->n + 1, sizeof *list);
    int err = list ? gy_like_whole_weights(job, INT32_MAX) : gy_fail_nomem(job->e);
    err = err ? err : sort_servers(job, list);
    if (!err && gy_like_word(job, GY_SET_DISTRIBUTION) == KETAMA) {
        struct gy_ketama k = {.name = point_name,
                              .count = gy_ketama_twemproxy,
                              .hash = &gy_hash_md5,
                              .per_digest = 4,
                              .list = list};
        err = gy_ketama_build(job, &k);
    } else if (!err) {
        err = build_modula(job, list);
    }
    gy_mem_free(list);
    return err;
}

const struct gy_like gy_like_twemproxy = {
    .name = "twemproxy", .settings = settings, .build = build};
