/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply_tree.c - a whole reply as a tree of nodes in one block of memory.
 *
 * Two passes of the same walk: the first counts the nodes that are really there (a header may
 * announce anything), the second fills them in. The children of an array are neighbours.
 * Recursion is bounded by GY_REPLY_DEPTH. Threads: one thread an object.
 */
#include "wire/number.h"
#include "wire/reply.h"

#include <stdlib.h>

struct walk {
    const uint8_t *s, *end;
    struct gy_reply *nodes; /* NULL: only counting */
    size_t count;           /* nodes counted, or handed out */
};

static bool element(struct walk *w, struct gy_reply *r, unsigned depth);

/* What a one-line type says. */
static bool line_value(struct gy_reply *r, uint8_t type, struct gy_slice text)
{
    r->text = text;
    switch (type) {
    case '-':
        r->type = '-';
        return true;
    case ':':
        r->type = ':';
        return gy_number(text, &r->integer);
    case '#':
        r->type = ':';
        r->integer = text.n == 1 && *text.p == 't';
        return text.n == 1 && (*text.p == 't' || *text.p == 'f');
    case '_':
        r->type = '_';
        return text.n == 0;
    default:
        r->type = '+';
        return true;
    }
}

static bool line(struct walk *w, struct gy_reply *r, uint8_t type)
{
    for (const uint8_t *from = w->s;;) {
        const uint8_t *lf = memchr(from, '\n', (size_t)(w->end - from));
        if (!lf) {
            return false;
        }
        from = lf + 1;
        if (lf > w->s && lf[-1] == '\r') {
            struct gy_slice text = {w->s, (size_t)(lf - 1 - w->s)};
            w->s = from;
            return line_value(r, type, text);
        }
    }
}

static bool bulk(struct walk *w, struct gy_reply *r, uint8_t type, int64_t n)
{
    if ((uint64_t)(w->end - w->s) < (uint64_t)n + 2 || w->s[n] != '\r' || w->s[n + 1] != '\n') {
        return false;
    }
    r->type = type == '!' ? '-' : '$';
    r->text = (struct gy_slice){w->s, (size_t)n};
    w->s += n + 2;
    if (type == '=') { /* "txt:" or "mkd:" first */
        if (n < 4 || r->text.p[3] != ':') {
            return false;
        }
        r->text.p += 4;
        r->text.n -= 4;
    }
    return true;
}

static bool array(struct walk *w, struct gy_reply *r, uint64_t n, unsigned depth)
{
    struct gy_reply scratch;
    r->type = '*';
    if (w->nodes) {
        r->count = (size_t)n;
        r->item = n ? w->nodes + w->count : NULL;
        w->count += (size_t)n;
    }
    for (uint64_t i = 0; i < n; i++) {
        w->count += !w->nodes;
        if (!element(w, w->nodes ? &r->item[i] : &scratch, depth)) {
            return false;
        }
    }
    return true;
}

/* Passes over an attribute's pairs, then reads the reply it stands in front of. */
static bool attribute(struct walk *w, struct gy_reply *r, uint64_t n, unsigned depth)
{
    struct walk passing = {.s = w->s, .end = w->end};
    struct gy_reply scratch;
    if (!array(&passing, &scratch, n - 1, depth)) {
        return false;
    }
    w->s = passing.s;
    return element(w, r, depth);
}

static bool element(struct walk *w, struct gy_reply *r, unsigned depth)
{
    *r = (struct gy_reply){0};
    if (w->s == w->end) {
        return false;
    }
    uint8_t type = *w->s++;
    if (gy_reply_is_line(type)) {
        return line(w, r, type);
    }
    int64_t v = 0;
    uint64_t elements = 0;
    bool is_bulk = false;
    const uint8_t *next = gy_number_crlf(w->s, w->end, &v);
    if (!next || !gy_reply_count(type, v, &elements, &is_bulk)) {
        return false;
    }
    w->s = next;
    if (v < 0) {
        r->type = '_';
        return true;
    }
    if (is_bulk) {
        return bulk(w, r, type, v);
    }
    if (elements > 0 && depth == GY_REPLY_DEPTH) {
        return false;
    }
    return type == '|' ? attribute(w, r, elements, depth + 1) : array(w, r, elements, depth + 1);
}

struct gy_reply *gy_reply_parse(const uint8_t *in, size_t n)
{
    struct gy_reply scratch;
    struct walk w = {.s = in, .end = in + n};
    if (n == 0 || !element(&w, &scratch, 0)) {
        return NULL;
    }
    struct gy_reply *nodes = calloc(w.count + 1, sizeof *nodes);
    if (!nodes) {
        return NULL;
    }
    w = (struct walk){.s = in, .end = in + n, .nodes = nodes, .count = 1};
    if (!element(&w, nodes, 0)) {
        free(nodes);
        return NULL;
    }
    return nodes;
}

void gy_reply_free(struct gy_reply *r)
{
    free(r);
}

bool gy_reply_is(const struct gy_reply *r, const char *text)
{
    return r && (r->type == '+' || r->type == '-' || r->type == '$') &&
           gy_slice_eq(r->text, gy_str(text));
}
