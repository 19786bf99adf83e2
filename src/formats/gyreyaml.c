/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyreyaml.c - see gyreyaml.h. A walk over the events, one function a shape: a section of the
 * schema, the library's placement settings, the list of nodes. Nothing is skipped: what the schema
 * does not know is an error, so the depth of recursion is the schema's (3).
 */
#include "formats/gyreyaml.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/schema.h"
#include "formats/secret.h"
#include "formats/value.h"
#include "formats/yaml_in.h"
#include "lib/readers.h"

#include <stdio.h>
#include <stdlib.h>

struct reader {
    struct gy_yaml y;
    struct gy_config *c;
    struct gy_root_draft root;
    unsigned *node_line; /* of each node of the topology, in its order */
    size_t node_cap;
    unsigned nodes_line; /* of the key `nodes`; 0: not there */
    struct gy_mark secret_at;
};

/* The keys of one mapping met so far: duplicates are told with the line of the first. */
struct seen {
    const char *where; /* "proxy.limits" */
    const char *names[GY_SECTION_KEYS];
    struct gy_mark at[GY_SECTION_KEYS]; /* line 0: not yet */
    size_t count;
};

static int wants(struct reader *r, yaml_event_type_t type, const char *what, const char *need)
{
    if (r->y.ev.type == type) {
        return GYRE_OK;
    }
    return gy_yaml_fail(&r->y, GYRE_SYNTAX, gy_yaml_mark(&r->y), "%s must be %s, not %s", what,
                        need, gy_yaml_kind(&r->y));
}

static int unknown_key(struct reader *r, const struct seen *s, struct gy_slice name)
{
    char word[64], q[GY_QUOTE];
    snprintf(word, sizeof word, "%.*s", (int)(name.n < 63 ? name.n : 63), name.p);
    const char *near = gyre_nearest(word, s->names, s->count);
    const char *in = *s->where ? " in " : "";
    gy_utf8_quote(q, name);
    if (near) {
        return gy_yaml_fail(&r->y, GYRE_UNKNOWN, gy_yaml_mark(&r->y),
                            "unknown key %s%s%s; did you mean '%s'?", q, in, s->where, near);
    }
    char list[300] = "";
    for (size_t i = 0, w = 0; i < s->count && w < sizeof list; i++) {
        w += (size_t)snprintf(list + w, sizeof list - w, "%s%s", i ? ", " : "", s->names[i]);
    }
    return gy_yaml_fail(&r->y, GYRE_UNKNOWN, gy_yaml_mark(&r->y), "unknown key %s%s%s; known: %s",
                        q, in, s->where, list);
}

/* The current event is a key: checks that it is known and new, and goes on to its value. */
static int take_key(struct reader *r, struct seen *s, size_t *index)
{
    if (r->y.ev.type != YAML_SCALAR_EVENT) {
        return gy_yaml_fail(&r->y, GYRE_SYNTAX, gy_yaml_mark(&r->y), "a key must be a word, not %s",
                            gy_yaml_kind(&r->y));
    }
    struct gy_slice name = gy_yaml_scalar(&r->y);
    size_t i = 0;
    while (i < s->count && !gy_slice_eq(gy_str(s->names[i]), name)) {
        i++;
    }
    if (i == s->count) {
        return unknown_key(r, s, name);
    }
    struct gy_mark at = gy_yaml_mark(&r->y);
    if (s->at[i].line) {
        return gy_yaml_fail(&r->y, GYRE_DUPLICATE, at, "key '%s' stands twice; first on line %u",
                            s->names[i], s->at[i].line);
    }
    s->at[i] = at;
    *index = i;
    return gy_yaml_next(&r->y);
}

/* The current event must be a scalar with something in it. */
static int take_scalar(struct reader *r, const char *what)
{
    int rc = wants(r, YAML_SCALAR_EVENT, what, "a single value");
    if (!rc && gy_yaml_is_null(&r->y)) {
        return gy_yaml_fail(&r->y, GYRE_SYNTAX, gy_yaml_mark(&r->y),
                            "%s has no value: write one, or leave the key out", what);
    }
    return rc;
}

