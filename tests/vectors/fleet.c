/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.c - see fleet.h. Threads: one.
 */
#include "vectors/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const always_known[] = {"system",  "version",  "mode", "hash", "nodes",
                                           "columns", "key_type", "note", NULL};

static bool listed(const char *word, const char *const *list)
{
    while (*list && strcmp(*list, word) != 0) {
        list++;
    }
    return *list != NULL;
}

/* Is text[0..len) one of the words of "a|b"? */
static bool one_of(const char *text, size_t len, const char *words)
{
    for (const char *p = words;; p++) {
        size_t n = strcspn(p, "|");
        if (n == len && memcmp(p, text, n) == 0) {
            return true;
        }
        p += n;
        if (!*p) {
            return false;
        }
    }
}

void fleet_stop(struct fleet *fl, const char *what, const char *text)
{
    if (!fl->bad) {
        refuse(fl->v, "%s '%s'", what, text);
    }
    fl->bad = true;
}

static void add_item(struct fleet *fl, const char *item, size_t len)
{
    size_t name_len = 0;
    while (name_len < len && item[name_len] != '*') {
        name_len++;
    }
    struct fleet_node *grown = realloc(fl->node, (fl->n + 1) * sizeof *grown);
    if (!grown) {
        abort();
    }
    fl->node = grown;
    struct fleet_node *n = &fl->node[fl->n++];
    char *end = NULL;
    *n = (struct fleet_node){
        .shown = strndup(item, name_len), .name = vf_decode_text(item, name_len), .weight = 1};
    if (name_len < len) {
        n->weight = strtod(item + name_len + 1, &end);
    }
    if (!n->name || (end && (end != item + len || end == item + name_len + 1))) {
        fleet_stop(fl, "malformed node", n->shown);
    }
}

size_t fleet_find(struct fleet *fl, const char *shown, size_t len)
{
    size_t i = 0;
    while (i < fl->n &&
           (strlen(fl->node[i].shown) != len || memcmp(fl->node[i].shown, shown, len) != 0)) {
        i++;
    }
    if (i == fl->n) {
        fleet_stop(fl, "no node is called", shown);
    }
    return i;
}

void fleet_among(struct fleet *fl, const char *field)
{
    const char *list = vf_get(fl->f, field);
    for (const char *p = list ? list : ""; *p;) {
        size_t len = strcspn(p, ",");
        (void)fleet_find(fl, p, len);
        p += len + (p[len] == ',');
    }
}

static void mark_down(struct fleet *fl, const char *list)
{
    while (*list) {
        size_t len = strcspn(list, ","), i = fleet_find(fl, list, len);
        if (i == fl->n) {
            return;
        }
        fl->node[i].down = true;
        list += len + (list[len] == ',');
    }
}

void fleet_read(struct fleet *fl, const struct vfile *f, const char *modes,
                const char *const *known, struct verdict *v)
{
    *fl = (struct fleet){.f = f, .v = v, .t = gyre_topology_new()};
    const char *list = vf_get(f, "nodes"), *down = vf_get(f, "down");
    if (!vf_get(f, "mode")) {
        fleet_stop(fl, "unknown mode", "");
    }
    fleet_want(fl, "mode", modes);
    for (size_t i = 0; i < f->fields; i++) {
        if (!listed(f->field[i].key, always_known) && !listed(f->field[i].key, known)) {
            fleet_stop(fl, "unknown header field", f->field[i].key);
        }
    }
    fleet_want(fl, "key_type", "bytes|utf8");
    for (const char *p = list ? list : ""; *p;) {
        size_t len = strcspn(p, ",");
        add_item(fl, p, len);
        p += len + (p[len] == ',');
    }
    mark_down(fl, down ? down : "");
}

void fleet_free(struct fleet *fl)
{
    for (size_t i = 0; i < fl->n; i++) {
        free(fl->node[i].shown);
        free(fl->node[i].name);
    }
    free(fl->node);
    gyre_topology_free(fl->t);
    gyre_map_unref(fl->m);
}

