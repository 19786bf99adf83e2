/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.c - what parsers build pools with: see format.h. Every text is copied, so that nothing
 * of a pool points into the file.
 */
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/format.h"

#include <stdio.h>
#include <stdlib.h>

#define INCLUDE_DEPTH  16
#define NAME_MAX_BYTES 4096 /* of a node: gyre.h */

int gy_read_fail(struct gy_reading *r, int code, struct gy_mark at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_format_vfail(r->e, code, r->file, at, fmt, ap);
    va_end(ap);
    return code;
}

int gy_read_nomem(struct gy_reading *r)
{
    return gy_format_fail(r->e, GYRE_NOMEM, r->file, "out of memory");
}

int gy_read_unknown(struct gy_reading *r, struct gy_mark at, const char *what, struct gy_slice word,
                    const char *const *words)
{
    char bare[64], q[GY_QUOTE], list[400] = "";
    size_t n = 0, w = 0;
    while (words[n]) {
        n++;
    }
    snprintf(bare, sizeof bare, "%.*s", (int)(word.n < 63 ? word.n : 63), word.p);
    const char *near = gyre_nearest(bare, words, n);
    gy_utf8_quote(q, word);
    if (near) {
        return gy_read_fail(r, GYRE_UNKNOWN, at, "unknown %s %s; did you mean '%s'?", what, q,
                            near);
    }
    for (size_t i = 0; i < n && w < sizeof list; i++) {
        w += (size_t)snprintf(list + w, sizeof list - w, "%s%s", i ? ", " : "", words[i]);
    }
    return gy_read_fail(r, GYRE_UNKNOWN, at, "unknown %s %s; known: %s", what, q, list);
}

/* Room for one more in an array of `size`-byte things that doubles at powers of two. */
static void *grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1)) {
        return array;
    }
    return realloc(array, (count ? count * 2 : 1) * size);
}

