/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ketama.c - keys to servers as libmemcached does it, weighted ketama, beside libmemcached: the
 * same servers, keys and answers. It takes at most 100 servers and aborts beyond, so a thousand of
 * ours stand beside a hundred of theirs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#ifdef HAVE_LIBMEMCACHED
#include <libmemcached/memcached.h>

enum { KEYS = 1 << 14, LENGTH = 16, THEIR_MOST = 100 };

struct bench {
    memcached_st *theirs;
    gyre_map_t *map;
    const void *key[KEYS];
    size_t len[KEYS];
    char text[KEYS][LENGTH];
    uint32_t out[KEYS], check[KEYS];
};

static void ours_single(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        b->out[i] = gyre_map_locate(b->map, b->key[i], b->len[i]);
    }
}

static void ours_batch(void *arg)
{
    struct bench *b = arg;
    gyre_map_locate_batch(b->map, b->key, b->len, KEYS, b->out);
}

static void theirs_single(void *arg)
{
    struct bench *b = arg;
    for (size_t i = 0; i < KEYS; i++) {
        b->check[i] = memcached_generate_hash(b->theirs, b->key[i], b->len[i]);
    }
}

static void build_theirs(struct bench *b, memcached_hash_t hash, unsigned nodes)
{
    b->theirs = memcached_create(NULL);
    memcached_server_st *list = NULL;
    memcached_return_t rc = MEMCACHED_SUCCESS;
    if (!b->theirs || memcached_behavior_set(b->theirs, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1) ||
        memcached_behavior_set(b->theirs, MEMCACHED_BEHAVIOR_HASH, hash)) {
        bench_fail("libmemcached refuses");
    }
    for (unsigned i = 0; i < nodes && !rc; i++) {
        char name[16];
        snprintf(name, sizeof name, "cache-%05u", i);
        list = memcached_server_list_append_with_weight(list, name, 11211, 1 + i % 4, &rc);
    }
    if (rc || memcached_server_push(b->theirs, list)) {
        bench_fail("libmemcached refuses");
    }
    memcached_server_list_free(list);
}

static void bench(struct bench *b, const char *hash, memcached_hash_t id, unsigned nodes,
                  const double targets[2])
{
    char settings[96], name[64];
    snprintf(settings, sizeof settings, "like libmemcached distribution ketama_weighted hash %s",
             hash);
    gyre_topology_t *t = bench_topology(settings, nodes, true);
    b->map = bench_map(t);
    gyre_topology_free(t);
    build_theirs(b, id, nodes < THEIR_MOST ? nodes : THEIR_MOST);
    for (int many = 0; many < 2; many++) {
        snprintf(name, sizeof name, "ketama %s %u %s / libmemcached%s", hash, nodes,
                 many ? "batch" : "one", nodes > THEIR_MOST ? " with 100" : "");
        bench_compare(name, many ? ours_batch : ours_single, theirs_single, b, KEYS, targets[many]);
        if (nodes <= THEIR_MOST && memcmp(b->out, b->check, sizeof b->out) != 0) {
            bench_fail("libmemcached answers otherwise");
        }
    }
    memcached_free(b->theirs);
    gyre_map_unref(b->map);
}

void bench_ketama(void)
{
    static const unsigned nodes[] = {10, 100, 1000};
    struct bench *b = calloc(1, sizeof *b);
    if (!b) {
        bench_fail("out of memory");
    }
    for (unsigned i = 0; i < KEYS; i++) {
        b->len[i] = (size_t)snprintf(b->text[i], LENGTH, "key:%u", i * 2654435761u);
        b->key[i] = b->text[i];
    }
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        bench(b, "md5", MEMCACHED_HASH_MD5, nodes[i], (const double[2]){1.5, 8});
        bench(b, "murmur3", MEMCACHED_HASH_MURMUR3, nodes[i], (const double[2]){3, 0});
    }
    free(b);
}
#else
void bench_ketama(void)
{
    puts("ketama: not measured, for libmemcached-dev is not installed");
}
#endif
