/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached.c - servers of memcached as clients are given them. The form tells the client:
 *
 *   {"host:port": weight, ...}, ["host:port", ...]    npm memcached
 *   [["host", port, weight], ...]                     libmemcached, by PHP's addServers
 *   --SERVER=host:port/?weight --DISTRIBUTION=...     libmemcached's configuration
 *   host:port,host:port weight                        libmemcached
 *   host:port<blank>weight, a line each               libketama
 *
 * Which server a key is on depends on the client as much as on the list, so the choice is noted.
 * Threads: one an object.
 */
#include "formats/memcached.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/memcached_server.h"
#include "formats/tree.h"

#include <stdio.h>

/* ---- JSON ---- */

/* 2, or {"weight": 2, "vnodes": 100}. */
static int take_value(struct gy_reading *r, const struct gy_tree *t, struct gy_mc_server *e,
                      char options[40])
{
    const struct gy_tree *weight = t->kind == GY_TREE_MAP ? gy_tree_get(t, "weight") : t;
    const struct gy_tree *vnodes = gy_tree_get(t, "vnodes");
    static const char *const words[] = {"weight", "vnodes", NULL};
    uint64_t v;
    for (const struct gy_tree *k = t->first; k; k = k->next) {
        if (!gy_slice_eq(k->key, GY_LIT("weight")) && !gy_slice_eq(k->key, GY_LIT("vnodes"))) {
            return gy_read_unknown(r, k->key_at, "key", k->key, words);
        }
    }
    if (vnodes && (vnodes->kind != GY_TREE_TEXT || gy_num_uint(vnodes->text, &v))) {
        return gy_read_fail(r, GYRE_SYNTAX, vnodes->at, "vnodes must be a whole number");
    }
    if (vnodes) {
        snprintf(options, 40, "vnodes=%llu", (unsigned long long)v);
        e->options = options;
    }
    if (weight && (weight->kind != GY_TREE_TEXT || !weight->plain)) {
        return gy_read_fail(r, GYRE_SYNTAX, weight->at, "a weight must be a number, not %s",
                            weight->kind == GY_TREE_TEXT ? "text" : gy_tree_word(weight));
    }
    return weight ? gy_mc_weight(r, weight->at, weight->text, &e->weight) : GYRE_OK;
}

static int read_object(struct gy_reading *r, const struct gy_tree *root)
{
    struct gy_pool *p;
    int rc = gy_mc_begin(r, root->at, "npm-memcached", &p);
    for (const struct gy_tree *t = root->first; t && !rc; t = t->next) {
        char options[40];
        struct gy_mc_server e;
        rc = gy_mc_split(t->key, &e) ? take_value(r, t, &e, options)
                                     : gy_mc_bad(r, t->key_at, t->key);
        rc = rc ? rc : gy_mc_add(r, p, t->key_at, &e);
    }
    return rc ? rc : gy_mc_end(r, p, "the npm package memcached");
}

/* ["host", port, weight] */
static int add_triple(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t)
{
    char name[300];
    struct gy_mc_server e;
    const struct gy_tree *host = t->first, *port = host ? host->next : NULL;
    const struct gy_tree *weight = port ? port->next : NULL;
    if (!port || host->kind != GY_TREE_TEXT || port->kind != GY_TREE_TEXT || t->count > 3) {
        return gy_read_fail(r, GYRE_SYNTAX, t->at,
                            "a server must be [\"host\", port] or [\"host\", port, weight]");
    }
    bool socket = host->text.n && host->text.p[0] == '/';
    snprintf(name, sizeof name, socket ? "%.*s" : "%.*s:%.*s", (int)host->text.n, host->text.p,
             (int)port->text.n, port->text.p);
    if (!gy_mc_split(gy_str(name), &e)) {
        return gy_mc_bad(r, t->at, gy_str(name));
    }
    int rc = GYRE_OK;
    if (weight && weight->kind == GY_TREE_TEXT) {
        rc = gy_mc_weight(r, weight->at, weight->text, &e.weight);
    }
    return rc ? rc : gy_mc_add(r, p, t->at, &e);
}

static int read_array(struct gy_reading *r, const struct gy_tree *root)
{
    bool triples = root->first && root->first->kind == GY_TREE_LIST;
    struct gy_pool *p;
    int rc = gy_mc_begin(r, root->at, triples ? "libmemcached" : "npm-memcached", &p);
    for (const struct gy_tree *t = root->first; t && !rc; t = t->next) {
        struct gy_mc_server e;
        if (t->kind != (triples ? GY_TREE_LIST : GY_TREE_TEXT)) {
            rc = gy_read_fail(r, GYRE_SYNTAX, t->at, "a server must be \"host:port\", not %s",
                              gy_tree_word(t));
        } else if (triples) {
            rc = add_triple(r, p, t);
        } else {
            rc = !t->plain && gy_mc_split(t->text, &e) ? gy_mc_add(r, p, t->at, &e)
                                                       : gy_mc_bad(r, t->at, t->text);
        }
    }
    rc = rc ? rc : gy_mc_end(r, p, triples ? "libmemcached" : "the npm package memcached");
    return rc || !triples ? rc : gy_mc_unused(r, p);
}

