/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcrouter.c - the JSON (comments allowed) that mcrouter is configured with. A pool is an ordered
 * list of servers; how keys are dealt to them is said where a PoolRoute uses it, so routes are
 * walked first. A pool that two routes hash differently becomes two, the second called NAME@LINE.
 * Macros, and pools kept elsewhere, are refused: they are not in this file. Threads: one an object.
 */
#include "formats/mcrouter.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"
#include "formats/tree.h"

#include <stdlib.h>

#define ROUTES_MAX 4096

/* One way a pool is used: the object that says the hash, NULL for "PoolRoute|NAME". */
struct use {
    const struct gy_tree *pool; /* of `pools`, or one that stands in the route itself */
    const struct gy_tree *route;
    const struct gy_tree *hash;
};

struct work {
    struct gy_reading *r;
    const struct gy_tree *root, *pools;
    struct use *uses;
    size_t count;
};

int gy_mcrouter_sniff(struct gy_slice head)
{
    bool route = gy_slice_has(head, "\"route\"") || gy_slice_has(head, "\"routes\"");
    bool pools = gy_slice_has(head, "\"pools\"") || gy_slice_has(head, "PoolRoute");
    bool servers = gy_slice_has(head, "\"pools\"") && gy_slice_has(head, "\"servers\"");
    return route && pools ? GY_SURE_YES : servers ? GY_SURE_LIKELY : GY_SURE_NOT;
}

/* ---- the routes ---- */

static bool same(const struct gy_tree *a, const struct gy_tree *b)
{
    if (!a || !b || a->kind != b->kind || a->count != b->count) {
        return a == b;
    }
    if (!gy_slice_eq(a->text, b->text)) {
        return false;
    }
    const struct gy_tree *x = a->first, *y = b->first;
    while (x && gy_slice_eq(x->key, y->key) && same(x, y)) {
        x = x->next;
        y = y->next;
    }
    return !x;
}

static int add_use(struct work *w, const struct gy_tree *pool, const struct gy_tree *route,
                   const struct gy_tree *hash)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->uses[i].pool == pool && same(w->uses[i].hash, hash)) {
            return GYRE_OK;
        }
    }
    if (w->count == ROUTES_MAX) {
        return gy_read_fail(w->r, GYRE_RANGE, route->at, "more than %d ways to use a pool",
                            ROUTES_MAX);
    }
    w->uses[w->count++] = (struct use){pool, route, hash};
    return GYRE_OK;
}

static int find_pool(struct work *w, struct gy_slice name, struct gy_mark at,
                     const struct gy_tree **out)
{
    const char *names[65] = {NULL};
    size_t n = 0;
    *out = NULL;
    for (const struct gy_tree *p = w->pools ? w->pools->first : NULL; p; p = p->next) {
        if (gy_slice_eq(p->key, name)) {
            *out = p;
            return GYRE_OK;
        }
        if (n < 64) {
            names[n++] = (const char *)p->key.p;
        }
    }
    return gy_read_unknown(w->r, at, "pool", name, names);
}

/* A route whose `pool` is a name, or a pool with a name that stands there itself. */
static int take_pool_route(struct work *w, const struct gy_tree *t)
{
    const struct gy_tree *pool = gy_tree_get(t, "pool"), *found = pool;
    if (!pool) {
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at, "PoolRoute without a pool");
    }
    int rc = GYRE_OK;
    if (pool->kind == GY_TREE_TEXT) {
        rc = find_pool(w, pool->text, pool->at, &found);
    } else if (pool->kind != GY_TREE_MAP || !gy_tree_get(pool, "name")) {
        rc = gy_read_fail(w->r, GYRE_SYNTAX, pool->at,
                          "a pool must be the name of one, or an object with a name");
    }
    return rc ? rc : add_use(w, found, t, gy_tree_get(t, "hash"));
}

/* "PoolRoute|A", alone or behind other handles: "AllSyncRoute|PoolRoute|A" is no hash of A, but
 * A's own. */
static int take_text(struct work *w, const struct gy_tree *t)
{
    static const char word[] = "PoolRoute|";
    const struct gy_tree *pool;
    const uint8_t *at = t->text.n ? memmem(t->text.p, t->text.n, word, sizeof word - 1) : NULL;
    if (!at) {
        return GYRE_OK;
    }
    at += sizeof word - 1;
    struct gy_slice name = {at, t->text.n - (size_t)(at - t->text.p)};
    int rc = find_pool(w, name, t->at, &pool);
    return rc ? rc : add_use(w, pool, t, NULL);
}

