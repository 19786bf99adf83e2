/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - the other placements beside what people write today: jump's published code, the scalar
 * loop of rendezvous, the logarithm of libm. One run; prints `name ours peer ratio`: nanoseconds of
 * CPU time a lookup, medians of RUNS runs that alternate, and how many times the peer's is ours.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/map.h"
#include "lib/place/mix.h"

enum { RUNS = 7, KEYS = 1 << 14, MAX_NODES = 100000 };

struct bench {
    gyre_map_t *map;
    uint32_t nodes;
    uint64_t hash[KEYS], seed[MAX_NODES];
    double weight[MAX_NODES];
    uint32_t out[KEYS], check[KEYS];
};

typedef void work_fn(struct bench *b);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void compare(const char *name, work_fn *ours, work_fn *theirs, struct bench *b)
{
    double a[RUNS], c[RUNS];
    ours(b); /* warm */
    theirs(b);
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        ours(b);
        double middle = now();
        theirs(b);
        a[i] = (middle - start) / KEYS;
        c[i] = (now() - middle) / KEYS;
    }
    qsort(a, RUNS, sizeof *a, by_value);
    qsort(c, RUNS, sizeof *c, by_value);
    printf("%-7s %-28s %9.2f %9.2f %7.1f\n", name, b->map->place->name, a[RUNS / 2], c[RUNS / 2],
           c[RUNS / 2] / a[RUNS / 2]);
}

static void single(struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        b->out[i] = gyre_map_locate_hash(b->map, b->hash[i]);
    }
}

static void batch(struct bench *b)
{
    gyre_map_locate_hash_batch(b->map, b->hash, KEYS, b->out);
}

static void published_jump(struct bench *b)
{
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

static void scalar_rendezvous(struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t most = 0;
        for (uint32_t k = 0; k < b->nodes; k++) {
            uint64_t z = gy_mix(b->hash[i] ^ b->seed[k]);
            b->check[i] = z > most ? k : b->check[i];
            most = z > most ? z : most;
        }
    }
}

static void libm_rendezvous(struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        double most = 0;
        for (uint32_t k = 0; k < b->nodes; k++) {
            uint64_t z = gy_mix(b->hash[i] ^ b->seed[k]);
            double score = b->weight[k] / -log(((double)(z >> 11) + 0.5) * 0x1p-53);
            b->check[i] = score > most ? k : b->check[i];
            most = score > most ? score : most;
        }
    }
}

/* Node i is called n000i, so that numbers are in name order. */
static void build(struct bench *b, const char *algorithm, uint32_t nodes, bool weighted)
{
    gyre_topology_t *t = gyre_topology_new();
    char name[16], capacity[16];
    uint32_t power = 1;
    while (power < nodes) {
        power *= 2;
    }
    snprintf(capacity, sizeof capacity, "%u", power);
    int err = t ? gyre_topology_set(t, "algorithm", algorithm, NULL) : GYRE_NOMEM;
    err = err ? err : gyre_topology_set(t, "capacity", capacity, NULL);
    err = err ? err : gyre_topology_set(t, "heaviest", weighted ? "4" : "1", NULL);
    for (uint32_t i = 0; !err && i < nodes; i++) {
        snprintf(name, sizeof name, "n%06u", i);
        b->seed[i] = gyre_hash_xxh3(name, 7);
        b->weight[i] = weighted ? 1 + i % 4 : 1;
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = b->weight[i]};
        err = gyre_topology_add(t, &n, NULL);
    }
    err = err ? err : gyre_map_build(t, &b->map, NULL);
    if (err) {
        printf("places: %s\n", gyre_err_name(err));
        exit(1);
    }
    gyre_topology_free(t);
    b->nodes = nodes;
}

static void must_agree(const struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (b->out[i] != b->check[i]) {
            puts("places: the answers differ");
            exit(1);
        }
    }
}

static void run(struct bench *b, const char *algorithm, uint32_t nodes, bool weighted,
                work_fn *peer, bool agree)
{
    char name[32];
    build(b, algorithm, nodes, weighted);
    snprintf(name, sizeof name, "%u", nodes);
    compare(name, single, peer, b);
    compare("  batch", batch, peer, b);
    if (agree) {
        must_agree(b);
    }
    gyre_map_unref(b->map);
}

int main(void)
{
    static struct bench b;
    static const uint32_t ranges[] = {10, 100, 1000, 10000};
    for (size_t i = 0; i < KEYS; i++) {
        b.hash[i] = gy_stream(1, i);
    }
    puts("nodes   placement                         ours      peer   ratio");
    for (size_t i = 0; i < 4; i++) {
        run(&b, "jump", ranges[i], false, published_jump, true);
        run(&b, "jumpback", ranges[i], false, published_jump, false);
        run(&b, "memento", ranges[i], false, published_jump, false);
        run(&b, "dx", ranges[i], false, published_jump, false);
        run(&b, "maglev", ranges[i], false, published_jump, false);
    }
    for (size_t i = 0; i < 3; i++) {
        run(&b, "rendezvous", ranges[i], false, scalar_rendezvous, true);
        run(&b, "rendezvous", ranges[i], true, libm_rendezvous, true);
    }
    return 0;
}
