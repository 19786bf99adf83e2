/* SPDX-License-Identifier: Apache-2.0 */
/* nginx_words.c - see nginx_words.h. */
#include "formats/nginx_words.h"

#include <stdlib.h>

void gy_nginx_init(struct gy_nginx *n, struct gy_reading *r)
{
    *n = (struct gy_nginx){.r = r, .text = r->text, .at = {1, 1}};
}

void gy_nginx_fini(struct gy_nginx *n)
{
    gy_buf_fini(&n->chars);
    free(n->words);
}

static bool more(const struct gy_nginx *n)
{
    return n->i < n->text.n;
}

static char here(const struct gy_nginx *n)
{
    return more(n) ? (char)n->text.p[n->i] : '\0';
}

static void step(struct gy_nginx *n)
{
    n->at.column++;
    if (n->text.p[n->i++] == '\n') {
        n->at = (struct gy_mark){n->at.line + 1, 1};
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct gy_nginx *n)
{
    while (more(n) && (is_blank(here(n)) || here(n) == '#')) {
        bool comment = here(n) == '#';
        step(n);
        while (comment && more(n) && here(n) != '\n') {
            step(n);
        }
    }
}

static int unexpected(struct gy_nginx *n, char c)
{
    return gy_read_fail(n->r, GYRE_SYNTAX, n->at, "unexpected \"%c\"", c);
}

static int fail_end(struct gy_nginx *n)
{
    return gy_read_fail(n->r, GYRE_SYNTAX, n->at,
                        "unexpected end of file, expecting \";\" or \"}\"");
}

/* What stands behind a backslash; other pairs stay as they are. */
static void add_escaped(struct gy_nginx *n)
{
    static const char from[] = "\"'\\trn", to[] = "\"'\\\t\r\n";
    const char *known = here(n) ? strchr(from, here(n)) : NULL;
    if (known) {
        gy_buf_putc(&n->chars, to[known - from]);
    } else {
        gy_buf_putc(&n->chars, '\\');
        gy_buf_putc(&n->chars, here(n));
    }
    step(n);
}

static int read_quoted(struct gy_nginx *n)
{
    char quote = here(n);
    step(n);
    while (more(n) && here(n) != quote) {
        char c = here(n);
        step(n);
        if (c == '\\' && more(n)) {
            add_escaped(n);
        } else {
            gy_buf_putc(&n->chars, c);
        }
    }
    if (!more(n)) {
        return fail_end(n);
    }
    step(n);
    return !more(n) || is_blank(here(n)) || strchr(";{)", here(n)) ? GYRE_OK
                                                                   : unexpected(n, here(n));
}

/* "${name}" does not begin a block. */
static int read_bare(struct gy_nginx *n)
{
    bool variable = false;
    while (more(n) && !is_blank(here(n)) && here(n) != ';' && (here(n) != '{' || variable)) {
        char c = here(n);
        step(n);
        variable = c == '$';
        if (c == '\\' && more(n)) {
            add_escaped(n);
        } else {
            gy_buf_putc(&n->chars, c);
        }
    }
    return more(n) ? GYRE_OK : fail_end(n);
}

static int read_word(struct gy_nginx *n)
{
    if (n->count == n->room) {
        size_t room = n->room ? n->room * 2 : 8;
        struct gy_nginx_word *grown = realloc(n->words, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(n->r);
        }
        n->words = grown;
        n->room = room;
    }
    struct gy_nginx_word *w = &n->words[n->count++];
    *w = (struct gy_nginx_word){.from = gy_buf_size(&n->chars), .at = n->at};
    int rc = here(n) == '"' || here(n) == '\'' ? read_quoted(n) : read_bare(n);
    w->n = gy_buf_size(&n->chars) - w->from;
    gy_buf_putc(&n->chars, '\0');
    if (!rc && gy_buf_failed(&n->chars)) {
        rc = gy_read_nomem(n->r);
    }
    return rc;
}

int gy_nginx_next(struct gy_nginx *n)
{
    n->count = 0;
    gy_buf_reset(&n->chars);
    for (;;) {
        skip_blanks(n);
        n->end_at = n->at;
        char c = here(n);
        if (!more(n)) {
            n->end = GY_NGINX_EOF;
            return n->count ? fail_end(n) : GYRE_OK;
        }
        if (c == ';' || c == '{' || c == '}') {
            if ((c == '}') != (n->count == 0)) {
                return unexpected(n, c);
            }
            n->end = c == ';' ? GY_NGINX_SEMICOLON : c == '{' ? GY_NGINX_OPEN : GY_NGINX_CLOSE;
            step(n);
            return GYRE_OK;
        }
        int rc = read_word(n);
        if (rc) {
            return rc;
        }
    }
}

/* ---- Lua: only as much as it takes to find the end ---- */

/* The level of a long bracket "[==[" that begins here, -1: none. */
static int long_bracket(const struct gy_nginx *n)
{
    size_t i = n->i + 1;
    while (i < n->text.n && n->text.p[i] == '=') {
        i++;
    }
    return i < n->text.n && n->text.p[i] == '[' ? (int)(i - n->i - 1) : -1;
}

static void skip_long(struct gy_nginx *n, int level)
{
    while (more(n)) {
        size_t i = n->i + 1, equals = 0;
        while (i < n->text.n && n->text.p[i] == '=') {
            i++;
            equals++;
        }
        bool ends = here(n) == ']' && (int)equals == level && i < n->text.n && n->text.p[i] == ']';
        for (size_t k = ends ? equals + 2 : 1; k; k--) {
            step(n);
        }
        if (ends) {
            return;
        }
    }
}

static void skip_lua_string(struct gy_nginx *n)
{
    char quote = here(n);
    step(n);
    while (more(n) && here(n) != quote && here(n) != '\n') {
        if (here(n) == '\\' && n->i + 1 < n->text.n) {
            step(n);
        }
        step(n);
    }
    if (more(n)) {
        step(n);
    }
}

static void skip_lua_comment(struct gy_nginx *n)
{
    step(n);
    step(n);
    int level = here(n) == '[' ? long_bracket(n) : -1;
    if (level >= 0) {
        skip_long(n, level);
        return;
    }
    while (more(n) && here(n) != '\n') {
        step(n);
    }
}

int gy_nginx_skip_lua(struct gy_nginx *n)
{
    for (size_t depth = 1; more(n);) {
        char c = here(n);
        if (c == '"' || c == '\'') {
            skip_lua_string(n);
        } else if (c == '-' && n->i + 1 < n->text.n && n->text.p[n->i + 1] == '-') {
            skip_lua_comment(n);
        } else if (c == '[' && long_bracket(n) >= 0) {
            skip_long(n, long_bracket(n));
        } else {
            depth += c == '{';
            depth -= c == '}';
            step(n);
            if (depth == 0) {
                return GYRE_OK;
            }
        }
    }
    return gy_read_fail(n->r, GYRE_SYNTAX, n->at,
                        "unexpected end of file, expecting the \"}\" of a block of Lua");
}