void fleet_want(struct fleet *fl, const char *field, const char *words)
{
    const char *value = vf_get(fl->f, field);
    if (value && !one_of(value, strlen(value), words)) {
        char what[80];
        snprintf(what, sizeof what, "unknown %s", field);
        fleet_stop(fl, what, value);
    }
}

void fleet_set(struct fleet *fl, const char *key, const char *value)
{
    gyre_error_t e = {0};
    if (!fl->bad && value && gyre_topology_set(fl->t, key, value, &e)) {
        fleet_stop(fl, "setting refused:", e.message);
    }
}

void fleet_option(struct fleet *fl, size_t i, const char *word, const char *value)
{
    char *at = fl->node[i].option;
    size_t len = strlen(at), room = sizeof fl->node[i].option - len;
    int n = snprintf(at + len, room, "%s%s%s%s", len ? " " : "", word, value ? "=" : "",
                     value ? value : "");
    if (n < 0 || (size_t)n >= room) {
        fleet_stop(fl, "too long an option", value ? value : word);
    }
}

char *fleet_item(const char *list, size_t i)
{
    for (; *list || i == 0; i--) {
        size_t len = strcspn(list, ",");
        if (i == 0) {
            return len ? vf_decode_text(list, len) : NULL;
        }
        list += len + (list[len] == ',');
    }
    return NULL;
}

void fleet_add(struct fleet *fl, bool with_down)
{
    for (size_t i = 0; !fl->bad && i < fl->n; i++) {
        const struct fleet_node *n = &fl->node[i];
        struct gyre_node node = {.size = sizeof node,
                                 .name = n->name,
                                 .address = n->name,
                                 .weight = n->weight,
                                 .options = n->option[0] ? n->option : NULL};
        gyre_error_t e = {0};
        if ((with_down || !n->down) && gyre_topology_add(fl->t, &node, &e)) {
            fleet_stop(fl, "node refused:", e.message);
        }
    }
}

void fleet_build(struct fleet *fl)
{
    gyre_error_t e = {0};
    if (!fl->bad && gyre_map_build(fl->t, &fl->m, &e)) {
        fleet_stop(fl, "no map:", e.message);
    }
}

const struct fleet_node *fleet_locate(const struct fleet *fl, const char *key, size_t len)
{
    const void *keys[] = {key};
    uint32_t single = gyre_map_locate(fl->m, key, len), batch, replica = GYRE_NONE;
    gyre_map_locate_batch(fl->m, keys, &len, 1, &batch);
    gyre_map_replicas(fl->m, key, len, &replica, 1, NULL);
    const struct gyre_node *n = gyre_map_node(fl->m, single);
    for (size_t i = 0; n && batch == single && replica == single && i < fl->n; i++) {
        if (strcmp(fl->node[i].name, n->name) == 0) {
            return &fl->node[i];
        }
    }
    return NULL;
}

static void check_row(struct fleet *fl, const struct vf_row *r)
{
    const char *shown = r->column[vf_column(fl->f, "key")];
    const char *want = r->column[vf_column(fl->f, "node")];
    size_t len;
    char *key = vf_decode(shown, strlen(shown), &len);
    if (!key) {
        fail(fl->v, "line %u: malformed key %s", r->line, shown);
        return;
    }
    const struct fleet_node *n = fleet_locate(fl, key, len);
    const char *got = n ? n->shown : "(no one answer)";
    if (strcmp(got, want) == 0) {
        pass(fl->v);
    } else {
        fail(fl->v, "line %u: key %s: expected %s, got %s", r->line, shown, want, got);
    }
    free(key);
}

void fleet_check_keys(struct fleet *fl)
{
    if (fl->f->columns != 2 || vf_column(fl->f, "key") < 0 || vf_column(fl->f, "node") < 0) {
        fleet_stop(fl, "columns are not key and node:", fl->f->column[0]);
    }
    if (!fl->n) {
        fleet_stop(fl, "no nodes in", fl->f->path);
    }
    fleet_build(fl);
    for (size_t i = 0; !fl->bad && i < fl->f->rows; i++) {
        check_row(fl, &fl->f->row[i]);
    }
}