/* ---- placement: the library's settings ---- */

static int read_setting(struct reader *r, const char *key)
{
    int rc = take_scalar(r, key);
    if (rc) {
        return rc;
    }
    struct gy_slice v = gy_yaml_scalar(&r->y);
    if (memchr(v.p, 0, v.n)) {
        return gy_yaml_fail(&r->y, GYRE_SYNTAX, gy_yaml_mark(&r->y), "%s holds a NUL", key);
    }
    if (strcmp(key, "secret_file") == 0) {
        r->secret_at = gy_yaml_mark(&r->y);
    }
    rc = gyre_topology_set(r->c->topology, key, (const char *)v.p, r->y.e);
    return rc ? gy_yaml_place(&r->y, rc, gy_yaml_mark(&r->y)) : GYRE_OK;
}

/* Once all settings are known: a secret_check among them must fit. */
static int read_secret(struct reader *r)
{
    char why[GY_SECRET_WHY];
    const char *path = gyre_topology_get(r->c->topology, "secret_file");
    if (!*path) {
        return GYRE_OK;
    }
    int rc = gy_secret_load(path, r->c->topology, &r->c->secret_exposed, why);
    return rc ? gy_yaml_fail(&r->y, rc, r->secret_at, "%s", why) : GYRE_OK;
}

/* Once all settings are known: nothing is ignored, so what the algorithm does not read is wrong. */
static int check_read(struct reader *r, const struct seen *s)
{
    for (size_t i = 0; i < s->count && !r->c->stored; i++) {
        int rc = s->at[i].line ? gy_readers_check(r->c->topology, s->names[i], r->y.e) : GYRE_OK;
        if (rc) {
            return gy_yaml_place(&r->y, rc, s->at[i]);
        }
    }
    return GYRE_OK;
}

static int read_placement(struct reader *r)
{
    int rc = wants(r, YAML_MAPPING_START_EVENT, "placement", "a mapping");
    struct seen s = {.where = "placement"};
    size_t n, i;
    const struct gyre_setting *all = gyre_settings(&n);
    for (; s.count < n && s.count < GY_SECTION_KEYS; s.count++) {
        s.names[s.count] = all[s.count].key;
    }
    while (!rc && !(rc = gy_yaml_next(&r->y)) && r->y.ev.type != YAML_MAPPING_END_EVENT) {
        rc = take_key(r, &s, &i);
        if (!rc) {
            rc = read_setting(r, s.names[i]);
        }
    }
    rc = rc ? rc : check_read(r, &s);
    return rc ? rc : read_secret(r);
}

/* ---- sections of the schema ---- */

static int read_section(struct reader *r, enum gy_section section, void *base);
static int read_nodes(struct reader *r);

static int read_scalar(struct reader *r, const struct gy_key *k, void *base)
{
    int rc = take_scalar(r, k->name);
    char why[GY_VALUE_WHY];
    if (!rc && (rc = gy_value_set(k, gy_yaml_scalar(&r->y), base, why)) != 0) {
        return gy_yaml_fail(&r->y, rc, gy_yaml_mark(&r->y), "%s", why);
    }
    return rc;
}

static int read_listen(struct reader *r, const struct gy_key *k, void *base)
{
    if (r->y.ev.type != YAML_SEQUENCE_START_EVENT) {
        return read_scalar(r, k, base);
    }
    int rc;
    while (!(rc = gy_yaml_next(&r->y)) && r->y.ev.type != YAML_SEQUENCE_END_EVENT) {
        if ((rc = read_scalar(r, k, base)) != 0) {
            break;
        }
    }
    return rc;
}

