/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_tokens.c - see cassandra_tokens.h. YAML:
 *
 *   cassandra_tokens: 1
 *   partitioner: Murmur3Partitioner
 *   strategy: NetworkTopologyStrategy
 *   rf: "dc1:3,dc2:2"
 *   nodes:
 *     - {node: 10.0.0.1, dc: dc1, rack: r1, num_tokens: 2, initial_token: "-5,7"}
 *
 * Threads: one an object.
 */
#include "formats/cassandra_tokens.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/tree.h"

int gy_cassandra_tokens_sniff(struct gy_slice head)
{
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        if (gy_slice_starts(l.line, "cassandra_tokens:")) {
            return GY_SURE_YES;
        }
    }
    return GY_SURE_NOT;
}

/* The keys of the file that are settings, in the order in which they may be set. */
static const struct {
    const char *key, *setting;
} SETTINGS[] = {{"partitioner", "partitioner"},
                {"strategy", "distribution"},
                {"rf", "rf"},
                {"replicas", "replicas"}};

#define SETTING_COUNT (sizeof SETTINGS / sizeof SETTINGS[0])

static const char *const FILE_KEYS[] = {"cassandra_tokens", "partitioner", "strategy", "rf",
                                        "replicas",         "nodes",       NULL};
static const char *const NODE_KEYS[] = {"node",       "address",       "dc",     "rack",
                                        "num_tokens", "initial_token", "weight", NULL};

/* Every key known, and a plain value but for `list`. */
static int check_keys(struct gy_reading *r, const struct gy_tree *map, const char *const *known,
                      const char *list)
{
    char q[GY_QUOTE];
    for (const struct gy_tree *t = map->first; t; t = t->next) {
        size_t i = 0;
        while (known[i] && !gy_slice_eq(gy_str(known[i]), t->key)) {
            i++;
        }
        if (!known[i]) {
            return gy_read_unknown(r, t->key_at, "key", t->key, known);
        }
        bool is_list = list && strcmp(known[i], list) == 0;
        if (t->kind != (is_list ? GY_TREE_LIST : GY_TREE_TEXT)) {
            return gy_read_fail(r, GYRE_SYNTAX, t->at, "%s must be %s, not %s",
                                gy_utf8_quote(q, t->key), is_list ? "a list" : "one value",
                                gy_tree_word(t));
        }
    }
    return GYRE_OK;
}

static struct gy_slice text_of(const struct gy_tree *node, const char *key)
{
    const struct gy_tree *t = gy_tree_get(node, key);
    return t ? t->text : GY_LIT("");
}

static uint32_t count_tokens(struct gy_slice list)
{
    uint32_t n = 0;
    while (list.n) {
        gy_slice_cut(&list, ',');
        n++;
    }
    return n;
}

static int check_count(struct gy_reading *r, const struct gy_tree *node, uint32_t tokens)
{
    const struct gy_tree *t = gy_tree_get(node, "num_tokens");
    uint64_t n = tokens;
    char q[GY_QUOTE];
    if (t && (gy_num_uint(t->text, &n) || n != tokens)) {
        return gy_read_fail(r, GYRE_INVALID, t->at, "num_tokens is %s, but here are %u tokens",
                            gy_utf8_quote(q, t->text), tokens);
    }
    return GYRE_OK;
}

static int read_weight(struct gy_reading *r, const struct gy_tree *node, double *weight)
{
    const struct gy_tree *t = gy_tree_get(node, "weight");
    uint64_t micros = 1000000;
    char q[GY_QUOTE];
    if (t && gy_num_micros(t->text, &micros)) {
        return gy_read_fail(r, GYRE_SYNTAX, t->at, "the weight %s is no number",
                            gy_utf8_quote(q, t->text));
    }
    *weight = gy_num_from_micros(micros);
    return GYRE_OK;
}

