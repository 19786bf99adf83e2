/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nginx.c - upstream blocks of nginx 1.22: in a whole nginx.conf with what it includes, in http and
 * in stream, or as a piece of one. Only what leads to upstreams is judged: nginx itself has the
 * word on the rest (nginx -t). Threads: one an object.
 */
#include "formats/nginx.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/nginx_upstream.h"

#define DEPTH_MAX    64
#define UPSTREAM_MAX 10000

enum place { ROOT, HTTP, STREAM, UPSTREAM, ELSEWHERE };

struct state {
    struct gy_nginx_upstream *upstream; /* the one that is open */
    bool whole;                         /* a whole nginx.conf, and no piece of one */
    bool piece;
    struct gy_mark missing; /* a file that could not be read */
    char missing_name[GY_QUOTE];
};

struct scope {
    struct state *s;
    enum place place;
    unsigned depth;
};

/* The first word of a line that ends in '{', and whether more words stand between. */
static bool opens(struct gy_slice line, const char *word, bool named)
{
    struct gy_slice rest = line, first, second = {0};
    if (!gy_word_next(&rest, &first)) {
        return false;
    }
    gy_word_next(&rest, &second);
    size_t len = strlen(word);
    bool glued =
        !named && first.n == len + 1 && first.p[len] == '{' && gy_slice_starts(first, word);
    return glued || (gy_slice_eq(first, gy_str(word)) &&
                     (named ? second.n && gy_slice_has(line, "{") && second.p[0] != '{'
                            : second.n && second.p[0] == '{'));
}

int gy_nginx_sniff(struct gy_slice head)
{
    int sure = GY_SURE_NOT;
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        if (opens(l.line, "upstream", true)) {
            return GY_SURE_YES;
        }
        if (opens(l.line, "http", false) || opens(l.line, "events", false) ||
            opens(l.line, "stream", false)) {
            sure = GY_SURE_LIKELY;
        }
        /* "upstream name" with its '{' on the next line. */
        struct gy_slice rest = l.line, first, second, third;
        if (gy_word_next(&rest, &first) && gy_slice_eq(first, GY_LIT("upstream")) &&
            gy_word_next(&rest, &second) && !gy_word_next(&rest, &third)) {
            sure = GY_SURE_LIKELY;
        }
    }
    return sure;
}

static int read_block(struct gy_nginx *n, const struct scope *scope);

static int read_file(struct gy_reading *r, void *arg)
{
    struct gy_nginx n;
    gy_nginx_init(&n, r);
    int rc = read_block(&n, arg);
    gy_nginx_fini(&n);
    return rc;
}

/* A file with servers must be there; of others it is only said that they are not, since an
 * nginx.conf is often looked at on another machine. */
static int read_include(struct gy_nginx *n, const struct scope *scope)
{
    struct state *s = scope->s;
    if (n->count != 2) {
        return gy_read_fail(n->r, GYRE_SYNTAX, n->words[0].at,
                            "invalid number of arguments in \"include\" directive");
    }
    if (scope->place == ELSEWHERE) {
        return GYRE_OK;
    }
    struct scope inside = {s, scope->place, 0};
    unsigned depth = n->r->depth;
    gyre_error_t e = {0}, *outer = n->r->e;
    n->r->e = &e;
    int rc = gy_read_include(n->r, n->words[1].at, (const char *)gy_nginx_word(n, 1).p, read_file,
                             &inside);
    n->r->e = outer;
    bool missing = (rc == GYRE_IO || rc == GYRE_UNSUPPORTED) && depth == n->r->depth;
    if (missing && scope->place != UPSTREAM) {
        if (!s->missing.line) {
            s->missing = n->words[1].at;
            gy_utf8_quote(s->missing_name, gy_nginx_word(n, 1));
        }
        return GYRE_OK;
    }
    if (missing) {
        return gy_read_fail(n->r, rc, n->words[1].at, "servers are included from %s: %s",
                            *e.file ? e.file : "another file", e.message);
    }
    if (rc && outer) {
        *outer = e;
    }
    return rc;
}

static int check_name(struct gy_nginx *n)
{
    struct gy_pools *f = n->r->into;
    struct gy_slice name = gy_nginx_word(n, 1);
    char q[GY_QUOTE];
    if (f->count >= UPSTREAM_MAX) {
        return gy_read_fail(n->r, GYRE_RANGE, n->words[0].at, "more than %d upstreams",
                            UPSTREAM_MAX);
    }
    for (size_t i = 0; i < f->count; i++) {
        if (gy_slice_eq(gy_str(f->list[i]->name), name)) {
            return gy_read_fail(n->r, GYRE_DUPLICATE, n->words[1].at,
                                "duplicate upstream %s; the first is on line %u",
                                gy_utf8_quote(q, name), f->list[i]->line);
        }
    }
    return GYRE_OK;
}

