/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra.c - Cassandra's ring: tokens of nodes and keys by either partitioner, and the replicas
 * of both strategies. A node's option `tokens=-1,5` is what it owns; without any, tokens are evenly
 * spaced, one a node. SimpleStrategy takes the next distinct nodes. NetworkTopologyStrategy reads
 * datacenter and rack from the node's zone, "dc1/r2", and `rf: "dc1:3,dc2:2"`; nodes of other
 * datacenters take no keys, and after the strategy's replicas come the nodes by name. Its cost is
 * one walk along the ring for each replica. Source: release 3.11, docs/compat/SPEC-databases.md
 * section 1. Threads: immutable once built.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/functions.h"
#include "lib/hash/table.h"
#include "lib/like/digits.h"
#include "lib/like/like.h"
#include "lib/like/points.h"

enum { MURMUR3, RANDOM };
enum { SIMPLE, NETWORK };
enum { RANDOM_BITS = 127 };
enum { RF_MAX = 64 }; /* replicas in all: they are counted on the stack */
#define SIGN ((uint64_t)1 << 63)

static const struct gy_like_setting settings[] = {
    {GY_SET_PARTITIONER, GY_VALUE_WORD, "Murmur3Partitioner",
     "Murmur3Partitioner|RandomPartitioner"},
    {GY_SET_DISTRIBUTION, GY_VALUE_WORD, "SimpleStrategy",
     "SimpleStrategy|NetworkTopologyStrategy"},
    {GY_SET_RF, GY_VALUE_TEXT, "", "DATACENTER:FACTOR,..."},
    {0, 0, NULL, NULL},
};
static const struct gy_like_option options[] = {{"tokens", true}, {NULL, false}};

/* ---- tokens ---- */

/* Signed tokens, flipped to sort as unsigned ones; the empty key has the lowest, which no other
 * key's hash may be. */
static gy_u128 murmur3_token(const gyre_map_t *m, const void *part, size_t len)
{
    (void)m;
    uint64_t h = (uint64_t)(gy_murmur3_cassandra(part, len) >> 64);
    return len == 0 ? 0 : h == SIGN ? UINT64_MAX : h ^ SIGN;
}

/* The absolute value; the empty key's, -1, is before all others like 0. Tokens go from 0 to 2^127,
 * so the ring has 127 bits, for shares are parts of what keys can reach; the greatest of all, which
 * one MD5 in 2^128 has, stands at the last place, where its owner is the same. */
static gy_u128 random_token(const gyre_map_t *m, const void *part, size_t len)
{
    gy_u128 h = m->hash->value(part, len);
    h = len == 0 ? 0 : h >> 127 ? -h : h;
    return h >> 127 ? h - 1 : h;
}

/* Digits as a token's position. */
static bool read_token(const char **p, const char *end, bool random, gy_u128 *at)
{
    const gy_u128 most = (gy_u128)1 << 127;
    bool minus = *p < end && **p == '-', good;
    uint64_t x;
    if (!random) {
        good = gy_digits_read(p, end, &x) && (minus || x < SIGN);
        *at = x ^ SIGN;
        return good;
    }
    const char *first = *p;
    for (*at = 0, good = true; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
        unsigned digit = (unsigned)(**p - '0');
        good = good && *at <= (most - digit) / 10;
        *at = *at * 10 + digit;
    }
    *at -= good && *at == most; /* as random_token does */
    return good && *p > first;
}

static int put_tokens(const struct gy_like_job *job, uint32_t node, struct gy_points *points)
{
    size_t len;
    char name[GY_SHOW];
    bool random = gy_like_word(job, GY_SET_PARTITIONER) == RANDOM;
    const char *p = gy_like_option(&job->m->nodes[node], "tokens", &len), *end = p ? p + len : p;
    while (p) {
        gy_u128 at;
        if (!read_token(&p, end, random, &at) || (p < end && *p != ',')) {
            return gy_fail(job->e, GYRE_INVALID, "node '%s': tokens are numbers of the partitioner",
                           gy_show(job->m->nodes[node].name, name));
        }
        gy_points_put(points, at, node);
        p = p < end ? p + 1 : NULL;
    }
    return GYRE_OK;
}

