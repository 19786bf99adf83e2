/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - see view.h. A view is one allocation per array and is only ever replaced, so a worker
 * that holds a reference reads it without locks. Routing during a move costs two map lookups and
 * one probe of the pair table; the chunk is hashed only for keys that move.
 */
#include "move/view.h"

#include "lib/error.h"

#include <stdlib.h>

static void *copy_of(const void *p, size_t n, size_t size)
{
    void *out = malloc(n ? n * size : 1);
    if (out && n) {
        memcpy(out, p, n * size);
    }
    return out;
}

/* ---- views ---- */

struct gy_view *gy_view_ref(struct gy_view *v)
{
    /* Relaxed: whoever adds a reference already holds one. */
    atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
    return v;
}

void gy_view_unref(struct gy_view *v)
{
    /* Acquire-release: the last one to let go sees what all others did with it. */
    if (!v || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (uint32_t i = 0; v->servers && i < v->nservers; i++) {
        free(v->servers[i].name);
        free(v->servers[i].address);
    }
    free(v->servers);
    free(v->server);
    free(v->state);
    free(v->attempt);
    free(v->from_complete);
    free(v->drain);
    gyre_map_unref(v->map);
    gy_migration_unref(v->move);
    free(v);
}

static bool copy_servers(struct gy_view *v, const struct gy_server *servers, uint32_t n)
{
    v->servers = calloc(n ? n : 1, sizeof *v->servers);
    if (!v->servers) {
        return false;
    }
    v->nservers = n;
    for (uint32_t i = 0; i < n; i++) {
        v->servers[i].name = strdup(servers[i].name);
        v->servers[i].address = strdup(servers[i].address);
        if (!v->servers[i].name || !v->servers[i].address) {
            return false;
        }
    }
    return true;
}

struct gy_view *gy_view_new(gyre_map_t *map, const struct gy_server *servers, uint32_t nservers,
                            const uint32_t *server)
{
    struct gy_view *v = calloc(1, sizeof *v);
    if (!v) {
        return NULL;
    }
    atomic_init(&v->refs, 1);
    v->map = gyre_map_ref(map);
    v->server = copy_of(server, gyre_map_count(map), sizeof *server);
    if (!v->server || !copy_servers(v, servers, nservers)) {
        gy_view_unref(v);
        return NULL;
    }
    return v;
}

struct gy_view *gy_view_with_move(const struct gy_view *v, struct gy_migration *m)
{
    struct gy_view *w = gy_view_new(v->map, v->servers, v->nservers, v->server);
    if (!w) {
        return NULL;
    }
    size_t n = m->nunits ? m->nunits : 1;
    w->move = gy_migration_ref(m);
    w->state = calloc(n, sizeof *w->state);
    w->attempt = calloc(n, sizeof *w->attempt);
    w->from_complete = calloc(n, sizeof *w->from_complete);
    if (!w->state || !w->attempt || !w->from_complete) {
        gy_view_unref(w);
        return NULL;
    }
    return w;
}

struct gy_view *gy_view_clone(const struct gy_view *v)
{
    struct gy_view *w = v->move ? gy_view_with_move(v, v->move)
                                : gy_view_new(v->map, v->servers, v->nservers, v->server);
    if (w && v->move) {
        size_t n = v->move->nunits;
        memcpy(w->state, v->state, n * sizeof *w->state);
        memcpy(w->attempt, v->attempt, n * sizeof *w->attempt);
        memcpy(w->from_complete, v->from_complete, n * sizeof *w->from_complete);
    }
    return w;
}

static bool is_in(const uint32_t *servers, uint32_t n, uint32_t server)
{
    for (uint32_t i = 0; i < n; i++) {
        if (servers[i] == server) {
            return true;
        }
    }
    return false;
}

bool gy_view_serves(const struct gy_view *v, uint32_t server)
{
    return is_in(v->server, gyre_map_count(v->map), server) ||
           (v->move && is_in(v->move->next_server, gyre_map_count(v->move->next), server));
}

enum gy_unit_state gy_view_state_of(const struct gy_view *v, const struct gy_migration *m,
                                    uint32_t unit)
{
    if (v->move == m) {
        return (enum gy_unit_state)v->state[unit];
    }
    return v->map == m->next ? GY_UNIT_MOVED : GY_UNIT_STABLE;
}

bool gy_view_set_drain(struct gy_view *v, const uint32_t *servers, uint32_t n)
{
    uint32_t *drain = copy_of(servers, n, sizeof *servers);
    if (!drain) {
        return false;
    }
    free(v->drain);
    v->drain = drain;
    v->ndrain = n;
    return true;
}

/* ---- the table of pairs ---- */

/* Entry i is pairs[3i] = src, [3i+1] = dst, [3i+2] = first unit; GY_NO_UNIT: free. Linear probing,
 * at most half full. */
static uint32_t pair_slot(uint32_t src, uint32_t dst, uint32_t mask)
{
    uint32_t h = src * UINT32_C(0x9E3779B1) ^ dst * UINT32_C(0x85EBCA77);
    return (h ^ h >> 15) & mask;
}

static uint32_t pair_find(const struct gy_migration *m, uint32_t src, uint32_t dst)
{
    for (uint32_t i = pair_slot(src, dst, m->npairs_mask);; i = (i + 1) & m->npairs_mask) {
        const uint32_t *p = m->pairs + (size_t)i * 3;
        if (p[2] == GY_NO_UNIT || (p[0] == src && p[1] == dst)) {
            return p[2];
        }
    }
}

static bool pair_table(struct gy_migration *m, const struct gy_pair *pairs, size_t n)
{
    uint32_t size = 4;
    while (size < 2 * n + 1) {
        size *= 2;
    }
    m->npairs_mask = size - 1;
    m->pairs = malloc((size_t)size * 3 * sizeof *m->pairs);
    if (!m->pairs) {
        return false;
    }
    memset(m->pairs, 0xff, (size_t)size * 3 * sizeof *m->pairs);
    for (size_t k = 0; k < n; k++) {
        uint32_t i = pair_slot(pairs[k].src, pairs[k].dst, m->npairs_mask);
        while (m->pairs[(size_t)i * 3 + 2] != GY_NO_UNIT) {
            i = (i + 1) & m->npairs_mask;
        }
        uint32_t *p = m->pairs + (size_t)i * 3;
        p[0] = pairs[k].src;
        p[1] = pairs[k].dst;
        p[2] = (uint32_t)k * m->nchunks;
    }
    return true;
}

/* ---- migrations ---- */

static int pair_order(const void *a, const void *b)
{
    const struct gy_pair *x = a, *y = b;
    if (x->src != y->src) {
        return x->src < y->src ? -1 : 1;
    }
    return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static size_t sort_unique(struct gy_pair *p, size_t n)
{
    size_t kept = 0;
    qsort(p, n, sizeof *p, pair_order);
    for (size_t i = 0; i < n; i++) {
        if (p[i].src != p[i].dst && (kept == 0 || pair_order(&p[kept - 1], &p[i]) != 0)) {
            p[kept++] = p[i];
        }
    }
    return kept;
}

/* Every server of the old map with every server of the new one. */
static size_t all_pairs(const struct gy_view *v, uint32_t nnext, const uint32_t *next_server,
                        struct gy_pair *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < gyre_map_count(v->map); i++) {
        for (uint32_t j = 0; j < nnext; j++) {
            out[n++] = (struct gy_pair){v->server[i], next_server[j]};
        }
    }
    return n;
}

static size_t flow_pairs(const struct gy_view *v, gyre_map_t *next, const uint32_t *next_server,
                         const gyre_diff_t *d, struct gy_pair *out)
{
    size_t n = 0;
    for (size_t i = 0; i < gyre_diff_count(d); i++) {
        const struct gyre_flow *f = gyre_diff_flow(d, i);
        uint32_t a = gyre_map_find(v->map, f->from), b = gyre_map_find(next, f->to);
        if (a != GYRE_NONE && b != GYRE_NONE) {
            out[n++] = (struct gy_pair){v->server[a], next_server[b]};
        }
    }
    /* A node that keeps its name and changes its address moves whole, and no diff shows it. */
    for (uint32_t i = 0; i < gyre_map_count(v->map); i++) {
        uint32_t j = gyre_map_find(next, gyre_map_node(v->map, i)->name);
        if (j != GYRE_NONE && gyre_map_share(v->map, i) > 0) {
            out[n++] = (struct gy_pair){v->server[i], next_server[j]};
        }
    }
    return n;
}

/* Only what is counted over the whole hash space says between which nodes no key moves; and of
 * modulos no more than 2^20 flows are listed (gyre_diff_build). */
static bool lists_all(const gyre_diff_t *d)
{
    return gyre_diff_has_arcs(d) || (gyre_diff_exact(d) && gyre_diff_count(d) < 1u << 20);
}

int gy_migration_pairs(const struct gy_view *v, gyre_map_t *next, const uint32_t *next_server,
                       struct gy_pair **out, size_t *n, gyre_error_t *e)
{
    gyre_diff_t *d = NULL;
    size_t old_count = gyre_map_count(v->map), next_count = gyre_map_count(next);
    *out = NULL;
    int rc = gyre_diff_build(v->map, next, 0, &d, NULL);
    bool listed = rc == GYRE_OK && lists_all(d);
    size_t room = listed ? gyre_diff_count(d) + old_count : old_count * next_count;
    struct gy_pair *pairs = calloc(room ? room : 1, sizeof *pairs);
    if (!pairs) {
        gyre_diff_free(d);
        return gy_fail_nomem(e);
    }
    *n = listed ? flow_pairs(v, next, next_server, d, pairs)
                : all_pairs(v, (uint32_t)next_count, next_server, pairs);
    gyre_diff_free(d);
    *n = sort_unique(pairs, *n);
    *out = pairs;
    return GYRE_OK;
}

static bool name_units(const struct gy_view *v, struct gy_migration *m, const char *prefix,
                       const char *pool)
{
    for (uint32_t i = 0; i < m->nunits; i++) {
        const struct gy_server *s = &v->servers[m->units[i].src], *d = &v->servers[m->units[i].dst];
        if (!gy_unit_names_init(&m->names[i], prefix, pool, s->name, s->address, d->name,
                                d->address, m->units[i].chunk)) {
            return false;
        }
    }
    return true;
}

int gy_migration_new(const struct gy_view *v, gyre_map_t *next, const uint32_t *next_server,
                     const struct gy_pair *pairs, size_t npairs, uint64_t epoch, uint32_t nchunks,
                     const char *prefix, const char *pool, struct gy_migration **out,
                     gyre_error_t *e)
{
    *out = NULL;
    if (nchunks == 0 || npairs > (UINT32_MAX - 1) / nchunks / 3) {
        return gy_fail(e, GYRE_RANGE, "%zu flows of %u chunks are too many units", npairs, nchunks);
    }
    struct gy_migration *m = calloc(1, sizeof *m);
    if (!m) {
        return gy_fail_nomem(e);
    }
    atomic_init(&m->refs, 1);
    m->epoch = epoch;
    m->next = gyre_map_ref(next);
    m->nchunks = nchunks;
    m->nunits = (uint32_t)npairs * nchunks;
    m->next_server = copy_of(next_server, gyre_map_count(next), sizeof *next_server);
    m->units = calloc(m->nunits ? m->nunits : 1, sizeof *m->units);
    m->names = calloc(m->nunits ? m->nunits : 1, sizeof *m->names);
    bool ok = m->next_server && m->units && m->names && pair_table(m, pairs, npairs);
    for (uint32_t i = 0; ok && i < m->nunits; i++) {
        const struct gy_pair *p = &pairs[i / nchunks];
        m->units[i] = (struct gy_unit){p->src, p->dst, i % nchunks};
    }
    if (!ok || !name_units(v, m, prefix, pool)) {
        gy_migration_unref(m);
        return gy_fail_nomem(e);
    }
    *out = m;
    return GYRE_OK;
}

struct gy_migration *gy_migration_ref(struct gy_migration *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed); /* as gy_view_ref */
    return m;
}

