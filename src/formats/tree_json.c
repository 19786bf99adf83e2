/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_json.c - JSON into a tree: see tree.h. jansson says whether the text is JSON and what it
 * means; it does not say where a value stands, so a scanner walks the text, by then known to be
 * good, beside jansson's values, which come in the same order.
 */
#include "formats/tree.h"

#include <jansson.h>
#include <stdlib.h>

struct scan {
    struct gy_slice text;
    size_t at;
    struct gy_mark mark;
};

/* ---- comments ---- */

static size_t string_end(struct gy_slice t, size_t i)
{
    for (i++; i < t.n && t.p[i] != '"'; i++) {
        i += t.p[i] == '\\';
    }
    return i < t.n ? i + 1 : t.n;
}

/* Puts blanks where comments were, so that places stay as they are. */
static int blank_comments(struct gy_doc *d, uint8_t *p, size_t n)
{
    struct gy_slice t = {p, n};
    for (size_t i = 0; i < n;) {
        if (p[i] == '"') {
            i = string_end(t, i);
        } else if (p[i] == '/' && i + 1 < n && p[i + 1] == '/') {
            for (; i < n && p[i] != '\n'; i++) {
                p[i] = ' ';
            }
        } else if (p[i] == '/' && i + 1 < n && p[i + 1] == '*') {
            const uint8_t *end = memmem(p + i + 2, n - i - 2, "*/", 2);
            if (!end) {
                return gy_doc_fail(d, GYRE_SYNTAX, gy_mark_of(t, i), "a comment without its end");
            }
            for (; p + i < end + 2; i++) {
                p[i] = p[i] == '\n' ? '\n' : ' ';
            }
        } else {
            i++;
        }
    }
    return GYRE_OK;
}

/* A comma that only a closing bracket follows becomes a blank too. */
static void blank_last_commas(uint8_t *p, size_t n)
{
    struct gy_slice t = {p, n};
    for (size_t i = 0; i < n;) {
        size_t next = i + 1;
        if (p[i] == '"') {
            next = string_end(t, i);
        } else if (p[i] == ',') {
            while (next < n && memchr(" \t\r\n", p[next], 4)) {
                next++;
            }
            p[i] = next < n && (p[next] == ']' || p[next] == '}') ? ' ' : ',';
        }
        i = next;
    }
}

/* ---- places ---- */

static void step(struct scan *s, size_t n)
{
    for (; n && s->at < s->text.n; n--) {
        s->mark.column++;
        if (s->text.p[s->at++] == '\n') {
            s->mark = (struct gy_mark){s->mark.line + 1, 1};
        }
    }
}

/* To the next character that is part of a value. */
static void skip(struct scan *s)
{
    while (s->at < s->text.n && memchr(" \t\r\n,:", s->text.p[s->at], 6)) {
        step(s, 1);
    }
}

static struct gy_slice scalar(struct scan *s)
{
    size_t from = s->at, end = from;
    if (from < s->text.n && s->text.p[from] == '"') {
        end = string_end(s->text, from);
    } else {
        while (end < s->text.n && !memchr(" \t\r\n,:]}", s->text.p[end], 8)) {
            end++;
        }
    }
    step(s, end - from);
    return (struct gy_slice){s->text.p + from, end - from};
}

/* ---- the walk ---- */

static int place(struct gy_doc *d, struct scan *s, struct gy_tree *parent, const json_t *v,
                 struct gy_slice key, struct gy_mark key_at, unsigned depth);

