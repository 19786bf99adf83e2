/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ketama.c - see ketama.h. The counts are computed step by step in the very types each program
 * uses: float where it has float, rounded after every operation (the build forbids fused ones).
 * Threads: any.
 */
#include "lib/like/ketama.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/bytes.h"

/* ---- digests of a node ---- */

uint64_t gy_ketama_libmemcached(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    (void)unit;
    float part = (float)w / (float)total;
    float points = part * 160;
    float digests = points / 4;
    float count = digests * (float)n;
    return (uint64_t)(count + 1e-10f);
}

/* Its 1e-10 is a double; the sum is rounded to a float again. */
uint64_t gy_ketama_twemproxy(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    (void)unit;
    float part = (float)w / (float)total;
    float points = part * 160;
    float digests = points / 4;
    float count = digests * (float)n;
    float sum = (float)((double)count + 1e-10);
    return (uint64_t)sum;
}

uint64_t gy_ketama_libketama(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    (void)unit;
    float part = (float)w / (float)total;
    float count = (float)((double)part * 40.0 * (double)(float)n);
    return (uint64_t)count;
}

uint64_t gy_ketama_doubles(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    double part = (double)w / (double)total;
    double count = part * (double)unit;
    return (uint64_t)(count * (double)n);
}

uint64_t gy_ketama_whole(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    return (uint64_t)((gy_u128)unit * n * w / total);
}

uint64_t gy_like_total(const struct gy_like_job *job)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < job->n; i++) {
        total += gy_like_weight(job, job->list[i]);
    }
    return total;
}

/* ---- names ---- */

void gy_ketama_plain_name(const struct gy_like_job *job, uint32_t node, struct gy_point_name *out)
{
    out->len = strlen(job->m->nodes[node].name);
    memcpy(out->text, job->m->nodes[node].name, out->len);
}

void gy_ketama_strip_port(struct gy_point_name *name, const char *port)
{
    size_t len = strlen(port);
    if (name->len > len && name->text[name->len - len - 1] == ':' &&
        memcmp(name->text + name->len - len, port, len) == 0) {
        name->len -= len + 1;
    }
}

/* ---- points ---- */

size_t gy_point_name_number(struct gy_point_name *name, char separator, uint64_t k)
{
    char digits[24];
    size_t n = 0, len = name->len;
    do {
        digits[n++] = (char)('0' + k % 10);
        k /= 10;
    } while (k);
    name->text[len++] = separator;
    while (n) {
        name->text[len++] = digits[--n];
    }
    return len;
}

static uint32_t swap32(uint32_t x)
{
    uint8_t bytes[4];
    gy_store_be32(bytes, x);
    return gy_load_le32(bytes);
}

static void put_node(struct gy_points *points, const struct gy_ketama *k,
                     struct gy_point_name *name, uint64_t digests, uint32_t node)
{
    for (uint64_t i = 0; i < digests; i++) {
        size_t len = gy_point_name_number(name, '-', i);
        gy_u128 digest = k->hash->value(name->text, len);
        if (k->whole || k->hash->bits < 64) {
            gy_points_put(points, digest, node);
            continue;
        }
        for (unsigned j = 0; j < k->per_digest; j++) {
            unsigned below = k->hash->bits - 32 * (j + 1);
            gy_points_put(points, swap32((uint32_t)(digest >> below)), node);
        }
    }
}

int gy_ketama_build(const struct gy_like_job *job, const struct gy_ketama *k)
{
    const uint32_t *list = k->list ? k->list : job->list;
    uint64_t total = gy_like_total(job), all = 0;
    struct gy_points points = {0};
    struct gy_point_name *name = gy_mem_alloc(1, sizeof *name);
    uint64_t *digests = gy_mem_alloc((size_t)job->n + 1, sizeof *digests);
    int err = name && digests ? GYRE_OK : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        digests[i] = k->counts ? k->counts[i]
                               : k->count(gy_like_weight(job, list[i]), total, job->n, k->unit);
        all += digests[i] > GY_POINTS_MAX ? GY_POINTS_MAX : digests[i];
    }
    err = err ? err : gy_points_init(&points, all * k->per_digest, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        k->name(job, list[i], name);
        put_node(&points, k, name, digests[i], list[i]);
    }
    err = err ? err : gy_points_settle(job->m, &points, k->whole ? k->hash->bits : 32, job->e);
    gy_points_fini(&points);
    gy_mem_free(digests);
    gy_mem_free(name);
    return err;
}
