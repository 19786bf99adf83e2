/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_libmemcached.c - `like: libmemcached` beside the library itself, linked in: random fleets of
 * 1 to 100 servers (at 101 it aborts), every distribution and hash, weights, unix sockets, sorted
 * hosts, a hash set late; every key on the same server. So that agreement means something, each
 * fleet is also asked with another hash, and nearly all must then disagree.
 */
#include <libmemcached/memcached.h>
#include <string.h>

#include "gyre.h"
#include "lib/prop.h"

enum { SERVERS_MAX = 100, KEYS = 300, KEY_MAX = 80, NAME = 64 };

static const struct {
    const char *name;
    memcached_hash_t id;
} hashes[] = {
    {"default", MEMCACHED_HASH_DEFAULT},   {"md5", MEMCACHED_HASH_MD5},
    {"crc", MEMCACHED_HASH_CRC},           {"fnv1_64", MEMCACHED_HASH_FNV1_64},
    {"fnv1a_64", MEMCACHED_HASH_FNV1A_64}, {"fnv1_32", MEMCACHED_HASH_FNV1_32},
    {"fnv1a_32", MEMCACHED_HASH_FNV1A_32}, {"murmur", MEMCACHED_HASH_MURMUR},
    {"jenkins", MEMCACHED_HASH_JENKINS},   {"murmur3", MEMCACHED_HASH_MURMUR3},
};
enum { HASHES = sizeof hashes / sizeof hashes[0] };

static const struct {
    const char *name;
    bool weighted;
    memcached_server_distribution_t id;
} modes[] = {
    {"modula", false, MEMCACHED_DISTRIBUTION_MODULA},
    {"consistent", false, MEMCACHED_DISTRIBUTION_CONSISTENT},
    {"ketama_weighted", true, MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED},
    {"ketama_spy", true, MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY},
    {"ketama_spy_unweighted", false, MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY},
};
enum { MODES = sizeof modes / sizeof modes[0] };

struct server {
    char name[NAME], host[NAME];
    in_port_t port;
    uint32_t weight;
};

/* One fleet and its settings: by number in the tables above. */
struct fleet {
    struct server server[SERVERS_MAX];
    uint32_t n;
    size_t mode, hash, point_hash;
    bool late, sorted;
};

/* Of fleets of two servers and more: asked with a wrong hash, and how many of those differed. */
static unsigned asked_wrong, differed;

static void must(bool good, const char *what)
{
    if (!good) {
        printf("setup: %s\n", what);
        exit(2);
    }
}

/* Names of one length and of many, with memcached's own port and others. i makes each unique. */
static void draw_server(struct prop *p, uint32_t i, bool weighted, struct server *s)
{
    uint64_t kind = prop_below(p, 4);
    s->port = (in_port_t)(prop_below(p, 3) ? 1024 + prop_below(p, 60000) : 11211);
    s->weight = weighted ? (uint32_t)prop_size(p, 0, 300) : 1;
    if (kind == 3) {
        snprintf(s->host, sizeof s->host, "/run/mc/%u.sock", i);
        snprintf(s->name, sizeof s->name, "%s:0", s->host);
        s->port = 0;
        return;
    }
    if (kind == 2) {
        snprintf(s->host, sizeof s->host, "cache%u.example.net", i);
    } else {
        snprintf(s->host, sizeof s->host, "10.%u.%u.%u", (unsigned)prop_below(p, 256),
                 (unsigned)prop_below(p, 256), i);
    }
    snprintf(s->name, sizeof s->name, "%s:%u", s->host, s->port);
}

static void draw_fleet(struct prop *p, struct fleet *f)
{
    f->n = (uint32_t)prop_size(p, 1, SERVERS_MAX);
    f->mode = prop_below(p, MODES);
    f->hash = prop_below(p, HASHES);
    f->late = prop_below(p, 4) == 1;
    f->point_hash = f->late ? prop_below(p, HASHES) : f->hash;
    f->sorted = prop_below(p, 4) == 1;
    bool weights = prop_below(p, 2);
    for (uint32_t i = 0; i < f->n; i++) {
        draw_server(p, i, weights, &f->server[i]);
    }
}

