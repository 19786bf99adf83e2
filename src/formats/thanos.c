/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thanos.c - the hashrings file of Thanos Receive: a JSON list of hashrings, each with endpoints
 * (addresses, or objects with address and az), the tenants it serves and the algorithm. A pool
 * each. A tenant goes to the first hashring that names it or names nobody. With shuffle sharding a
 * tenant has some of the endpoints only, chosen by Go's random numbers: such a pool is not placed.
 * What Thanos refuses when it loads the file is refused here. Unknown keys it passes over.
 */
#include "formats/thanos.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"
#include "formats/tree.h"

#include <stdio.h>
#include <stdlib.h>

struct ring {
    struct gy_reading *r;
    struct gy_pool *p;
    const struct gy_tree *t, *endpoints;
    bool ketama;
    uint64_t shard_size; /* 0: no shuffle sharding */
    bool zoneless;       /* shards are not dealt by zone */
    size_t zones, zoned; /* different ones; endpoints that have one */
};

int gy_thanos_sniff(struct gy_slice head)
{
    size_t i = 0;
    while (i < head.n && memchr(" \t\r\n", head.p[i], 4)) {
        i++;
    }
    if (i == head.n || head.p[i] != '[' || !gy_slice_has(head, "\"endpoints\"")) {
        return GY_SURE_NOT;
    }
    bool sure = gy_slice_has(head, "\"hashring\"") || gy_slice_has(head, "\"tenants\"") ||
                gy_slice_has(head, "\"algorithm\"") || gy_slice_has(head, "\"az\"");
    return sure ? GY_SURE_YES : GY_SURE_LIKELY;
}

static int bad(struct ring *g, const struct gy_tree *at, const char *what)
{
    return gy_read_fail(g->r, GYRE_SYNTAX, at->at, "%s, not %s", what, gy_tree_word(at));
}

/* A text, or nothing; false after an error. */
static int text_of(struct ring *g, const struct gy_tree *map, const char *key, struct gy_slice *out)
{
    const struct gy_tree *t = gy_tree_get(map, key);
    char what[64];
    *out = (struct gy_slice){NULL, 0};
    if (!t || t->kind == GY_TREE_NULL) {
        return GYRE_OK;
    }
    snprintf(what, sizeof what, "%s must be a text", key);
    if (t->kind != GY_TREE_TEXT) {
        return bad(g, t, what);
    }
    if (t->plain) {
        return gy_read_fail(g->r, GYRE_SYNTAX, t->at, "%s", what);
    }
    *out = t->text;
    return GYRE_OK;
}

/* ---- endpoints ---- */

static int add_endpoint(struct ring *g, const struct gy_tree *t)
{
    struct gy_slice address = t->text, az = {NULL, 0};
    char why[GY_ADDRESS_WHY], q[GY_QUOTE];
    struct gy_server *s;
    int rc = GYRE_OK;
    if (t->kind == GY_TREE_MAP) {
        rc = text_of(g, t, "address", &address);
        rc = rc ? rc : text_of(g, t, "az", &az);
    } else if (t->kind != GY_TREE_TEXT || t->plain) {
        return bad(g, t, "an endpoint must be an address, or an object with one");
    }
    if (rc) {
        return rc;
    }
    if (address.n == 0) {
        return gy_read_fail(g->r, GYRE_INVALID, t->at, "endpoint address must be set");
    }
    if (az.n && !gy_text_check(az, 1024, why)) {
        return gy_read_fail(g->r, GYRE_RANGE, t->at, "an endpoint's az %s", why);
    }
    const char *name = (const char *)address.p; /* NUL-terminated, as texts of a tree are */
    if (strlen(name) == address.n && gyre_topology_find(g->p->config->topology, name)) {
        return gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "duplicate-endpoint", t->at,
                            "%s stands twice: Thanos counts it as two, and may put two replicas "
                            "on it; here it is one",
                            gy_utf8_quote(q, address));
    }
    struct gyre_node node = {.size = sizeof node,
                             .name = name,
                             .address = gy_address_check(address, false, why) ? name : NULL,
                             .weight = 1,
                             .zone = az.n ? (const char *)az.p : NULL};
    g->zoned += az.n > 0;
    return gy_read_both(g->r, g->p, t->at, &node, &s);
}

