/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the ring's lookups and build beside the standard library's over the same points. A wrong
 * answer ends the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "lib/map.h"
#include "peer.h"

enum { KEYS = 1 << 18, POINTS = 160, REPLICAS = 3 };

struct bench {
    gyre_topology_t *topology;
    gyre_map_t *map;
    struct peer *peer;
    uint64_t *seeds;
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
    gyre_map_unref(bench_map(b->topology));
}

static void theirs_build(void *arg)
{
    struct bench *b = arg;
    peer_build(b->seeds, b->map->count, POINTS);
}

static void one_node(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        b->check[i] = gyre_map_locate(b->map, &b->hash[i], sizeof b->hash[i]);
    }
}

static void replicas(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        uint32_t out[REPLICAS];
        gyre_map_replicas(b->map, &b->hash[i], sizeof b->hash[i], out, REPLICAS, NULL);
        b->out[i] = out[0];
    }
}

static void take_points(struct bench *b)
{
    size_t n = b->map->steps;
    uint32_t *position = malloc(n * sizeof *position);
    uint16_t *owner = malloc(n * sizeof *owner);
    b->seeds = malloc(b->map->count * sizeof *b->seeds);
    if (!position || !owner || !b->seeds) {
        bench_fail("out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        position[i] = (uint32_t)b->map->place->position(b->map, i);
        owner[i] = (uint16_t)b->map->place->node(b->map, i);
    }
    for (uint32_t i = 0; i < b->map->count; i++) {
        b->seeds[i] = gyre_hash_xxh3(b->map->nodes[i].name, strlen(b->map->nodes[i].name));
    }
    b->peer = peer_new(position, owner, n);
    free(position);
    free(owner);
}

/* targets: of single, batch and build */
static void bench(unsigned nodes, const double targets[3])
{
    const struct {
        const char *name;
        bench_work *ours, *theirs;
        double target;
    } lines[] = {
        {"one / std::lower_bound", ours_single, theirs_array, targets[0]},
        {"batch / std::lower_bound", ours_batch, theirs_array, targets[1]},
        {"one after another / std::lower_bound", ours_chained, theirs_chained, 0},
        {"one / std::map", ours_single, theirs_tree, 0},
        {"three replicas / one node", replicas, one_node, 0.2},
    };
    struct bench *b = calloc(1, sizeof *b);
    char name[64];
    if (!b) {
        bench_fail("out of memory");
    }
    b->topology = bench_topology("points 160", nodes, false);
    b->map = bench_map(b->topology);
    take_points(b);
    for (size_t i = 0; i < KEYS; i++) {
        b->hash[i] = gyre_hash_xxh3(&i, sizeof i);
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        snprintf(name, sizeof name, "ring %ux%u %s", nodes, POINTS, lines[i].name);
        bench_compare(name, lines[i].ours, lines[i].theirs, b, KEYS, lines[i].target);
        if (memcmp(b->out, b->check, sizeof b->out) != 0) {
            bench_fail("the answers differ");
        }
    }
    snprintf(name, sizeof name, "ring %ux%u build / hash, std::sort", nodes, POINTS);
    bench_compare(name, ours_build, theirs_build, b, (double)b->map->steps, targets[2]);
    peer_free(b->peer);
    gyre_map_unref(b->map);
    gyre_topology_free(b->topology);
    free(b->seeds);
    free(b);
}

void bench_ring(void)
{
    bench(10, (const double[3]){0, 0, 0});
    bench(100, (const double[3]){0, 0, 0});
    bench(1000, (const double[3]){30, 45, 8});
    bench(10000, (const double[3]){12, 25, 8});
}
