/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra.c - collects nodes and tokens of nodetool's listings, and makes nodes of a topology of
 * them. Which partitioner it is follows from the tokens: Murmur3Partitioner's are signed 64-bit
 * numbers, RandomPartitioner's are 0 to 2^127; those of the order preserving ones are text. See
 * cassandra.h.
 */
#include "formats/cassandra.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"

#include <stdlib.h>

#define DEFAULT_DC "datacenter1" /* SimpleSnitch's */
#define ZONE_MAX   1024

static const char MURMUR_MOST[] = "9223372036854775807";
static const char MURMUR_LEAST[] = "9223372036854775808"; /* below zero */
static const char RANDOM_MOST[] = "170141183460469231731687303715884105728";

/* ---- collecting ---- */

int gy_cassandra_dc(struct gy_cassandra *c, struct gy_mark at, struct gy_slice name, uint32_t *dc)
{
    if (name.n == 0) {
        name = GY_LIT(DEFAULT_DC);
    }
    for (uint32_t i = c->dc_count; i-- > 0;) { /* listings go datacenter by datacenter */
        if (gy_slice_eq(c->dcs[i].name, name)) {
            *dc = i;
            return GYRE_OK;
        }
    }
    char why[GY_ADDRESS_WHY];
    if (!gy_text_check(name, ZONE_MAX, why)) {
        return gy_read_fail(c->r, GYRE_RANGE, at, "the name of its datacenter %s", why);
    }
    if (c->dc_count == GY_CASSANDRA_DCS) {
        return gy_read_fail(c->r, GYRE_RANGE, at, "more than %d datacenters", GY_CASSANDRA_DCS);
    }
    *dc = c->dc_count++;
    c->dcs[*dc] = (struct gy_cassandra_dc){.name = name};
    return GYRE_OK;
}

static uint32_t *place_of(const struct gy_cassandra *c, struct gy_slice name)
{
    uint32_t i = (uint32_t)gyre_hash_xxh3(name.p, name.n) & (c->index_room - 1);
    while (c->index[i] && !gy_slice_eq(c->nodes[c->index[i] - 1].name, name)) {
        i = (i + 1) & (c->index_room - 1);
    }
    return &c->index[i];
}

/* Twice the nodes and a new index, which is at most half full. */
static int grow_nodes(struct gy_cassandra *c)
{
    uint32_t room = c->node_room ? c->node_room * 2 : 16;
    struct gy_cassandra_node *nodes = realloc(c->nodes, room * sizeof *nodes);
    if (!nodes) {
        return gy_read_nomem(c->r);
    }
    c->nodes = nodes;
    uint32_t *index = calloc((size_t)room * 2, sizeof *index);
    if (!index) {
        return gy_read_nomem(c->r);
    }
    free(c->index);
    c->node_room = room;
    c->index = index;
    c->index_room = room * 2;
    for (uint32_t i = 0; i < c->node_count; i++) {
        *place_of(c, c->nodes[i].name) = i + 1;
    }
    return GYRE_OK;
}

int gy_cassandra_node(struct gy_cassandra *c, const struct gy_cassandra_node *node, uint32_t *out)
{
    if (c->node_count == c->node_room) {
        int rc = grow_nodes(c);
        if (rc) {
            return rc;
        }
    }
    uint32_t *place = place_of(c, node->name);
    if (!*place) {
        c->nodes[c->node_count++] = *node;
        *place = c->node_count;
        struct gy_cassandra_dc *dc = &c->dcs[node->dc];
        dc->rack = dc->nodes ? dc->rack : node->rack;
        dc->racks = dc->nodes++ == 0 ? 1 : gy_slice_eq(dc->rack, node->rack) ? dc->racks : 2;
    }
    *out = *place - 1;
    const struct gy_cassandra_node *n = &c->nodes[*out];
    if (n->dc != node->dc || !gy_slice_eq(n->rack, node->rack)) {
        char q[GY_QUOTE];
        return gy_read_fail(c->r, GYRE_INVALID, node->at,
                            "%s stands in another datacenter or rack than on line %u",
                            gy_utf8_quote(q, n->name), n->at.line);
    }
    return GYRE_OK;
}

static bool is_digits(struct gy_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') {
            return false;
        }
    }
    return s.n > 0;
}