static int read_json(struct gy_reading *r)
{
    struct gy_doc doc;
    int rc = gy_doc_json(&doc, r->text, GY_JSON_PLAIN, r->file, r->e);
    if (!rc && doc.root->kind == GY_TREE_MAP) {
        rc = read_object(r, doc.root);
    } else if (!rc && doc.root->kind == GY_TREE_LIST) {
        rc = read_array(r, doc.root);
    } else if (!rc) {
        rc = gy_read_fail(r, GYRE_SYNTAX, doc.root->at, "servers must be an object or a list");
    }
    gy_doc_fini(&doc);
    return rc;
}

/* ---- libketama's file ---- */

static int ketama_line(struct gy_reading *r, struct gy_pool *p, const struct gy_lines *l)
{
    struct gy_slice rest = l->line, name, memory;
    char q[GY_QUOTE];
    gy_word_next(&rest, &name);
    if (!gy_word_next(&rest, &memory)) {
        return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(l, name),
                            "server %s has no memory number behind it; libketama refuses the whole "
                            "file then",
                            gy_utf8_quote(q, name));
    }
    struct gy_mc_server e;
    if (!gy_mc_split(name, &e)) {
        return gy_mc_bad(r, gy_lines_mark(l, name), name);
    }
    int rc = gy_mc_weight(r, gy_lines_mark(l, memory), memory, &e.weight);
    if (!rc && e.weight == 0) {
        rc = gy_read_fail(r, GYRE_RANGE, gy_lines_mark(l, memory),
                          "the memory 0 is invalid; libketama refuses the whole file then");
    }
    return rc ? rc : gy_mc_add(r, p, gy_lines_mark(l, name), &e);
}

static int read_ketama(struct gy_reading *r)
{
    struct gy_pool *p;
    int rc = gy_mc_begin(r, (struct gy_mark){1, 1}, "libketama", &p);
    struct gy_lines l = gy_lines_of(r->text);
    while (!rc && gy_lines_next(&l)) {
        rc = gy_mc_remark(l.line) ? GYRE_OK : ketama_line(r, p, &l);
    }
    if (!rc && r->text.n && r->text.p[r->text.n - 1] != '\n') {
        rc = gy_read_note(r, p, GY_LEVEL_WARNING, "no-last-newline", (struct gy_mark){l.number, 0},
                          "the last line has no line end: libketama loses the last digit of its "
                          "memory number (here it is read whole)");
    }
    return rc ? rc : gy_mc_end(r, p, "libketama");
}

/* ---- libmemcached's list ---- */

static int list_item(struct gy_reading *r, struct gy_pool *p, const struct gy_lines *l,
                     struct gy_slice item)
{
    struct gy_slice rest = item, name, weight, more;
    struct gy_mc_server e;
    gy_word_next(&rest, &name);
    bool weighted = gy_word_next(&rest, &weight);
    if (gy_word_next(&rest, &more)) {
        char q[GY_QUOTE];
        return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(l, more),
                            "%s stands behind the weight; servers are parted by commas or lines",
                            gy_utf8_quote(q, more));
    }
    struct gy_slice tail = name, host = gy_slice_cut(&tail, ':'), port = gy_slice_cut(&tail, ':');
    if (!weighted && tail.n && host.n && !memchr(tail.p, ':', tail.n) && name.p[0] != '[') {
        weight = tail; /* host:port:weight */
        weighted = true;
        name.n = host.n + 1 + port.n;
    }
    if (!gy_mc_split(name, &e)) {
        return gy_mc_bad(r, gy_lines_mark(l, name), name);
    }
    int rc = weighted ? gy_mc_weight(r, gy_lines_mark(l, weight), weight, &e.weight) : GYRE_OK;
    if (!rc && e.weight == 0) {
        e.weight = 1000000; /* libmemcached takes 0 for 1 */
    }
    return rc ? rc : gy_mc_add(r, p, gy_lines_mark(l, name), &e);
}

