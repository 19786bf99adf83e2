/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buckets.c - systems that know nodes by number: columns `bucket@N` and the like are answered by a
 * map of N nodes and, where the library has one, by the function itself; both must agree. More
 * nodes than a map can hold are asked of the function alone. Threads: one.
 */
#include "lib/like/buckets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/like/digits.h"
#include "lib/map.h"
#include "vectors/cells.h"

enum { NODES_MOST = 65535, SETTINGS = 12 };
#define NUMBERS "int32|int64|uint32|uint64"

static uint32_t modulo(uint64_t hash, uint32_t n)
{
    return (uint32_t)(hash % n);
}

struct buckets {
    const struct vfile *f;
    struct verdict *v;
    const char *prefix;   /* of the columns: "bucket@" */
    const char *variable; /* setting that what follows N and a colon gives; NULL: nothing may */
    const char *count;    /* setting that N gives besides; NULL: none */
    gy_bucket *f_of_n;    /* NULL: only the map knows */
    const char *settings[SETTINGS];
    gyre_map_t *map[VF_COLUMNS];
    uint64_t n[VF_COLUMNS];
};

/* "bucket@N" or "bucket@N:VARIABLE"; the copy is cut up. */
static bool read_column(const struct buckets *b, char *copy, uint64_t *n, const char **variable)
{
    size_t len = strlen(b->prefix);
    if (strncmp(copy, b->prefix, len) != 0) {
        return false;
    }
    char *colon = strchr(copy + len, ':');
    *variable = colon ? colon + 1 : NULL;
    if (colon) {
        *colon = '\0';
    }
    return vf_number(copy + len, n) && *n > 0 && *n <= UINT32_MAX && !*variable == !b->variable;
}

static bool make_map(struct buckets *b, size_t column)
{
    char copy[128], number[24];
    const char *variable, *settings[SETTINGS + 5];
    size_t k = 0;
    if (b->n[column]) {
        return b->map[column] || b->n[column] > NODES_MOST;
    }
    if (strlen(b->f->column[column]) >= sizeof copy) {
        return false;
    }
    strcpy(copy, b->f->column[column]);
    if (!read_column(b, copy, &b->n[column], &variable)) {
        return false;
    }
    for (; b->settings[k]; k++) {
        settings[k] = b->settings[k];
    }
    if (variable) {
        settings[k++] = b->variable;
        settings[k++] = variable;
    }
    if (b->count) {
        snprintf(number, sizeof number, "%" PRIu64, b->n[column]);
        settings[k++] = b->count;
        settings[k++] = number;
    }
    settings[k] = NULL;
    if (b->n[column] <= NODES_MOST) {
        b->map[column] = cells_numbered(settings, b->n[column], NULL, b->v);
    } else { /* for its hash */
        b->map[column] = b->f_of_n ? cells_numbered(b->settings, 1, NULL, b->v) : NULL;
    }
    return b->map[column] != NULL;
}

static bool bucket_cell(void *self, struct cell *c)
{
    struct buckets *b = self;
    int column = vf_column(b->f, c->column);
    if (column < 0 || !make_map(b, (size_t)column)) {
        return false;
    }
    const gyre_map_t *m = b->map[column];
    uint64_t n = b->n[column], hash = (uint64_t)cells_hash(m, c->key, c->len), got;
    bool whole = n <= NODES_MOST;
    const void *part = c->key; /* what the map hashes of a key is not always all of it */
    size_t len = c->len;
    gyre_map_hash_input(m, c->key, c->len, &part, &len);
    uint64_t of_map = whole ? cells_number(m, m->place->locate(m, hash)) : 0;
    got = b->f_of_n ? b->f_of_n(hash, (uint32_t)n) : of_map;
    if (whole && of_map != (got < n ? got : n - 1)) {
        got = UINT64_MAX;
    }
    if (whole && len == c->len && cells_number(m, cells_locate(m, c->key, c->len)) != of_map) {
        got = UINT64_MAX;
    }
    snprintf(c->got, sizeof c->got, "%" PRIu64, got);
    return true;
}

static void check(struct buckets *b)
{
    cells_check(b->f, bucket_cell, b, b->v);
    for (size_t i = 0; i < VF_COLUMNS; i++) {
        gyre_map_unref(b->map[i]);
    }
}

static const char *const hash_only[] = {"hash", NULL};
static const char *const hash_type[] = {"hash", "hash_type", NULL};
static const char *const routing[] = {"hash", "hash_type", "seed", "routing_partition_size", NULL};

