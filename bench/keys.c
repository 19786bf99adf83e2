/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - whole lookups of string keys where the key's MD5 is most of the cost: weighted ketama as
 * libmemcached 1.1.4 does it, beside that library; ours one by one and in batches, at each level of
 * vector instructions. Nanoseconds of CPU time a key, medians of ROUNDS, all in one run; `name ours
 * peer ratio`.
 */
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "lib/map.h"

enum { ROUNDS = 9, KEYS = 20000, KEY_ROOM = 24, NODES = 100 };

struct bench {
    gyre_map_t *m;
    memcached_st *peer;
    char text[KEYS][KEY_ROOM];
    const void *key[KEYS];
    size_t len[KEYS];
    uint32_t ours[KEYS], theirs[KEYS];
};

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

static void one_by_one(struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        b->ours[i] = gyre_map_locate(b->m, b->key[i], b->len[i]);
    }
}

static void in_batches(struct bench *b)
{
    gyre_map_locate_batch(b->m, b->key, b->len, KEYS, b->ours);
}

static void libmemcached(struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        b->theirs[i] = memcached_generate_hash(b->peer, b->key[i], b->len[i]);
    }
}

static double median(struct bench *b, void (*run)(struct bench *))
{
    double ns[ROUNDS];
    for (unsigned r = 0; r < ROUNDS; r++) {
        double start = now();
        run(b);
        ns[r] = (now() - start) / KEYS;
    }
    qsort(ns, ROUNDS, sizeof ns[0], by_value);
    return ns[ROUNDS / 2];
}

static void set_up(struct bench *b)
{
    gyre_topology_t *t = gyre_topology_new();
    memcached_server_st *list = NULL;
    memcached_return_t rc;
    b->peer = memcached_create(NULL);
    must(t && b->peer && !gyre_topology_set(t, "like", "libmemcached", NULL) &&
             !gyre_topology_set(t, "distribution", "ketama_weighted", NULL) &&
             !memcached_behavior_set(b->peer, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1),
         "settings");
    for (unsigned i = 0; i < NODES; i++) {
        char host[32], name[48];
        snprintf(host, sizeof host, "10.0.0.%u", i);
        snprintf(name, sizeof name, "%s:6000", host);
        struct gyre_node node = {.size = sizeof node, .name = name, .weight = 1 + i % 4};
        list = memcached_server_list_append_with_weight(list, host, 6000, 1 + i % 4, &rc);
        must(list && !gyre_topology_add(t, &node, NULL), "node");
    }
    must(!memcached_server_push(b->peer, list) && !gyre_map_build(t, &b->m, NULL), "map");
    memcached_server_list_free(list);
    gyre_topology_free(t);
    for (unsigned i = 0; i < KEYS; i++) {
        b->len[i] = (size_t)snprintf(b->text[i], KEY_ROOM, "key:%u", i * 7919);
        b->key[i] = b->text[i];
    }
}

static void check(const struct bench *b)
{
    for (size_t i = 0; i < KEYS; i++) {
        const memcached_instance_st *s =
            memcached_server_instance_by_position(b->peer, b->theirs[i]);
        char name[64];
        snprintf(name, sizeof name, "%s:%u", memcached_server_name(s), memcached_server_port(s));
        must(strcmp(gyre_map_node(b->m, b->ours[i])->name, name) == 0, "another node than theirs");
    }
}

int main(void)
{
    static const char *const levels[] = {"plain C", "AVX2", "AVX-512"};
    struct bench *b = calloc(1, sizeof *b);
    must(b != NULL, "out of memory");
    set_up(b);
    double peer = median(b, libmemcached);
    double single = median(b, one_by_one);
    check(b);
    printf(
        "weighted ketama, %u nodes, keys of about 11 bytes, ns a key (ours, libmemcached, ratio)\n",
        NODES);
    printf("single           %8.1f %8.1f %6.2f\n", single, peer, peer / single);
    for (int level = GY_SIMD_NONE; level <= (int)gy_simd_best(); level++) {
        b->m->simd = (enum gy_simd)level;
        double batch = median(b, in_batches);
        check(b);
        printf("batch, %-8s  %8.1f %8.1f %6.2f\n", levels[level], batch, peer, peer / batch);
    }
    memcached_free(b->peer);
    gyre_map_unref(b->m);
    free(b);
    return 0;
}