static int walk(struct work *w, const struct gy_tree *t)
{
    int rc = GYRE_OK;
    if (t->kind == GY_TREE_TEXT) {
        return take_text(w, t);
    }
    if (gy_tree_is(gy_tree_get(t, "type"), "PoolRoute")) {
        rc = take_pool_route(w, t);
    }
    for (const struct gy_tree *c = t->first; c && !rc; c = c->next) {
        rc = walk(w, c);
    }
    return rc;
}

/* ---- the servers ---- */

/* "host:port", behind which protocol, security and compression may stand; IPv6 in brackets. */
static bool split(struct gy_slice s, struct gy_slice port_override, struct gy_slice *host,
                  struct gy_slice *port)
{
    if (s.n && s.p[0] == '[') {
        s = (struct gy_slice){s.p + 1, s.n - 1};
        size_t all = s.n;
        *host = gy_slice_cut(&s, ']');
        if (host->n == all || (s.n && s.p[0] != ':')) {
            return false;
        }
        gy_slice_cut(&s, ':');
    } else {
        *host = gy_slice_cut(&s, ':');
    }
    *port = gy_slice_cut(&s, ':');
    *port = port_override.n ? port_override : *port;
    return host->n && port->n;
}

static int bad_server(struct work *w, const struct gy_tree *t, const struct gy_tree *pool)
{
    char q[GY_QUOTE], p[GY_QUOTE];
    return gy_read_fail(
        w->r, GYRE_SYNTAX, t->at, "pool %s: invalid server %s: it must be host:port%s",
        gy_utf8_quote(p, pool->key), gy_utf8_quote(q, t->text),
        gy_slice_has(t->text, "%") || gy_slice_has(t->text, "@") ? "; macros are not expanded here"
                                                                 : "");
}

/* A server may stand in the list twice; placement is by place, so the second only needs a name of
 * its own. */
static void unique_name(const struct gy_pool *p, struct gy_buf *name)
{
    size_t base = gy_buf_size(name);
    for (unsigned i = 2;
         gyre_topology_find(p->config->topology, gy_buf_cstr(name)) && !name->failed; i++) {
        name->len = name->off + base;
        gy_buf_printf(name, "#%u", i);
    }
}

static int add_server(struct work *w, struct gy_pool *p, const struct gy_tree *pool,
                      const struct gy_tree *t, double weight)
{
    const struct gy_tree *text = t->kind == GY_TREE_MAP ? gy_tree_get(t, "hostname") : t;
    const struct gy_tree *over = gy_tree_get(pool, "port_override");
    struct gy_slice host, port;
    if (!text || text->kind != GY_TREE_TEXT || text->plain) {
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at,
                            "a server must be \"host:port\", or an object with a hostname");
    }
    struct gy_buf address = {0}, name = {0};
    bool good = split(text->text, over ? over->text : GY_LIT(""), &host, &port) &&
                gy_address_join(&address, host, port);
    if (!good) {
        bool failed = address.failed;
        gy_buf_fini(&address);
        return failed ? gy_read_nomem(w->r) : bad_server(w, text, pool);
    }
    gy_buf_add(&name, gy_buf_head(&address), gy_buf_size(&address));
    unique_name(p, &name);
    struct gyre_node node = {.size = sizeof node,
                             .name = gy_buf_cstr(&name),
                             .address = gy_buf_cstr(&address),
                             .weight = weight};
    struct gy_server *server;
    int rc = name.failed || address.failed ? gy_read_nomem(w->r)
                                           : gy_read_both(w->r, p, t->at, &node, &server);
    gy_buf_fini(&address);
    gy_buf_fini(&name);
    return rc;
}

/* ---- the hash ---- */

struct hash {
    const char *func;
    const struct gy_tree *weights; /* NULL: none */
};

