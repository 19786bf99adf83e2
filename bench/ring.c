/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the ring's lookup and build beside the standard library's over the same points, in one
 * run. Prints `name ours peer ratio`: nanoseconds of CPU time a lookup (or a point), medians of
 * RUNS runs that alternate, and how many times the peer's is ours. A wrong answer ends the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/map.h"
#include "peer.h"

enum { RUNS = 9, KEYS = 1 << 18 };

typedef void work_fn(void *arg);

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

static double median(double *x)
{
    qsort(x, RUNS, sizeof *x, by_value);
    return x[RUNS / 2];
}

static double once(work_fn *work, void *arg, double units)
{
    double start = now();
    work(arg);
    return (now() - start) / units;
}

static void compare(const char *name, work_fn *ours, work_fn *theirs, void *arg, double units)
{
    double a[RUNS], b[RUNS];
    ours(arg); /* warm */
    theirs(arg);
    for (int i = 0; i < RUNS; i++) {
        a[i] = once(ours, arg, units);
        b[i] = once(theirs, arg, units);
    }
    double x = median(a), y = median(b);
    printf("%-36s %9.2f %9.2f %7.1f\n", name, x, y, y / x);
}

struct bench {
    gyre_topology_t *topology;
    gyre_map_t *map;
    struct peer *peer;
    uint64_t *packed;
    uint64_t hash[KEYS];
    uint32_t out[KEYS], check[KEYS];
};

static void ours_single(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        b->out[i] = gyre_map_locate_hash(b->map, b->hash[i]);
    }
}

static void ours_batch(void *arg)
{
    struct bench *b = arg;
    gyre_map_locate_hash_batch(b->map, b->hash, KEYS, b->out);
}

/* The next key depends on the last answer, so nothing overlaps. */
static void ours_chained(void *arg)
{
    struct bench *b = arg;
    uint64_t last = 0;
    for (size_t i = 0; i < KEYS; i++) {
        last = b->out[i] = gyre_map_locate_hash(b->map, b->hash[i] ^ (last & 1) << 63);
    }
}

static void theirs_chained(void *arg)
{
    struct bench *b = arg;
    uint64_t last = 0;
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t hash = b->hash[i] ^ (last & 1) << 63;
        peer_lower_bound(b->peer, &hash, 1, &b->check[i]);
        last = b->check[i];
    }
}

static void theirs_array(void *arg)
{
    struct bench *b = arg;
    peer_lower_bound(b->peer, b->hash, KEYS, b->check);
}

static void theirs_tree(void *arg)
{
    struct bench *b = arg;
    peer_map(b->peer, b->hash, KEYS, b->check);
}

static void ours_build(void *arg)
{
    struct bench *b = arg;
    gyre_map_t *m;
    if (gyre_map_build(b->topology, &m, NULL)) {
        exit(1);
    }
    gyre_map_unref(m);
}

static void theirs_build(void *arg)
{
    struct bench *b = arg;
    peer_sort(b->packed, b->map->steps);
}

static void same_answers(const struct bench *b)
{
    if (memcmp(b->out, b->check, sizeof b->out) != 0) {
        puts("ring: the answers differ");
        exit(1);
    }
}

/* The points in the order they are made in, as a builder meets them, are the sorted ones shuffled.
 */
static void take_points(struct bench *b)
{
    size_t n = b->map->steps;
    uint32_t *position = malloc(n * sizeof *position);
    uint16_t *owner = malloc(n * sizeof *owner);
    b->packed = malloc(n * sizeof *b->packed);
    if (!position || !owner || !b->packed) {
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        position[i] = (uint32_t)b->map->place->position(b->map, i);
        owner[i] = (uint16_t)b->map->place->node(b->map, i);
        b->packed[i] = (uint64_t)position[i] << 16 | owner[i];
    }
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = gyre_hash_xxh3(&i, sizeof i) % (i + 1);
        uint64_t swap = b->packed[i];
        b->packed[i] = b->packed[k];
        b->packed[k] = swap;
    }
    b->peer = peer_new(position, owner, n);
    free(position);
    free(owner);
}

static void bench(unsigned nodes, const char *points)
{
    struct bench *b = calloc(1, sizeof *b);
    char name[64];
    if (!b || !(b->topology = gyre_topology_new()) ||
        gyre_topology_set(b->topology, "points", points, NULL)) {
        exit(1);
    }
    for (unsigned i = 0; i < nodes; i++) {
        snprintf(name, sizeof name, "cache-%u", i);
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        if (gyre_topology_add(b->topology, &n, NULL)) {
            exit(1);
        }
    }
    if (gyre_map_build(b->topology, &b->map, NULL)) {
        exit(1);
    }
    take_points(b);
    for (size_t i = 0; i < KEYS; i++) {
        b->hash[i] = gyre_hash_xxh3(&i, sizeof i);
    }
    snprintf(name, sizeof name, "%ux%s single/lower_bound", nodes, points);
    compare(name, ours_single, theirs_array, b, KEYS);
    same_answers(b);
    snprintf(name, sizeof name, "%ux%s batch/lower_bound", nodes, points);
    compare(name, ours_batch, theirs_array, b, KEYS);
    same_answers(b);
    snprintf(name, sizeof name, "%ux%s chained/lower_bound", nodes, points);
    compare(name, ours_chained, theirs_chained, b, KEYS);
    same_answers(b);
    snprintf(name, sizeof name, "%ux%s single/std::map", nodes, points);
    compare(name, ours_single, theirs_tree, b, KEYS);
    same_answers(b);
    snprintf(name, sizeof name, "%ux%s build/std::sort", nodes, points);
    compare(name, ours_build, theirs_build, b, (double)b->map->steps);
    printf("%-36s %9.2f %9s %7s\n", "  bytes a point",
           (double)gyre_map_bytes(b->map) / (double)b->map->steps, "6+", "-");
    peer_free(b->peer);
    gyre_map_unref(b->map);
    gyre_topology_free(b->topology);
    free(b->packed);
    free(b);
}

int main(void)
{
    printf("%-36s %9s %9s %7s   (ns of CPU time, median of %d)\n", "name", "ours", "peer", "ratio",
           RUNS);
    bench(10, "160");
    bench(100, "160");
    bench(1000, "160");
    bench(10000, "160");
    return 0;
}
