/* SPDX-License-Identifier: Apache-2.0 */
/* haproxy_words.c - see haproxy_words.h. */
#include "formats/haproxy_words.h"
#include "base/utf8.h"

#include <stdlib.h>

void gy_haproxy_line_init(struct gy_haproxy_line *l, struct gy_reading *r)
{
    *l = (struct gy_haproxy_line){.r = r, .lines = gy_lines_of(r->text)};
}

void gy_haproxy_line_fini(struct gy_haproxy_line *l)
{
    gy_buf_fini(&l->chars);
    free(l->words);
}

struct gy_slice gy_haproxy_word(const struct gy_haproxy_line *l, size_t i)
{
    return i < l->count
               ? (struct gy_slice){l->chars.data + l->chars.off + l->words[i].from, l->words[i].n}
               : GY_LIT("");
}

struct gy_mark gy_haproxy_at(const struct gy_haproxy_line *l, size_t i)
{
    return l->words[i < l->count ? i : l->count - 1].at;
}

int gy_haproxy_known(const struct gy_haproxy_line *l, size_t i)
{
    char q[GY_QUOTE];
    return i >= l->count || !l->words[i].variable
               ? GYRE_OK
               : gy_read_fail(l->r, GYRE_UNSUPPORTED, l->words[i].at,
                              "%s holds a variable of the environment, which is not known here; "
                              "write its value",
                              gy_utf8_quote(q, gy_haproxy_word(l, i)));
}

int64_t gy_haproxy_number(struct gy_slice s)
{
    size_t i = 0;
    bool minus = s.n && s.p[0] == '-';
    int64_t v = 0;
    for (i = minus; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && v < INT64_MAX / 16; i++) {
        v = v * 10 + (s.p[i] - '0');
    }
    return minus ? -v : v;
}

/* ---- one word ---- */

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* Behind a backslash outside of single quotes: what it means, and how long it is. */
static size_t escaped(struct gy_slice s, size_t i, bool quoted, struct gy_buf *out)
{
    static const char plain[] = "\\ #'\"", quoted_only[] = "\\\"$", from[] = "rnt", to[] = "\r\n\t";
    uint8_t c = s.p[i];
    const char *same = c ? strchr(quoted ? quoted_only : plain, c) : NULL;
    const char *other = c && !quoted ? strchr(from, c) : NULL;
    if (same) {
        gy_buf_putc(out, (char)c);
    } else if (other) {
        gy_buf_putc(out, to[other - from]);
    } else if (c == 'x' && !quoted && i + 2 < s.n && hex_digit(s.p[i + 1]) >= 0 &&
               hex_digit(s.p[i + 2]) >= 0) {
        gy_buf_putc(out, (char)(hex_digit(s.p[i + 1]) << 4 | hex_digit(s.p[i + 2])));
        return 3;
    } else {
        gy_buf_putc(out, '\\');
        gy_buf_putc(out, (char)c);
    }
    return 1;
}

static int unmatched(struct gy_haproxy_line *l, size_t i)
{
    return gy_read_fail(l->r, GYRE_SYNTAX, (struct gy_mark){l->lines.number, (unsigned)i + 1},
                        "unmatched quote");
}

/* Reads one from byte *i of the line on, and leaves *i behind it. */
static int read_word(struct gy_haproxy_line *l, size_t *i, struct gy_haproxy_word *w)
{
    struct gy_slice s = l->lines.line;
    char quote = '\0';
    size_t opened = 0;
    while (*i < s.n) {
        char c = (char)s.p[*i];
        if (!quote && (c == ' ' || c == '\t' || c == '#')) {
            break;
        }
        ++*i;
        if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? '\0' : c;
            opened = *i - 1;
        } else if (c == '\\' && quote != '\'' && *i < s.n) {
            *i += escaped(s, *i, quote == '"', &l->chars);
        } else {
            w->variable = w->variable || (c == '$' && quote == '"');
            gy_buf_putc(&l->chars, c);
        }
    }
    return quote ? unmatched(l, opened) : GYRE_OK;
}

static int read_line(struct gy_haproxy_line *l)
{
    struct gy_slice s = l->lines.line;
    l->count = 0;
    gy_buf_reset(&l->chars);
    for (size_t i = 0; i < s.n;) {
        if (s.p[i] == ' ' || s.p[i] == '\t') {
            i++;
            continue;
        }
        if (s.p[i] == '#') {
            break;
        }
        if (l->count == l->room) {
            size_t room = l->room ? l->room * 2 : 16;
            struct gy_haproxy_word *grown = realloc(l->words, room * sizeof *grown);
            if (!grown) {
                return gy_read_nomem(l->r);
            }
            l->words = grown;
            l->room = room;
        }
        struct gy_haproxy_word *w = &l->words[l->count++];
        *w = (struct gy_haproxy_word){.from = gy_buf_size(&l->chars),
                                      .at = {l->lines.number, (unsigned)i + 1}};
        int rc = read_word(l, &i, w);
        w->n = gy_buf_size(&l->chars) - w->from;
        gy_buf_putc(&l->chars, '\0');
        if (rc) {
            return rc;
        }
    }
    return gy_buf_failed(&l->chars) ? gy_read_nomem(l->r) : GYRE_OK;
}

int gy_haproxy_line_next(struct gy_haproxy_line *l, bool *more)
{
    int rc = GYRE_OK;
    l->count = 0;
    while (!rc && l->count == 0 && (*more = gy_lines_next(&l->lines)) == true) {
        rc = read_line(l);
    }
    return rc;
}
