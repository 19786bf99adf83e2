/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.c - Envoy's and gRPC's rings and tables: keys with their retries, and whole rings point by
 * point. Threads: one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/like/dealt.h"
#include "lib/like/ranges.h"
#include "lib/map.h"
#include "vectors/cells.h"
#include "vectors/fleet.h"

#define SIGN ((uint64_t)1 << 63)

/* The node as the file writes it; "" if there is none. */
static const char *shown_of(const struct fleet *fl, const gyre_map_t *m, uint32_t node)
{
    const struct gyre_node *n = gyre_map_node(m, node);
    for (size_t i = 0; n && i < fl->n; i++) {
        if (strcmp(fl->node[i].name, n->name) == 0) {
            return fl->node[i].shown;
        }
    }
    return "";
}

static bool number_field(struct fleet *fl, const char *field, uint64_t *out)
{
    const char *text = vf_get(fl->f, field);
    if (text && !vf_number(text, out)) {
        fleet_stop(fl, "malformed number", text);
    }
    return text && !fl->bad;
}

/* A row is the i-th point or slot: rows are all of them, in order. */
static size_t row_number(const struct fleet *fl, const struct vf_row *r)
{
    return (size_t)(r - fl->f->row);
}

/* ---- envoy ---- */

static bool envoy_dump(struct fleet *fl, struct cell *c)
{
    const gyre_map_t *m = fl->m;
    size_t i = row_number(fl, c->row);
    bool slot = vf_column(fl->f, "slot") >= 0;
    if ((slot ? m->slots : m->steps) != fl->f->rows) {
        return false;
    }
    if (strcmp(c->column, "point") == 0 && !slot) {
        snprintf(c->got, sizeof c->got, "%" PRIu64, (uint64_t)m->place->position(m, i));
    } else if (strcmp(c->column, "slot") == 0) {
        snprintf(c->got, sizeof c->got, "%zu", i);
    } else if (strcmp(c->column, "node") == 0) {
        uint32_t node = slot ? gy_ranges_owner(m, i) : m->place->node(m, i);
        snprintf(c->got, sizeof c->got, "%s", shown_of(fl, m, node));
    } else {
        return false;
    }
    return true;
}

/* Retry a: a points on, or another hash. */
static uint32_t envoy_attempt(const gyre_map_t *m, uint64_t hash, uint64_t a)
{
    if (m->slots) {
        return gyre_map_locate_hash(m, hash ^ (0 - a));
    }
    return m->place->node(m, (m->place->first(m, hash) + a) % m->steps);
}

static bool envoy_cell(void *self, struct cell *c)
{
    struct fleet *fl = self;
    uint64_t a;
    if (!c->key) {
        return envoy_dump(fl, c);
    }
    if (strcmp(c->column, "node") == 0) {
        snprintf(c->got, sizeof c->got, "%s",
                 shown_of(fl, fl->m, cells_locate(fl->m, c->key, c->len)));
    } else if (strcmp(c->column, "hash") == 0) {
        snprintf(c->got, sizeof c->got, "%" PRIu64, gyre_map_hash(fl->m, c->key, c->len));
    } else if (strncmp(c->column, "attempt", 7) == 0 && vf_number(c->column + 7, &a)) {
        uint64_t hash = gyre_map_hash(fl->m, c->key, c->len);
        snprintf(c->got, sizeof c->got, "%s", shown_of(fl, fl->m, envoy_attempt(fl->m, hash, a)));
    } else {
        return false;
    }
    return true;
}

/* What the header reports of the ring. */
static void check_results(struct fleet *fl)
{
    uint64_t size, least = UINT64_MAX, most = 0, want;
    for (uint32_t i = 0; !fl->bad && i < fl->m->count; i++) {
        least = fl->m->points[i] < least ? fl->m->points[i] : least;
        most = fl->m->points[i] > most ? fl->m->points[i] : most;
    }
    if (number_field(fl, "min_points", &want) && want != least) {
        fleet_stop(fl, "min_points is not", vf_get(fl->f, "min_points"));
    }
    if (number_field(fl, "max_points", &want) && want != most) {
        fleet_stop(fl, "max_points is not", vf_get(fl->f, "max_points"));
    }
    if (number_field(fl, "ring_size", &size) && fl->m->steps != size &&
        fl->m->steps != size + 1) { /* rounding may add one */
        fleet_stop(fl, "ring_size is not", vf_get(fl->f, "ring_size"));
    }
}

