/* SPDX-License-Identifier: Apache-2.0 */
/* redis_raw.c - see redis_raw.h. */
#include "formats/redis_raw.h"
#include "base/num.h"
#include "formats/lines.h"

#define AHEAD     5 /* lines one has to see to know what the first of them is */
#define ID_LENGTH 40

struct raw {
    struct gy_doc *d;
    struct gy_lines l;
    struct gy_slice line[AHEAD]; /* the next lines; those beyond the end are empty */
    struct gy_mark at[AHEAD];
    size_t count; /* of them that are there */
};

static void fill(struct raw *w)
{
    while (w->count < AHEAD && gy_lines_next(&w->l)) {
        w->line[w->count] = gy_slice_trim(w->l.line);
        w->at[w->count++] = (struct gy_mark){w->l.number, 1};
    }
    for (size_t i = w->count; i < AHEAD; i++) {
        w->line[i] = GY_LIT("");
        w->at[i] = (struct gy_mark){w->l.number, 1};
    }
}

static void drop(struct raw *w)
{
    for (size_t i = 0; i + 1 < AHEAD; i++) {
        w->line[i] = w->line[i + 1];
        w->at[i] = w->at[i + 1];
    }
    w->count -= w->count > 0;
    fill(w);
}

static bool is_number(struct gy_slice s)
{
    uint64_t v;
    return gy_num_uint(s, &v) == GYRE_OK;
}

static bool is_id(struct gy_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!strchr("0123456789abcdef", s.p[i]) || !s.p[i]) {
            return false;
        }
    }
    return s.n == ID_LENGTH;
}

/* host, port, id */
static bool is_node(const struct raw *w, size_t i)
{
    return is_number(w->line[i + 1]) && is_id(w->line[i + 2]);
}

/* first, last, and a node behind them */
static bool is_range(const struct raw *w)
{
    return is_number(w->line[0]) && is_number(w->line[1]) && is_node(w, 2);
}

static struct raw raw_of(struct gy_doc *d, struct gy_slice text)
{
    struct raw w = {.d = d, .l = gy_lines_of(text)};
    fill(&w);
    while (w.count && w.line[0].n == 0) {
        drop(&w);
    }
    return w;
}

bool gy_raw_is_slots(struct gy_slice text)
{
    struct raw w = raw_of(NULL, text);
    return is_range(&w);
}

bool gy_raw_is_shards(struct gy_slice text)
{
    struct raw w = raw_of(NULL, text);
    return gy_slice_eq(w.line[0], GY_LIT("slots")) &&
           (is_number(w.line[1]) || gy_slice_eq(w.line[1], GY_LIT("nodes")) || w.line[1].n == 0);
}

static struct gy_tree *add(struct raw *w, struct gy_tree *parent, enum gy_tree_kind kind)
{
    return gy_doc_add(w->d, parent, kind, w->at[0]);
}

/* The next line as a value of parent. */
static int add_line(struct raw *w, struct gy_tree *parent)
{
    struct gy_tree *t = add(w, parent, GY_TREE_TEXT);
    if (t) {
        t->plain = is_number(w->line[0]);
        t->text = gy_doc_copy(w->d, w->line[0]);
        drop(w);
    }
    return t && t->text.p ? GYRE_OK : gy_doc_code(w->d);
}

static int out_of_place(struct raw *w)
{
    return gy_doc_fail(w->d, GYRE_SYNTAX, w->at[0],
                       "this is not the raw reply of redis-cli: a line was lost or changed; its "
                       "--json has everything");
}

/* ---- CLUSTER SLOTS ---- */

static int raw_node(struct raw *w, struct gy_tree *range)
{
    struct gy_tree *node = add(w, range, GY_TREE_LIST);
    int rc = node ? GYRE_OK : gy_doc_code(w->d);
    for (int i = 0; i < 3 && !rc; i++) {
        rc = add_line(w, node);
    }
    struct gy_tree *more = rc ? NULL : add(w, node, GY_TREE_LIST);
    rc = rc ? rc : more ? GYRE_OK : gy_doc_code(w->d);
    /* Metadata: pairs of lines, or an empty one. */
    while (!rc && w->count && !is_range(w) && !is_node(w, 0)) {
        if (w->line[0].n == 0) {
            drop(w);
        } else {
            rc = add_line(w, more);
        }
    }
    return rc;
}

int gy_doc_raw_slots(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    *d = (struct gy_doc){.file = file, .e = e};
    struct raw w = raw_of(d, text);
    struct gy_tree *root = add(&w, NULL, GY_TREE_LIST);
    int rc = root ? GYRE_OK : gy_doc_code(d);
    while (!rc && w.count) {
        if (!is_range(&w)) {
            return out_of_place(&w);
        }
        struct gy_tree *range = add(&w, root, GY_TREE_LIST);
        rc = range ? add_line(&w, range) : gy_doc_code(d);
        rc = rc ? rc : add_line(&w, range);
        while (!rc && w.count && !is_range(&w)) {
            rc = is_node(&w, 0) ? raw_node(&w, range) : out_of_place(&w);
        }
    }
    return rc;
}

/* ---- CLUSTER SHARDS ---- */

static bool next_is(const struct raw *w, const char *word)
{
    return w->count && gy_slice_eq(w->line[0], gy_str(word));
}

/* The slots of a shard, up to the word `nodes`. */
static int raw_ranges(struct raw *w, struct gy_tree *shard)
{
    int rc = add_line(w, shard); /* "slots" */
    struct gy_tree *slots = rc ? NULL : add(w, shard, GY_TREE_LIST);
    rc = rc ? rc : slots ? GYRE_OK : gy_doc_code(w->d);
    while (!rc && w->count && !next_is(w, "nodes")) {
        if (w->line[0].n == 0) {
            drop(w);
        } else {
            rc = is_number(w->line[0]) ? add_line(w, slots) : out_of_place(w);
        }
    }
    return rc;
}

/* Nodes are pairs of lines, each node from its `id` on. */
static int raw_nodes(struct raw *w, struct gy_tree *shard)
{
    int rc = next_is(w, "nodes") ? add_line(w, shard) : out_of_place(w);
    struct gy_tree *nodes = rc ? NULL : add(w, shard, GY_TREE_LIST), *node = NULL;
    rc = rc ? rc : nodes ? GYRE_OK : gy_doc_code(w->d);
    while (!rc && w->count && !next_is(w, "slots")) {
        if (w->line[0].n == 0) {
            drop(w);
            continue;
        }
        if (next_is(w, "id")) {
            node = add(w, nodes, GY_TREE_LIST);
            rc = node ? GYRE_OK : gy_doc_code(w->d);
        }
        if (!rc && !node) {
            return out_of_place(w);
        }
        rc = rc ? rc : add_line(w, node);
        rc = rc ? rc : add_line(w, node);
    }
    return rc;
}

int gy_doc_raw_shards(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    *d = (struct gy_doc){.file = file, .e = e};
    struct raw w = raw_of(d, text);
    struct gy_tree *root = add(&w, NULL, GY_TREE_LIST);
    int rc = root ? GYRE_OK : gy_doc_code(d);
    while (!rc && w.count) {
        struct gy_tree *shard = next_is(&w, "slots") ? add(&w, root, GY_TREE_LIST) : NULL;
        if (!shard) {
            return next_is(&w, "slots") ? gy_doc_code(d) : out_of_place(&w);
        }
        rc = raw_ranges(&w, shard);
        rc = rc ? rc : raw_nodes(&w, shard);
    }
    return rc;
}