static int by_zone(const void *a, const void *b)
{
    const char *x = ((const struct gy_server *)*(void *const *)a)->zone;
    const char *y = ((const struct gy_server *)*(void *const *)b)->zone;
    return strcmp(x ? x : "", y ? y : "");
}

static int count_zones(struct ring *g)
{
    void **sorted = calloc(g->p->server_count + 1, sizeof *sorted);
    if (!sorted) {
        return gy_read_nomem(g->r);
    }
    for (size_t i = 0; i < g->p->server_count; i++) {
        sorted[i] = &g->p->servers[i];
    }
    qsort(sorted, g->p->server_count, sizeof *sorted, by_zone);
    for (size_t i = 0; i < g->p->server_count; i++) {
        g->zones += i == 0 || by_zone(&sorted[i - 1], &sorted[i]) != 0;
    }
    free(sorted);
    return GYRE_OK;
}

static int take_endpoints(struct ring *g)
{
    g->endpoints = gy_tree_get(g->t, "endpoints");
    if (!g->endpoints || g->endpoints->kind != GY_TREE_LIST) {
        return g->endpoints
                   ? bad(g, g->endpoints, "endpoints must be a list")
                   : gy_read_fail(g->r, GYRE_INVALID, g->t->at, "a hashring has no endpoints");
    }
    int rc = GYRE_OK;
    for (const struct gy_tree *t = g->endpoints->first; t && !rc; t = t->next) {
        rc = add_endpoint(g, t);
    }
    if (!rc && g->p->server_count == 0) {
        rc = gy_read_fail(g->r, GYRE_EMPTY, g->endpoints->at, "a hashring has no endpoints");
    }
    return rc ? rc : count_zones(g);
}

/* ---- algorithm ---- */

static int take_algorithm(struct ring *g)
{
    struct gy_slice word;
    char q[GY_QUOTE];
    int rc = text_of(g, g->t, "algorithm", &word);
    g->ketama = gy_slice_eq(word, GY_LIT("ketama"));
    if (!rc && word.n == 0) {
        rc = gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "algorithm-assumed", g->t->at,
                          "without an algorithm --receive.hashrings-algorithm decides: its "
                          "default, hashmod, is assumed");
    } else if (!rc && !g->ketama && !gy_slice_eq(word, GY_LIT("hashmod"))) {
        rc = gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "unknown-algorithm",
                          gy_tree_get(g->t, "algorithm")->at,
                          "Thanos knows no algorithm %s and silently takes hashmod, which moves "
                          "most series on every change; did you mean ketama?",
                          gy_utf8_quote(q, word));
    }
    rc = rc ? rc : gy_read_set(g->r, g->p, g->t->at, "like", "thanos");
    return rc ? rc
              : gy_read_set(g->r, g->p, g->t->at, "distribution", g->ketama ? "ketama" : "hashmod");
}

/* ---- tenants and shards ---- */

static int join_texts(struct ring *g, const struct gy_tree *list, struct gy_buf *out)
{
    for (const struct gy_tree *t = list ? list->first : NULL; t; t = t->next) {
        if (t->kind != GY_TREE_TEXT || t->plain) {
            return bad(g, t, "a tenant must be a text");
        }
        gy_buf_puts(out, t == list->first ? "" : ",");
        gy_buf_add(out, t->text.p, t->text.n);
    }
    return out->failed ? gy_read_nomem(g->r) : GYRE_OK;
}