/* What the pool says of weights is overridden by what the route says. */
static int take_hash(struct work *w, struct gy_pool *p, const struct use *u, struct hash *h)
{
    static const char *const funcs[] = {
        "Ch3",        "Crc32",  "WeightedCh3",  "Rendezvous",     "WeightedRendezvous",
        "ConstShard", "Latest", "LoadBalancer", "RendezvousHash", NULL};
    const struct gy_tree *func = u->hash, *salt = NULL;
    int rc = GYRE_OK;
    h->weights = gy_tree_get(u->pool, "weights");
    h->func = h->weights ? "WeightedCh3" : "Ch3";
    if (u->hash && u->hash->kind == GY_TREE_MAP) {
        const struct gy_tree *weights = gy_tree_get(u->hash, "weights");
        func = gy_tree_get(u->hash, "hash_func");
        salt = gy_tree_get(u->hash, "salt");
        h->weights = weights ? weights : h->weights;
    }
    if (func && func->kind != GY_TREE_TEXT) {
        return gy_read_fail(w->r, GYRE_SYNTAX, func->at, "hash is not object/string");
    }
    size_t i = 0;
    while (func && funcs[i] && !gy_tree_is(func, funcs[i])) {
        i++;
    }
    if (func && !funcs[i]) {
        return gy_read_unknown(w->r, func->at, "hash function", func->text, funcs);
    }
    h->func = func ? funcs[i] : h->func;
    if (i < 5) {
        rc = gy_read_set(w->r, p, u->route ? u->route->at : u->pool->at, "distribution", h->func);
    }
    if (!rc && salt && salt->kind == GY_TREE_TEXT && salt->text.n) {
        rc = gy_read_set(w->r, p, salt->at, "salt", (const char *)salt->text.p);
    }
    return rc;
}

static int take_weight(struct work *w, const struct gy_tree *t, double *weight)
{
    uint64_t micros;
    if (t->kind != GY_TREE_TEXT || gy_num_micros(t->text, &micros)) {
        char q[GY_QUOTE];
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at, "a weight must be a number, not %s",
                            t->kind == GY_TREE_TEXT ? gy_utf8_quote(q, t->text) : gy_tree_word(t));
    }
    *weight = gy_num_from_micros(micros);
    return GYRE_OK;
}

/* WeightedCh3 fills missing weights up with a half, and cuts those above 1. */
static int add_servers(struct work *w, struct gy_pool *p, const struct gy_tree *pool,
                       const struct gy_tree *servers, const struct hash *h)
{
    bool weighted = strncmp(h->func, "Weighted", 8) == 0;
    bool ch3 = strcmp(h->func, "WeightedCh3") == 0;
    const struct gy_tree *weight = weighted && h->weights ? h->weights->first : NULL;
    int rc = GYRE_OK;
    for (const struct gy_tree *t = servers->first; t && !rc; t = t->next) {
        double value = ch3 ? 0.5 : 1;
        rc = weight ? take_weight(w, weight, &value) : GYRE_OK;
        value = ch3 && value > 1 ? 1 : value;
        weight = weight ? weight->next : NULL;
        rc = rc ? rc : add_server(w, p, pool, t, value);
    }
    size_t have = h->weights ? h->weights->count : 0;
    if (!rc && ch3 && have < servers->count) {
        rc = gy_read_note(w->r, p, GY_LEVEL_WARNING, "weights-missing", servers->at,
                          "%zu weights for %zu servers: mcrouter takes 0.5 for the others", have,
                          servers->count);
    }
    if (!rc && !weighted && h->weights) {
        rc = gy_read_note(w->r, p, GY_LEVEL_WARNING, "weight-unused", h->weights->at,
                          "weights are given, but %s does not look at them", h->func);
    }
    return rc;
}

/* ---- a pool ---- */

static int check_pool(struct work *w, const struct gy_tree *t, const struct gy_tree **servers)
{
    char q[GY_QUOTE];
    gy_utf8_quote(q, t->key);
    const struct gy_tree *inherit = gy_tree_get(t, "inherit");
    if (t->kind != GY_TREE_MAP) {
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at,
                            "pool %s must be an object with servers; pools kept elsewhere, and "
                            "macros, are not read",
                            q);
    }
    if (inherit) {
        return gy_read_fail(w->r, GYRE_UNSUPPORTED, inherit->key_at,
                            "pool %s takes its servers from elsewhere, which is not read; write "
                            "them out",
                            q);
    }
    *servers = gy_tree_get(t, "servers");
    if (!*servers) {
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at, "pool %s: servers not found", q);
    }
    return (*servers)->kind == GY_TREE_LIST ? GYRE_OK
                                            : gy_read_fail(w->r, GYRE_SYNTAX, (*servers)->at,
                                                           "pool %s: servers is not an array", q);
}

static int explain_unplaced(struct work *w, struct gy_pool *p, const struct use *u,
                            const struct hash *h, size_t servers)
{
    struct gy_mark at = u->route ? u->route->at : u->pool->at;
    if (strcmp(h->func, "ConstShard") == 0) {
        return gy_read_unplaced(w->r, p, at,
                                "ConstShard takes the server's number from the key itself");
    }
    if (strcmp(h->func, "Latest") == 0 || strcmp(h->func, "LoadBalancer") == 0) {
        return gy_read_unplaced(w->r, p, at, "%s does not place keys: it follows servers' state",
                                h->func);
    }
    return servers ? GYRE_OK : gy_read_unplaced(w->r, p, at, "pool has no servers");
}

