/* SPDX-License-Identifier: Apache-2.0 */
/* redis_wire.c - see redis_wire.h. */
#include "formats/redis_wire.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"

struct wire {
    struct gy_doc *d;
    struct gy_slice rest;
    struct gy_mark at;
};

static int read_value(struct wire *w, struct gy_tree *parent, struct gy_slice key, unsigned depth);

static int broken(struct wire *w)
{
    return gy_doc_fail(w->d, GYRE_SYNTAX, w->at, "broken or cut off: no reply of a Redis server");
}

/* Takes n bytes and a line end. */
static bool take(struct wire *w, size_t n, struct gy_slice *out)
{
    size_t end = n;
    if (n > w->rest.n) {
        return false;
    }
    *out = (struct gy_slice){w->rest.p, n};
    end += end < w->rest.n && w->rest.p[end] == '\r';
    if (end < w->rest.n && w->rest.p[end] != '\n') {
        return false;
    }
    end += end < w->rest.n;
    for (size_t i = 0; i < end; i++) {
        w->at.line += w->rest.p[i] == '\n';
    }
    w->rest = (struct gy_slice){w->rest.p + end, w->rest.n - end};
    return true;
}

static bool take_line(struct wire *w, struct gy_slice *out)
{
    const uint8_t *end = w->rest.n ? memchr(w->rest.p, '\n', w->rest.n) : NULL;
    size_t n = end ? (size_t)(end - w->rest.p) : w->rest.n;
    n -= n && w->rest.p[n - 1] == '\r';
    return n && take(w, n, out);
}

static int read_many(struct wire *w, struct gy_tree *t, uint64_t count, unsigned depth)
{
    int rc = GYRE_OK;
    for (uint64_t i = 0; i < count && !rc; i++) {
        struct gy_slice key = GY_LIT("");
        if (t->kind == GY_TREE_MAP) {
            struct gy_doc keys = {.file = w->d->file, .e = w->d->e};
            struct gy_doc *values = w->d;
            w->d = &keys;
            rc = read_value(w, NULL, key, GY_TREE_DEPTH - 1);
            w->d = values;
            key = rc ? key : gy_doc_copy(values, keys.root->text);
            rc = rc ? rc : key.p ? GYRE_OK : GYRE_NOMEM;
            gy_doc_fini(&keys);
        }
        rc = rc ? rc : read_value(w, t, key, depth);
    }
    return rc;
}

/* "$3" has its text behind it, ":3" and "+OK" in itself. */
static int read_text(struct wire *w, struct gy_tree *t, char type, struct gy_slice head)
{
    uint64_t n;
    if (type == '$' || type == '=' || type == '!') {
        if (gy_num_uint(head, &n) || !take(w, (size_t)n, &head)) {
            return broken(w);
        }
        if (type == '=' && head.n >= 4) {
            head = (struct gy_slice){head.p + 4, head.n - 4}; /* "txt:" */
        }
    }
    if (type == '-' || type == '!') {
        char q[GY_QUOTE];
        return gy_doc_fail(w->d, GYRE_REFUSED, t->at, "the server answered with an error: %s",
                           gy_utf8_quote(q, head));
    }
    t->plain = type == ':';
    t->text = gy_doc_copy(w->d, head);
    return t->text.p ? GYRE_OK : GYRE_NOMEM;
}

static int read_value(struct wire *w, struct gy_tree *parent, struct gy_slice key, unsigned depth)
{
    struct gy_mark at = w->at;
    struct gy_slice line;
    uint64_t count = 0;
    if (depth >= GY_TREE_DEPTH) {
        return gy_doc_fail(w->d, GYRE_RANGE, at, "nested more than %d deep", GY_TREE_DEPTH);
    }
    if (!take_line(w, &line)) {
        return broken(w);
    }
    char type = (char)line.p[0];
    struct gy_slice head = {line.p + 1, line.n - 1};
    bool many = memchr("*~%", type, 3) != NULL, sized = memchr("*$", type, 2) != NULL;
    bool nil = type == '_' || (sized && gy_slice_eq(head, GY_LIT("-1")));
    if (!memchr("*~%$=!+-:,#(_", type, 13) || (many && !nil && gy_num_uint(head, &count))) {
        return broken(w);
    }
    struct gy_tree *t = gy_doc_add(w->d, parent,
                                   nil           ? GY_TREE_NULL
                                   : type == '%' ? GY_TREE_MAP
                                   : many        ? GY_TREE_LIST
                                                 : GY_TREE_TEXT,
                                   at);
    if (!t) {
        return gy_doc_code(w->d);
    }
    t->key = key;
    t->key_at = at;
    if (nil) {
        return GYRE_OK;
    }
    return many ? read_many(w, t, count, depth + 1) : read_text(w, t, type, head);
}

int gy_doc_wire(struct gy_doc *d, struct gy_slice text)
{
    struct wire w = {.d = d, .rest = text, .at = {1, 1}};
    while (w.rest.n && memchr(" \t\r\n", w.rest.p[0], 4)) {
        w.at.line += w.rest.p[0] == '\n';
        w.rest = (struct gy_slice){w.rest.p + 1, w.rest.n - 1};
    }
    int rc = read_value(&w, NULL, GY_LIT(""), 0);
    while (!rc && w.rest.n && memchr(" \t\r\n", w.rest.p[0], 4)) {
        w.rest = (struct gy_slice){w.rest.p + 1, w.rest.n - 1};
    }
    return rc || !w.rest.n ? rc
                           : gy_doc_fail(d, GYRE_SYNTAX, w.at, "more than one reply in the file");
}