static char *vprint(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static char *vprint(const char *fmt, va_list ap)
{
    struct gy_buf b = {0};
    gy_buf_vprintf(&b, fmt, ap);
    char *text =
        b.failed ? NULL : gy_slice_dup((struct gy_slice){gy_buf_head(&b), gy_buf_size(&b)});
    gy_buf_fini(&b);
    return text;
}

int gy_read_text(struct gy_reading *r, char **at, struct gy_slice s)
{
    char *copy = gy_slice_dup(s);
    if (!copy) {
        return gy_read_nomem(r);
    }
    free(*at);
    *at = copy;
    return GYRE_OK;
}

/* A name that could not be shown, nor written into a file and read again. */
static int check_name(struct gy_reading *r, struct gy_mark at, const char *what,
                      struct gy_slice name)
{
    char why[GY_ADDRESS_WHY];
    return gy_text_check(name, NAME_MAX_BYTES, why)
               ? GYRE_OK
               : gy_read_fail(r, GYRE_RANGE, at, "the %s's name %s", what, why);
}

int gy_read_pool(struct gy_reading *r, struct gy_slice name, struct gy_mark at,
                 struct gy_pool **out)
{
    struct gy_pools *f = r->into;
    *out = NULL;
    int rc = name.n ? check_name(r, at, "pool", name) : GYRE_OK;
    if (rc) {
        return rc;
    }
    struct gy_pool **grown = grow(f->list, f->count, sizeof *grown);
    if (!grown) {
        return gy_read_nomem(r);
    }
    f->list = grown;
    struct gy_pool *p = calloc(1, sizeof *p);
    if (!p) {
        return gy_read_nomem(r);
    }
    f->list[f->count++] = p; /* theirs from here on, whatever fails */
    p->line = at.line;
    p->config = gy_config_new();
    p->name = gy_slice_dup(name);
    if (!p->config || !p->name) {
        return gy_read_nomem(r);
    }
    *out = p;
    return GYRE_OK;
}

int gy_read_set(struct gy_reading *r, struct gy_pool *p, struct gy_mark at, const char *key,
                const char *value)
{
    int rc = gyre_topology_set(p->config->topology, key, value, r->e);
    return rc ? gy_format_place(r->e, rc, r->file, at) : GYRE_OK;
}

static int remember_line(struct gy_pool *p, unsigned line)
{
    if (p->node_count == p->node_room) {
        size_t room = p->node_room ? p->node_room * 2 : 64;
        unsigned *grown = realloc(p->node_lines, room * sizeof *grown);
        if (!grown) {
            return GYRE_NOMEM;
        }
        p->node_lines = grown;
        p->node_room = room;
    }
    p->node_lines[p->node_count++] = line;
    return GYRE_OK;
}

static int duplicate_node(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                          const char *name)
{
    char q[GY_QUOTE];
    size_t i = 0;
    while (i + 1 < p->node_count &&
           strcmp(gyre_topology_node(p->config->topology, i)->name, name)) {
        i++;
    }
    return gy_read_fail(r, GYRE_DUPLICATE, at, "server %s stands twice; first on line %u",
                        gy_utf8_quote(q, gy_str(name)), p->node_lines[i]);
}

int gy_read_node(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                 const struct gyre_node *node)
{
    int rc = check_name(r, at, "server", gy_str(node->name));
    if (rc) {
        return rc;
    }
    rc = gyre_topology_add(p->config->topology, node, r->e);
    if (rc == GYRE_DUPLICATE) {
        return duplicate_node(r, p, at, node->name);
    }
    if (rc) {
        return gy_format_place(r->e, rc, r->file, at);
    }
    return remember_line(p, at.line) ? gy_read_nomem(r) : GYRE_OK;
}

int gy_read_server(struct gy_reading *r, struct gy_pool *p, struct gy_mark at, struct gy_slice name,
                   struct gy_server **out)
{
    *out = NULL;
    int rc = check_name(r, at, "server", name);
    if (rc) {
        return rc;
    }
    if (p->server_count == p->server_room) {
        size_t room = p->server_room ? p->server_room * 2 : 16;
        struct gy_server *grown = realloc(p->servers, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(r);
        }
        p->servers = grown;
        p->server_room = room;
    }
    struct gy_server s = {.name = gy_slice_dup(name), .line = at.line, .weight = 1};
    if (!s.name) {
        return gy_read_nomem(r);
    }
    p->servers[p->server_count] = s;
    *out = &p->servers[p->server_count++];
    return GYRE_OK;
}

int gy_read_both(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                 const struct gyre_node *node, struct gy_server **out)
{
    int rc = gy_read_node(r, p, at, node);
    if (!rc) {
        rc = gy_read_server(r, p, at, gy_str(node->name), out);
    }
    if (!rc) {
        (*out)->is_node = true;
        (*out)->weight = node->weight;
    }
    if (!rc && node->address) {
        rc = gy_read_text(r, &(*out)->address, gy_str(node->address));
    }
    if (!rc && node->zone) {
        rc = gy_read_text(r, &(*out)->zone, gy_str(node->zone));
    }
    return rc;
}

int gy_read_open(struct gy_reading *r, struct gy_server *s, uint32_t slot, bool importing,
                 struct gy_slice peer)
{
    struct gy_open *grown = grow(s->open, s->open_count, sizeof *grown);
    if (!grown) {
        return gy_read_nomem(r);
    }
    s->open = grown;
    struct gy_open o = {.slot = slot, .importing = importing, .peer = gy_slice_dup(peer)};
    if (!o.peer) {
        return gy_read_nomem(r);
    }
    s->open[s->open_count++] = o;
    return GYRE_OK;
}

int gy_read_note(struct gy_reading *r, struct gy_pool *p, enum gy_level level, const char *code,
                 struct gy_mark at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = gy_pool_vnote(p, level, code, at.line, fmt, ap);
    va_end(ap);
    return rc ? gy_read_nomem(r) : GYRE_OK;
}

int gy_read_fact(struct gy_reading *r, struct gy_pool *p, const char *key, const char *fmt, ...)
{
    struct gy_fact *grown = grow(p->facts, p->fact_count, sizeof *grown);
    if (!grown) {
        return gy_read_nomem(r);
    }
    p->facts = grown;
    va_list ap;
    va_start(ap, fmt);
    struct gy_fact f = {.key = key, .value = vprint(fmt, ap)};
    va_end(ap);
    if (!f.value) {
        return gy_read_nomem(r);
    }
    p->facts[p->fact_count++] = f;
    return GYRE_OK;
}

int gy_read_unplaced(struct gy_reading *r, struct gy_pool *p, struct gy_mark at, const char *fmt,
                     ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *why = vprint(fmt, ap);
    va_end(ap);
    if (!why) {
        return gy_read_nomem(r);
    }
    free(p->why);
    p->why = why;
    p->line = at.line ? at.line : p->line;
    gy_config_free(p->config);
    p->config = NULL;
    for (size_t i = 0; i < p->server_count; i++) {
        p->servers[i].is_node = false;
    }
    return GYRE_OK;
}

/* ---- included files ---- */

struct inclusion {
    struct gy_reading *r;
    int (*parse)(struct gy_reading *r, void *arg);
    void *arg;
};

static int included(void *arg, const char *file, struct gy_slice text)
{
    struct inclusion *in = arg;
    struct gy_reading *r = in->r, outer = *r;
    r->file = file;
    r->text = text;
    r->depth++;
    int rc = in->parse(r, in->arg);
    r->file = outer.file;
    r->text = outer.text;
    r->depth = outer.depth;
    return rc;
}

int gy_read_include(struct gy_reading *r, struct gy_mark at, const char *pattern,
                    int (*parse)(struct gy_reading *r, void *arg), void *arg)
{
    char q[GY_QUOTE];
    if (!r->include) {
        return gy_read_fail(r, GYRE_UNSUPPORTED, at, "includes %s, which cannot be read from here",
                            gy_utf8_quote(q, gy_str(pattern)));
    }
    if (r->depth >= INCLUDE_DEPTH) {
        return gy_read_fail(r, GYRE_RANGE, at, "files include each other more than %d deep",
                            INCLUDE_DEPTH);
    }
    struct inclusion in = {r, parse, arg};
    return r->include(r->include_self, r->root, pattern, included, &in, r->e);
}
