/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cortex.c - the hash ring of Cortex, Mimir, Loki, Tempo and Pyroscope as JSON: what the ring's
 * page answers to `Accept: application/json` ({"shards": [{"id", "state", "address", "zone",
 * "tokens"}]}), or the ring as it is stored ({"ingesters": {ID: {"addr", "state", "tokens"}}}).
 *
 * With zone awareness each zone holds a copy of its own, so what an instance owns counts inside its
 * zone; over the tokens of all zones the shares mean nothing, and that is told. Threads: one thread
 * an object.
 */
#include "formats/cortex.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"
#include "formats/tree.h"

#include <stdio.h>
#include <stdlib.h>

#define ZONES_MOST 64 /* copies, of a topology */
#define LISTED     64 /* instances whose shares become a fact */

struct token {
    uint32_t at;
    uint32_t server;
    struct gy_mark mark;
};

struct ring {
    struct gy_reading *r;
    struct gy_pool *p;
    struct token *tokens;
    size_t count, room;
    size_t zones, unzoned;
};

struct state {
    const char *word, *number;
    unsigned bit;
};

static const struct state STATES[] = {
    {"ACTIVE", "0", 0},
    {"LEAVING", "1", GY_STATE_LEAVING},
    {"PENDING", "2", GY_STATE_JOINING},
    {"JOINING", "3", GY_STATE_JOINING},
    {"LEFT", "4", GY_STATE_DISABLED},
    {"UNHEALTHY", "UNHEALTHY", GY_STATE_DOWN},
};
#define STATE_COUNT (sizeof STATES / sizeof STATES[0])

int gy_cortex_sniff(struct gy_slice head)
{
    size_t i = 0;
    while (i < head.n && memchr(" \t\r\n", head.p[i], 4)) {
        i++;
    }
    bool object = i < head.n && head.p[i] == '{';
    bool list = gy_slice_has(head, "\"shards\"") || gy_slice_has(head, "\"ingesters\"") ||
                gy_slice_has(head, "\"instances\"");
    return object && list && gy_slice_has(head, "\"tokens\"") ? GY_SURE_YES : GY_SURE_NOT;
}

/* ---- an instance ---- */

static const struct gy_tree *either(const struct gy_tree *map, const char *a, const char *b)
{
    const struct gy_tree *t = gy_tree_get(map, a);
    return t ? t : gy_tree_get(map, b);
}

static int take_state(struct ring *g, const struct gy_tree *t, unsigned *bits)
{
    const char *words[STATE_COUNT + 1] = {NULL};
    if (!t) { /* of the stored form: 0, which is left out */
        return GYRE_OK;
    }
    for (size_t i = 0; i < STATE_COUNT; i++) {
        if (gy_tree_is(t, STATES[i].word) || gy_tree_is(t, STATES[i].number)) {
            *bits |= STATES[i].bit;
            return GYRE_OK;
        }
        words[i] = STATES[i].word;
    }
    return t->kind == GY_TREE_TEXT
               ? gy_read_unknown(g->r, t->at, "state", t->text, words)
               : gy_read_fail(g->r, GYRE_SYNTAX, t->at, "an instance's state must be a word");
}

static int take_token(struct ring *g, const struct gy_tree *t)
{
    uint64_t at;
    if (t->kind != GY_TREE_TEXT || gy_num_uint(t->text, &at) || at > UINT32_MAX) {
        return gy_read_fail(g->r, GYRE_SYNTAX, t->at, "a token is a number of 0 to %u", UINT32_MAX);
    }
    if (g->count == g->room) {
        size_t room = g->room ? g->room * 2 : 512;
        struct token *grown = realloc(g->tokens, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(g->r);
        }
        g->tokens = grown;
        g->room = room;
    }
    g->tokens[g->count++] = (struct token){(uint32_t)at, (uint32_t)g->p->server_count, t->at};
    return GYRE_OK;
}

/* "1,5,9", and into g->tokens. */
static int take_tokens(struct ring *g, const struct gy_tree *list, struct gy_buf *out)
{
    if (list && list->kind != GY_TREE_LIST && list->kind != GY_TREE_NULL) {
        return gy_read_fail(g->r, GYRE_SYNTAX, list->at, "tokens must be a list, not %s",
                            gy_tree_word(list));
    }
    int rc = GYRE_OK;
    for (const struct gy_tree *t = list ? list->first : NULL; t && !rc; t = t->next) {
        rc = take_token(g, t);
        if (!rc) {
            gy_buf_printf(out, t == list->first ? "%u" : ",%u", g->tokens[g->count - 1].at);
        }
    }
    return rc;
}

static int text_field(struct ring *g, const struct gy_tree *t, const char *what,
                      struct gy_slice *out)
{
    char why[GY_ADDRESS_WHY];
    *out = (struct gy_slice){NULL, 0};
    if (!t || t->kind == GY_TREE_NULL || (t->kind == GY_TREE_TEXT && t->text.n == 0)) {
        return GYRE_OK;
    }
    if (t->kind != GY_TREE_TEXT || t->plain || !gy_text_check(t->text, 1024, why)) {
        return gy_read_fail(g->r, GYRE_SYNTAX, t->at, "an instance's %s must be a text", what);
    }
    *out = t->text;
    return GYRE_OK;
}

