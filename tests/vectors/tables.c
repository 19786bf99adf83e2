/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - Riak's ring of partitions, Aerospike's records and MongoDB's hashed keys. Threads:
 * one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/like/ranges.h"
#include "lib/map.h"
#include "vectors/cells.h"
#include "vectors/fleet.h"

/* ---- riak ---- */

struct riak {
    struct fleet fl;
    uint64_t n_val;
};

static bool preflist_cell(void *self, struct cell *c)
{
    struct riak *r = self;
    const gyre_map_t *m = r->fl.m;
    if (strcmp(c->column, "preflist") != 0) {
        return false;
    }
    uint64_t first = gyre_map_hash(m, c->key, c->len);
    size_t at = 0;
    for (uint64_t i = 0; i < r->n_val && at < sizeof c->got; i++) {
        uint64_t p = (first + i) % m->slots;
        uint32_t node = gy_ranges_owner(m, p);
        if (i == 0 && cells_locate(m, c->key, c->len) != node) {
            return false;
        }
        at += (size_t)snprintf(c->got + at, sizeof c->got - at, "%s%" PRIu64 ":%s", i ? "," : "", p,
                               r->fl.node[m->order[node]].shown);
    }
    return at < sizeof c->got;
}

void check_riak(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"ring_creation_size", "n_val", "bucket_name", "claim",
                                        NULL};
    struct riak r = {0};
    const char *n = vf_get(f, "n_val"), *bucket = vf_get(f, "bucket_name");
    char *decoded = bucket ? vf_decode_text(bucket, strlen(bucket)) : NULL;
    fleet_read(&r.fl, f, "chash", known, v);
    fleet_want(&r.fl, "claim", "round-robin");
    fleet_want(&r.fl, "hash", "sha1");
    fleet_set(&r.fl, "like", "riak");
    fleet_set(&r.fl, "ring_creation_size", vf_get(f, "ring_creation_size"));
    fleet_set(&r.fl, "bucket_name", decoded && *decoded ? decoded : NULL); /* empty unless set */
    fleet_add(&r.fl, true);
    fleet_build(&r.fl);
    if (!n || !vf_number(n, &r.n_val) || !decoded) {
        fleet_stop(&r.fl, "no n_val or bucket_name:", f->path);
    } else if (!r.fl.n) {
        fleet_stop(&r.fl, "no nodes in", f->path);
    }
    if (!r.fl.bad) {
        cells_check(f, preflist_cell, &r, v);
    }
    fleet_free(&r.fl);
    free(decoded);
}

/* ---- aerospike ---- */

struct aerospike {
    const struct vfile *f;
    struct verdict *v;
};

/* SET|TYPE|VALUE: set and type are settings, so that each row has a map of its own. The bars are
 * those of the file as written; a set may hold an encoded one. */
static bool partition_cell(void *self, struct cell *c)
{
    struct aerospike *a = self;
    const char *shown = c->row->column[vf_column(a->f, "key")];
    const char *bar = strchr(shown, '|'), *second = bar ? strchr(bar + 1, '|') : NULL;
    char type[8];
    if (strcmp(c->column, "partition") != 0 || !second ||
        (size_t)(second - bar - 1) >= sizeof type) {
        return false;
    }
    size_t len;
    char *set = vf_decode_text(shown, (size_t)(bar - shown));
    char *value = vf_decode(second + 1, strlen(second + 1), &len);
    snprintf(type, sizeof type, "%.*s", (int)(second - bar - 1), bar + 1);
    const char *settings[] = {
        "like", "aerospike", "key_type", type, "set", set && *set ? set : NULL, NULL};
    gyre_map_t *m = set && value ? cells_numbered(settings, 4096, NULL, a->v) : NULL;
    if (m) {
        uint64_t of_map = cells_number(m, cells_locate(m, value, len));
        uint64_t of_hash = gyre_map_hash(m, value, len);
        snprintf(c->got, sizeof c->got, "%" PRIu64, of_map == of_hash ? of_map : UINT64_MAX);
    }
    bool good = m != NULL;
    gyre_map_unref(m);
    free(set);
    free(value);
    return good;
}

void check_aerospike(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"hash", "partitions", NULL};
    struct aerospike a = {.f = f, .v = v};
    if (cells_header(f, "partition", "set-type-value", known, v) &&
        cells_want(f, "partitions", "4096", v) && cells_want(f, "hash", "ripemd160", v)) {
        cells_check(f, partition_cell, &a, v);
    }
}

/* ---- mongodb ---- */

static bool hashed_cell(void *self, struct cell *c)
{
    struct verdict *v = self;
    char type[8];
    size_t len = strcspn(c->key, ":");
    if (strcmp(c->column, "hash") != 0 || len >= sizeof type || len >= c->len) {
        return false;
    }
    snprintf(type, sizeof type, "%.*s", (int)len, c->key);
    const char *settings[] = {"like", "mongodb", "key_type", type, NULL};
    gyre_map_t *m = cells_numbered(settings, 3, NULL, v);
    if (!m) {
        return false;
    }
    uint64_t hash = gyre_map_hash(m, c->key + len + 1, c->len - len - 1);
    snprintf(c->got, sizeof c->got, "%" PRId64, (int64_t)(hash ^ (uint64_t)1 << 63));
    gyre_map_unref(m);
    return true;
}

void check_mongodb(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"hash", "seed", "hash_type", NULL};
    if (cells_header(f, "hashed", "type-value", known, v) && cells_want(f, "seed", "0", v) &&
        cells_want(f, "hash_type", "int64", v) && cells_want(f, "hash", "md5", v)) {
        cells_check(f, hashed_cell, v, v);
    }
}