static int check_matcher(struct ring *g, const struct gy_tree *map)
{
    static const char *const words[] = {"exact", "glob", NULL};
    struct gy_slice word;
    int rc = text_of(g, map, "tenant_matcher_type", &word);
    if (!rc && word.n && !gy_slice_eq(word, gy_str("exact")) &&
        !gy_slice_eq(word, gy_str("glob"))) {
        rc = gy_read_unknown(g->r, gy_tree_get(map, "tenant_matcher_type")->at,
                             "tenant_matcher_type", word, words);
    }
    return rc;
}

static int take_tenants(struct ring *g)
{
    const struct gy_tree *tenants = gy_tree_get(g->t, "tenants");
    struct gy_buf names = {0};
    int rc = check_matcher(g, g->t);
    if (!rc && tenants && tenants->kind != GY_TREE_LIST && tenants->kind != GY_TREE_NULL) {
        rc = bad(g, tenants, "tenants must be a list");
    }
    rc = rc ? rc : join_texts(g, tenants, &names);
    if (!rc) {
        const char *text = gy_buf_size(&names) ? gy_buf_cstr(&names) : "any";
        rc = gy_read_fact(g->r, g->p, "tenants", "%s", text);
    }
    gy_buf_fini(&names);
    return rc;
}

static int size_of(struct ring *g, const struct gy_tree *map, uint64_t *out)
{
    const struct gy_tree *t = gy_tree_get(map, "shard_size");
    *out = 0;
    if (t && (t->kind != GY_TREE_TEXT || !t->plain || gy_num_uint(t->text, out))) {
        return gy_read_fail(g->r, GYRE_SYNTAX, t->at, "shard_size must be a whole number");
    }
    return GYRE_OK;
}

/* "3 for prefix-tenant-*" */
static int take_override(struct ring *g, const struct gy_tree *t, struct gy_buf *out)
{
    const struct gy_tree *tenants = gy_tree_get(t, "tenants");
    uint64_t size;
    int rc = t->kind == GY_TREE_MAP ? check_matcher(g, t) : bad(g, t, "an override is an object");
    rc = rc ? rc : size_of(g, t, &size);
    if (rc) {
        return rc;
    }
    gy_buf_printf(out, "%s%ju for ", gy_buf_size(out) ? "; " : "", (uintmax_t)size);
    if (tenants && tenants->kind != GY_TREE_LIST) {
        return bad(g, tenants, "tenants must be a list");
    }
    return join_texts(g, tenants, out);
}

static int tell_overrides(struct ring *g, const struct gy_tree *c)
{
    const struct gy_tree *list = gy_tree_get(c, "overrides");
    struct gy_buf text = {0};
    int rc = GYRE_OK;
    for (const struct gy_tree *t = list && list->kind == GY_TREE_LIST ? list->first : NULL;
         t && !rc; t = t->next) {
        rc = take_override(g, t, &text);
    }
    if (!rc && gy_buf_size(&text)) {
        rc = gy_read_fact(g->r, g->p, "shard_size_overrides", "%s", gy_buf_cstr(&text));
    }
    gy_buf_fini(&text);
    return rc;
}

static int take_shards(struct ring *g)
{
    const struct gy_tree *c = gy_tree_get(g->t, "shuffle_sharding_config");
    if (!c || c->kind == GY_TREE_NULL) {
        return GYRE_OK;
    }
    int rc = c->kind == GY_TREE_MAP ? size_of(g, c, &g->shard_size)
                                    : bad(g, c, "shuffle_sharding_config must be an object");
    g->zoneless = gy_tree_is(gy_tree_get(c, "zone_awareness_disabled"), "true");
    if (rc || g->shard_size == 0) {
        return rc;
    }
    if (!g->ketama) {
        return gy_read_fail(g->r, GYRE_INVALID, c->at,
                            "hashmod does not support shuffle sharding: use ketama, or take "
                            "shuffle_sharding_config out");
    }
    if (g->shard_size > g->p->server_count) {
        return gy_read_fail(g->r, GYRE_RANGE, gy_tree_get(c, "shard_size")->at,
                            "shard_size %ju is larger than the number of endpoints, %zu",
                            (uintmax_t)g->shard_size, g->p->server_count);
    }
    rc = gy_read_fact(g->r, g->p, "shard_size", "%ju", (uintmax_t)g->shard_size);
    return rc ? rc : tell_overrides(g, c);
}

