/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds.c - system `seeds`: the header's fields as a rule and nodes, and the files of key and node.
 * Where the fields are those of a mode the map is made through the public settings; where they
 * differ, the same code gets the rule directly. Threads: one.
 */
#include "vectors/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"

static const char *const known_fields[] = {
    "system",  "version",   "mode",       "hash",      "hash_bits", "point_separator",
    "lookup",  "collision", "vnodes",     "nodes",     "added",     "key_type",
    "columns", "note",      "key_prefix", "key_count", NULL};
static const char *const known_columns[] = {"key", "node", "quantity", "value", NULL};

static const struct gy_hash *const hashes[] = {&gy_hash_md5, &gy_hash_sha256};

static bool read_mode(struct seeds *s, const struct vfile *f, struct verdict *v)
{
    const char *mode = vf_get(f, "mode");
    for (size_t i = 0; mode && i < gy_sample_rule_count; i++) {
        if (strcmp(gy_sample_rules[i].mode, mode) == 0) {
            s->rule = gy_sample_rules[i];
            return true;
        }
    }
    refuse(v, "unknown mode '%s'", mode ? mode : "");
    return false;
}

/* What the header says beside the mode wins over what the mode implies. */
static bool read_rule(struct seeds *s, const struct vfile *f, struct verdict *v)
{
    const char *hash = vf_get(f, "hash"), *bits = vf_get(f, "hash_bits");
    const char *separator = vf_get(f, "point_separator"), *lookup = vf_get(f, "lookup");
    const char *collision = vf_get(f, "collision");
    if (hash) {
        size_t i = 0;
        while (i < 2 && strcmp(hashes[i]->name, hash) != 0) {
            i++;
        }
        if (i == 2) {
            refuse(v, "unknown hash '%s'", hash);
            return false;
        }
        s->rule.hash = hashes[i];
    }
    if (bits) {
        uint64_t n;
        if (!vf_number(bits, &n) || n < 1 || n > s->rule.hash->bits) {
            refuse(v, "hash_bits '%s' is not 1 to %u", bits, s->rule.hash->bits);
            return false;
        }
        s->rule.hash_bits = (unsigned)n;
    }
    if (separator) {
        s->separator = vf_decode_text(separator, strlen(separator));
        if (!s->separator) {
            refuse(v, "point_separator '%s' is malformed", separator);
            return false;
        }
        s->rule.separator = s->separator;
    }
    if (lookup && strcmp(lookup, "ge") != 0 && strcmp(lookup, "gt") != 0) {
        refuse(v, "unknown lookup '%s'", lookup);
        return false;
    }
    if (lookup) {
        s->rule.after = strcmp(lookup, "gt") == 0;
    }
    if (collision && strcmp(collision, "newest") != 0) {
        refuse(v, "unknown collision rule '%s'", collision);
        return false;
    }
    return true;
}

/* name*weight,... ; * and , inside a name are encoded. */
static bool read_nodes(struct seeds *s, const char *list, size_t *count, struct verdict *v)
{
    for (*count = 0; *list;) {
        size_t len = strcspn(list, ","), name_len = strcspn(list, "*,");
        struct seeds_node *grown = realloc(s->node, (s->nodes + s->added + 1) * sizeof *grown);
        if (!grown) {
            abort();
        }
        s->node = grown;
        struct seeds_node *n = &s->node[s->nodes + s->added];
        char *end = NULL;
        n->weight = name_len < len ? strtod(list + name_len + 1, &end) : 1;
        n->shown = strndup(list, name_len);
        n->name = vf_decode_text(list, name_len);
        ++*count;
        if (!n->name || (end && (end != list + len || end == list + name_len + 1))) {
            refuse(v, "malformed node '%.*s'", (int)len, list);
            return false;
        }
        list += len + (list[len] == ',');
    }
    return true;
}

bool seeds_read(struct seeds *s, const struct vfile *f, struct verdict *v)
{
    memset(s, 0, sizeof *s);
    const char *strange = vf_strange_field(f, known_fields);
    const char *nodes = vf_get(f, "nodes"), *added = vf_get(f, "added");
    const char *vnodes = vf_get(f, "vnodes"), *key_type = vf_get(f, "key_type");
    if (strange) {
        refuse(v, "unknown header field '%s'", strange);
        return false;
    }
    strange = vf_strange_column(f, known_columns);
    if (strange) {
        refuse(v, "unknown column '%s'", strange);
        return false;
    }
    if (key_type && strcmp(key_type, "bytes") != 0 && strcmp(key_type, "utf8") != 0) {
        refuse(v, "unknown key_type '%s'", key_type);
        return false;
    }
    if (!vnodes || !vf_number(vnodes, &s->vnodes) || !nodes || !*nodes) {
        refuse(v, "vnodes and nodes are needed, and vnodes is a number");
        return false;
    }
    return read_mode(s, f, v) && read_rule(s, f, v) && read_nodes(s, nodes, &s->nodes, v) &&
           read_nodes(s, added ? added : "", &s->added, v);
}