int gy_cassandra_token(struct gy_cassandra *c, struct gy_mark at, struct gy_slice text,
                       uint32_t node)
{
    if (c->token_count == c->token_room) {
        uint32_t room = c->token_room ? c->token_room * 2 : 64;
        struct gy_cassandra_token *grown = realloc(c->tokens, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(c->r);
        }
        c->tokens = grown;
        c->token_room = room;
    }
    struct gy_cassandra_token t = {.digits = text, .node = node, .at = at};
    struct gy_slice rest = text;
    if (rest.n && rest.p[0] == '-') {
        rest = (struct gy_slice){rest.p + 1, rest.n - 1};
    }
    t.is_number = is_digits(rest);
    if (t.is_number) {
        t.minus = rest.n < text.n;
        while (rest.n > 1 && rest.p[0] == '0') {
            rest = (struct gy_slice){rest.p + 1, rest.n - 1};
            t.zeros = true;
        }
        t.minus = t.minus && !gy_slice_eq(rest, GY_LIT("0"));
        t.digits = rest;
    }
    c->tokens[c->token_count++] = t;
    c->nodes[node].token_count++;
    return GYRE_OK;
}

int gy_cassandra_new(struct gy_reading *r, struct gy_cassandra **out)
{
    struct gy_cassandra *c = *out = calloc(1, sizeof *c);
    if (!c) {
        return gy_read_nomem(r);
    }
    c->r = r;
    return gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &c->p);
}

void gy_cassandra_free(struct gy_cassandra *c)
{
    if (c) {
        free(c->nodes);
        free(c->index);
        free(c->tokens);
    }
    free(c);
}

bool gy_cassandra_share(struct gy_slice text, double *share)
{
    double value = 0, scale = 0.01;
    bool point = false;
    if (text.n < 2 || text.n > 12 || text.p[text.n - 1] != '%') {
        return false;
    }
    for (size_t i = 0; i + 1 < text.n; i++) {
        uint8_t c = text.p[i];
        if ((c == '.' || c == ',') && !point) { /* by the locale of the JVM */
            point = true;
        } else if (c >= '0' && c <= '9') {
            value = value * 10 + (c - '0');
            scale = point ? scale / 10 : scale;
        } else {
            return false;
        }
    }
    *share = value * scale;
    return true;
}

/* ---- tokens ---- */

/* By the number's size alone. */
static int compare_digits(struct gy_slice a, struct gy_slice b)
{
    return a.n != b.n ? (a.n < b.n ? -1 : 1) : memcmp(a.p, b.p, a.n);
}

static int by_token(const void *a, const void *b)
{
    const struct gy_cassandra_token *x = a, *y = b;
    int order = x->minus != y->minus ? (x->minus ? -1 : 1) : compare_digits(x->digits, y->digits);
    return order                         ? order
           : x->at.line != y->at.line    ? (x->at.line < y->at.line ? -1 : 1)
           : x->at.column > y->at.column ? 1
                                         : -1;
}

/* As ByteOrderedPartitioner prints them, or OrderPreservingPartitioner, which takes any text. */
static bool is_hex(struct gy_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!memchr("0123456789abcdef", s.p[i], 16)) {
            return false;
        }
    }
    return s.n % 2 == 0;
}

static int refuse_token(struct gy_cassandra *c, const struct gy_cassandra_token *t)
{
    char q[GY_QUOTE];
    return gy_read_fail(c->r, GYRE_SYNTAX, t->at,
                        "%s is no token: tokens are whole numbers, signed with "
                        "Murmur3Partitioner, 0 to 2^127 with RandomPartitioner",
                        gy_utf8_quote(q, t->digits));
}

/* Are tokens text, so that no number places a key? */
static int find_ordered(struct gy_cassandra *c)
{
    const struct gy_cassandra_token *odd = NULL;
    uint32_t texts = 0;
    bool hex = true;
    for (uint32_t i = 0; i < c->token_count; i++) {
        const struct gy_cassandra_token *t = &c->tokens[i];
        odd = odd || t->is_number ? odd : t;
        texts += !t->is_number;
        hex = hex && !t->minus && is_hex(t->digits);
    }
    c->ordered = texts && (hex || (texts == c->token_count && texts > 1));
    return texts && !c->ordered ? refuse_token(c, odd) : GYRE_OK;
}

