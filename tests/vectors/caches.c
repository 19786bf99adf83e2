/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caches.c - caches' clients and proxies: libmemcached, twemproxy, Redis Cluster and the ketama
 * family. One function a system turns header fields into the topology of that system. Threads: one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors/fleet.h"

void check_libmemcached(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {
        "down", "removal", "removed_from_config", "dead", "sort_hosts", "point_hash", NULL};
    struct fleet fl;
    fleet_read(&fl, f, "modula|consistent|ketama_weighted|ketama_spy|ketama_spy_unweighted", known,
               v);
    fleet_want(&fl, "removal", TAKEN_OUT);
    fleet_among(&fl, "dead");
    for (size_t i = 0; i < fl.n; i++) { /* it takes 0 for 1 */
        fl.node[i].weight = fl.node[i].weight == 0 ? 1 : fl.node[i].weight;
    }
    fleet_set(&fl, "like", "libmemcached");
    fleet_set(&fl, "distribution", vf_get(f, "mode"));
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_set(&fl, "point_hash", vf_get(f, "point_hash"));
    fleet_set(&fl, "sort_hosts", vf_get(f, "sort_hosts"));
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}

void check_twemproxy(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {
        "down", "removal", "removed_from_config", "names", "hash_tag", "protocol", NULL};
    struct fleet fl;
    const char *tag = vf_get(f, "hash_tag");
    char *tag_text = tag ? vf_decode_text(tag, strlen(tag)) : NULL;
    fleet_read(&fl, f, "ketama|modula", known, v);
    fleet_want(&fl, "removal", TAKEN_OUT);
    fleet_want(&fl, "protocol", "redis|memcached");
    fleet_set(&fl, "like", "twemproxy");
    fleet_set(&fl, "distribution", vf_get(f, "mode"));
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_set(&fl, "names", vf_get(f, "names"));
    fleet_set(&fl, "hash_tag", tag_text);
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
    free(tag_text);
}

void check_libketama(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"down", "removal", "removed_from_config", "weights", NULL};
    struct fleet fl;
    fleet_read(&fl, f, "ketama", known, v);
    fleet_want(&fl, "hash", "md5");
    fleet_want(&fl, "removal", TAKEN_OUT);
    fleet_want(&fl, "weights", "memory");
    fleet_set(&fl, "like", "libketama");
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}

void check_uhashring(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"down",   "removal",  "removed_from_config",
                                        "vnodes", "replicas", NULL};
    struct fleet fl;
    fleet_read(&fl, f, "default|ketama", known, v);
    fleet_want(&fl, "hash", "md5");
    fleet_want(&fl, "removal", TAKEN_OUT);
    fleet_set(&fl, "like", "uhashring");
    fleet_set(&fl, "mode", vf_get(f, "mode"));
    fleet_set(&fl, "vnodes", vf_get(f, "vnodes"));
    fleet_set(&fl, "digest_points", vf_get(f, "replicas"));
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}

/* vnodes=name*count,...: some nodes' own counts. */
static void own_vnodes(struct fleet *fl, const char *list)
{
    for (const char *p = list ? list : ""; *p;) {
        size_t len = strcspn(p, ","), name = strcspn(p, "*,");
        char count[24];
        snprintf(count, sizeof count, "%.*s", name < len ? (int)(len - name - 1) : 0, p + name + 1);
        size_t i = fleet_find(fl, p, name);
        if (i < fl->n) {
            fleet_option(fl, i, "vnodes", count);
        }
        p += len + (p[len] == ',');
    }
}

/* Without the field there is no default port, in memcached too (its other compatibility mode). */
static void check_hashring(const struct vfile *f, struct verdict *v, const char *system)
{
    static const char *const known[] = {"down",         "removal", "removed_from_config",
                                        "default_port", "vnodes",  "vnode_count",
                                        "replicas",     NULL};
    struct fleet fl;
    const char *port = vf_get(f, "default_port");
    fleet_read(&fl, f, "ketama", known, v);
    fleet_want(&fl, "removal", TAKEN_OUT);
    fleet_set(&fl, "like", system);
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_set(&fl, "vnode_count", vf_get(f, "vnode_count"));
    fleet_set(&fl, "digest_points", vf_get(f, "replicas"));
    fleet_set(&fl, "default_port", port ? port : "0");
    own_vnodes(&fl, vf_get(f, "vnodes"));
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}

void check_npm_hashring(const struct vfile *f, struct verdict *v)
{
    check_hashring(f, v, "npm-hashring");
}

void check_npm_memcached(const struct vfile *f, struct verdict *v)
{
    check_hashring(f, v, "npm-memcached");
}

void check_npm_ketama(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"down", "removal", "removed_from_config", NULL};
    struct fleet fl;
    fleet_read(&fl, f, "ketama", known, v);
    fleet_want(&fl, "removal", TAKEN_OUT);
    fleet_set(&fl, "like", "npm-ketama");
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}

/* ---- Redis Cluster ---- */

enum { SLOTS = 16384 };

/* Files of key and slot: the slot is the key's hash on any map, and who owns it does not matter. */
static void check_slots(struct fleet *fl)
{
    const struct gyre_node one = {.size = sizeof one, .name = "one", .weight = 1};
    if (!fl->bad && gyre_topology_add(fl->t, &one, NULL)) {
        abort();
    }
    fleet_build(fl);
    for (size_t i = 0; !fl->bad && i < fl->f->rows; i++) {
        const struct vf_row *r = &fl->f->row[i];
        size_t len;
        uint64_t want;
        char *key = vf_decode(r->column[0], strlen(r->column[0]), &len);
        uint64_t got = key ? gyre_map_hash(fl->m, key, len) % SLOTS : SLOTS;
        if (key && vf_number(r->column[1], &want) && want == got) {
            pass(fl->v);
        } else {
            fail(fl->v, "line %u: key %s: expected %s, got %llu", r->line, r->column[0],
                 r->column[1], (unsigned long long)got);
        }
        free(key);
    }
}

void check_redis_cluster(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"column2", "removed_from_config", NULL};
    const char *mode = vf_get(f, "mode");
    struct fleet fl;
    fleet_read(&fl, f, "cluster-create|keyslot", known, v);
    fleet_want(&fl, "column2", "slot");
    fleet_set(&fl, "like", "redis-cluster");
    bool slots = mode && strcmp(mode, "keyslot") == 0;
    if (slots != (vf_get(f, "column2") != NULL) || (slots && (fl.n || f->columns != 2))) {
        fleet_stop(&fl, "keyslot goes with column2=slot and without nodes:", mode ? mode : "");
    }
    fleet_add(&fl, false);
    if (slots) {
        check_slots(&fl);
    } else {
        fleet_check_keys(&fl);
    }
    fleet_free(&fl);
}
