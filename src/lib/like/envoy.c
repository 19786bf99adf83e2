/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envoy.c - Envoy's ring_hash and maglev load balancers; a node's name is its host's hash key. The
 * ring: order and weights of all hosts decide where the fractions go, so some points move that need
 * not. With locality_weights hosts are dealt to locality by locality. maglev: hosts are sorted by
 * name, and every change moves a few slots between hosts that stay. Source: the 2020 tree,
 * docs/compat/SPEC-databases.md section 4. Threads: any.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/dealt.h"
#include "lib/like/digits.h"
#include "lib/like/ranges.h"

enum { RING_HASH, MAGLEV };
enum { XX_HASH, MURMUR_HASH_2 };
#define WORK_MAX 8589934592.0 /* steps a table may take to fill: some seconds */

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "ring_hash", "ring_hash|maglev"},
    {GY_SET_HASH, GY_VALUE_WORD, "XX_HASH", "XX_HASH|MURMUR_HASH_2"},
    {GY_SET_MINIMUM_RING_SIZE, GY_VALUE_NUMBER, "1024", "1..8388608"},
    {GY_SET_MAXIMUM_RING_SIZE, GY_VALUE_NUMBER, "8388608", "1..8388608"},
    {GY_SET_TABLE_SIZE, GY_VALUE_NUMBER, "65537", "2..5000011"},
    {GY_SET_LOCALITY_WEIGHTS, GY_VALUE_TEXT, "", "LOCALITY:WEIGHT,..."},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"locality", true}, {NULL, false}};

static uint64_t xx_hash(const void *text, size_t len)
{
    return gy_xxh64(text, len, 0);
}

static uint64_t murmur_hash_2(const void *text, size_t len)
{
    return gy_murmur2_64a(text, len, 0xc70f6907);
}

/* ---- localities ---- */

struct locality {
    const char *name;
    size_t len;
    uint64_t weight;
};

/* The next of "NAME:WEIGHT,..."; moves *at behind it. */
static bool next_locality(const char **at, struct locality *out)
{
    const char *end = *at + strcspn(*at, ","), *colon = end;
    while (colon > *at && *colon != ':') {
        colon--;
    }
    const char *number = colon + 1;
    *out = (struct locality){.name = *at, .len = (size_t)(colon - *at)};
    bool good = colon > *at && *number != '-' && gy_digits_read(&number, end, &out->weight) &&
                number == end && out->weight <= UINT32_MAX;
    *at = *end ? end + 1 : end;
    return good;
}

static bool stands_in(const struct gyre_node *node, const struct locality *l)
{
    size_t len;
    const char *p = gy_like_option(node, "locality", &len);
    return p && len == l->len && memcmp(p, l->name, len) == 0;
}

/* The hosts of one locality, behind the *n there are. */
static void take_hosts(const struct gy_like_job *job, const struct locality *l, double part,
                       struct gy_dealt *host, uint32_t *n)
{
    uint32_t first = *n;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < job->n && *n < job->n; i++) {
        if (stands_in(&job->m->nodes[job->list[i]], l)) {
            host[(*n)++].node = job->list[i];
            sum += gy_like_weight(job, job->list[i]);
        }
    }
    for (uint32_t i = first; i < *n; i++) {
        host[i].weight = (double)gy_like_weight(job, host[i].node) * part / (double)sum;
    }
}

static int fail_locality(const struct gy_like_job *job, const char *why)
{
    return gy_fail(job->e, GYRE_INVALID, "locality_weights: %s", why);
}

/* Localities of weight 0 get nothing. */
static int take_localities(const struct gy_like_job *job, const char *text, struct gy_dealt *host,
                           uint32_t *n)
{
    struct locality l;
    uint64_t sum = 0;
    uint32_t known = 0;
    for (const char *p = text; *p;) {
        if (!next_locality(&p, &l)) {
            return fail_locality(job, "not LOCALITY:WEIGHT,...");
        }
        sum += l.weight;
        for (uint32_t i = 0; i < job->n; i++) {
            known += stands_in(&job->m->nodes[job->list[i]], &l);
        }
    }
    if (known != job->n) {
        return fail_locality(job, "each node's option locality must be in it, once");
    }
    *n = 0;
    for (const char *p = text; *p;) {
        (void)next_locality(&p, &l);
        if (l.weight) {
            take_hosts(job, &l, (double)l.weight / (double)sum, host, n);
        }
    }
    return GYRE_OK;
}

static int take_all(const struct gy_like_job *job, struct gy_dealt *host, uint32_t *n)
{
    const char *weights = gy_like_text(job, GY_SET_LOCALITY_WEIGHTS);
    for (*n = 0; *n < job->n; (*n)++) {
        host[*n].node = job->list[*n];
    }
    if (*weights) {
        return take_localities(job, weights, host, n);
    }
    gy_dealt_normalize(job, host, *n);
    return GYRE_OK;
}

/* ---- ring_hash ---- */