static int find_partitioner(struct gy_cassandra *c)
{
    const struct gy_cassandra_token *minus = NULL, *wide = NULL;
    for (uint32_t i = 0; i < c->token_count; i++) {
        const struct gy_cassandra_token *t = &c->tokens[i];
        if (compare_digits(t->digits, gy_str(t->minus ? MURMUR_LEAST : RANDOM_MOST)) > 0) {
            return refuse_token(c, t);
        }
        minus = t->minus && !minus ? t : minus;
        wide = !t->minus && compare_digits(t->digits, gy_str(MURMUR_MOST)) > 0 && !wide ? t : wide;
    }
    if (minus && wide) {
        return gy_read_fail(c->r, GYRE_INVALID, wide->at,
                            "this token is too great for Murmur3Partitioner, and the one on line "
                            "%u is below 0, which RandomPartitioner has not: two clusters in one "
                            "file?",
                            minus->at.line);
    }
    c->random = wide != NULL;
    c->assumed = !wide && !minus;
    return GYRE_OK;
}

/* Sorts the tokens. */
static int refuse_twice(struct gy_cassandra *c)
{
    if (c->token_count) {
        qsort(c->tokens, c->token_count, sizeof *c->tokens, by_token);
    }
    for (uint32_t i = 1; i < c->token_count; i++) {
        const struct gy_cassandra_token *a = &c->tokens[i - 1], *b = &c->tokens[i];
        if (a->minus == b->minus && compare_digits(a->digits, b->digits) == 0) {
            char q[2][GY_QUOTE];
            return gy_read_fail(c->r, GYRE_DUPLICATE, b->at,
                                "token %s%.*s belongs to %s (line %u) and to %s: two listings in "
                                "one file?",
                                a->minus ? "-" : "", (int)a->digits.n, a->digits.p,
                                gy_utf8_quote(q[0], c->nodes[a->node].name), a->at.line,
                                gy_utf8_quote(q[1], c->nodes[b->node].name));
        }
    }
    return GYRE_OK;
}

static int note_tokens(struct gy_cassandra *c)
{
    const struct gy_cassandra_token *first = NULL;
    uint32_t zeros = 0;
    for (uint32_t i = 0; i < c->token_count; i++) {
        const struct gy_cassandra_token *t = &c->tokens[i];
        zeros += t->zeros;
        first = t->zeros && (!first || t->at.line < first->at.line) ? t : first;
    }
    int rc = GYRE_OK;
    if (zeros) {
        rc = gy_read_note(c->r, c->p, GY_LEVEL_WARNING, "token-leading-zero", first->at,
                          "%u of %u tokens begin with 0, which Cassandra never prints of a number: "
                          "are they compared as text (OrderPreservingPartitioner)? then keys lie "
                          "elsewhere; here they are numbers",
                          zeros, c->token_count);
    }
    if (!rc && c->assumed) {
        rc = gy_read_note(c->r, c->p, GY_LEVEL_NOTE, "partitioner-assumed", c->nodes[0].at,
                          "these tokens suit both partitioners: Murmur3Partitioner is assumed");
    }
    return rc;
}

/* ---- the topology ---- */

void gy_cassandra_zone(const struct gy_cassandra *c, const struct gy_cassandra_node *n,
                       struct gy_buf *out)
{
    struct gy_slice dc = c->dcs[n->dc].name;
    for (size_t i = 0; i < dc.n; i++) { /* a slash parts datacenter and rack */
        gy_buf_putc(out, dc.p[i] == '/' ? '_' : (char)dc.p[i]);
    }
    for (size_t i = 0; i < n->rack.n; i++) {
        gy_buf_puts(out, i ? "" : "/");
        gy_buf_putc(out, n->rack.p[i] == '/' ? '_' : (char)n->rack.p[i]);
    }
}

static int set_server(struct gy_cassandra *c, struct gy_server *s, const char *owned,
                      const struct gy_cassandra_node *n)
{
    double share;
    s->states = n->states;
    s->tokens = n->token_count ? n->token_count : (uint32_t)n->counted;
    s->weight = n->token_count ? s->weight : (double)n->counted;
    int rc = owned && *owned ? gy_read_text(c->r, &s->owned, gy_str(owned)) : GYRE_OK;
    if (!rc && n->id.n) {
        rc = gy_read_text(c->r, &s->id, n->id);
    }
    if (!rc && !n->owns_differ && gy_cassandra_share(n->owns, &share)) {
        rc = gy_read_text(c->r, &s->reported, n->owns);
    }
    return rc;
}