/* By zone every zone gives as many, so what is asked for is rounded up to all of them. */
static int leave_unplaced(struct ring *g)
{
    uint64_t zones = g->zoneless ? 1 : g->zones;
    uint64_t each = (g->shard_size + zones - 1) / zones;
    int rc = gy_read_fact(g->r, g->p, "endpoints_per_tenant", "%ju", (uintmax_t)(each * zones));
    return rc ? rc
              : gy_read_unplaced(g->r, g->p, g->t->at,
                                 "with shuffle sharding each tenant has %ju of %zu endpoints, "
                                 "chosen by Go's random numbers",
                                 (uintmax_t)(each * zones), g->p->server_count);
}

/* ---- the file ---- */

static int name_of(struct ring *g, size_t number, struct gy_buf *out)
{
    struct gy_slice name;
    int rc = text_of(g, g->t, "hashring", &name);
    gy_buf_add(out, name.p, name.n);
    bool taken = name.n == 0 && number > 0;
    for (size_t i = 0; !rc && !out->failed && i < g->r->into->count && i < 1000; i++) {
        taken = taken || strcmp(g->r->into->list[i]->name, gy_buf_cstr(out)) == 0;
    }
    if (taken) {
        gy_buf_printf(out, "@%u", g->t->at.line);
    }
    return rc ? rc : out->failed ? gy_read_nomem(g->r) : GYRE_OK;
}

static int read_ring(struct gy_reading *r, const struct gy_tree *t, size_t number)
{
    struct ring g = {.r = r, .t = t};
    struct gy_buf name = {0};
    int rc = t->kind == GY_TREE_MAP ? name_of(&g, number, &name)
                                    : bad(&g, t, "a hashring must be an object");
    rc = rc ? rc : gy_read_pool(r, gy_str(gy_buf_cstr(&name)), t->at, &g.p);
    gy_buf_fini(&name);
    rc = rc ? rc : take_algorithm(&g);
    rc = rc ? rc : take_endpoints(&g);
    if (!rc && g.zoned && !g.ketama) {
        rc = gy_read_fail(r, GYRE_INVALID, g.endpoints->at,
                          "hashmod does not support zones (az), and Thanos refuses them: use "
                          "ketama, or take them out");
    }
    rc = rc ? rc : take_tenants(&g);
    if (!rc && g.zoned) {
        rc = gy_read_fact(r, g.p, "zones", "%zu", g.zones);
    }
    rc = rc ? rc : take_shards(&g);
    return rc || !g.shard_size ? rc : leave_unplaced(&g);
}

int gy_thanos_parse(struct gy_reading *r)
{
    struct gy_doc doc;
    size_t number = 0;
    const struct gy_pool *open = NULL;
    int rc = gy_doc_json(&doc, r->text, GY_JSON_PLAIN, r->file, r->e);
    if (!rc && (doc.root->kind != GY_TREE_LIST || !doc.root->first)) {
        rc = gy_read_fail(r, GYRE_SYNTAX, doc.root->at,
                          "the file must be a list of hashrings, and not empty");
    }
    for (const struct gy_tree *t = rc ? NULL : doc.root->first; t && !rc; t = t->next) {
        rc = read_ring(r, t, number++);
        struct gy_pool *p = rc ? NULL : r->into->list[r->into->count - 1];
        if (!rc && open) {
            rc = gy_read_note(r, p, GY_LEVEL_WARNING, "unreachable-hashring", t->at,
                              "the hashring on line %u takes every tenant, and stands before this "
                              "one: nothing comes here",
                              open->line);
        }
        const char *tenants = rc ? NULL : gy_pool_fact_of(p, "tenants");
        open = !open && tenants && strcmp(tenants, "any") == 0 ? p : open;
    }
    gy_doc_fini(&doc);
    return rc;
}
