/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcrouter.c - mcrouter's hash functions for pools. The routing prefix of a key and what follows
 * "|#|" are not hashed; `salt` is hashed behind the key. WeightedCh3 hashes the key anew for each
 * try, so that only real keys can be compared; a node of weight 0 stays in its list, and a key that
 * ends there for want of tries goes to the next. (Weighted)Rendezvous scores every node for every
 * key. Source: the 2026 tree, docs/compat/SPEC-databases.md section 6. Threads: immutable once
 * built.
 */
#include "lib/like/mcrouter.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/buckets.h"
#include "lib/like/digits.h"
#include "lib/like/ranges.h"
#include "lib/place/log2.h"
#include "lib/place/weights.h"

enum { CH3, CRC32, WEIGHTED_CH3, RENDEZVOUS, WEIGHTED_RENDEZVOUS };
enum { TRIES = 32 };
#define RENDEZVOUS_SEED 2718281828u

static const struct gy_like_setting settings[] = {
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "Ch3",
     "Ch3|Crc32|WeightedCh3|Rendezvous|WeightedRendezvous"},
    {GY_SET_SALT, GY_VALUE_TEXT, "", "any text of up to 255 bytes"},
    {0, 0, NULL, NULL},
};

/* ---- keys ---- */

struct rule {
    unsigned how;
    size_t salt_len;
    char salt[GY_SETTING_TEXT];
    uint32_t n;       /* of the rest: WeightedCh3 */
    uint32_t *bucket; /* of the topology's node: its place among those that take keys, or the next
                         one's */
    double *weight;
};

/* "/region/cluster/" in front, and "|#|" with what follows. */
static void key_part(const gyre_map_t *m, const void *key, size_t len, const void **part,
                     size_t *part_len)
{
    (void)m;
    const char *p = key;
    size_t start = 0, slashes = 0, end = 0;
    while (len && p[0] == '/' && start < len && slashes < 3) {
        slashes += p[start++] == '/';
    }
    start = slashes == 3 ? start : 0;
    for (end = start; end < len; end++) {
        if (len - end >= 3 && memcmp(p + end, "|#|", 3) == 0) {
            break;
        }
    }
    *part = len ? p + start : key;
    *part_len = end - start;
}

struct text {
    size_t len;
    char bytes[GY_MCROUTER_KEY + TRIES];
};

static void put(struct text *t, const void *data, size_t len)
{
    len = len < GY_MCROUTER_KEY - t->len ? len : GY_MCROUTER_KEY - t->len;
    if (len) {
        memcpy(t->bytes + t->len, data, len);
        t->len += len;
    }
}

static uint32_t weighted_ch3(struct text *t, const double *weight, uint32_t n)
{
    size_t len = t->len;
    uint32_t i = 0;
    for (unsigned turn = 0; turn < TRIES; turn++) {
        i = gy_bucket_furc(gy_murmur2_64a(t->bytes, t->len, GY_FURC_SEED), n);
        if (gy_spooky32(t->bytes, t->len, 0xface2014) < (uint64_t)(weight[i] * 4294967295.0)) {
            return i;
        }
        t->len = len;
        unsigned rest = turn;
        do { /* the lowest digit first */
            t->bytes[t->len++] = (char)('0' + rest % 10);
            rest /= 10;
        } while (rest);
    }
    return i;
}

uint32_t gy_mcrouter_wch3(const void *key, size_t len, const double *weight, uint32_t n)
{
    struct text t;
    t.len = 0;
    put(&t, key, len);
    return weighted_ch3(&t, weight, n);
}

static gy_u128 key_hash(const gyre_map_t *m, const void *part, size_t len)
{
    const struct rule *r = m->context;
    if (r->how == CRC32) {
        return gy_crc32_more(gy_crc32(part, len), r->salt, r->salt_len) & INT32_MAX;
    }
    struct text t;
    t.len = 0;
    put(&t, part, len);
    put(&t, r->salt, r->salt_len);
    switch (r->how) {
    case CH3:
        return gy_murmur2_64a(t.bytes, t.len, GY_FURC_SEED);
    case WEIGHTED_CH3:
        return r->n ? r->bucket[weighted_ch3(&t, r->weight, r->n)] : 0;
    default:
        return gy_murmur2_64a(t.bytes, t.len, RENDEZVOUS_SEED);
    }
}

/* ---- WeightedCh3 ---- */