/* A node that joins is in no reader's ring yet: it is kept with its tokens, at weight 0. */
static int add_node(struct gy_cassandra *c, const struct gy_cassandra_node *n, const char *tokens)
{
    char why[GY_ADDRESS_WHY];
    struct gy_buf zone = {0}, name = {0}, options = {0};
    struct gy_server *s;
    gy_cassandra_zone(c, n, &zone);
    gy_buf_add(&name, n->name.p, n->name.n);
    gy_buf_printf(&options, *tokens ? "tokens=%s" : "%s", tokens);
    struct gyre_node node = {.size = sizeof node,
                             .name = gy_buf_cstr(&name),
                             .address = gy_address_check(n->name, false, why) ? node.name : NULL,
                             .weight = n->states & GY_STATE_JOINING ? 0 : 1,
                             .zone = gy_buf_cstr(&zone),
                             .options = *tokens ? gy_buf_cstr(&options) : NULL};
    int rc = zone.failed || name.failed || options.failed ? gy_read_nomem(c->r) : GYRE_OK;
    if (!rc && !gy_text_check(gy_str(node.zone), ZONE_MAX, why)) {
        rc = gy_read_fail(c->r, GYRE_RANGE, n->at, "the name of its datacenter and rack %s", why);
    }
    rc = rc ? rc : gy_read_both(c->r, c->p, n->at, &node, &s);
    rc = rc ? rc : set_server(c, s, tokens, n);
    gy_buf_fini(&zone);
    gy_buf_fini(&name);
    gy_buf_fini(&options);
    return rc;
}

/* The tokens of all nodes: lists[node] is "-1,5". */
static int list_tokens(struct gy_cassandra *c, struct gy_buf *lists)
{
    for (uint32_t i = 0; i < c->token_count && !c->ordered; i++) {
        const struct gy_cassandra_token *t = &c->tokens[i];
        struct gy_buf *list = &lists[t->node];
        gy_buf_puts(list, gy_buf_size(list) ? "," : "");
        gy_buf_puts(list, t->minus ? "-" : "");
        gy_buf_add(list, t->digits.p, t->digits.n);
    }
    for (uint32_t i = 0; i < c->node_count; i++) {
        if (lists[i].failed) {
            return gy_read_nomem(c->r);
        }
    }
    return GYRE_OK;
}

static int add_nodes(struct gy_cassandra *c)
{
    struct gy_buf *lists = calloc(c->node_count, sizeof *lists);
    int rc = lists ? list_tokens(c, lists) : gy_read_nomem(c->r);
    for (uint32_t i = 0; i < c->node_count && !rc; i++) {
        const char *tokens = gy_buf_cstr(&lists[i]);
        rc = lists[i].failed ? gy_read_nomem(c->r) : add_node(c, &c->nodes[i], tokens);
    }
    for (uint32_t i = 0; lists && i < c->node_count; i++) {
        gy_buf_fini(&lists[i]);
    }
    free(lists);
    return rc;
}

int gy_cassandra_settle(struct gy_cassandra *c)
{
    struct gy_mark top = {1, 1};
    if (c->node_count == 0) {
        return gy_read_fail(c->r, GYRE_EMPTY, top, "there is no node in it");
    }
    int rc = gy_read_set(c->r, c->p, top, "like", "cassandra");
    rc = rc ? rc : find_ordered(c);
    if (!rc && !c->ordered) {
        rc = find_partitioner(c);
        rc = rc ? rc : refuse_twice(c);
    }
    const char *word = c->random ? "RandomPartitioner" : "Murmur3Partitioner";
    rc = rc || c->ordered ? rc : gy_read_set(c->r, c->p, top, "partitioner", word);
    rc = rc ? rc : add_nodes(c);
    if (!rc && c->ordered) {
        return gy_read_unplaced(c->r, c->p, c->nodes[0].at,
                                "its tokens are text (ByteOrderedPartitioner or "
                                "OrderPreservingPartitioner): keys lie in their own order, and no "
                                "hash places them");
    }
    if (!rc && c->token_count) {
        rc = gy_read_fact(c->r, c->p, "partitioner", "%s", word);
    }
    rc = rc || !c->token_count ? rc : note_tokens(c);
    return rc ? rc : gy_cassandra_judge(c);
}