/* ---- datacenters and racks ---- */

struct network {
    uint32_t *dc, *rack;          /* of the node; numbers from 0 */
    uint32_t *rf, *racks, *nodes; /* of the datacenter */
    size_t size;                  /* of all this, for comparing */
};

struct zone {
    const char *text;
    size_t dc, rack; /* lengths: of the first part, of the first two */
    uint32_t node;
};

static struct zone zone_of(const struct gyre_map *m, uint32_t node)
{
    const char *text = m->nodes[node].zone ? m->nodes[node].zone : "";
    size_t dc = strcspn(text, "/"), rack = dc;
    if (text[dc]) {
        rack += 1 + strcspn(text + dc + 1, "/");
    }
    return (struct zone){text, dc, rack, node};
}

static int compare_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

static int compare_zones(const void *a, const void *b)
{
    const struct zone *x = a, *y = b;
    int order = compare_text(x->text, x->dc, y->text, y->dc);
    return order ? order : compare_text(x->text, x->rack, y->text, y->rack);
}

/* The factor that "dc1:3,dc2:2" gives a datacenter; 0 if none. False if it is malformed. */
static bool factor_of(const char *text, const struct zone *z, uint32_t *rf)
{
    uint64_t all = 0;
    *rf = 0;
    while (*text) {
        size_t name = strcspn(text, ":,");
        const char *end = text + strcspn(text, ","), *number = text + name + 1;
        uint64_t factor;
        if (text[name] != ':' || *number == '-' || !gy_digits_read(&number, end, &factor) ||
            number != end || factor > RF_MAX) {
            return false;
        }
        all += factor;
        if (name == z->dc && memcmp(text, z->text, name) == 0) {
            *rf = (uint32_t)factor;
        }
        text = *end ? end + 1 : end;
    }
    return all <= RF_MAX;
}

static int number_zones(const struct gy_like_job *job, struct zone *z, struct network *net)
{
    const char *rf = gy_like_text(job, GY_SET_RF);
    uint32_t dc = 0, rack = 0;
    qsort(z, job->n, sizeof *z, compare_zones);
    for (uint32_t i = 0; i < job->n; i++) {
        bool new_dc = i == 0 || compare_text(z[i].text, z[i].dc, z[i - 1].text, z[i - 1].dc) != 0;
        bool new_rack = i == 0 || compare_zones(&z[i], &z[i - 1]) != 0;
        dc += i && new_dc;
        rack += i && new_rack;
        if (new_dc && !factor_of(rf, &z[i], &net->rf[dc])) {
            return gy_fail(job->e, GYRE_INVALID,
                           "rf: not DATACENTER:FACTOR,... with at most %d in all", RF_MAX);
        }
        net->racks[dc] += new_rack;
        net->nodes[dc]++;
        net->dc[z[i].node] = dc;
        net->rack[z[i].node] = rack;
    }
    return GYRE_OK;
}

static int take_network(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    size_t n = (size_t)m->count + 1, size = sizeof(struct network) + 5 * n * sizeof(uint32_t);
    struct network *net = gy_mem_alloc(size, 1);
    struct zone *z = gy_mem_alloc(n, sizeof *z);
    if (!net || !z) {
        gy_mem_free(net);
        gy_mem_free(z);
        return gy_fail_nomem(job->e);
    }
    memset(net, 0, size);
    uint32_t *at = (uint32_t *)(net + 1);
    *net = (struct network){at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, size};
    m->context = net;
    for (uint32_t i = 0; i < job->n; i++) {
        z[i] = zone_of(m, job->list[i]);
    }
    int err = number_zones(job, z, net);
    gy_mem_free(z);
    return err;
}

/* ---- NetworkTopologyStrategy ---- */

/* Would the strategy take the node, having taken those? */
static bool takes(const struct network *net, const uint32_t *taken, uint32_t n, uint32_t node)
{
    uint32_t dc = net->dc[node], here = 0, repeats = 0;
    bool new_rack = true, again = false;
    for (uint32_t i = 0; i < n; i++) {
        if (net->dc[taken[i]] != dc) {
            continue;
        }
        bool repeat = false;
        for (uint32_t j = 0; j < i; j++) {
            repeat = repeat || net->rack[taken[j]] == net->rack[taken[i]];
        }
        here++;
        repeats += repeat;
        new_rack = new_rack && net->rack[taken[i]] != net->rack[node];
        again = again || taken[i] == node;
    }
    uint32_t most = net->rf[dc] < net->nodes[dc] ? net->rf[dc] : net->nodes[dc];
    if (here >= most) {
        return false;
    }
    return new_rack || (repeats + net->racks[dc] < net->rf[dc] && !again);
}

