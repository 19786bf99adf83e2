/* SPDX-License-Identifier: Apache-2.0 */
/* tree_yaml.c - YAML into a tree: see tree.h. Anchors, aliases and tags are refused by yaml_in. */
#include "formats/tree.h"
#include "formats/yaml_in.h"

struct walk {
    struct gy_yaml y;
    struct gy_doc *d;
};

static int read_value(struct walk *w, struct gy_tree *parent, struct gy_slice key,
                      struct gy_mark key_at, unsigned depth);

static int read_list(struct walk *w, struct gy_tree *list, unsigned depth)
{
    int rc;
    while (!(rc = gy_yaml_next(&w->y)) && w->y.ev.type != YAML_SEQUENCE_END_EVENT) {
        if ((rc = read_value(w, list, GY_LIT(""), gy_yaml_mark(&w->y), depth)) != 0) {
            break;
        }
    }
    return rc;
}

static int read_map(struct walk *w, struct gy_tree *map, unsigned depth)
{
    int rc;
    while (!(rc = gy_yaml_next(&w->y)) && w->y.ev.type != YAML_MAPPING_END_EVENT) {
        struct gy_mark at = gy_yaml_mark(&w->y);
        if (w->y.ev.type != YAML_SCALAR_EVENT) {
            return gy_yaml_fail(&w->y, GYRE_SYNTAX, at, "a key must be a word, not %s",
                                gy_yaml_kind(&w->y));
        }
        struct gy_slice key = gy_doc_copy(w->d, gy_yaml_scalar(&w->y));
        if (!key.p) {
            return GYRE_NOMEM;
        }
        rc = gy_yaml_next(&w->y);
        if (!rc) {
            rc = read_value(w, map, key, at, depth);
        }
        if (rc) {
            return rc;
        }
    }
    return rc ? rc : gy_doc_check_keys(w->d, map);
}

static int read_value(struct walk *w, struct gy_tree *parent, struct gy_slice key,
                      struct gy_mark key_at, unsigned depth)
{
    struct gy_mark at = gy_yaml_mark(&w->y);
    if (depth >= GY_TREE_DEPTH) {
        return gy_yaml_fail(&w->y, GYRE_RANGE, at, "nested more than %d deep", GY_TREE_DEPTH);
    }
    enum gy_tree_kind kind = w->y.ev.type == YAML_SEQUENCE_START_EVENT  ? GY_TREE_LIST
                             : w->y.ev.type == YAML_MAPPING_START_EVENT ? GY_TREE_MAP
                             : gy_yaml_is_null(&w->y)                   ? GY_TREE_NULL
                                                                        : GY_TREE_TEXT;
    struct gy_tree *t = gy_doc_add(w->d, parent, kind, at);
    if (!t) {
        return gy_doc_code(w->d);
    }
    t->key = key;
    t->key_at = key_at;
    if (kind == GY_TREE_LIST) {
        t->flow = w->y.ev.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        return read_list(w, t, depth + 1);
    }
    if (kind == GY_TREE_MAP) {
        t->flow = w->y.ev.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        return read_map(w, t, depth + 1);
    }
    t->plain = w->y.ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    t->text = gy_doc_copy(w->d, gy_yaml_scalar(&w->y));
    return t->text.p ? GYRE_OK : GYRE_NOMEM;
}

int gy_doc_yaml(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    *d = (struct gy_doc){.file = file, .e = e};
    struct walk w = {.d = d};
    int rc = gy_yaml_open(&w.y, (const char *)text.p, text.n, file, e);
    if (!rc) {
        rc = read_value(&w, NULL, GY_LIT(""), gy_yaml_mark(&w.y), 0);
    }
    if (!rc) {
        rc = gy_yaml_end(&w.y);
    }
    gy_yaml_close(&w.y);
    return rc;
}