static int read_list(struct gy_reading *r)
{
    struct gy_pool *p;
    int rc = gy_mc_begin(r, (struct gy_mark){1, 1}, "libmemcached", &p);
    struct gy_lines l = gy_lines_of(r->text);
    while (!rc && gy_lines_next(&l)) {
        struct gy_slice rest = gy_mc_remark(l.line) ? GY_LIT("") : l.line;
        while (rest.n && !rc) {
            struct gy_slice item = gy_slice_trim(gy_slice_cut(&rest, ','));
            rc = item.n ? list_item(r, p, &l, item) : GYRE_OK;
        }
    }
    rc = rc ? rc : gy_mc_end(r, p, "libmemcached");
    return rc ? rc : gy_mc_unused(r, p);
}

/* ---- which of them ---- */

enum form { NONE, JSON, KETAMA, LIST, CONFIGURATION };

/* host:port or /path: a host alone could be any word. */
static bool is_server(struct gy_slice word)
{
    struct gy_mc_server e;
    struct gy_slice rest = word, host = gy_slice_cut(&rest, ':'), port = gy_slice_cut(&rest, ':');
    uint64_t v;
    bool weight = rest.n && gy_num_uint(rest, &v) == GYRE_OK;
    if (weight) { /* host:port:weight */
        word.n = host.n + 1 + port.n;
    }
    return gy_mc_split(word, &e) && e.port.n && !memchr(e.host.p, '/', e.host.n);
}

/* By the first line that says something. */
static enum form form_of(struct gy_slice text)
{
    for (struct gy_lines l = gy_lines_of(text); gy_lines_next(&l);) {
        if (gy_mc_remark(l.line)) {
            continue;
        }
        struct gy_slice rest = gy_slice_trim(l.line), first, second;
        if (rest.p[0] == '{' || rest.p[0] == '[') {
            return JSON;
        }
        if (gy_slice_starts(rest, "--")) {
            return CONFIGURATION;
        }
        bool commas = memchr(rest.p, ',', rest.n) != NULL;
        struct gy_slice item = gy_slice_cut(&rest, ',');
        gy_word_next(&item, &first);
        bool weighted = gy_word_next(&item, &second);
        return !is_server(first) ? NONE : weighted && !commas ? KETAMA : LIST;
    }
    return NONE;
}

/* The first text of a JSON text is "host:port". */
static bool json_has_server(struct gy_slice head)
{
    const uint8_t *open = head.n ? memchr(head.p, '"', head.n) : NULL;
    struct gy_slice rest = {open ? open + 1 : head.p,
                            open ? (size_t)(head.p + head.n - open) - 1 : 0};
    struct gy_slice text = gy_slice_cut(&rest, '"');
    /* ["host", port] has no colon; what follows the host is a number */
    struct gy_slice next = gy_slice_trim(rest);
    bool pair = next.n > 1 && next.p[0] == ',';
    next = pair ? gy_slice_trim((struct gy_slice){next.p + 1, next.n - 1}) : next;
    bool number = pair && next.n && next.p[0] >= '1' && next.p[0] <= '9';
    return is_server(text) || (number && text.n && !memchr(text.p, ':', text.n));
}

/* {"cache1": 2, ...}: names without ports, whose values are numbers. */
static bool json_has_weights(struct gy_slice head)
{
    const uint8_t *open = head.n ? memchr(head.p, '"', head.n) : NULL;
    struct gy_slice rest = {open ? open + 1 : head.p,
                            open ? (size_t)(head.p + head.n - open) - 1 : 0};
    gy_slice_cut(&rest, '"');
    rest = gy_slice_trim(rest);
    rest = rest.n && rest.p[0] == ':' ? gy_slice_trim((struct gy_slice){rest.p + 1, rest.n - 1})
                                      : GY_LIT("");
    return rest.n && rest.p[0] >= '0' && rest.p[0] <= '9';
}

int gy_memcached_sniff(struct gy_slice head)
{
    switch (form_of(head)) {
    case JSON:
        return json_has_server(head)    ? GY_SURE_MAYBE
               : json_has_weights(head) ? GY_SURE_GUESS
                                        : GY_SURE_NOT;
    case CONFIGURATION:
        return gy_slice_has(head, "--SERVER") || gy_slice_has(head, "--SOCKET") ? GY_SURE_YES
                                                                                : GY_SURE_NOT;
    case KETAMA:
    case LIST:
        return GY_SURE_MAYBE;
    case NONE:
        break;
    }
    return GY_SURE_NOT;
}

int gy_memcached_parse(struct gy_reading *r)
{
    switch (form_of(r->text)) {
    case JSON:
        return read_json(r);
    case KETAMA:
        return read_ketama(r);
    case CONFIGURATION:
        return gy_libmemcached_parse(r);
    case LIST:
    case NONE:
        break;
    }
    return read_list(r);
}
