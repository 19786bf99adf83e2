/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - the other placements beside what people write today: jump's published code, the scalar
 * loop of rendezvous, the logarithm of libm. Where both are the same placement a wrong answer ends
 * the run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "lib/map.h"
#include "lib/place/mix.h"

enum { KEYS = 1 << 14, MAX_NODES = 10000 };

struct bench {
    gyre_map_t *map;
    uint32_t nodes;
    uint64_t hash[KEYS], seed[MAX_NODES];
    double weight[MAX_NODES];
    uint32_t out[KEYS], check[KEYS];
};

static void single(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        b->out[i] = gyre_map_locate_hash(b->map, b->hash[i]);
    }
}

static void batch(void *arg)
{
    struct bench *b = arg;
    gyre_map_locate_hash_batch(b->map, b->hash, KEYS, b->out);
}

static void published_jump(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t key = b->hash[i];
        int64_t at = -1, next = 0;
        while (next < (int64_t)b->nodes) {
            at = next;
            key = key * 2862933555777941757u + 1;
            next = (int64_t)((double)(at + 1) * ((double)(1u << 31) / (double)((key >> 33) + 1)));
        }
        b->check[i] = (uint32_t)at;
    }
}

static void scalar_rendezvous(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t most = 0, hash = b->hash[i];
        uint32_t first = 0;
        for (uint32_t k = 0; k < b->nodes; k++) {
            uint64_t z = gy_mix(hash ^ b->seed[k]);
            first = z > most ? k : first;
            most = z > most ? z : most;
        }
        b->check[i] = first;
    }
}

static void libm_rendezvous(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        double most = 0;
        uint32_t first = 0;
        for (uint32_t k = 0; k < b->nodes; k++) {
            uint64_t z = gy_mix(b->hash[i] ^ b->seed[k]);
            double score = b->weight[k] / -log(((double)(z >> 11) + 0.5) * 0x1p-53);
            first = score > most ? k : first;
            most = score > most ? score : most;
        }
        b->check[i] = first;
    }
}

struct line {
    const char *algorithm;
    unsigned nodes;
    bool weighted, agree;
    bench_work *peer;
    const char *peer_name;
    double one, batch; /* targets */
};

static const struct line lines[] = {
    {"jump", 10, false, true, published_jump, "published", 0, 10},
    {"jump", 100, false, true, published_jump, "published", 0, 10},
    {"jump", 1000, false, true, published_jump, "published", 0, 10},
    {"jump", 10000, false, true, published_jump, "published", 0, 10},
    {"jumpback", 10, false, false, published_jump, "jump", 2, 2},
    {"jumpback", 100, false, false, published_jump, "jump", 4, 4},
    {"jumpback", 1000, false, false, published_jump, "jump", 4, 4},
    {"jumpback", 10000, false, false, published_jump, "jump", 4, 4},
    {"dx", 10, false, false, published_jump, "jump", 2, 2},
    {"dx", 100, false, false, published_jump, "jump", 4, 4},
    {"dx", 1000, false, false, published_jump, "jump", 4, 4},
    {"dx", 10000, false, false, published_jump, "jump", 4, 4},
    {"memento", 10, false, false, published_jump, "jump", 0, 0},
    {"memento", 1000, false, false, published_jump, "jump", 0, 0},
    {"maglev", 10, false, false, published_jump, "jump", 0, 0},
    {"maglev", 1000, false, false, published_jump, "jump", 0, 0},
    {"rendezvous", 10, false, true, scalar_rendezvous, "scalar", 0, 7},
    {"rendezvous", 100, false, true, scalar_rendezvous, "scalar", 0, 7},
    {"rendezvous", 1000, false, true, scalar_rendezvous, "scalar", 0, 7},
    {"rendezvous", 10, true, true, libm_rendezvous, "libm", 0, 6},
    {"rendezvous", 100, true, true, libm_rendezvous, "libm", 0, 6},
    {"rendezvous", 1000, true, true, libm_rendezvous, "libm", 0, 6},
};

static void run(struct bench *b, const struct line *l)
{
    char settings[64], name[64];
    unsigned power = 1;
    while (power < l->nodes) {
        power *= 2;
    }
    snprintf(settings, sizeof settings, "algorithm %s capacity %u heaviest %u", l->algorithm, power,
             l->weighted ? 4 : 1);
    gyre_topology_t *t = bench_topology(settings, l->nodes, l->weighted);
    b->map = bench_map(t);
    gyre_topology_free(t);
    b->nodes = l->nodes;
    for (uint32_t i = 0; i < l->nodes; i++) {
        const char *node = b->map->nodes[i].name;
        b->seed[i] = gyre_hash_xxh3(node, strlen(node));
        b->weight[i] = b->map->nodes[i].weight;
    }
    for (int many = 0; many < 2; many++) {
        snprintf(name, sizeof name, "%s%s %u %s / %s", l->weighted ? "weighted " : "", l->algorithm,
                 l->nodes, many ? "batch" : "one", l->peer_name);
        bench_compare(name, many ? batch : single, l->peer, b, KEYS, many ? l->batch : l->one);
        if (l->agree && memcmp(b->out, b->check, sizeof b->out) != 0) {
            bench_fail("the answers differ");
        }
    }
    gyre_map_unref(b->map);
}

void bench_places(void)
{
    static struct bench b;
    for (size_t i = 0; i < KEYS; i++) {
        b.hash[i] = gy_stream(1, i);
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        run(&b, &lines[i]);
    }
}
