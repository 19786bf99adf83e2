/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - does a cache from key to node pay, as is often advised? The plain lookup beside two
 * bounded caches in front of it, one by the key's 64-bit hash, one by the key itself, on uniform
 * and on Zipf-distributed keys; and what the same keys cost in batches. One run; nanoseconds of CPU
 * time a lookup, medians of RUNS runs that alternate, and how many times each one's time goes into
 * the plain lookup's. What came out, and why the library has no such cache: docs/lookup-cache.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gyre.h"

enum {
    RUNS = 7,
    WORKS = 4,
    LOOKUPS = 1 << 17,
    KEYS = 1000000,
    KEY_ROOM = 24,
    ENTRIES = 1 << 16,
    WAYS = 4
};

/* A key as a request would bring it: near, for it was just read. */
struct key {
    uint32_t len;
    char text[KEY_ROOM];
};

struct by_hash {
    uint64_t hash;
    uint32_t node;
};

struct by_key {
    uint32_t node, len;
    char text[KEY_ROOM];
};

struct bench {
    gyre_map_t *map;
    bool own_hash; /* the map places by XXH3, so that one hash serves both */
    struct key key[LOOKUPS];
    struct by_hash hashes[ENTRIES];
    struct by_key keys[ENTRIES];
    uint64_t hits, sum;
    const void *text[LOOKUPS];
    size_t len[LOOKUPS];
    uint32_t out[LOOKUPS];
};

typedef void work_fn(struct bench *b);

static void plain(struct bench *b)
{
    for (size_t i = 0; i < LOOKUPS; i++) {
        b->sum += gyre_map_locate(b->map, b->key[i].text, b->key[i].len);
    }
}

/* A bucket of WAYS places; a newcomer moves the others on, so the least recent of them goes. */
static void cached_by_hash(struct bench *b)
{
    for (size_t i = 0; i < LOOKUPS; i++) {
        const struct key *k = &b->key[i];
        uint64_t hash = gyre_hash_xxh3(k->text, k->len);
        struct by_hash *bucket = &b->hashes[(hash & (ENTRIES / WAYS - 1)) * WAYS];
        unsigned at = 0;
        while (at < WAYS && bucket[at].hash != hash) {
            at++;
        }
        if (at < WAYS) {
            b->hits++;
            b->sum += bucket[at].node;
            continue;
        }
        memmove(bucket + 1, bucket, (WAYS - 1) * sizeof *bucket);
        bucket[0].hash = hash;
        bucket[0].node = b->own_hash ? gyre_map_locate_hash(b->map, hash)
                                     : gyre_map_locate(b->map, k->text, k->len);
        b->sum += bucket[0].node;
    }
}

/* The same, exact for any key whatever its hash. */
static void cached_by_key(struct bench *b)
{
    for (size_t i = 0; i < LOOKUPS; i++) {
        const struct key *k = &b->key[i];
        uint64_t hash = gyre_hash_xxh3(k->text, k->len);
        struct by_key *bucket = &b->keys[(hash & (ENTRIES / WAYS - 1)) * WAYS];
        unsigned at = 0;
        while (at < WAYS &&
               (bucket[at].len != k->len || memcmp(bucket[at].text, k->text, k->len) != 0)) {
            at++;
        }
        if (at < WAYS) {
            b->hits++;
            b->sum += bucket[at].node;
            continue;
        }
        memmove(bucket + 1, bucket, (WAYS - 1) * sizeof *bucket);
        bucket[0].len = k->len;
        memcpy(bucket[0].text, k->text, k->len);
        bucket[0].node = b->own_hash ? gyre_map_locate_hash(b->map, hash)
                                     : gyre_map_locate(b->map, k->text, k->len);
        b->sum += bucket[0].node;
    }
}

/* No cache, but many keys at once. */
static void batched(struct bench *b)
{
    gyre_map_locate_batch(b->map, b->text, b->len, LOOKUPS, b->out);
    for (size_t i = 0; i < LOOKUPS; i++) {
        b->sum += b->out[i];
    }
}