/* Theirs: behaviours first, then the servers, as clients do; the late hash after both. */
static memcached_st *build_theirs(const struct fleet *f)
{
    memcached_st *mc = memcached_create(NULL);
    memcached_return_t rc = MEMCACHED_SUCCESS;
    memcached_server_st *list = NULL;
    must(mc != NULL, "memcached_create");
    if (modes[f->mode].weighted) {
        must(!memcached_behavior_set(mc, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1), "weighted");
    }
    must(!memcached_behavior_set(mc, MEMCACHED_BEHAVIOR_DISTRIBUTION, modes[f->mode].id), "mode");
    must(!memcached_behavior_set(mc, MEMCACHED_BEHAVIOR_HASH, hashes[f->point_hash].id), "hash");
    must(!memcached_behavior_set(mc, MEMCACHED_BEHAVIOR_SORT_HOSTS, f->sorted), "sort");
    for (uint32_t i = 0; i < f->n; i++) {
        const struct server *s = &f->server[i];
        list = memcached_server_list_append_with_weight(list, s->host, s->port, s->weight, &rc);
        must(list && !rc, "server");
    }
    must(!memcached_server_push(mc, list), "push");
    memcached_server_list_free(list);
    if (f->late) {
        must(!memcached_behavior_set(mc, MEMCACHED_BEHAVIOR_HASH, hashes[f->hash].id), "late");
    }
    return mc;
}

static gyre_map_t *build_ours(const struct fleet *f, size_t hash)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_map_t *m = NULL;
    must(t && !gyre_topology_set(t, "like", "libmemcached", NULL) &&
             !gyre_topology_set(t, "distribution", modes[f->mode].name, NULL) &&
             !gyre_topology_set(t, "hash", hashes[hash].name, NULL) &&
             !gyre_topology_set(t, "sort_hosts", f->sorted ? "1" : "0", NULL),
         "settings");
    must(!f->late || !gyre_topology_set(t, "point_hash", hashes[f->point_hash].name, NULL),
         "point_hash");
    for (uint32_t i = 0; i < f->n; i++) {
        const struct server *s = &f->server[i];
        struct gyre_node node = {
            .size = sizeof node, .name = s->name, .weight = s->weight ? s->weight : 1};
        must(!gyre_topology_add(t, &node, NULL), "node");
    }
    must(!gyre_map_build(t, &m, NULL), "map");
    gyre_topology_free(t);
    return m;
}

/* Bytes of any value, often digits after a prefix, as keys are. */
static size_t draw_key(struct prop *p, char key[KEY_MAX])
{
    if (prop_below(p, 2) == 0) {
        return (size_t)snprintf(key, KEY_MAX, "user:%u", (unsigned)prop_below(p, 1000000));
    }
    size_t len = (size_t)prop_size(p, 1, KEY_MAX);
    for (size_t i = 0; i < len; i++) {
        key[i] = (char)prop_below(p, 256);
    }
    return len;
}

static const char *their_server(const memcached_st *mc, const char *key, size_t len, char out[80])
{
    const memcached_instance_st *s =
        memcached_server_instance_by_position(mc, memcached_generate_hash(mc, key, len));
    snprintf(out, 80, "%s:%u", memcached_server_name(s), memcached_server_port(s));
    return out;
}

static bool compare(struct prop *p, const struct fleet *f, const memcached_st *mc,
                    const gyre_map_t *m, const gyre_map_t *wrong)
{
    bool other = false;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[KEY_MAX], theirs[80];
        size_t len = draw_key(p, key);
        const struct gyre_node *ours = gyre_map_node(m, gyre_map_locate(m, key, len));
        PROP(ours != NULL);
        if (strcmp(ours->name, their_server(mc, key, len, theirs)) != 0 && !p->quiet) {
            printf("%s %s of %u servers, key %u of %zu bytes: libmemcached %s, gyre %s\n",
                   modes[f->mode].name, hashes[f->hash].name, f->n, i, len, theirs, ours->name);
        }
        PROP(strcmp(ours->name, theirs) == 0);
        other = other || gyre_map_locate(wrong, key, len) != gyre_map_locate(m, key, len);
    }
    asked_wrong += f->n > 1;
    differed += f->n > 1 && other;
    return true;
}

static bool same_server(struct prop *p)
{
    struct fleet f = {.n = 0};
    draw_fleet(p, &f);
    memcached_st *mc = build_theirs(&f);
    gyre_map_t *m = build_ours(&f, f.hash), *wrong = build_ours(&f, (f.hash + 1) % HASHES);
    bool holds = compare(p, &f, mc, m, wrong);
    memcached_free(mc);
    gyre_map_unref(m);
    gyre_map_unref(wrong);
    return holds;
}

int main(void)
{
    int failed = prop_run("live libmemcached " LIBMEMCACHED_VERSION_STRING, same_server, 300);
    printf("with a wrong hash %u of %u fleets differ\n", differed, asked_wrong);
    if (!failed && differed * 10 < asked_wrong * 9) {
        puts("not ok: this comparison cannot fail");
        failed = 1;
    }
    return failed;
}