void seeds_free(struct seeds *s)
{
    for (size_t i = 0; i < s->nodes + s->added; i++) {
        free(s->node[i].shown);
        free(s->node[i].name);
    }
    free(s->node);
    free(s->separator);
}

static bool is_mode(const struct gy_sample_rule *rule, const char **mode)
{
    for (size_t i = 0; i < gy_sample_rule_count; i++) {
        const struct gy_sample_rule *r = &gy_sample_rules[i];
        if (r->hash == rule->hash && r->hash_bits == rule->hash_bits && r->after == rule->after &&
            strcmp(r->separator, rule->separator) == 0) {
            *mode = r->mode;
            return true;
        }
    }
    return false;
}

static gyre_map_t *build(const struct seeds *s, size_t n, bool modulo, struct verdict *v)
{
    gyre_error_t e = {0};
    gyre_map_t *m = NULL;
    gyre_topology_t *t = gyre_topology_new();
    const char *mode = gy_sample_rules[0].mode;
    char vnodes[24];
    snprintf(vnodes, sizeof vnodes, "%llu", (unsigned long long)s->vnodes);
    bool public_rule = is_mode(&s->rule, &mode);
    int err = t ? GYRE_OK : GYRE_NOMEM;
    for (size_t i = 0; !err && i < n; i++) {
        struct gyre_node node = {
            .size = sizeof node, .name = s->node[i].name, .weight = modulo ? 1 : s->node[i].weight};
        err = gyre_topology_add(t, &node, &e);
    }
    err = err ? err : gyre_topology_set(t, "like", "sample", &e);
    err = err ? err : gyre_topology_set(t, "mode", mode, &e);
    err = err ? err : gyre_topology_set(t, "vnodes", vnodes, &e);
    err = err ? err : gyre_topology_set(t, "algorithm", modulo ? "modulo" : "ring", &e);
    if (!err) {
        err = public_rule ? gyre_map_build(t, &m, &e) : gy_map_build_rule(t, &s->rule, &m, &e);
    }
    if (err) {
        refuse(v, "no map: %s", e.message[0] ? e.message : gyre_err_text(err));
    }
    gyre_topology_free(t);
    return m;
}

gyre_map_t *seeds_ring(const struct seeds *s, size_t n, struct verdict *v)
{
    return build(s, n, false, v);
}

gyre_map_t *seeds_modulo(const struct seeds *s, size_t n, struct verdict *v)
{
    return build(s, n, true, v);
}

size_t seeds_locate(const struct seeds *s, const gyre_map_t *m, const char *key, size_t len)
{
    const void *keys[] = {key};
    uint32_t single = gyre_map_locate(m, key, len), batch, replica = GYRE_NONE;
    gyre_map_locate_batch(m, keys, &len, 1, &batch);
    gyre_map_replicas(m, key, len, &replica, 1, NULL);
    const struct gyre_node *n = gyre_map_node(m, single);
    size_t i = 0, all = s->nodes + s->added;
    if (!n || batch != single || replica != single) {
        return all;
    }
    while (i < all && strcmp(s->node[i].name, n->name) != 0) {
        i++;
    }
    return i;
}

static void check_row(const struct seeds *s, const gyre_map_t *m, const struct vfile *f,
                      const struct vf_row *r, struct verdict *v)
{
    const char *shown = r->column[vf_column(f, "key")];
    const char *want = r->column[vf_column(f, "node")];
    size_t len;
    char *key = vf_decode(shown, strlen(shown), &len);
    if (!key) {
        fail(v, "line %u: malformed key %s", r->line, shown);
        return;
    }
    size_t i = seeds_locate(s, m, key, len);
    const char *got = i < s->nodes ? s->node[i].shown : "(no one answer)";
    if (strcmp(got, want) == 0) {
        pass(v);
    } else {
        fail(v, "line %u: key %s: expected %s, got %s", r->line, shown, want, got);
    }
    free(key);
}

static void check_keys(const struct seeds *s, const struct vfile *f, struct verdict *v)
{
    gyre_map_t *m = seeds_ring(s, s->nodes, v);
    for (size_t i = 0; m && i < f->rows; i++) {
        check_row(s, m, f, &f->row[i], v);
    }
    gyre_map_unref(m);
}

void check_seeds(const struct vfile *f, struct verdict *v)
{
    struct seeds s;
    if (seeds_read(&s, f, v)) {
        if (f->columns == 2 && vf_column(f, "key") >= 0 && vf_column(f, "node") >= 0) {
            if (s.added || vf_get(f, "key_prefix") || vf_get(f, "key_count")) {
                refuse(v, "added, key_prefix and key_count belong to an experiment");
            } else {
                check_keys(&s, f, v);
            }
        } else if (f->columns == 2 && vf_column(f, "quantity") >= 0 && vf_column(f, "value") >= 0) {
            check_experiment(&s, f, v);
        } else {
            refuse(v, "columns are neither key and node nor quantity and value");
        }
    }
    seeds_free(&s);
}