/* localities=A,A,B and locality_weights=A*1,B*2. */
static void take_localities(struct fleet *fl)
{
    const char *list = vf_get(fl->f, "localities"), *weights = vf_get(fl->f, "locality_weights");
    if (!list != !weights) {
        fleet_stop(fl, "localities and locality_weights go", "together");
    }
    for (size_t i = 0; list && i <= fl->n; i++) {
        char *item = fleet_item(list, i);
        if (!item != (i == fl->n)) {
            fleet_stop(fl, "localities are not as many as", "nodes");
        } else if (item) {
            fleet_option(fl, i, "locality", item);
        }
        free(item);
    }
    char *copy = weights ? vf_decode_text(weights, strlen(weights)) : NULL;
    for (char *p = copy; p && *p; p++) {
        *p = *p == '*' ? ':' : *p;
    }
    fleet_set(fl, "locality_weights", copy);
    free(copy);
}

static bool only_columns(struct fleet *fl, const char *first)
{
    return fl->f->columns == 2 && vf_column(fl->f, first) == 0 && vf_column(fl->f, "node") == 1;
}

void check_envoy(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {
        "minimum_ring_size", "maximum_ring_size", "table_size",
        "ring_size",         "min_points",        "max_points",
        "request_hash",      "hash_type",         "use_hostname_for_hashing",
        "localities",        "locality_weights",  NULL};
    struct fleet fl;
    fleet_read(&fl, f, "ring_hash|maglev", known, v);
    fleet_want(&fl, "request_hash", "xxHash64");
    fleet_want(&fl, "hash_type", "uint64");
    fleet_want(&fl, "use_hostname_for_hashing", "0|1"); /* the names are what is hashed */
    fleet_set(&fl, "like", "envoy");
    fleet_set(&fl, "distribution", vf_get(f, "mode"));
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_set(&fl, "minimum_ring_size", vf_get(f, "minimum_ring_size"));
    fleet_set(&fl, "maximum_ring_size", vf_get(f, "maximum_ring_size"));
    fleet_set(&fl, "table_size", vf_get(f, "table_size"));
    take_localities(&fl);
    if (vf_column(f, "key") < 0 && !only_columns(&fl, "point") && !only_columns(&fl, "slot")) {
        fleet_stop(&fl, "unknown columns", f->column[0]);
    }
    fleet_add(&fl, true);
    fleet_build(&fl);
    check_results(&fl);
    if (!fl.bad && !fl.m->steps) {
        fleet_stop(&fl, "no nodes in", f->path);
    }
    if (!fl.bad) {
        cells_check(f, envoy_cell, &fl, v);
    }
    fleet_free(&fl);
}

/* ---- grpc ---- */

struct grpc {
    struct fleet go, java;
};

static void java_shown(const struct grpc *g, uint32_t node, struct cell *c)
{
    const struct gyre_node *n = gyre_map_node(g->java.m, node);
    if (n && strlen(n->name) + GY_DEALT_NAME < sizeof c->got) {
        c->got[gy_grpc_java_name(n->name, c->got)] = '\0';
    }
}

/* Java's ring has a point more here where its last is not the highest number: see grpc.c. */
static size_t java_points(const gyre_map_t *m)
{
    size_t n = m->steps;
    bool added = n > 1 && m->place->node(m, n - 1) == m->place->node(m, n - 2) &&
                 m->place->position(m, n - 1) == UINT64_MAX;
    return added ? n - 1 : n;
}

static bool grpc_hash(const struct grpc *g, struct cell *c, uint64_t *hash)
{
    const gyre_map_t *m = g->go.m ? g->go.m : g->java.m;
    if (!c->key) {
        return vf_number(c->row->column[vf_column(g->go.f, "hash")], hash);
    }
    *hash = gyre_map_hash(m, c->key, c->len) ^ (g->go.m ? 0 : SIGN);
    return true;
}