static uint32_t as_it_is(uint64_t hash, uint32_t n)
{
    (void)n;
    return (uint32_t)hash;
}

/* The list with the nodes of weight 0. */
static void fill_weights(const struct gy_like_job *job, struct rule *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < job->m->count; i++) {
        uint64_t weight = job->m->weight[job->all[i]];
        r->weight[i] = (double)weight / (double)GY_WEIGHT_STEPS;
        r->bucket[i] = kept; /* the next that is kept, too */
        kept += weight != 0;
    }
    for (uint32_t i = 0; i < job->m->count; i++) {
        r->bucket[i] = r->bucket[i] == kept ? 0 : r->bucket[i];
    }
    r->n = job->m->count;
}

static int check_weights(const struct gy_like_job *job)
{
    for (uint32_t i = 0; i < job->n; i++) {
        char name[GY_SHOW];
        if (job->m->weight[job->list[i]] > GY_WEIGHT_STEPS) {
            return gy_fail(job->e, GYRE_RANGE, "node '%s': WeightedCh3 has weights of 0 to 1",
                           gy_show(job->m->nodes[job->list[i]].name, name));
        }
    }
    return GYRE_OK;
}

/* ---- rendezvous ---- */

struct scored {
    uint32_t n;
    bool weighted;
    uint32_t *node;
    double *weight;
    uint64_t *hash;
};

/* -log2 of k / 2^53; as log2.h has it, but of all 53 bits. */
static double cost_of(uint64_t k)
{
    double x = (double)k;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    unsigned i = bits >> 48 & 15;
    int64_t below = 53 + 1023 - (int64_t)(bits >> 52);
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    double r = m * gy_log2_inverse[i] - 1;
    double p = gy_log2_taylor[GY_LOG2_DEGREE - 1];
    for (int j = GY_LOG2_DEGREE - 2; j >= 0; j--) {
        p = p * r + gy_log2_taylor[j];
    }
    return ((double)below - gy_log2_offset[i]) - p * r;
}

static double score(const struct scored *s, uint64_t hash, uint32_t i)
{
    uint64_t z = gy_city_fold(hash, s->hash[i]);
    if (!s->weighted) {
        return (double)z; /* so near ties are ties */
    }
    uint64_t k = z & (((uint64_t)1 << 53) - 1);
    return k ? s->weight[i] * (1.0 / cost_of(k)) : 0;
}

/* Does (a, i) come before (b, j)? Of equals the later one, with weights the earlier. */
static bool before(const struct scored *s, double a, uint32_t i, double b, uint32_t j)
{
    return a > b || (!(a < b) && (s->weighted ? i < j : i > j));
}

/* The best of those after `last` (s->n: of all), as a place in the list; s->n if there is none. */
static uint32_t best_after(const struct scored *s, uint64_t hash, uint32_t last)
{
    double limit = last < s->n ? score(s, hash, last) : 0, most = 0;
    uint32_t best = s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        double x = score(s, hash, i);
        bool left = last == s->n || before(s, limit, last, x, i);
        if (left && i != last && (best == s->n || before(s, x, i, most, best))) {
            best = i;
            most = x;
        }
    }
    return best;
}

static uint32_t scored_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct scored *s = m->data;
    return s->node[best_after(s, (uint64_t)hash, s->n)];
}

static void scored_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n,
                                uint32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = scored_locate(m, hashes[i]);
    }
}

static void scored_start(struct gy_walk *w)
{
    w->state = ((const struct scored *)w->map->data)->n;
}

static uint32_t scored_next(struct gy_walk *w)
{
    const struct scored *s = w->map->data;
    if (w->draws == s->n) {
        return GYRE_NONE;
    }
    w->draws++;
    w->state = best_after(s, w->hash, (uint32_t)w->state);
    return s->node[w->state];
}

static bool scored_same(const gyre_map_t *a, const gyre_map_t *b)
{
    const struct scored *x = a->data, *y = b->data;
    for (uint32_t i = 0; i < x->n; i++) { /* order counts among equals */
        if (strcmp(a->nodes[x->node[i]].name, b->nodes[y->node[i]].name) != 0 ||
            (x->weighted && x->weight[i] != y->weight[i])) {
            return false;
        }
    }
    return x->weighted == y->weighted;
}