static int read_value(struct reader *r, const struct gy_key *k, void *base)
{
    switch (k->kind) {
    case GY_KIND_PLACEMENT:
        return read_placement(r);
    case GY_KIND_NODES:
        return read_nodes(r);
    case GY_KIND_LISTEN:
        return read_listen(r, k, base);
    case GY_KIND_SECTION:
        if (k->sub == GY_SEC_PROXY) {
            r->c->proxy.present = true;
            base = &r->c->proxy;
        }
        return read_section(r, k->sub, base);
    case GY_KIND_UINT:
    case GY_KIND_UINT32:
    case GY_KIND_MICROS:
    case GY_KIND_SIZE:
    case GY_KIND_DURATION:
    case GY_KIND_TEXT:
    case GY_KIND_ADDRESS:
    case GY_KIND_DOWN:
        break;
    }
    return read_scalar(r, k, base);
}

static int read_section(struct reader *r, enum gy_section section, void *base)
{
    struct seen s = {.where = gy_section_name(section)};
    int rc = wants(r, YAML_MAPPING_START_EVENT, *s.where ? s.where : "a topology file",
                   "a mapping of keys to values");
    s.count = gy_schema_names(section, s.names);
    size_t i;
    while (!rc && !(rc = gy_yaml_next(&r->y)) && r->y.ev.type != YAML_MAPPING_END_EVENT) {
        rc = take_key(r, &s, &i);
        if (rc) {
            break;
        }
        const struct gy_key *k = gy_schema_find(section, gy_str(s.names[i]));
        if (k->kind == GY_KIND_NODES) {
            r->nodes_line = s.at[i].line;
        }
        rc = read_value(r, k, base);
    }
    return rc;
}

/* ---- nodes ---- */

static int remember_line(struct reader *r, size_t node, unsigned line)
{
    if (node >= r->node_cap) {
        size_t cap = r->node_cap ? r->node_cap * 2 : 64;
        unsigned *grown = realloc(r->node_line, cap * sizeof *grown);
        if (!grown) {
            return GYRE_NOMEM;
        }
        r->node_line = grown;
        r->node_cap = cap;
    }
    r->node_line[node] = line;
    return GYRE_OK;
}

static int duplicate_node(struct reader *r, struct gy_mark at, const char *name)
{
    char q[GY_QUOTE];
    unsigned first = 0;
    size_t n = gyre_topology_count(r->c->topology);
    for (size_t i = 0; i < n && !first; i++) {
        if (strcmp(gyre_topology_node(r->c->topology, i)->name, name) == 0) {
            first = r->node_line[i];
        }
    }
    return gy_yaml_fail(&r->y, GYRE_DUPLICATE, at, "node %s stands twice; first on line %u",
                        gy_utf8_quote(q, gy_str(name)), first);
}

static int add_node(struct reader *r, const struct gy_node_draft *d, struct gy_mark at)
{
    if (!d->name) {
        return gy_yaml_fail(&r->y, GYRE_SYNTAX, at, "a node without a name");
    }
    struct gyre_node node = {.size = sizeof node,
                             .name = d->name,
                             .address = d->address,
                             .zone = d->zone,
                             .options = d->options,
                             .slot = d->slot,
                             .weight = gy_num_from_micros(d->weight)};
    int rc = remember_line(r, gyre_topology_count(r->c->topology), at.line);
    if (rc) {
        return gy_yaml_fail(&r->y, rc, at, "out of memory");
    }
    rc = gyre_topology_add(r->c->topology, &node, r->y.e);
    if (rc == GYRE_DUPLICATE) {
        return duplicate_node(r, at, d->name);
    }
    return rc ? gy_yaml_place(&r->y, rc, at) : GYRE_OK;
}