static void measure(struct bench *b, const char *name, const char *keys)
{
    static work_fn *const works[WORKS] = {plain, cached_by_hash, cached_by_key, batched};
    double took[WORKS][RUNS], median[WORKS];
    uint64_t answer[WORKS];
    memset(b->hashes, 0, sizeof b->hashes);
    memset(b->keys, 0, sizeof b->keys);
    for (int run = -1; run < RUNS; run++) { /* the first fills the caches, and is not counted */
        b->hits = 0;
        for (int w = 0; w < WORKS; w++) {
            b->sum = 0;
            double start = now();
            works[w](b);
            if (run >= 0) {
                took[w][run] = (now() - start) / LOOKUPS;
            }
            answer[w] = b->sum;
        }
    }
    for (int w = 0; w < WORKS; w++) {
        qsort(took[w], RUNS, sizeof took[w][0], by_value);
        median[w] = took[w][RUNS / 2];
        if (answer[w] != answer[0]) {
            printf("%s: a cache answers otherwise\n", name);
            exit(1);
        }
    }
    printf("%-18s %-8s", name, keys);
    for (int w = 0; w < WORKS; w++) {
        printf(" %7.1f", median[w]);
    }
    for (int w = 1; w < WORKS; w++) {
        printf(" %6.2f", median[0] / median[w]);
    }
    printf(" %5.1f %%\n", 50.0 * (double)b->hits / LOOKUPS);
}

static gyre_map_t *map_of(const char *settings, unsigned nodes)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_map_t *m = NULL;
    gyre_error_t e = {0};
    char key[32], value[32];
    int used, err = t ? 0 : GYRE_NOMEM;
    for (; !err && sscanf(settings, " %31s %31s%n", key, value, &used) == 2; settings += used) {
        err = gyre_topology_set(t, key, value, &e);
    }
    for (unsigned i = 0; !err && i < nodes; i++) {
        char name[40];
        struct gyre_node n = {.size = sizeof n, .name = name, .address = name, .weight = 1};
        snprintf(name, sizeof name, "10.0.%u.%u:11211", i / 250, i % 250);
        err = gyre_topology_add(t, &n, &e);
    }
    if (err || gyre_map_build(t, &m, &e)) {
        fprintf(stderr, "bench_cache: %s: %s\n", settings, e.message);
        exit(1);
    }
    gyre_topology_free(t);
    return m;
}

/* Key k with a chance of 1 / (k + 1), or all alike; the order of the popular ones is shuffled by
 * the multiplication. */
static void make_keys(struct bench *b, bool zipf)
{
    double *upto = malloc(KEYS * sizeof *upto), sum = 0;
    uint64_t state = 1;
    if (!upto) {
        exit(1);
    }
    for (size_t k = 0; k < KEYS; k++) {
        upto[k] = sum += zipf ? 1.0 / (double)(k + 1) : 1;
    }
    for (size_t i = 0; i < LOOKUPS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double x = (double)(state >> 11) / 9007199254740992.0 * sum;
        size_t low = 0, high = KEYS - 1;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (upto[mid] < x) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        b->text[i] = b->key[i].text;
        b->key[i].len = (uint32_t)snprintf(b->key[i].text, KEY_ROOM, "session:%08zx",
                                           low * 2654435761u & 0xffffffff);
        b->len[i] = b->key[i].len;
    }
    free(upto);
}

int main(void)
{
    static const struct {
        const char *name, *settings;
        unsigned nodes;
    } maps[] = {
        {"ring 1000 x 160", "points 160", 1000},
        {"jump 1000", "algorithm jump", 1000},
        {"rendezvous 10", "algorithm rendezvous", 10},
        {"rendezvous 100", "algorithm rendezvous", 100},
        {"rendezvous 1000", "algorithm rendezvous", 1000},
        {"like libketama 100", "like libketama", 100},
    };
    struct bench *b = calloc(1, sizeof *b);
    if (!b) {
        return 1;
    }
    printf("%-18s %-8s %7s %7s %7s %7s %6s %6s %6s %7s\n", "placement", "keys", "plain", "by hash",
           "by key", "batch", "/hash", "/key", "/batch", "hits");
    for (int zipf = 0; zipf < 2; zipf++) {
        make_keys(b, zipf);
        for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
            b->map = map_of(maps[i].settings, maps[i].nodes);
            b->own_hash = strncmp(maps[i].settings, "like", 4) != 0;
            measure(b, maps[i].name, zipf ? "Zipf" : "uniform");
            gyre_map_unref(b->map);
        }
    }
    free(b);
    return 0;
}
