/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - YAML, JSON and XML as one kind of tree whose every value knows its line and column, so
 * that a format that exists in two of them (Envoy) is read once, and errors always have a place.
 *
 * Bounded whatever the text: GY_TREE_DEPTH levels, GY_TREE_MAX values; YAML's anchors, aliases and
 * tags, XML's DOCTYPE (so every entity of its own), and a JSON or YAML key that stands twice are
 * refused. In XML an element is a child with its name as key, an attribute a child "@name"; names
 * may stand twice. Everything lives in the document until gy_doc_fini. Threads: one an object.
 */
#ifndef GY_FORMATS_TREE_H
#define GY_FORMATS_TREE_H

#include "formats/mark.h"

#define GY_TREE_DEPTH 64
#define GY_TREE_MAX   ((size_t)2 << 20)

enum gy_tree_kind { GY_TREE_NULL, GY_TREE_TEXT, GY_TREE_LIST, GY_TREE_MAP };

struct gy_tree {
    enum gy_tree_kind kind;
    bool flow;           /* YAML: a list or map in brackets */
    bool plain;          /* YAML: not quoted; JSON: a number, true or false; XML: always */
    struct gy_slice key; /* in a map */
    struct gy_slice
        text; /* of GY_TREE_TEXT, NUL-terminated behind; of an XML element in any case */
    struct gy_mark key_at, at;
    struct gy_tree *first, *last, *next; /* children in the order of the text; sibling */
    size_t count;                        /* children */
};

struct gy_doc {
    struct gy_tree *root;
    const char *file;
    gyre_error_t *e;
    /* inside */
    struct gy_chunk *chunks;
    size_t values;
};

/* GY_JSON_LOOSE: as folly reads it for mcrouter, with // and slash-star comments, and a comma
 * behind the last element. */
enum { GY_JSON_PLAIN = 0, GY_JSON_LOOSE = 1 };

/* SYNTAX, UNSUPPORTED, DUPLICATE, RANGE or NOMEM, told to e with its place. Fini in every case. */
GYRE_NODISCARD int gy_doc_yaml(struct gy_doc *d, struct gy_slice text, const char *file,
                               gyre_error_t *e);
GYRE_NODISCARD int gy_doc_json(struct gy_doc *d, struct gy_slice text, unsigned flags,
                               const char *file, gyre_error_t *e);
GYRE_NODISCARD int gy_doc_xml(struct gy_doc *d, struct gy_slice text, const char *file,
                              gyre_error_t *e);
void gy_doc_fini(struct gy_doc *d);

/* The first child of that name in a map; NULL: none, or not a map. */
const struct gy_tree *gy_tree_get(const struct gy_tree *map, const char *key);
static inline bool gy_tree_is(const struct gy_tree *t, const char *text)
{
    return t && t->kind == GY_TREE_TEXT && gy_slice_eq(t->text, gy_str(text));
}
/* "a list", for messages. */
const char *gy_tree_word(const struct gy_tree *t);

/* ---- for the three readers ---- */

/* A new value below parent (NULL: the root); key may be empty. NULL after an error told to d->e. */
struct gy_tree *gy_doc_add(struct gy_doc *d, struct gy_tree *parent, enum gy_tree_kind kind,
                           struct gy_mark at);
/* What such a NULL was: RANGE (too many values) or NOMEM. */
static inline int gy_doc_code(const struct gy_doc *d)
{
    return d->values >= GY_TREE_MAX ? GYRE_RANGE : GYRE_NOMEM;
}
/* A copy that lives with d; its p is NULL after an error told to d->e. */
struct gy_slice gy_doc_copy(struct gy_doc *d, struct gy_slice s);
int gy_doc_fail(struct gy_doc *d, int code, struct gy_mark at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* DUPLICATE for a key that stands twice in a map. */
int gy_doc_check_keys(struct gy_doc *d, const struct gy_tree *map);

#endif