/* dc/rack, as Cassandra's placement reads a zone. */
static void zone_of(const struct gy_tree *node, struct gy_buf *out)
{
    struct gy_slice dc = text_of(node, "dc"), rack = text_of(node, "rack");
    gy_buf_add(out, dc.p, dc.n);
    gy_buf_puts(out, rack.n ? "/" : "");
    gy_buf_add(out, rack.p, rack.n);
}

static int read_node(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t)
{
    struct gy_buf zone = {0}, options = {0};
    struct gy_server *s;
    if (t->kind != GY_TREE_MAP) {
        return gy_read_fail(r, GYRE_SYNTAX, t->at, "a node must be a mapping, not %s",
                            gy_tree_word(t));
    }
    int rc = check_keys(r, t, NODE_KEYS, NULL);
    struct gy_slice name = text_of(t, "node"), tokens = text_of(t, "initial_token");
    struct gy_slice address = text_of(t, "address");
    if (!rc && !name.n) {
        rc = gy_read_fail(r, GYRE_SYNTAX, t->at, "a node without its name: node: ADDRESS");
    }
    struct gyre_node node = {.size = sizeof node, .name = (const char *)name.p};
    rc = rc ? rc : check_count(r, t, count_tokens(tokens));
    rc = rc ? rc : read_weight(r, t, &node.weight);
    if (rc) {
        return rc;
    }
    zone_of(t, &zone);
    gy_buf_puts(&options, tokens.n ? "tokens=" : "");
    gy_buf_add(&options, tokens.p, tokens.n);
    node.address = address.n ? (const char *)address.p : NULL;
    node.zone = gy_buf_size(&zone) ? gy_buf_cstr(&zone) : NULL;
    node.options = tokens.n ? gy_buf_cstr(&options) : NULL;
    rc = zone.failed || options.failed ? gy_read_nomem(r) : gy_read_both(r, p, t->at, &node, &s);
    if (!rc && tokens.n) {
        s->tokens = count_tokens(tokens);
        rc = gy_read_text(r, &s->owned, tokens);
    }
    gy_buf_fini(&zone);
    gy_buf_fini(&options);
    return rc;
}

static int read_file(struct gy_reading *r, const struct gy_tree *root)
{
    struct gy_pool *p;
    const struct gy_tree *nodes = gy_tree_get(root, "nodes");
    if (root->kind != GY_TREE_MAP) {
        return gy_read_fail(r, GYRE_SYNTAX, root->at, "a list of tokens is a mapping, not %s",
                            gy_tree_word(root));
    }
    int rc = check_keys(r, root, FILE_KEYS, "nodes");
    const struct gy_tree *format = gy_tree_get(root, "cassandra_tokens");
    if (!rc && !gy_tree_is(format, "1")) {
        rc = gy_read_fail(r, GYRE_UNSUPPORTED, format ? format->at : root->at,
                          "cassandra_tokens must be 1, the form that this gyre reads");
    }
    if (!rc && (!nodes || nodes->count == 0)) {
        rc = gy_read_fail(r, GYRE_EMPTY, nodes ? nodes->at : root->at, "there is no node in it");
    }
    rc = rc ? rc : gy_read_pool(r, GY_LIT(""), root->at, &p);
    rc = rc ? rc : gy_read_set(r, p, root->at, "like", "cassandra");
    for (size_t i = 0; !rc && i < SETTING_COUNT; i++) {
        const struct gy_tree *t = gy_tree_get(root, SETTINGS[i].key);
        rc = t ? gy_read_set(r, p, t->at, SETTINGS[i].setting, (const char *)t->text.p) : GYRE_OK;
    }
    for (const struct gy_tree *t = rc ? NULL : nodes->first; t && !rc; t = t->next) {
        rc = read_node(r, p, t);
    }
    return rc;
}

int gy_cassandra_tokens_parse(struct gy_reading *r)
{
    struct gy_doc doc;
    int rc = gy_doc_yaml(&doc, r->text, r->file, r->e);
    rc = rc ? rc : read_file(r, doc.root);
    gy_doc_fini(&doc);
    return rc;
}