/* The first `want` replicas from a step on; fewer if there are not so many. */
static uint32_t replicas_from(const gyre_map_t *m, size_t step, uint32_t want,
                              uint32_t taken[RF_MAX])
{
    uint32_t n = 0;
    for (size_t left = m->steps; left && n < want; left--) {
        uint32_t node = gy_points_node(m, step);
        if (takes(m->context, taken, n, node)) {
            taken[n++] = node;
        }
        step = step + 1 == m->steps ? 0 : step + 1;
    }
    return n;
}

static uint32_t network_next(struct gy_walk *w)
{
    uint32_t taken[RF_MAX];
    if (w->used < RF_MAX && replicas_from(w->map, w->step, w->used + 1, taken) > w->used) {
        return taken[w->used++];
    }
    w->used = RF_MAX;
    return gy_walk_by_name(w);
}

/* By names, tokens, and who stands where. */
static bool network_same(const gyre_map_t *a, const gyre_map_t *b)
{
    const struct network *x = a->context, *y = b->context;
    for (size_t i = 0; i < a->steps; i++) {
        uint32_t p = gy_points_node(a, i), q = gy_points_node(b, i);
        struct zone s = zone_of(a, p), t = zone_of(b, q);
        if (gy_points_position(a, i) != gy_points_position(b, i) ||
            strcmp(a->nodes[p].name, b->nodes[q].name) != 0 || compare_zones(&s, &t) != 0 ||
            x->rf[x->dc[p]] != y->rf[y->dc[q]]) {
            return false;
        }
    }
    return true;
}

static const struct gy_place place_network = {
    GY_POINTS_PLACE,
    .next = network_next,
    .same = network_same,
};

/* ---- building ---- */

static void space_evenly(const struct gy_like_job *job, uint32_t i, unsigned bits,
                         struct gy_points *points)
{
    gy_u128 at = bits == 64 ? ((gy_u128)i << 64) / job->n : ((gy_u128)1 << 127) / job->n * i;
    gy_points_put(points, at, job->list[i]);
}

static int build(const struct gy_like_job *job)
{
    struct gyre_map *m = job->m;
    bool random = gy_like_word(job, GY_SET_PARTITIONER) == RANDOM;
    bool network = gy_like_word(job, GY_SET_DISTRIBUTION) == NETWORK;
    m->hash = random ? &gy_hash_md5 : &gy_hash_murmur3_cassandra;
    m->hash_bits = random ? RANDOM_BITS : 64;
    m->key_hash = random ? random_token : murmur3_token;
    if (network == !*gy_like_text(job, GY_SET_RF)) {
        return gy_fail(job->e, GYRE_INVALID,
                       network ? "rf: NetworkTopologyStrategy needs DATACENTER:FACTOR,..."
                               : "rf: is for NetworkTopologyStrategy; `replicas` counts here");
    }
    struct gy_points points;
    uint64_t tokens = gy_like_count_tokens(job);
    int err = gy_points_init(&points, tokens ? tokens : job->n, job->e);
    err = err ? err : network ? take_network(job) : GYRE_OK;
    for (uint32_t i = 0; !err && i < job->n; i++) {
        const struct network *net = m->context;
        if (net && net->rf[net->dc[job->list[i]]] == 0) {
            continue;
        }
        if (tokens) {
            err = put_tokens(job, job->list[i], &points);
        } else {
            space_evenly(job, i, m->hash_bits, &points);
        }
    }
    err = err ? err : gy_points_settle(m, &points, m->hash_bits, job->e);
    m->place = !err && network ? &place_network : m->place;
    gy_points_fini(&points);
    return err;
}

const struct gy_like gy_like_cassandra = {
    .name = "cassandra", .settings = settings, .options = options, .build = build};