static int build_ring(const struct gy_like_job *job, struct gy_dealt *host, uint32_t n)
{
    struct gy_dealt_ring ring = {.host = host,
                                 .n = n,
                                 .least = gy_like_number(job, GY_SET_MINIMUM_RING_SIZE),
                                 .most = gy_like_number(job, GY_SET_MAXIMUM_RING_SIZE),
                                 .hash = gy_like_word(job, GY_SET_HASH) == XX_HASH ? xx_hash
                                                                                   : murmur_hash_2};
    if (ring.least > ring.most) {
        return gy_fail(job->e, GYRE_INVALID, "minimum_ring_size is above maximum_ring_size");
    }
    struct gy_points points;
    int err = gy_dealt_points(job, &ring, &points);
    err = err ? err : gy_points_settle(job->m, &points, 64, job->e);
    gy_points_fini(&points);
    return err;
}

/* ---- maglev ---- */

struct turn {
    uint32_t node;
    double weight, target;
    uint64_t slot, skip; /* the next wish, and how far it is to the one after */
};

static bool is_prime(uint64_t n)
{
    for (uint64_t d = 2; d * d <= n; d++) {
        if (n % d == 0) {
            return false;
        }
    }
    return n > 1;
}

static void insert(struct turn *turn, uint32_t n, struct turn t)
{
    while (n && turn[n - 1].node > t.node) { /* numbers are in the order of the names */
        turn[n] = turn[n - 1];
        n--;
    }
    turn[n] = t;
}

static void fill_table(struct turn *turn, uint32_t n, uint32_t *table, uint64_t size)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        most = turn[i].weight > most ? turn[i].weight : most;
    }
    uint64_t filled = 0;
    for (uint64_t round = 1; filled < size; round++) {
        for (uint32_t i = 0; i < n && filled < size; i++) {
            struct turn *t = &turn[i];
            if ((double)round * t->weight < t->target) {
                continue;
            }
            t->target += most;
            while (table[t->slot] != GYRE_NONE) {
                t->slot = (t->slot + t->skip) % size;
            }
            table[t->slot] = t->node;
            filled++;
        }
    }
}

static int settle_table(const struct gy_like_job *job, const uint32_t *table, uint64_t size,
                        uint32_t n)
{
    struct gy_ranges ranges;
    int err = gy_ranges_init(&ranges, n ? size : 0, job->e);
    for (uint64_t i = 0; !err && n && i < size; i++) {
        gy_ranges_put(&ranges, 1, table[i]);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    return err;
}

/* The heaviest host has a turn in each round, and each round looks at every host. */
static int check_size(const struct gy_like_job *job, const struct gy_dealt *host, uint32_t n,
                      uint64_t size)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        most = host[i].weight > most ? host[i].weight : most;
    }
    if (!is_prime(size)) {
        return gy_fail(job->e, GYRE_INVALID, "table_size: %llu is no prime number",
                       (unsigned long long)size);
    }
    if ((double)size * most * n > WORK_MAX) {
        return gy_fail(job->e, GYRE_RANGE,
                       "table_size: %llu slots among %u hosts of so unlike weights would take "
                       "minutes",
                       (unsigned long long)size, n);
    }
    return GYRE_OK;
}

static int build_maglev(const struct gy_like_job *job, const struct gy_dealt *host, uint32_t n)
{
    uint64_t size = gy_like_number(job, GY_SET_TABLE_SIZE);
    int err = check_size(job, host, n, size);
    if (err) {
        return err;
    }
    struct turn *turn = gy_mem_alloc((size_t)n + 1, sizeof *turn);
    uint32_t *table = gy_mem_alloc((size_t)size, sizeof *table);
    err = turn && table ? GYRE_OK : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < n; i++) {
        const char *name = job->m->nodes[host[i].node].name;
        size_t len = strlen(name);
        insert(turn, i,
               (struct turn){.node = host[i].node,
                             .weight = host[i].weight,
                             .slot = gy_xxh64(name, len, 0) % size,
                             .skip = gy_xxh64(name, len, 1) % (size - 1) + 1});
    }
    if (!err && n) {
        memset(table, 0xff, (size_t)size * sizeof *table); /* GYRE_NONE */
        fill_table(turn, n, table, size);
    }
    err = err ? err : settle_table(job, table, size, n);
    gy_mem_free(turn);
    gy_mem_free(table);
    return err;
}

static int build(const struct gy_like_job *job)
{
    job->m->hash = &gy_hash_xxh64; /* of requests, whichever the points have */
    job->m->hash_bits = 64;
    uint32_t n = 0;
    struct gy_dealt *host = gy_mem_alloc((size_t)job->n + 1, sizeof *host);
    int err = host ? gy_like_whole_weights(job, UINT32_MAX) : gy_fail_nomem(job->e);
    err = err ? err : take_all(job, host, &n);
    if (!err) {
        err = gy_like_word(job, GY_SET_DISTRIBUTION) == MAGLEV ? build_maglev(job, host, n)
                                                               : build_ring(job, host, n);
    }
    gy_mem_free(host);
    return err;
}

const struct gy_like gy_like_envoy = {
    .name = "envoy", .settings = settings, .options = options, .build = build};
