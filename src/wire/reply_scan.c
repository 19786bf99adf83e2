/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply_scan.c - finds where a server's reply ends, in bytes that come in any pieces.
 *
 * Only header lines are read; the payload of a bulk is counted off unseen, a status line is
 * searched for its end. Nothing is allocated: what is still to come is one counter a depth, and a
 * header line cut by the end of the input waits in `line`. Threads: one thread an object.
 */
#include "wire/number.h"
#include "wire/reply.h"

void gy_reply_scan_init(struct gy_reply_scan *s)
{
    /* Field by field: left and line are written before they are read, and are most of its size. */
    s->skip = 0;
    s->depth = 0;
    s->line_len = 0;
    s->in_simple = false;
    s->cr = false;
    s->attrs = 0;
    s->first = 0;
}

/* One element is complete: true when the whole reply is. */
static inline bool element_done(struct gy_reply_scan *s)
{
    while (s->depth > 0) {
        if (--s->left[s->depth - 1] > 0) {
            return false;
        }
        s->depth--;
    }
    return true;
}

/* The next element is the reply itself: nothing is open but attributes on their last element. */
static inline bool is_outermost(const struct gy_reply_scan *s)
{
    return s->depth == s->attrs && (s->depth == 0 || s->left[s->depth - 1] == 1);
}

/* A counted header was read. */
static enum gy_parse counted(struct gy_reply_scan *s, uint8_t type, int64_t v)
{
    uint64_t elements = 0;
    bool is_bulk = false;
    if (!gy_reply_count(type, v, &elements, &is_bulk)) {
        return GY_PARSE_ERROR;
    }
    if (is_outermost(s)) {
        if (type == '|') {
            s->attrs++;
        } else {
            s->first = type;
        }
    }
    if (is_bulk && v >= 0) {
        s->skip = (uint64_t)v + 2;
        return GY_PARSE_MORE;
    }
    if (elements > 0) {
        if (s->depth == GY_REPLY_DEPTH) {
            return GY_PARSE_ERROR;
        }
        s->left[s->depth++] = elements;
        return GY_PARSE_MORE;
    }
    return element_done(s) ? GY_PARSE_DONE : GY_PARSE_MORE;
}

/* A header line that ends beyond this input, or began before it. MORE with *i < n: read on. */
static enum gy_parse cut_header(struct gy_reply_scan *s, const uint8_t *in, size_t n, size_t *i)
{
    while (*i < n) {
        uint8_t c = in[(*i)++];
        s->line[s->line_len++] = c;
        if (c == '\n') {
            int64_t v = 0;
            const uint8_t *end = s->line + s->line_len;
            if (gy_number_crlf(s->line + 1, end, &v) != end) {
                return GY_PARSE_ERROR;
            }
            s->line_len = 0;
            return counted(s, s->line[0], v);
        }
        if (s->line_len == sizeof s->line) {
            return GY_PARSE_ERROR;
        }
    }
    return GY_PARSE_MORE;
}

/* The rest of a status line. MORE with *i < n: it has ended, read on. */
static enum gy_parse simple(struct gy_reply_scan *s, const uint8_t *in, size_t n, size_t *i)
{
    while (*i < n) {
        const uint8_t *lf = memchr(in + *i, '\n', n - *i);
        size_t end = lf ? (size_t)(lf - in) : n;
        bool cr = end > *i ? in[end - 1] == '\r' : s->cr;
        *i = end + (lf != NULL);
        s->cr = cr && !lf;
        if (lf && cr) {
            s->in_simple = false;
            return element_done(s) ? GY_PARSE_DONE : GY_PARSE_MORE;
        }
    }
    return GY_PARSE_MORE;
}

/* The first bytes of an element. */
static enum gy_parse header(struct gy_reply_scan *s, const uint8_t *in, size_t n, size_t *i)
{
    uint8_t type = in[*i];
    if (gy_reply_is_line(type)) {
        if (is_outermost(s)) {
            s->first = type;
        }
        ++*i;
        s->in_simple = true;
        s->cr = false;
        return simple(s, in, n, i);
    }
    int64_t v = 0;
    const uint8_t *next = gy_number_crlf(in + *i + 1, in + n, &v);
    if (!next) {
        return gy_reply_is_counted(type) ? cut_header(s, in, n, i) : GY_PARSE_ERROR;
    }
    *i = (size_t)(next - in);
    return counted(s, type, v);
}

enum gy_parse gy_reply_scan(struct gy_reply_scan *s, const uint8_t *in, size_t n, size_t *used)
{
    size_t i = 0;
    enum gy_parse r = GY_PARSE_MORE;
    while (r == GY_PARSE_MORE && i < n) {
        if (s->skip) {
            size_t take = s->skip < n - i ? (size_t)s->skip : n - i;
            i += take;
            s->skip -= take;
            if (s->skip == 0 && element_done(s)) {
                r = GY_PARSE_DONE;
            }
        } else if (s->in_simple) {
            r = simple(s, in, n, &i);
        } else if (s->line_len) {
            r = cut_header(s, in, n, &i);
        } else {
            r = header(s, in, n, &i);
        }
    }
    *used = i;
    return r;
}
