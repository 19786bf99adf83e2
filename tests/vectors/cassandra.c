/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra.c - Cassandra: tokens of keys, rings, and replicas on the ring of a companion file.
 * Threads: one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "vectors/cells.h"

struct owner {
    const char *node, *dc, *rack; /* as written */
    char *tokens, *name;
    uint64_t count;
};

struct cassandra {
    const struct vfile *f;
    struct verdict *v;
    struct owner *owner;
    size_t n;
    size_t replicas; /* how many a key has */
    gyre_map_t *m;
};

static void put_token(struct cassandra *c, const struct vf_row *r, const int column[4])
{
    const char *node = r->column[column[1]], *token = r->column[column[0]];
    size_t i = 0;
    while (i < c->n && strcmp(c->owner[i].node, node) != 0) {
        i++;
    }
    if (i == c->n) {
        struct owner *grown = realloc(c->owner, (c->n + 1) * sizeof *grown);
        if (!grown) {
            abort();
        }
        c->owner = grown;
        c->owner[c->n++] = (struct owner){.node = node,
                                          .dc = r->column[column[2]],
                                          .rack = r->column[column[3]],
                                          .tokens = strdup(""),
                                          .name = vf_decode_text(node, strlen(node))};
    }
    struct owner *o = &c->owner[i];
    size_t room = strlen(o->tokens) + strlen(token) + 2;
    char *more = malloc(room);
    if (!more || !o->name) {
        refuse(c->v, "malformed node %s", node);
        free(more);
        return;
    }
    snprintf(more, room, "%s%s%s", o->tokens, *o->tokens ? "," : "", token);
    free(o->tokens);
    o->tokens = more;
    o->count++;
    if (strcmp(o->dc, r->column[column[2]]) != 0 || strcmp(o->rack, r->column[column[3]]) != 0) {
        refuse(c->v, "line %u: %s stands elsewhere", r->line, node);
    }
}

static bool take_ring(struct cassandra *c, const struct vfile *ring)
{
    static const char *const names[] = {"token", "node", "dc", "rack"};
    static const char *const known[] = {"partitioner", NULL};
    const char *a = vf_get(c->f, "partitioner"), *b = vf_get(ring, "partitioner");
    const char *system = vf_get(ring, "system");
    int column[4];
    for (size_t i = 0; i < 4; i++) {
        column[i] = vf_column(ring, names[i]);
        if (column[i] < 0 || ring->columns != 4) {
            refuse(c->v, "ring %s has not the columns token,node,dc,rack", ring->path);
            return false;
        }
    }
    if (!cells_header(ring, "ring", NULL, known, c->v)) {
        return false;
    }
    if (!system || strcmp(system, "cassandra") != 0 || !a || !b || strcmp(a, b) != 0) {
        refuse(c->v, "ring %s is another partitioner's", ring->path);
        return false;
    }
    for (size_t i = 0; i < ring->rows; i++) {
        put_token(c, &ring->row[i], column);
    }
    return !c->v->refused;
}

static bool make_map(struct cassandra *c, const char *strategy, const char *rf)
{
    bool network = strcmp(strategy, "NetworkTopologyStrategy") == 0;
    const char *settings[] = {"like",
                              "cassandra",
                              "partitioner",
                              vf_get(c->f, "partitioner"),
                              "distribution",
                              strategy,
                              "rf",
                              network ? rf : NULL,
                              NULL};
    gyre_topology_t *t = cells_topology(settings, c->v);
    for (size_t i = 0; t && i < c->n; i++) {
        const struct owner *o = &c->owner[i];
        size_t room = strlen(o->tokens) + 16;
        char zone[512], *options = malloc(room);
        if (!options) {
            abort();
        }
        snprintf(zone, sizeof zone, "%s/%s", o->dc, o->rack);
        snprintf(options, room, "tokens=%s", o->tokens);
        bool good = cells_add(t, o->name, 1, zone, options, c->v);
        free(options);
        if (!good) {
            gyre_topology_free(t);
            t = NULL;
        }
    }
    c->m = t ? cells_map(t, c->v) : NULL;
    return c->m != NULL;
}

/* How many replicas "3" or "dc1:3,dc2:2" gives a key. */
static bool count_replicas(struct cassandra *c, const char *rf, bool network)
{
    uint64_t n;
    if (!network) {
        bool good = rf && vf_number(rf, &n) && n > 0;
        c->replicas = good ? (n < c->n ? n : c->n) : 0;
        return good;
    }
    for (const char *p = rf ? rf : ""; *p;) {
        size_t len = strcspn(p, ","), dc = strcspn(p, ":");
        char number[16];
        uint64_t nodes = 0;
        snprintf(number, sizeof number, "%.*s", dc < len ? (int)(len - dc - 1) : 0, p + dc + 1);
        if (dc >= len || !vf_number(number, &n)) {
            return false;
        }
        for (size_t i = 0; i < c->n; i++) {
            nodes += strlen(c->owner[i].dc) == dc && memcmp(c->owner[i].dc, p, dc) == 0;
        }
        c->replicas += n < nodes ? n : nodes;
        p += len + (p[len] == ',');
    }
    return c->replicas > 0;
}