static int add_instance(struct ring *g, const struct gy_tree *t, struct gy_slice id)
{
    struct gy_slice address, zone;
    struct gy_buf tokens = {0}, options = {0};
    struct gy_server *s = NULL;
    unsigned bits = 0;
    char why[GY_ADDRESS_WHY];
    size_t first = g->count;
    int rc = text_field(g, either(t, "address", "addr"), "address", &address);
    rc = rc ? rc : text_field(g, gy_tree_get(t, "zone"), "zone", &zone);
    rc = rc ? rc : take_state(g, gy_tree_get(t, "state"), &bits);
    rc = rc ? rc : take_tokens(g, gy_tree_get(t, "tokens"), &tokens);
    bits |= gy_tree_is(either(t, "read_only", "readOnly"), "true") ? GY_STATE_READ_ONLY : 0;
    gy_buf_printf(&options, "tokens=%s", gy_buf_cstr(&tokens));
    bool owns = gy_buf_size(&tokens) > 0;
    bool dialled = !rc && address.n && gy_address_check(address, false, why);
    struct gyre_node node = {.size = sizeof node,
                             .name = (const char *)id.p,
                             .address = dialled ? (const char *)address.p : NULL,
                             .weight = owns ? 1 : 0,
                             .zone = rc || !zone.n ? NULL : (const char *)zone.p,
                             .options = owns ? gy_buf_cstr(&options) : NULL};
    rc = rc || !(tokens.failed || options.failed) ? rc : gy_read_nomem(g->r);
    rc = rc ? rc : gy_read_both(g->r, g->p, t->at, &node, &s);
    if (!rc) {
        s->states = bits;
        s->tokens = (uint32_t)(g->count - first);
        g->unzoned += zone.n == 0;
        rc = owns ? gy_read_text(g->r, &s->owned, gy_str(gy_buf_cstr(&tokens))) : GYRE_OK;
    }
    gy_buf_fini(&tokens);
    gy_buf_fini(&options);
    return rc;
}

static int read_instance(struct ring *g, const struct gy_tree *t)
{
    const struct gy_tree *id = gy_tree_get(t, "id");
    if (t->kind != GY_TREE_MAP) {
        return gy_read_fail(g->r, GYRE_SYNTAX, t->at, "an instance must be an object, not %s",
                            gy_tree_word(t));
    }
    if (t->key.n) {
        return add_instance(g, t, t->key);
    }
    if (!id || id->kind != GY_TREE_TEXT || id->text.n == 0) {
        return gy_read_fail(g->r, GYRE_INVALID, t->at, "an instance has no id");
    }
    return add_instance(g, t, id->text);
}

/* ---- the ring ---- */

static int by_token(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->server < y->server ? -1 : 1;
}

/* Sorts the tokens. */
static int note_shared(struct ring *g)
{
    size_t shared = 0, first = 0;
    char q[2][GY_QUOTE];
    if (g->count) {
        qsort(g->tokens, g->count, sizeof *g->tokens, by_token);
    }
    for (size_t i = g->count; i-- > 1;) {
        if (g->tokens[i].at == g->tokens[i - 1].at) {
            shared++;
            first = i;
        }
    }
    if (!shared) {
        return GYRE_OK;
    }
    const struct token *a = &g->tokens[first - 1], *b = &g->tokens[first];
    return gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "shared-tokens", b->mark,
                        "%zu token%s stand twice, the first %u, of %s and of %s: the ring has not "
                        "settled who owns them; here it is the first",
                        shared, shared == 1 ? "" : "s", a->at,
                        gy_utf8_quote(q[0], gy_str(g->p->servers[a->server].name)),
                        gy_utf8_quote(q[1], gy_str(g->p->servers[b->server].name)));
}

static int by_zone(const void *a, const void *b)
{
    return strcmp((*(const struct gy_server *const *)a)->zone,
                  (*(const struct gy_server *const *)b)->zone);
}

static int count_zones(struct ring *g)
{
    const struct gy_server **sorted = calloc(g->p->server_count + 1, sizeof *sorted);
    if (!sorted) {
        return gy_read_nomem(g->r);
    }
    size_t n = 0;
    for (size_t i = 0; i < g->p->server_count; i++) {
        if (g->p->servers[i].zone) {
            sorted[n++] = &g->p->servers[i];
        }
    }
    qsort(sorted, n, sizeof *sorted, by_zone);
    for (size_t i = 0; i < n; i++) {
        g->zones += i == 0 || by_zone(&sorted[i - 1], &sorted[i]) != 0;
    }
    free(sorted);
    return g->zones ? gy_read_fact(g->r, g->p, "zones", "%zu", g->zones) : GYRE_OK;
}