static int read_upstream(struct gy_nginx *n, const struct scope *scope)
{
    struct gy_nginx_upstream u = {.r = n->r, .at = n->words[0].at};
    if (scope->place == ELSEWHERE || scope->place == UPSTREAM) {
        return gy_read_fail(n->r, GYRE_SYNTAX, u.at, "\"upstream\" directive is not allowed here");
    }
    if (n->count != 2) {
        return gy_read_fail(n->r, GYRE_SYNTAX, u.at,
                            "invalid number of arguments in \"upstream\" directive");
    }
    if (n->end != GY_NGINX_OPEN) {
        return gy_read_fail(n->r, GYRE_SYNTAX, u.at, "directive \"upstream\" has no opening \"{\"");
    }
    scope->s->piece = scope->s->piece || scope->place == ROOT;
    u.stream = scope->place == STREAM;
    struct scope inside = {scope->s, UPSTREAM, scope->depth + 1};
    scope->s->upstream = &u;
    int rc = check_name(n);
    rc = rc ? rc : gy_read_pool(n->r, gy_nginx_word(n, 1), u.at, &u.pool);
    rc = rc ? rc : read_block(n, &inside);
    rc = rc ? rc : gy_nginx_upstream_end(&u);
    gy_nginx_upstream_fini(&u);
    scope->s->upstream = NULL;
    return rc;
}

/* A block of Lua, or of whatever kind. */
static int read_inner(struct gy_nginx *n, const struct scope *scope)
{
    struct gy_slice word = gy_nginx_word(n, 0);
    struct scope inside = {scope->s, ELSEWHERE, scope->depth + 1};
    static const char lua[] = "_by_lua_block";
    size_t len = sizeof lua - 1;
    if (word.n > len && memcmp(word.p + word.n - len, lua, len) == 0) {
        return gy_nginx_skip_lua(n);
    }
    bool http = gy_slice_eq(word, GY_LIT("http")), stream = gy_slice_eq(word, GY_LIT("stream"));
    if (scope->place == ROOT && n->count == 1 &&
        (http || stream || gy_slice_eq(word, GY_LIT("events")))) {
        scope->s->whole = true;
        inside.place = http ? HTTP : stream ? STREAM : ELSEWHERE;
    }
    return read_block(n, &inside);
}

static int read_statement(struct gy_nginx *n, const struct scope *scope)
{
    struct gy_slice word = gy_nginx_word(n, 0);
    if (gy_slice_eq(word, GY_LIT("include")) && n->end == GY_NGINX_SEMICOLON) {
        return read_include(n, scope);
    }
    if (gy_slice_eq(word, GY_LIT("upstream"))) {
        return read_upstream(n, scope);
    }
    if (scope->place == UPSTREAM) {
        return gy_nginx_directive(scope->s->upstream, n);
    }
    return n->end == GY_NGINX_OPEN ? read_inner(n, scope) : GYRE_OK;
}

/* Up to the '}' of the block, or the end of the file where depth is 0. */
static int read_block(struct gy_nginx *n, const struct scope *scope)
{
    if (scope->depth > DEPTH_MAX) {
        return gy_read_fail(n->r, GYRE_RANGE, n->end_at, "blocks nested more than %d deep",
                            DEPTH_MAX);
    }
    for (;;) {
        int rc = gy_nginx_next(n);
        if (rc) {
            return rc;
        }
        if (n->end == GY_NGINX_EOF) {
            return scope->depth ? gy_read_fail(n->r, GYRE_SYNTAX, n->end_at,
                                               "unexpected end of file, expecting \"}\"")
                                : GYRE_OK;
        }
        if (n->end == GY_NGINX_CLOSE) {
            return scope->depth ? GYRE_OK
                                : gy_read_fail(n->r, GYRE_SYNTAX, n->end_at, "unexpected \"}\"");
        }
        rc = read_statement(n, scope);
        if (rc) {
            return rc;
        }
    }
}

int gy_nginx_parse(struct gy_reading *r)
{
    struct state s = {0};
    struct scope root = {&s, ROOT, 0};
    int rc = read_file(r, &root);
    struct gy_pools *f = r->into;
    if (!rc && s.whole && s.piece) {
        rc = gy_read_fail(r, GYRE_SYNTAX, (struct gy_mark){f->list[0]->line, 1},
                          "\"upstream\" directive is not allowed here; it belongs into http or "
                          "stream");
    }
    if (!rc && f->count == 0 && s.missing.line) {
        rc = gy_read_fail(r, GYRE_EMPTY, s.missing,
                          "there is no upstream here, and %s, which is included, cannot be read",
                          s.missing_name);
    }
    for (size_t i = 0; !rc && s.missing.line && i < f->count; i++) {
        rc = gy_read_note(r, f->list[i], GY_LEVEL_NOTE, "not-included", s.missing,
                          "%s cannot be read here; upstreams in it are missing", s.missing_name);
    }
    return rc;
}