static bool replicas_cell(void *self, struct cell *cell)
{
    struct cassandra *c = self;
    enum { MOST = 128 };
    uint32_t out[MOST];
    bool one = strcmp(cell->column, "node") == 0 && c->replicas == 1;
    if ((!one && strcmp(cell->column, "replicas") != 0) || c->replicas > MOST) {
        return false;
    }
    size_t n = gyre_map_replicas(c->m, cell->key, cell->len, out, c->replicas, NULL), at = 0;
    for (size_t i = 0; i < n && at < sizeof cell->got; i++) {
        const char *name = gyre_map_node(c->m, out[i])->name, *shown = "";
        for (size_t k = 0; k < c->n; k++) {
            shown = strcmp(c->owner[k].name, name) == 0 ? c->owner[k].node : shown;
        }
        at += (size_t)snprintf(cell->got + at, sizeof cell->got - at, "%s%s", i ? "," : "", shown);
    }
    return at < sizeof cell->got && out[0] == cells_locate(c->m, cell->key, cell->len);
}

/* "DIR/NAME" beside the file itself; free() it. */
static char *beside(const struct vfile *f, const char *name)
{
    const char *slash = strrchr(f->path, '/');
    size_t dir = slash ? (size_t)(slash + 1 - f->path) : 0, room = dir + strlen(name) + 1;
    char *path = malloc(room);
    if (!path) {
        abort();
    }
    snprintf(path, room, "%.*s%s", (int)dir, f->path, name);
    return path;
}

static void check_replicas(struct cassandra *c)
{
    const char *mode = vf_get(c->f, "mode"), *rf = vf_get(c->f, "rf"), *name = vf_get(c->f, "ring");
    char *decoded = name ? vf_decode_text(name, strlen(name)) : NULL;
    if (!decoded || strchr(decoded, '/')) {
        refuse(c->v, "no ring, or not beside the file");
        free(decoded);
        return;
    }
    char *path = beside(c->f, decoded);
    struct vfile ring;
    bool network = strcmp(mode, "NetworkTopologyStrategy") == 0;
    if (!vf_read(&ring, path)) {
        refuse(c->v, "ring: %s", ring.error);
    } else if (take_ring(c, &ring)) {
        if (!count_replicas(c, rf, network)) {
            refuse(c->v, "unknown rf '%s'", rf ? rf : "");
        } else if (make_map(c, mode, rf)) {
            cells_check(c->f, replicas_cell, c, c->v);
        }
    }
    vf_free(&ring);
    free(path);
    free(decoded);
}

/* A ring: its points and owners in order, as the map has them. */
static bool ring_cell(void *self, struct cell *cell)
{
    struct cassandra *c = self;
    size_t i = (size_t)(cell->row - c->f->row);
    gy_u128 at = c->m->place->position(c->m, i);
    const char *name = gyre_map_node(c->m, c->m->place->node(c->m, i))->name;
    size_t k = 0;
    while (strcmp(c->owner[k].name, name) != 0) {
        k++;
    }
    if (strcmp(cell->column, "token") == 0 && c->m->position_bits == 64) {
        snprintf(cell->got, sizeof cell->got, "%" PRId64,
                 (int64_t)((uint64_t)at ^ (uint64_t)1 << 63));
    } else if (strcmp(cell->column, "token") == 0) {
        char digits[48];
        size_t n = sizeof digits;
        digits[--n] = '\0';
        do {
            digits[--n] = (char)('0' + (unsigned)(at % 10));
            at /= 10;
        } while (at);
        snprintf(cell->got, sizeof cell->got, "%s", digits + n);
    } else {
        const struct owner *o = &c->owner[k];
        bool node = strcmp(cell->column, "node") == 0, dc = strcmp(cell->column, "dc") == 0;
        snprintf(cell->got, sizeof cell->got, "%s", node ? o->node : dc ? o->dc : o->rack);
    }
    return true;
}

/* The map's own token of a key. */
static bool token_cell(void *self, struct cell *cell)
{
    struct cassandra *c = self;
    if (strcmp(cell->column, "token") != 0 || c->m->hash_bits != 64) {
        return false; /* the other partitioner's: hashes.h knows it */
    }
    int64_t token = (int64_t)(gyre_map_hash(c->m, cell->key, cell->len) ^ (uint64_t)1 << 63);
    snprintf(cell->got, sizeof cell->got, "%" PRId64, token);
    return true;
}

void check_cassandra(const struct vfile *f, struct verdict *v)
{
    static const char *const rings[] = {"partitioner", NULL};
    static const char *const placed[] = {"partitioner", "rf", "ring", NULL};
    const char *mode = vf_get(f, "mode");
    struct cassandra c = {.f = f, .v = v};
    if (!vf_get(f, "partitioner")) {
        refuse(v, "no partitioner");
    } else if (mode && strcmp(mode, "ring") == 0) {
        if (take_ring(&c, f) && make_map(&c, "SimpleStrategy", NULL)) {
            if (c.m->steps == f->rows) {
                cells_check(f, ring_cell, &c, v);
            } else {
                refuse(v, "the ring has %zu points", c.m->steps);
            }
        }
    } else if (mode && strcmp(mode, "token") == 0) {
        if (cells_header(f, mode, "bytes|utf8", rings, v) && make_map(&c, "SimpleStrategy", NULL)) {
            cells_check(f, token_cell, &c, v);
        }
    } else if (cells_header(f, "SimpleStrategy|NetworkTopologyStrategy", "bytes|utf8", placed, v)) {
        check_replicas(&c);
    }
    gyre_map_unref(c.m);
    for (size_t i = 0; i < c.n; i++) {
        free(c.owner[i].tokens);
        free(c.owner[i].name);
    }
    free(c.owner);
}