static int read_node(struct reader *r)
{
    struct gy_mark at = gy_yaml_mark(&r->y);
    struct gy_node_draft d = {0};
    int rc = wants(r, YAML_MAPPING_START_EVENT, "each of nodes",
                   "a mapping like {name: cache-0, address: \"127.0.0.1:6379\"}");
    if (!rc) {
        rc = gy_value_defaults(GY_SEC_NODE, &d);
        rc = rc ? gy_yaml_fail(&r->y, rc, at, "out of memory") : GYRE_OK;
    }
    if (!rc) {
        rc = read_section(r, GY_SEC_NODE, &d);
    }
    if (!rc) {
        rc = add_node(r, &d, at);
    }
    gy_node_draft_fini(&d);
    return rc;
}

static int read_nodes(struct reader *r)
{
    int rc = wants(r, YAML_SEQUENCE_START_EVENT, "nodes", "a list of mappings");
    while (!rc && !(rc = gy_yaml_next(&r->y)) && r->y.ev.type != YAML_SEQUENCE_END_EVENT) {
        rc = read_node(r);
    }
    return rc;
}

/* ---- the whole ---- */

/* Numbers parted by blanks. The list is as long as the text allows, so that nothing is counted
 * first; returns GYRE_SYNTAX for anything but digits and blanks. */
static int read_slots(const char *text, uint32_t *out, size_t *count)
{
    *count = 0;
    while (*text) {
        uint64_t v = 0;
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 9 || (text[digits] && text[digits] != ' ')) {
            return GYRE_SYNTAX;
        }
        for (size_t i = 0; i < digits; i++) {
            v = v * 10 + (unsigned)(text[i] - '0');
        }
        out[(*count)++] = (uint32_t)v;
        text += digits;
        text += strspn(text, " ");
    }
    return GYRE_OK;
}

static int take_removed(struct reader *r)
{
    struct gy_mark top = {1, 1};
    if (!r->root.removed) {
        return GYRE_OK;
    }
    size_t count;
    uint32_t *slots = calloc(strlen(r->root.removed) / 2 + 1, sizeof *slots);
    if (!slots) {
        return gy_yaml_fail(&r->y, GYRE_NOMEM, top, "out of memory");
    }
    int rc = read_slots(r->root.removed, slots, &count);
    if (rc) {
        rc = gy_yaml_fail(&r->y, rc, top, "removed must be slot numbers parted by blanks");
    } else {
        rc = gyre_topology_set_removed(r->c->topology, slots, count, r->y.e);
        rc = rc ? gy_yaml_place(&r->y, rc, top) : GYRE_OK;
    }
    free(slots);
    return rc;
}

static int check_whole(struct reader *r)
{
    if (r->root.format == 0) {
        return gy_yaml_fail(&r->y, GYRE_SYNTAX, (struct gy_mark){1, 1},
                            "not a gyre topology: the line 'gyre: 1' is missing");
    }
    if (gyre_topology_count(r->c->topology) == 0) {
        return gy_yaml_fail(&r->y, GYRE_EMPTY,
                            (struct gy_mark){r->nodes_line ? r->nodes_line : 1, 1},
                            r->nodes_line ? "nodes is empty: a topology needs at least one"
                                          : "nodes is missing: a topology needs at least one");
    }
    gyre_topology_set_version(r->c->topology, r->root.version);
    return take_removed(r);
}

int gy_gyreyaml_read(const char *text, size_t len, const char *file, struct gy_config *c,
                     gyre_error_t *e)
{
    struct reader r = {.c = c};
    int rc = gy_yaml_open(&r.y, text, len, file, e);
    if (!rc) {
        rc = gy_value_defaults(GY_SEC_ROOT, &r.root);
        rc = rc ? gy_yaml_fail(&r.y, rc, (struct gy_mark){0, 0}, "out of memory") : GYRE_OK;
    }
    if (!rc) {
        rc = read_section(&r, GY_SEC_ROOT, &r.root);
    }
    if (!rc) {
        rc = gy_yaml_end(&r.y);
    }
    if (!rc) {
        rc = check_whole(&r);
    }
    free(r.node_line);
    free(r.root.removed);
    gy_yaml_close(&r.y);
    return rc;
}