static int place_children(struct gy_doc *d, struct scan *s, struct gy_tree *t, json_t *v,
                          unsigned depth)
{
    int rc = GYRE_OK;
    step(s, 1);
    if (t->kind == GY_TREE_LIST) {
        for (size_t i = 0; i < json_array_size(v) && !rc; i++) {
            rc = place(d, s, t, json_array_get(v, i), GY_LIT(""), s->mark, depth);
        }
    } else {
        for (void *i = json_object_iter(v); i && !rc; i = json_object_iter_next(v, i)) {
            skip(s);
            struct gy_mark at = s->mark;
            scalar(s);
            struct gy_slice key = gy_doc_copy(d, gy_str(json_object_iter_key(i)));
            rc = key.p ? place(d, s, t, json_object_iter_value(i), key, at, depth) : GYRE_NOMEM;
        }
    }
    skip(s);
    step(s, 1);
    return rc;
}

static int place(struct gy_doc *d, struct scan *s, struct gy_tree *parent, const json_t *v,
                 struct gy_slice key, struct gy_mark key_at, unsigned depth)
{
    skip(s);
    if (depth >= GY_TREE_DEPTH) {
        return gy_doc_fail(d, GYRE_RANGE, s->mark, "nested more than %d deep", GY_TREE_DEPTH);
    }
    enum gy_tree_kind kind = json_is_object(v)  ? GY_TREE_MAP
                             : json_is_array(v) ? GY_TREE_LIST
                             : json_is_null(v)  ? GY_TREE_NULL
                                                : GY_TREE_TEXT;
    struct gy_tree *t = gy_doc_add(d, parent, kind, s->mark);
    if (!t) {
        return gy_doc_code(d);
    }
    t->key = key;
    t->key_at = key_at;
    if (kind == GY_TREE_MAP || kind == GY_TREE_LIST) {
        return place_children(d, s, t, (json_t *)(uintptr_t)v, depth + 1);
    }
    struct gy_slice raw = scalar(s);
    t->plain = !json_is_string(v);
    t->text = gy_doc_copy(d, t->plain ? raw
                                      : (struct gy_slice){(const uint8_t *)json_string_value(v),
                                                          json_string_length(v)});
    return t->text.p ? GYRE_OK : GYRE_NOMEM;
}

/* More values than any tree would hold are not worth jansson's memory either. */
static int check_size(struct gy_doc *d, struct gy_slice t)
{
    size_t marks = 0;
    for (size_t i = 0; i < t.n; i++) {
        marks += t.p[i] == ',' || t.p[i] == '[' || t.p[i] == '{';
    }
    return marks <= GY_TREE_MAX ? GYRE_OK
                                : gy_doc_fail(d, GYRE_RANGE, (struct gy_mark){0, 0},
                                              "more than %zu values: not a topology", GY_TREE_MAX);
}

static int load(struct gy_doc *d, struct gy_slice text)
{
    json_error_t why;
    json_t *v =
        json_loadb((const char *)text.p, text.n,
                   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &why);
    if (!v) {
        bool memory = json_error_code(&why) == json_error_out_of_memory;
        struct gy_mark at = {why.line > 0 ? (unsigned)why.line : 0,
                             why.column > 0 ? (unsigned)why.column : 0};
        return gy_doc_fail(d, memory ? GYRE_NOMEM : GYRE_SYNTAX, at, "not JSON: %s", why.text);
    }
    struct scan s = {.text = text, .mark = {1, 1}};
    int rc = place(d, &s, NULL, v, GY_LIT(""), s.mark, 0);
    json_decref(v);
    return rc;
}

int gy_doc_json(struct gy_doc *d, struct gy_slice text, unsigned flags, const char *file,
                gyre_error_t *e)
{
    *d = (struct gy_doc){.file = file, .e = e};
    uint8_t *copy = NULL;
    int rc = check_size(d, text);
    if (!rc && (flags & GY_JSON_LOOSE) && text.n) {
        copy = malloc(text.n);
        if (!copy) {
            return gy_doc_fail(d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
        }
        memcpy(copy, text.p, text.n);
        rc = blank_comments(d, copy, text.n);
        blank_last_commas(copy, text.n);
        text.p = copy;
    }
    rc = rc ? rc : load(d, text);
    free(copy);
    return rc;
}