/* What an instance owns of its zone: the gaps before its tokens among those of the zone. */
static void share_zone(const struct ring *g, const char *zone, double *share)
{
    const struct token *last = NULL, *first = NULL;
    for (size_t i = 0; i < g->count; i++) {
        const struct token *t = &g->tokens[i];
        if (strcmp(g->p->servers[t->server].zone, zone) == 0) {
            share[t->server] += last ? (double)(t->at - last->at) / 4294967296.0 : 0;
            first = first ? first : t;
            last = t;
        }
    }
    if (first) {
        double around = 4294967296.0 - last->at + first->at;
        share[first->server] += around / 4294967296.0;
    }
}

static int tell_shares(struct ring *g)
{
    double *share = calloc(g->p->server_count + 1, sizeof *share);
    struct gy_buf text = {0};
    int rc = share ? GYRE_OK : gy_read_nomem(g->r);
    for (size_t i = 0; i < g->p->server_count && !rc; i++) {
        size_t before = 0;
        while (before < i && strcmp(g->p->servers[before].zone, g->p->servers[i].zone) != 0) {
            before++;
        }
        if (before == i) {
            share_zone(g, g->p->servers[i].zone, share);
        }
    }
    for (size_t i = 0; i < g->p->server_count && !rc; i++) {
        gy_buf_printf(&text, "%s%s %.2f%%", i ? ", " : "", g->p->servers[i].name, 100 * share[i]);
    }
    rc = rc || !text.failed ? rc : gy_read_nomem(g->r);
    rc = rc ? rc : gy_read_fact(g->r, g->p, "share_of_zone", "%s", gy_buf_cstr(&text));
    gy_buf_fini(&text);
    free(share);
    return rc;
}

/* Every instance with a zone, and more than one: zone awareness, one copy in each. */
static int settle_zones(struct ring *g)
{
    char copies[16];
    if (g->zones < 2 || g->zones > ZONES_MOST || g->unzoned) {
        return GYRE_OK;
    }
    snprintf(copies, sizeof copies, "%zu", g->zones);
    int rc = gy_read_set(g->r, g->p, (struct gy_mark){1, 1}, "replicas", copies);
    rc = rc ? rc : gy_read_set(g->r, g->p, (struct gy_mark){1, 1}, "spread", "region");
    if (!rc && g->p->server_count <= LISTED) {
        rc = tell_shares(g);
    }
    const char *shares = rc ? NULL : gy_pool_fact_of(g->p, "share_of_zone");
    return rc ? rc
              : gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "zone-aware", (struct gy_mark){0, 0},
                             "%zu zones: with zone awareness each holds a copy, and an instance "
                             "owns a part of its zone%s%s; shares of all tokens together mean "
                             "nothing then",
                             g->zones, shares ? ": " : "", shares ? shares : "");
}

static int note_states(struct ring *g)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < g->p->server_count && !rc; i++) {
        const struct gy_server *s = &g->p->servers[i];
        char q[GY_QUOTE];
        if (s->tokens && s->states & GY_STATE_DOWN) {
            rc = gy_read_note(g->r, g->p, GY_LEVEL_WARNING, "owner-down",
                              (struct gy_mark){s->line, 0}, "%s is down and still owns %u tokens",
                              gy_utf8_quote(q, gy_str(s->name)), s->tokens);
        }
    }
    return rc;
}

static int settle(struct ring *g, const struct gy_tree *list)
{
    if (g->p->server_count == 0) {
        return gy_read_fail(g->r, GYRE_EMPTY, list->at, "the ring has no instance");
    }
    int rc = gy_read_fact(g->r, g->p, "tokens", "%zu", g->count);
    rc = rc ? rc : note_shared(g);
    rc = rc ? rc : count_zones(g);
    rc = rc ? rc : settle_zones(g);
    rc = rc ? rc : note_states(g);
    return rc || g->count ? rc
                          : gy_read_unplaced(g->r, g->p, list->at,
                                             "no instance has tokens in this file: the ring's page "
                                             "gives them as JSON, or with ?tokens=true");
}

int gy_cortex_parse(struct gy_reading *r)
{
    struct gy_doc doc;
    struct ring g = {.r = r};
    const struct gy_tree *list = NULL;
    int rc = gy_doc_json(&doc, r->text, GY_JSON_PLAIN, r->file, r->e);
    if (!rc) {
        list = either(doc.root, "shards", "ingesters");
        list = list ? list : gy_tree_get(doc.root, "instances");
    }
    if (!rc && (!list || (list->kind != GY_TREE_LIST && list->kind != GY_TREE_MAP))) {
        rc = gy_read_fail(r, GYRE_SYNTAX, doc.root->at,
                          "no ring: it is an object with a list `shards`, or a map `ingesters`");
    }
    rc = rc ? rc : gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &g.p);
    rc = rc ? rc : gy_read_set(r, g.p, (struct gy_mark){1, 1}, "like", "dskit");
    for (const struct gy_tree *t = rc ? NULL : list->first; t && !rc; t = t->next) {
        rc = read_instance(&g, t);
    }
    rc = rc ? rc : settle(&g, list);
    free(g.tokens);
    gy_doc_fini(&doc);
    return rc;
}