/* Does the pool stand in the route that uses it? */
static bool is_inline(const struct use *u)
{
    return u->route && u->pool == gy_tree_get(u->route, "pool");
}

static int read_use(struct work *w, const struct use *u, bool again)
{
    const struct gy_tree *servers = NULL;
    struct gy_buf title = {0};
    struct gy_pool *p = NULL;
    struct hash h;
    int rc = check_pool(w, u->pool, &servers);
    if (rc) {
        return rc;
    }
    struct gy_slice text = is_inline(u) ? gy_tree_get(u->pool, "name")->text : u->pool->key;
    gy_buf_add(&title, text.p, text.n);
    if (again) {
        gy_buf_printf(&title, "@%u", u->route->at.line);
    }
    rc = title.failed ? gy_read_nomem(w->r)
                      : gy_read_pool(w->r, gy_str(gy_buf_cstr(&title)), u->pool->key_at, &p);
    gy_buf_fini(&title);
    rc = rc ? rc : gy_read_set(w->r, p, u->pool->at, "like", "mcrouter");
    rc = rc ? rc : take_hash(w, p, u, &h);
    rc = rc ? rc : add_servers(w, p, u->pool, servers, &h);
    rc = rc ? rc : gy_read_shared(w->r, p);
    if (!rc && !u->route) {
        rc = gy_read_note(w->r, p, GY_LEVEL_NOTE, "no-pool-route", u->pool->key_at,
                          "no PoolRoute uses this pool: placed as one without a hash would");
    }
    return rc ? rc : explain_unplaced(w, p, u, &h, servers->count);
}

static int check_root(struct work *w)
{
    const struct gy_tree *root = w->root;
    if (root->kind != GY_TREE_MAP) {
        return gy_read_fail(w->r, GYRE_SYNTAX, root->at, "config is not an object");
    }
    const struct gy_tree *route = gy_tree_get(root, "route"), *routes = gy_tree_get(root, "routes");
    const struct gy_tree *macros = gy_tree_get(root, "macros");
    if (macros) {
        return gy_read_fail(w->r, GYRE_UNSUPPORTED, macros->key_at,
                            "macros are not expanded here; give the configuration as mcrouter has "
                            "it after them");
    }
    w->pools = gy_tree_get(root, "pools");
    if (w->pools && w->pools->kind != GY_TREE_MAP) {
        return gy_read_fail(w->r, GYRE_SYNTAX, w->pools->at, "config: 'pools' is not an object");
    }
    if (route && routes) {
        return gy_read_fail(w->r, GYRE_SYNTAX, routes->key_at,
                            "both 'route' and 'routes' are specified");
    }
    return route || routes ? GYRE_OK
                           : gy_read_fail(w->r, GYRE_SYNTAX, root->at, "no route/routes in config");
}

static bool is_used(const struct work *w, const struct gy_tree *pool)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->uses[i].pool == pool) {
            return true;
        }
    }
    return false;
}

/* In the order of `pools`; then those that stand in routes. */
static int read_pools(struct work *w)
{
    int rc = GYRE_OK;
    for (const struct gy_tree *t = w->pools ? w->pools->first : NULL; t && !rc; t = t->next) {
        bool again = false;
        for (size_t i = 0; i < w->count && !rc; i++) {
            if (w->uses[i].pool == t) {
                rc = read_use(w, &w->uses[i], again);
                again = true;
            }
        }
        if (!rc && !is_used(w, t)) {
            rc = read_use(w, &(struct use){.pool = t}, false);
        }
    }
    for (size_t i = 0; i < w->count && !rc; i++) {
        if (is_inline(&w->uses[i])) {
            rc = read_use(w, &w->uses[i], false);
        }
    }
    return rc;
}

int gy_mcrouter_parse(struct gy_reading *r)
{
    struct gy_doc doc;
    struct work w = {.r = r, .uses = calloc(ROUTES_MAX, sizeof *w.uses)};
    int rc = gy_doc_json(&doc, r->text, GY_JSON_LOOSE, r->file, r->e);
    if (!rc && !w.uses) {
        rc = gy_read_nomem(r);
    }
    w.root = doc.root;
    rc = rc ? rc : check_root(&w);
    for (const struct gy_tree *t = rc ? NULL : w.root->first; t && !rc; t = t->next) {
        rc = t == w.pools ? GYRE_OK : walk(&w, t);
    }
    rc = rc ? rc : read_pools(&w);
    gy_doc_fini(&doc);
    free(w.uses);
    return rc;
}
