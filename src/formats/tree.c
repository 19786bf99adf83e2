/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - see tree.h: the tree itself, in chunks of memory that go all at once. */
#include "formats/tree.h"
#include "base/utf8.h"

#include <stdlib.h>

#define CHUNK ((size_t)16 << 10)

struct gy_chunk {
    struct gy_chunk *next;
    size_t used, size;
    max_align_t data[];
};

int gy_doc_fail(struct gy_doc *d, int code, struct gy_mark at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_format_vfail(d->e, code, d->file, at, fmt, ap);
    va_end(ap);
    return code;
}

static void *take(struct gy_doc *d, size_t n)
{
    struct gy_chunk *c = d->chunks;
    n = (n + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!c || c->size - c->used < n) {
        size_t size = n > CHUNK ? n : CHUNK;
        c = malloc(sizeof *c + size);
        if (!c) {
            gy_doc_fail(d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
            return NULL;
        }
        *c = (struct gy_chunk){.next = d->chunks, .size = size};
        d->chunks = c;
    }
    void *p = (char *)c->data + c->used;
    c->used += n;
    return p;
}

void gy_doc_fini(struct gy_doc *d)
{
    while (d->chunks) {
        struct gy_chunk *next = d->chunks->next;
        free(d->chunks);
        d->chunks = next;
    }
    d->root = NULL;
}

struct gy_tree *gy_doc_add(struct gy_doc *d, struct gy_tree *parent, enum gy_tree_kind kind,
                           struct gy_mark at)
{
    if (d->values >= GY_TREE_MAX) {
        gy_doc_fail(d, GYRE_RANGE, at, "more than %zu values: not a topology", GY_TREE_MAX);
        return NULL;
    }
    struct gy_tree *t = take(d, sizeof *t);
    if (!t) {
        return NULL;
    }
    *t = (struct gy_tree){.kind = kind, .at = at, .text = GY_LIT(""), .key = GY_LIT("")};
    d->values++;
    if (!parent) {
        d->root = t;
        return t;
    }
    if (parent->last) {
        parent->last->next = t;
    } else {
        parent->first = t;
    }
    parent->last = t;
    parent->count++;
    return t;
}

struct gy_slice gy_doc_copy(struct gy_doc *d, struct gy_slice s)
{
    char *p = take(d, s.n + 1);
    if (!p) {
        return (struct gy_slice){NULL, 0};
    }
    if (s.n) {
        memcpy(p, s.p, s.n);
    }
    p[s.n] = 0;
    return (struct gy_slice){(const uint8_t *)p, s.n};
}

static int by_key(const void *a, const void *b)
{
    const struct gy_tree *const *x = a, *const *y = b;
    size_t n = (*x)->key.n < (*y)->key.n ? (*x)->key.n : (*y)->key.n;
    int order = n ? memcmp((*x)->key.p, (*y)->key.p, n) : 0;
    if (order == 0) {
        order = (*x)->key.n < (*y)->key.n ? -1 : (*x)->key.n > (*y)->key.n;
    }
    if (order == 0) {
        order = (*x)->key_at.line < (*y)->key_at.line ? -1 : 1;
    }
    return order;
}

int gy_doc_check_keys(struct gy_doc *d, const struct gy_tree *map)
{
    if (map->count < 2) {
        return GYRE_OK;
    }
    const struct gy_tree **sorted = calloc(map->count, sizeof *sorted);
    if (!sorted) {
        return gy_doc_fail(d, GYRE_NOMEM, (struct gy_mark){0, 0}, "out of memory");
    }
    size_t n = 0;
    for (const struct gy_tree *t = map->first; t; t = t->next) {
        sorted[n++] = t;
    }
    qsort(sorted, n, sizeof *sorted, by_key);
    int rc = GYRE_OK;
    for (size_t i = 1; i < n && !rc; i++) {
        if (gy_slice_eq(sorted[i - 1]->key, sorted[i]->key)) {
            char q[GY_QUOTE];
            rc = gy_doc_fail(d, GYRE_DUPLICATE, sorted[i]->key_at,
                             "key %s stands twice; first on line %u",
                             gy_utf8_quote(q, sorted[i]->key), sorted[i - 1]->key_at.line);
        }
    }
    free(sorted);
    return rc;
}

const struct gy_tree *gy_tree_get(const struct gy_tree *map, const char *key)
{
    const struct gy_tree *t = map && map->kind == GY_TREE_MAP ? map->first : NULL;
    while (t && !gy_slice_eq(t->key, gy_str(key))) {
        t = t->next;
    }
    return t;
}

const char *gy_tree_word(const struct gy_tree *t)
{
    static const char *const words[] = {"nothing", "a single value", "a list", "a mapping"};
    return words[t->kind];
}
