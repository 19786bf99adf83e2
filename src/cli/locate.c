/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate.c - `gyre locate`: where keys are. Streams: keys are looked up in batches and written
 * through one buffer, so memory does not grow with their number.
 */
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/keys.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/term.h"
#include "cli/topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define REPLICAS_MAX 64

struct tail {
    size_t at, len;
};

struct locate {
    struct gy_topo_from topo_from;
    struct gy_keys_from from;
    uint64_t replicas; /* 0: as the topology says */
    bool hash, json;
    /* inside */
    gyre_map_t *map;
    struct gy_buf out;
    struct gy_json j;
    struct gy_buf tails; /* of a plain answer: "<TAB>node<LF>", one after the other */
    struct tail *tail;   /* of each node; NULL: answers are not that plain */
    size_t tail_max;
    uint64_t degraded; /* keys with fewer nodes, or zones, than wanted */
};

static const struct gy_opt OPTIONS[] = {
    {'n', "replicas", "R", "nodes to show for a key (default: as the topology says)", GY_OPT_UINT,
     offsetof(struct locate, replicas), 1, REPLICAS_MAX, NULL},
    {0, "hash", NULL, "add the key's hash", GY_OPT_FLAG, offsetof(struct locate, hash), 0, 0, NULL},
    GY_KEYS_OPTIONS(struct locate),
    GY_TOPO_OPTIONS(struct locate),
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct locate, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre locate fleet.yaml user:1 user:2",
    "redis-cli -p 6379 --scan | gyre locate fleet.yaml    (-p of one node)",
    "gyre locate fleet.yaml -n 2 --hash --keys keys.txt",
    "gyre locate edge.yaml --key 'host+path+query(sort)' 'https://cdn.example/v/1.ts?b=2&a=1'",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre locate",
    "TOPOLOGY [KEY...]",
    "Says which node holds each key: key<TAB>node[<TAB>node...][<TAB>hash]. Without keys they are "
    "read from\nstdin.",
    OPTIONS,
    EXAMPLES,
    1,
    -1,
    GY_EXITS_ASKED,
};

static void hash_text(const struct locate *l, const void *key, size_t len, char out[40])
{
    struct gyre_explain x = {.size = sizeof x};
    out[0] = 0;
    if (gyre_map_explain(l->map, key, len, &x) == GYRE_OK) {
        if (x.hash_bits > 64) {
            snprintf(out, 40, "0x%016llx%016llx", (unsigned long long)x.hash_hi,
                     (unsigned long long)x.hash_lo);
        } else {
            snprintf(out, 40, "0x%0*llx", (int)x.hash_bits / 4, (unsigned long long)x.hash_lo);
        }
    }
}

static void line(struct locate *l, struct gy_slice given, struct gy_slice key,
                 const uint32_t *nodes, size_t n)
{
    struct gy_buf *out = &l->out;
    if (l->from.encoded) {
        gy_term_encode(out, given);
    } else {
        gy_term_text(out, given);
    }
    for (size_t i = 0; i < n; i++) {
        gy_buf_putc(out, '\t');
        gy_term_text(out, gy_str(gyre_map_node(l->map, nodes[i])->name));
    }
    if (l->hash) {
        char hash[40];
        hash_text(l, key.p, key.n, hash);
        gy_buf_printf(out, "\t%s", hash);
    }
    gy_buf_putc(out, '\n');
}

static void object(struct locate *l, struct gy_slice given, struct gy_slice key,
                   const uint32_t *nodes, size_t n)
{
    struct gy_json *j = &l->j;
    gy_json_object(j);
    if (l->from.request.recipe) {
        gy_json_key(j, "url");
        gy_json_bytes(j, given.p, given.n);
    }
    gy_json_key(j, "key");
    gy_json_bytes(j, key.p, key.n);
    /* JSON has no bytes: a key that is not text is given a second time, exactly. */
    if (l->from.encoded || !gy_utf8_valid(key)) {
        struct gy_buf encoded = {0};
        gy_term_encode(&encoded, key);
        gy_json_kstring(j, "key_encoded", gy_buf_cstr(&encoded));
        l->out.failed = l->out.failed || encoded.failed;
        gy_buf_fini(&encoded);
    }
    gy_json_key(j, "nodes");
    gy_json_array(j);
    for (size_t i = 0; i < n; i++) {
        gy_json_string(j, gyre_map_node(l->map, nodes[i])->name);
    }
    gy_json_array_end(j);
    if (l->hash) {
        char hash[40];
        hash_text(l, key.p, key.n, hash);
        gy_json_kstring(j, "hash", hash);
    }
    gy_json_object_end(j);
    gy_buf_putc(&l->out, '\n');
}

static void answer(struct locate *l, const struct gy_keys *k, size_t i, const uint32_t *nodes,
                   size_t n)
{
    struct gy_slice key = {k->key[i], k->len[i]};
    if (l->json) {
        object(l, k->given[i], key, nodes, n);
    } else {
        line(l, k->given[i], key, nodes, n);
    }
}

/* Who writes to a file or pipe gets each key as it came and a text that is made once for its node.
 * Most of the time for millions of keys went into putting lines together. */