static double scored_share(const gyre_map_t *m, uint32_t i)
{
    const struct scored *s = m->data;
    return s->weighted ? gy_weight_share(m, i) : 1.0 / m->positive;
}

static void scored_fini(struct gyre_map *m)
{
    struct scored *s = m->data;
    gy_mem_free(s->node);
    gy_mem_free(s->weight);
    gy_mem_free(s->hash);
    gy_mem_free(s);
}

static const struct gy_place place_scored = {
    .name = "rendezvous",
    .fini = scored_fini,
    .locate = scored_locate,
    .locate_batch = scored_locate_batch,
    .start = scored_start,
    .next = scored_next,
    .share = scored_share,
    .same = scored_same,
};

static int build_scored(const struct gy_like_job *job, bool weighted)
{
    struct gyre_map *m = job->m;
    m->place = &place_scored;
    m->position_bits = 64;
    m->steps = 0;
    if (job->n == 0) {
        return GYRE_OK;
    }
    struct scored *s = gy_mem_alloc(1, sizeof *s);
    if (!s) {
        return gy_fail_nomem(job->e);
    }
    *s = (struct scored){.n = job->n,
                         .weighted = weighted,
                         .node = gy_mem_alloc(job->n, sizeof *s->node),
                         .weight = gy_mem_alloc(job->n, sizeof *s->weight),
                         .hash = gy_mem_alloc(job->n, sizeof *s->hash)};
    m->data = s;
    if (!s->node || !s->weight || !s->hash) {
        return gy_fail_nomem(job->e);
    }
    for (uint32_t i = 0; i < job->n; i++) {
        const char *name = m->nodes[job->list[i]].name;
        s->node[i] = job->list[i];
        s->weight[i] = (double)m->weight[job->list[i]] / (double)GY_WEIGHT_STEPS;
        s->hash[i] = gy_murmur2_64a(name, strlen(name), GY_FURC_SEED);
        m->points[job->list[i]] = 1;
    }
    m->steps = job->n;
    m->bytes = job->n * (sizeof *s->node + sizeof *s->weight + sizeof *s->hash);
    return GYRE_OK;
}

/* ---- building ---- */

static int build_crc32(const struct gy_like_job *job)
{
    struct gy_ranges ranges;
    if (job->n && !gy_weights_equal(job->m)) {
        return gy_fail(job->e, GYRE_UNSUPPORTED, "Crc32 knows no weights; WeightedCh3 does");
    }
    int err = gy_ranges_init(&ranges, job->n, job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        gy_ranges_put(&ranges, 1, job->list[i]);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    return err;
}

static struct rule *take_rule(const struct gy_like_job *job)
{
    size_t n = (size_t)job->m->count + 1;
    struct rule *r = gy_mem_alloc(sizeof *r + n * (sizeof *r->weight + sizeof *r->bucket), 1);
    if (!r) {
        return NULL;
    }
    *r = (struct rule){.how = gy_like_word(job, GY_SET_DISTRIBUTION),
                       .salt_len = strlen(gy_like_text(job, GY_SET_SALT)),
                       .weight = (double *)(r + 1)};
    r->bucket = (uint32_t *)(r->weight + n);
    memcpy(r->salt, gy_like_text(job, GY_SET_SALT), r->salt_len + 1);
    job->m->context = r;
    return r;
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    struct rule *r = take_rule(job);
    int err;
    if (!r) {
        return gy_fail_nomem(job->e);
    }
    bool crc = r->how == CRC32;
    m->hash = crc ? &gy_hash_crc32 : &gy_hash_murmur2_64a_mcrouter;
    m->hash_bits = m->hash->bits;
    m->key_hash = key_hash;
    m->key_part = key_part;
    m->key_rule = gy_xxh64(r->salt, r->salt_len, r->how);
    switch (r->how) {
    case CRC32:
        return build_crc32(job);
    case CH3:
        return gy_buckets_settle(job, gy_bucket_furc);
    case WEIGHTED_CH3:
        fill_weights(job, r);
        m->by_key = true;
        m->key_rule ^= gy_xxh64(r->weight, r->n * sizeof *r->weight, 0);
        err = check_weights(job);
        return err ? err : gy_buckets_weighted(job, as_it_is);
    default:
        return build_scored(job, r->how == WEIGHTED_RENDEZVOUS);
    }
}

const struct gy_like gy_like_mcrouter = {.name = "mcrouter", .settings = settings, .build = build};