/* ---- jump, guava ---- */

/* Rows of a key and a number of buckets: a map for each. */
static bool jump_cell(void *self, struct cell *c)
{
    static gy_bucket *const functions[] = {gy_jump_published, gy_jump_published, gy_jump_guava,
                                           gy_jump_exact};
    static const char *const forms[] = {"published", "clickhouse", "guava", "exact"};
    struct buckets *b = self;
    const char *shown = c->row->column[vf_column(b->f, "buckets")];
    uint64_t n, got = UINT64_MAX;
    if (strcmp(c->column, "buckets") == 0) { /* given */
        snprintf(c->got, sizeof c->got, "%s", shown);
        return true;
    }
    if (strncmp(c->column, "bucket@", 7) != 0 || !vf_number(shown, &n) || !n || n > INT32_MAX) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        const char *settings[] = {"like", "jump", "distribution", forms[i], "hash", "none", NULL};
        if (strcmp(c->column + 7, forms[i]) != 0) {
            continue;
        }
        got = functions[i](gy_digits_key(c->key, c->len), (uint32_t)n);
        gyre_map_t *m = n <= NODES_MOST ? cells_numbered(settings, n, NULL, b->v) : NULL;
        if (m && cells_number(m, cells_locate(m, c->key, c->len)) != got) {
            got = UINT64_MAX;
        }
        gyre_map_unref(m);
        snprintf(c->got, sizeof c->got, "%" PRIu64, got);
        return true;
    }
    return false;
}

void check_jump(const struct vfile *f, struct verdict *v)
{
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "bucket@",
                        .f_of_n = gy_jump_published,
                        .settings = {"like", "jump", "hash", "none"}};
    if (!cells_header(f, "jump", NUMBERS, hash_only, v) || !cells_want(f, "hash", "none", v)) {
        return;
    }
    if (vf_column(f, "buckets") >= 0) {
        cells_check(f, jump_cell, &b, v);
    } else {
        check(&b);
    }
}

void check_guava(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"hash", "seed", "siphash_key", NULL};
    const char *type = vf_get(f, "key_type");
    bool numbers = type && strstr(type, "int");
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "bucket@",
                        .variable = numbers ? NULL : "hash",
                        .f_of_n = gy_jump_guava,
                        .settings = {"like", "guava", numbers ? "hash" : NULL, "none"}};
    if (cells_header(f, "consistentHash", "bytes|utf8|" NUMBERS, known, v) &&
        cells_want(f, "hash", numbers ? "none" : "", v) && cells_want(f, "seed", "0", v) &&
        cells_want(f, "siphash_key", "000102030405060708090a0b0c0d0e0f", v)) {
        check(&b);
    }
}

/* ---- partition maps ---- */

void check_kafka(const struct vfile *f, struct verdict *v)
{
    struct buckets b = {
        .f = f, .v = v, .prefix = "partition@", .f_of_n = modulo, .settings = {"like", "kafka"}};
    if (cells_header(f, "partition", "bytes|utf8", hash_type, v) &&
        cells_want(f, "hash", "murmur2", v)) {
        check(&b);
    }
}

void check_couchbase(const struct vfile *f, struct verdict *v)
{
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "vbucket@",
                        .count = "partitions",
                        .f_of_n = modulo,
                        .settings = {"like", "couchbase"}};
    if (cells_header(f, "vbucket", "bytes|utf8", hash_type, v) &&
        cells_want(f, "hash", "crc32", v)) {
        check(&b);
    }
}

void check_elasticsearch(const struct vfile *f, struct verdict *v)
{
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "shard@",
                        .variable = "number_of_routing_shards",
                        .settings = {"like", "elasticsearch"}};
    if (cells_header(f, "routing", "utf8", routing, v) &&
        cells_want(f, "hash", "murmur3_x86_32", v) && cells_want(f, "seed", "0", v) &&
        cells_want(f, "routing_partition_size", "1", v)) {
        check(&b);
    }
}

void check_vitess(const struct vfile *f, struct verdict *v)
{
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "shard@",
                        .settings = {"like", "vitess", "hash", vf_get(f, "hash")}};
    const char *hash = vf_get(f, "hash");
    bool numbers = hash && strcmp(hash, "hash") == 0;
    if (cells_header(f, "vindex", numbers ? NUMBERS : "bytes|utf8", hash_only, v)) {
        check(&b);
    }
}

/* ---- lists of weights ---- */