static int make_tails(struct locate *l)
{
    uint32_t n = gyre_map_count(l->map);
    struct tail *tail = calloc((size_t)n + 1, sizeof *tail);
    if (!tail) {
        return gy_complain_memory();
    }
    for (uint32_t i = 0; i <= n; i++) {
        tail[i].at = gy_buf_size(&l->tails);
        if (i < n) { /* the last one is of no node */
            gy_buf_putc(&l->tails, '\t');
            gy_buf_puts(&l->tails, gyre_map_node(l->map, i)->name);
        }
        gy_buf_putc(&l->tails, '\n');
        tail[i].len = gy_buf_size(&l->tails) - tail[i].at;
        l->tail_max = tail[i].len > l->tail_max ? tail[i].len : l->tail_max;
    }
    l->tail = tail;
    return gy_buf_failed(&l->tails) ? gy_complain_memory() : GY_EXIT_OK;
}

static int answer_plainly(struct locate *l, const struct gy_keys *k, const uint32_t *node)
{
    size_t room = k->count * l->tail_max;
    for (size_t i = 0; i < k->count; i++) {
        room += k->given[i].n;
    }
    if (!gy_buf_reserve(&l->out, room)) {
        return gy_complain_memory();
    }
    uint8_t *to = l->out.data + l->out.len;
    const uint8_t *tails = gy_buf_head(&l->tails);
    uint32_t none = gyre_map_count(l->map);
    for (size_t i = 0; i < k->count; i++) {
        const struct tail *t = &l->tail[node[i] < none ? node[i] : none];
        to = (uint8_t *)mempcpy(to, k->given[i].p, k->given[i].n);
        to = (uint8_t *)mempcpy(to, tails + t->at, t->len);
    }
    l->out.len = (size_t)(to - l->out.data);
    return gy_buf_size(&l->out) > GY_OUT_FULL ? gy_out_flush(&l->out) : GY_EXIT_OK;
}

static int answer_batch(struct locate *l, const struct gy_keys *k)
{
    uint32_t nodes[REPLICAS_MAX], first[GY_KEYS_BATCH];
    int rc = GY_EXIT_OK;
    if (l->replicas == 1) {
        gyre_map_locate_batch(l->map, k->key, k->len, k->count, first);
    }
    if (l->tail) {
        return answer_plainly(l, k, first);
    }
    for (size_t i = 0; i < k->count && !rc; i++) {
        if (l->replicas == 1) {
            answer(l, k, i, &first[i], first[i] != GYRE_NONE);
        } else {
            unsigned flags = 0;
            size_t n = gyre_map_replicas(l->map, k->key[i], k->len[i], nodes, l->replicas, &flags);
            l->degraded += flags != 0;
            answer(l, k, i, nodes, n);
        }
        if (gy_buf_size(&l->out) > GY_OUT_FULL) {
            rc = gy_out_flush(&l->out);
        }
    }
    return rc;
}

static int stream(struct locate *l, struct gy_keys *k)
{
    gy_json_init(&l->j, &l->out);
    if (l->json) {
        gy_json_object(&l->j);
        gy_json_kuint(&l->j, "version", gyre_map_version(l->map));
        gy_json_kuint(&l->j, "replicas", l->replicas);
        gy_json_key(&l->j, "keys");
        gy_json_array(&l->j);
    }
    int rc;
    while (!(rc = gy_keys_next(k)) && k->count) {
        if ((rc = answer_batch(l, k)) != 0) {
            break;
        }
        /* A pipe that is fed slowly gets its answers now, a file's wait for a full buffer. */
        if (k->fd == 0 && !l->json && !gy_keys_more(k) && (rc = gy_out_flush(&l->out)) != 0) {
            break;
        }
    }
    if (l->json && !rc) {
        gy_json_array_end(&l->j);
        gy_json_kuint(&l->j, "degraded", l->degraded);
        gy_json_object_end(&l->j);
        gy_buf_putc(&l->out, '\n');
    }
    return rc;
}

int gy_cmd_locate(int argc, char **argv)
{
    struct locate l = {0};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &l, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    struct gy_topo topo;
    struct gy_keys keys = {.fd = -1};
    rc = gy_topo_load(words[0], &l.topo_from, &topo);
    if (!rc) {
        rc = gy_keys_open(&keys, &l.from, words + 1, count - 1, false);
    }
    if (!rc) {
        l.map = topo.map;
        if (!l.replicas) {
            const char *r = gyre_topology_get(topo.config->topology, "replicas");
            l.replicas = 1;
            if (r && gy_num_uint(gy_str(r), &l.replicas)) {
                l.replicas = 1;
            }
        }
        bool plain = l.replicas == 1 && !l.json && !l.hash && !l.from.encoded;
        if (plain && !gy_term_is(STDOUT_FILENO)) {
            rc = make_tails(&l);
        }
    }
    if (!rc) {
        rc = stream(&l, &keys);
        if (l.degraded) {
            gy_complain("degraded: fewer nodes or zones than were asked for (%llu of the keys)",
                        (unsigned long long)l.degraded);
        }
    }
    int wrote = gy_out_end(&l.out);
    gy_buf_fini(&l.tails);
    free(l.tail);
    gy_keys_close(&keys);
    gy_topo_fini(&topo);
    return rc ? rc : wrote;
}
