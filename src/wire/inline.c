/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - inline commands: a line of words, as typed into telnet.
 *
 * The quoting is that of Redis 7.0 (sds.c, sdssplitargs), except that a NUL is a byte like any
 * other. Words are unescaped into the parser's own buffer. Threads: one thread an object.
 */
#include "wire/request.h"

struct words {
    struct gy_req_parser *p;
    const uint8_t *s, *end;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Redis ends a bare word at these, not at \v and \f. */
static bool ends_word(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The escape behind a backslash in double quotes; steps over it. */
static char escape(struct words *w)
{
    static const char from[] = "nrtba", to[] = "\n\r\t\b\a";
    if (w->end - w->s >= 3 && w->s[0] == 'x' && hex(w->s[1]) >= 0 && hex(w->s[2]) >= 0) {
        char c = (char)(hex(w->s[1]) * 16 + hex(w->s[2]));
        w->s += 3;
        return c;
    }
    uint8_t c = *w->s++;
    const char *known = c ? strchr(from, c) : NULL;
    return known ? to[known - from] : (char)c;
}

/* The rest of a quoted piece; s is behind its opening quote. False: it is not closed, or something
 * follows the closing quote at once. */
static bool quoted(struct words *w, uint8_t quote)
{
    struct gy_buf *b = &w->p->inline_args;
    while (w->s < w->end) {
        uint8_t c = *w->s++;
        if (c == quote) {
            return w->s == w->end || is_blank(*w->s);
        }
        if (c == '\\' && w->s < w->end && quote == '"') {
            gy_buf_putc(b, escape(w));
        } else if (c == '\\' && w->s < w->end && *w->s == '\'') {
            gy_buf_putc(b, '\'');
            w->s++;
        } else {
            gy_buf_putc(b, (char)c);
        }
    }
    return false;
}

static bool word(struct words *w)
{
    while (w->s < w->end && !ends_word(*w->s)) {
        uint8_t c = *w->s++;
        if (c == '"' || c == '\'') {
            return quoted(w, c);
        }
        gy_buf_putc(&w->p->inline_args, (char)c);
    }
    return true;
}

static const char *split(struct words *w)
{
    struct gy_req_parser *p = w->p;
    for (;;) {
        while (w->s < w->end && is_blank(*w->s)) {
            w->s++;
        }
        if (w->s == w->end) {
            return NULL;
        }
        size_t off = gy_buf_size(&p->inline_args);
        if (!word(w)) {
            return "unbalanced quotes in request";
        }
        if (p->have == p->limits.args) {
            return "too big inline request";
        }
        if (gy_buf_failed(&p->inline_args) ||
            !gy_req_push(p, off, gy_buf_size(&p->inline_args) - off)) {
            return "out of memory";
        }
    }
}

enum gy_parse gy_req_inline(struct gy_req_parser *p, const uint8_t *in, size_t n,
                            struct gy_request *out)
{
    static const uint8_t nothing[1];
    const uint8_t *lf = memchr(in + p->seen, '\n', n - p->seen);
    p->seen = lf ? (size_t)(lf - in) : n;
    if (p->seen > p->limits.inline_line) {
        return gy_req_fail(p, "too big inline request");
    }
    if (!lf) {
        return gy_req_more(p, 1);
    }
    size_t line = p->seen;
    p->seen = 0;
    /* A CR in front of the LF is one more blank. */
    struct words w = {.p = p, .s = in, .end = in + line};
    const char *error = split(&w);
    if (error) {
        return gy_req_fail(p, error);
    }
    /* Only empty words (""): there is no buffer to point into. */
    const uint8_t *base = p->inline_args.data ? gy_buf_head(&p->inline_args) : nothing;
    return gy_req_done(p, base, line + 1, out);
}