struct weights {
    const struct vfile *f;
    double *weight;
    size_t n;
    gyre_map_t *m;
    gy_weigh *pure; /* NULL: only the map knows */
};

static bool index_cell(void *self, struct cell *c)
{
    struct weights *w = self;
    if (strcmp(c->column, "index") != 0) {
        return false;
    }
    uint64_t of_map = UINT64_MAX;
    if (w->m && w->m->steps) { /* not all weigh 0 */
        uint64_t hash = (uint64_t)cells_hash(w->m, c->key, c->len);
        of_map = cells_number(w->m, w->m->place->locate(w->m, hash));
    }
    uint64_t got = w->pure ? w->pure(c->key, c->len, w->weight, (uint32_t)w->n) : of_map;
    if (w->m && w->weight[got < w->n ? got : 0] > 0 && got != of_map) {
        got = UINT64_MAX;
    }
    snprintf(c->got, sizeof c->got, "%" PRIu64, got);
    return true;
}

static bool read_weights(struct weights *w, const char *list)
{
    for (const char *p = list; p && *p;) {
        char *end;
        w->weight = realloc(w->weight, (w->n + 1) * sizeof *w->weight);
        if (!w->weight) {
            abort();
        }
        w->weight[w->n++] = strtod(p, &end);
        if (end == p || (*end && *end != ',')) {
            return false;
        }
        p = *end ? end + 1 : end;
    }
    return w->n > 0;
}

/* Topologies keep weights in steps of a millionth. */
static bool fits_topology(const struct weights *w)
{
    bool fits = w->n <= NODES_MOST;
    for (size_t i = 0; i < w->n; i++) {
        fits = fits && w->weight[i] >= 0 && w->weight[i] <= 1e6 &&
               (double)(uint64_t)(w->weight[i] * 1e6 + 0.5) / 1e6 == w->weight[i];
    }
    return fits;
}

void check_weights(const struct vfile *f, const char *const *settings, gy_weigh *pure,
                   struct verdict *v)
{
    struct weights w = {.f = f, .pure = pure};
    if (!read_weights(&w, vf_get(f, "index_weights"))) {
        refuse(v, "no index_weights, or malformed");
        free(w.weight);
        return;
    }
    if (!pure || fits_topology(&w)) {
        w.m = cells_numbered(settings, w.n, w.weight, v);
    }
    if (!v->refused) {
        cells_check(f, index_cell, &w, v);
    }
    gyre_map_unref(w.m);
    free(w.weight);
}

/* ---- clickhouse, mcrouter ---- */

void check_clickhouse(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"hash", "key_cast", "index_weights", NULL};
    const char *mode = vf_get(f, "mode"), *hash = vf_get(f, "hash"), *type = vf_get(f, "key_type");
    if (!cells_header(f,
                      "distributed|jumpConsistentHash|yandexConsistentHash|kostikConsistentHash|"
                      "sumburConsistentHash",
                      "bytes|utf8|" NUMBERS, known, v)) {
        return;
    }
    type = type && strcmp(type, "utf8") != 0 ? type : "bytes";
    if (strcmp(mode, "distributed") == 0) {
        const char *settings[] = {"like", "clickhouse", "hash", hash, "distribution",
                                  mode,   "key_type",   type,   NULL};
        if (vf_get(f, "key_cast") || !hash) {
            refuse(v, "distributed has a hash and no key_cast");
            return;
        }
        check_weights(f, settings, NULL, v);
        return;
    }
    bool sumbur = strcmp(mode, "sumburConsistentHash") == 0;
    bool jump = strcmp(mode, "jumpConsistentHash") == 0;
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "bucket@",
                        .f_of_n = sumbur ? gy_bucket_sumbur
                                  : jump ? gy_jump_published
                                         : gy_bucket_yandex,
                        .settings = {"like", "clickhouse", "hash", hash ? hash : "none",
                                     "distribution", mode, "key_type", type}};
    if (vf_get(f, "index_weights")) {
        refuse(v, "%s has no weights", mode);
    } else if (cells_want(f, "key_cast", sumbur ? "uint32" : "", v)) {
        check(&b);
    }
}

void check_ch3(const struct vfile *f, struct verdict *v)
{
    bool crc = strcmp(vf_get(f, "mode"), "Crc32") == 0;
    struct buckets b = {.f = f,
                        .v = v,
                        .prefix = "bucket@",
                        .f_of_n = crc ? modulo : gy_bucket_furc,
                        .settings = {"like", "mcrouter", "distribution", vf_get(f, "mode")}};
    check(&b);
}
