/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c - see cells.h. Threads: one.
 */
#include "vectors/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "vectors/hashes.h"

static const char *const always_known[] = {"system",  "version",  "mode", "hash",
                                           "columns", "key_type", "note", NULL};

static bool listed(const char *word, const char *const *list)
{
    while (*list && strcmp(*list, word) != 0) {
        list++;
    }
    return *list != NULL;
}

static bool one_of(const char *text, const char *words)
{
    size_t len = strlen(text);
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

bool cells_want(const struct vfile *f, const char *field, const char *words, struct verdict *v)
{
    const char *value = vf_get(f, field);
    if (value && !one_of(value, words)) {
        refuse(v, "unknown %s '%s'", field, value);
        return false;
    }
    return true;
}

bool cells_header(const struct vfile *f, const char *modes, const char *key_types,
                  const char *const *known, struct verdict *v)
{
    for (size_t i = 0; i < f->fields; i++) {
        if (!listed(f->field[i].key, always_known) && !listed(f->field[i].key, known)) {
            refuse(v, "unknown header field '%s'", f->field[i].key);
            return false;
        }
    }
    const char *mode = vf_get(f, "mode"), *type = vf_get(f, "key_type");
    if (vf_get(f, "hash") && !listed("hash", known)) {
        refuse(v, "unknown hash '%s'", vf_get(f, "hash"));
        return false;
    }
    if (!mode || !one_of(mode, modes)) {
        refuse(v, "unknown mode '%s'", mode ? mode : "");
        return false;
    }
    type = type ? type : "bytes";
    if (key_types && !one_of(type, key_types)) {
        refuse(v, "unknown key_type '%s'", type);
        return false;
    }
    if ((vf_column(f, "key") >= 0) != (key_types != NULL)) {
        refuse(v, "column key is missing, or out of place");
        return false;
    }
    return true;
}

/* A column that holds a hash, wherever it stands. */
static bool hash_column(const struct vfile *f, struct cell *c)
{
    int key = vf_column(f, "key");
    struct hash_input in = {0};
    char out[HASH_CELL];
    bool good = key >= 0 && hash_input_read(f, c->row->column[key], &in) &&
                hash_cell(f, c->column, &in, out) == HASH_TEXT;
    free(in.bytes);
    if (good) {
        snprintf(c->got, sizeof c->got, "%s", out);
    }
    return good;
}

/* Where keys are integers each is one, of its type. */
static bool key_fits(const struct vfile *f, const char *shown)
{
    const char *type = vf_get(f, "key_type");
    struct hash_input in = {0};
    bool good = !type || !strstr(type, "int") || hash_input_read(f, shown, &in);
    free(in.bytes);
    return good;
}

/* False after fail or refuse. */
static bool check_row(const struct vfile *f, const struct vf_row *r, cell_fn *fn, void *self,
                      struct verdict *v)
{
    static struct cell c; /* too large for some stacks */
    int key = vf_column(f, "key");
    const char *shown = key < 0 ? r->column[0] : r->column[key];
    size_t len = 0;
    char *decoded = key < 0 ? NULL : vf_decode(shown, strlen(shown), &len);
    bool good = key < 0 || (decoded && key_fits(f, shown));
    if (!good) {
        fail(v, "line %u: malformed key %s", r->line, shown);
    }
    for (size_t i = 0; good && i < f->columns; i++) {
        if ((int)i == key) {
            continue;
        }
        c = (struct cell){.row = r, .column = f->column[i], .key = decoded, .len = len};
        if (!fn(self, &c) && !hash_column(f, &c)) {
            refuse(v, "unknown column '%s', or a malformed key: %s", f->column[i], shown);
            good = false;
        } else if (strcmp(c.got, r->column[i]) != 0) {
            fail(v, "line %u: %s: %s: expected %.200s, got %.200s", r->line, shown, f->column[i],
                 r->column[i], c.got);
            good = false;
        }
    }
    free(decoded);
    return good;
}

void cells_check(const struct vfile *f, cell_fn *fn, void *self, struct verdict *v)
{
    if (f->columns < 2) {
        refuse(v, "no column beside the key");
    }
    for (size_t i = 0; i < f->rows && !v->refused; i++) {
        if (check_row(f, &f->row[i], fn, self, v)) {
            pass(v);
        }
    }
}

/* ---- maps ---- */

gyre_topology_t *cells_topology(const char *const *settings, struct verdict *v)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_error_t e = {0};
    if (!t) {
        abort();
    }
    for (; *settings; settings += 2) {
        if (settings[1] && gyre_topology_set(t, settings[0], settings[1], &e)) {
            refuse(v, "setting refused: %s", e.message);
            gyre_topology_free(t);
            return NULL;
        }
    }
    return t;
}

bool cells_add(gyre_topology_t *t, const char *name, double weight, const char *zone,
               const char *options, struct verdict *v)
{
    struct gyre_node node = {
        .size = sizeof node, .name = name, .weight = weight, .zone = zone, .options = options};
    gyre_error_t e = {0};
    if (gyre_topology_add(t, &node, &e)) {
        refuse(v, "node refused: %s", e.message);
        return false;
    }
    return true;
}

gyre_map_t *cells_map(gyre_topology_t *t, struct verdict *v)
{
    gyre_map_t *m = NULL;
    gyre_error_t e = {0};
    if (gyre_map_build(t, &m, &e)) {
        refuse(v, "no map: %s", e.message);
    }
    gyre_topology_free(t);
    return m;
}

gyre_map_t *cells_numbered(const char *const *settings, size_t n, const double *weight,
                           struct verdict *v)
{
    gyre_topology_t *t = cells_topology(settings, v);
    for (size_t i = 0; t && i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        if (!cells_add(t, name, weight ? weight[i] : 1, NULL, NULL, v)) {
            gyre_topology_free(t);
            return NULL;
        }
    }
    return t ? cells_map(t, v) : NULL;
}

uint32_t cells_locate(const gyre_map_t *m, const void *key, size_t len)
{
    const void *keys[] = {key};
    uint32_t single = gyre_map_locate(m, key, len), batch, replica = GYRE_NONE;
    gyre_map_locate_batch(m, keys, &len, 1, &batch);
    gyre_map_replicas(m, key, len, &replica, 1, NULL);
    return single == batch && single == replica ? single : GYRE_NONE;
}

gy_u128 cells_hash(const gyre_map_t *m, const void *key, size_t len)
{
    return m->key_hash ? m->key_hash(m, key, len)
                       : m->hash->value(key, len) >> (m->hash->bits - m->hash_bits);
}

uint64_t cells_number(const gyre_map_t *m, uint32_t node)
{
    const struct gyre_node *n = gyre_map_node(m, node);
    uint64_t number = UINT64_MAX;
    return n && vf_number(n->name, &number) ? number : UINT64_MAX;
}