void gy_migration_unref(struct gy_migration *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (uint32_t i = 0; m->names && i < m->nunits; i++) {
        gy_unit_names_fini(&m->names[i]);
    }
    free(m->names);
    free(m->units);
    free(m->pairs);
    free(m->next_server);
    gyre_map_unref(m->next);
    free(m);
}

/* ---- routing ---- */

struct gy_route gy_view_route(const struct gy_view *v, const void *key, size_t len)
{
    uint32_t node = gyre_map_locate(v->map, key, len);
    uint32_t src = node == GYRE_NONE ? GYRE_NONE : v->server[node];
    struct gy_route r = {.src = src, .dst = src, .unit = GY_NO_UNIT, .state = GY_UNIT_STABLE};
    const struct gy_migration *m = v->move;
    if (!m || src == GYRE_NONE) {
        return r;
    }
    uint32_t next = gyre_map_locate(m->next, key, len);
    if (next == GYRE_NONE || m->next_server[next] == src) {
        return r;
    }
    uint32_t first = pair_find(m, src, m->next_server[next]);
    if (first == GY_NO_UNIT) {
        return r;
    }
    const void *part;
    size_t part_len;
    gyre_map_hash_input(v->map, key, len, &part, &part_len);
    r.dst = m->next_server[next];
    r.unit = first + gy_unit_chunk(part, part_len, m->nchunks);
    r.state = (enum gy_unit_state)v->state[r.unit];
    return r;
}