static bool grpc_cell(void *self, struct cell *c)
{
    struct grpc *g = self;
    const gyre_map_t *go = g->go.m, *java = g->java.m;
    uint64_t hash;
    if (!grpc_hash(g, c, &hash)) {
        return false;
    }
    if (strcmp(c->column, "hash") == 0) {
        snprintf(c->got, sizeof c->got, "%" PRIu64, hash);
    } else if (java && strcmp(c->column, "node@java") == 0) {
        uint32_t node = gyre_map_locate_hash(java, hash ^ SIGN);
        if (!c->key || node == cells_locate(java, c->key, c->len)) {
            java_shown(g, node, c);
        }
    } else if (java && strcmp(c->column, "ring_index") == 0) {
        size_t i = java->place->first(java, hash ^ SIGN), n = java_points(java);
        snprintf(c->got, sizeof c->got, "%zu", i < n ? i : n - 1);
    } else if (go && (strcmp(c->column, "node") == 0 || strcmp(c->column, "node@go") == 0)) {
        uint32_t node = gyre_map_locate_hash(go, hash);
        if (!c->key || node == cells_locate(go, c->key, c->len)) {
            snprintf(c->got, sizeof c->got, "%s", shown_of(&g->go, go, node));
        }
    } else if (go && strcmp(c->column, "next") == 0) {
        size_t i = (go->place->first(go, hash) + 1) % go->steps;
        snprintf(c->got, sizeof c->got, "%s", shown_of(&g->go, go, go->place->node(go, i)));
    } else {
        return false;
    }
    return true;
}

/* Puts the nodes in the order in which Java deals to them. */
static void take_order(struct fleet *fl)
{
    const char *order = vf_get(fl->f, "order");
    size_t n = 0;
    for (const char *p = order ? order : ""; *p && !fl->bad;) {
        size_t len = strcspn(p, ","), i = fleet_find(fl, p, len);
        if (fl->bad || i < n) {
            fleet_stop(fl, "order has twice", p);
            return;
        }
        struct fleet_node moved = fl->node[i];
        memmove(&fl->node[n + 1], &fl->node[n], (i - n) * sizeof moved);
        fl->node[n++] = moved;
        p += len + (p[len] == ',');
    }
    if (order && n != fl->n) {
        fleet_stop(fl, "order is not of all nodes:", order);
    }
}

static void build_grpc(struct fleet *fl, const struct vfile *f, const char *implementation,
                       struct verdict *v)
{
    static const char *const known[] = {"implementation",
                                        "min_ring_size",
                                        "max_ring_size",
                                        "request_hash",
                                        "hash_type",
                                        "order",
                                        NULL};
    fleet_read(fl, f, "ring_hash", known, v);
    fleet_want(fl, "request_hash", "xxHash64");
    fleet_want(fl, "hash", "xxHash64|XX_HASH");
    fleet_want(fl, "hash_type", "uint64");
    fleet_set(fl, "like", "grpc");
    fleet_set(fl, "implementation", implementation);
    fleet_set(fl, "min_ring_size", vf_get(f, "min_ring_size"));
    fleet_set(fl, "max_ring_size", vf_get(f, "max_ring_size"));
    if (strcmp(implementation, "java") == 0) {
        take_order(fl);
    }
    fleet_add(fl, true);
    fleet_build(fl);
    if (!fl->bad && !fl->m->steps) {
        fleet_stop(fl, "no nodes in", f->path);
    }
}

void check_grpc(const struct vfile *f, struct verdict *v)
{
    const char *which = vf_get(f, "implementation");
    bool both = which && (strcmp(which, "go,java") == 0 || strcmp(which, "java,go") == 0);
    bool go = both || (which && strcmp(which, "go") == 0);
    bool java = both || (which && strcmp(which, "java") == 0);
    struct grpc g = {.go.f = f};
    if (!go && !java) {
        refuse(v, "unknown implementation '%s'", which ? which : "");
        return;
    }
    if (vf_column(f, "key") < 0 && vf_column(f, "hash") < 0) {
        refuse(v, "neither a column key nor hash");
        return;
    }
    if (go) {
        build_grpc(&g.go, f, "go", v);
    }
    if (java) {
        build_grpc(&g.java, f, "java", v);
    }
    if (!g.go.bad && !g.java.bad) {
        cells_check(f, grpc_cell, &g, v);
    }
    fleet_free(&g.go);
    fleet_free(&g.java);
}
