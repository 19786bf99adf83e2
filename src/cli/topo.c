/* SPDX-License-Identifier: Apache-2.0 */
/* topo.c - see topo.h. */
#include "cli/topo.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/source.h"
#include "lib/readers.h"

#include <stdio.h>
#include <stdlib.h>

#define WARNINGS_SHOWN 3

int gy_topo_build(const gyre_topology_t *t, const char *what, gyre_map_t **out)
{
    gyre_error_t e = {0};
    int rc = gy_config_check_owners(t, &e);
    if (!rc) {
        gy_progress_begin("building the map", 0);
        rc = gyre_map_build(t, out, &e);
        gy_progress_end();
    }
    if (!rc) {
        return GY_EXIT_OK;
    }
    e.code = rc;
    if (!*e.file) {
        snprintf(e.file, sizeof e.file, "%s", what);
    }
    return gy_complain_error(&e);
}

/* Warnings that would drown the answer are counted. */
static void warn(const struct gy_pool *p, const char *path)
{
    size_t warnings = 0;
    for (size_t i = 0; i < p->note_count; i++) {
        const struct gy_note *n = &p->notes[i];
        if (n->level != GY_LEVEL_WARNING || ++warnings > WARNINGS_SHOWN) {
            continue;
        }
        if (n->line) {
            gy_complain("warning: %s:%u: %s", path, n->line, n->text);
        } else {
            gy_complain("warning: %s: %s", path, n->text);
        }
    }
    if (warnings > WARNINGS_SHOWN) {
        gy_complain("and %zu more warnings; 'gyre show' lists them", warnings - WARNINGS_SHOWN);
    }
}

int gy_topo_load(const char *path, const struct gy_topo_from *from, struct gy_topo *out)
{
    *out = (struct gy_topo){0};
    gyre_error_t e = {0};
    int rc = gy_source_read(path, from->format, &out->pools, &e);
    if (!rc) {
        rc = gy_pools_pick(out->pools, from->pool, path, &out->pool, &e);
    }
    if (rc) {
        return gy_source_complain(path, &e);
    }
    out->config = out->pool->config;
    rc = gy_topo_build(out->config->topology, path, &out->map);
    if (!rc && gy_pool_judge(out->pool, out->map)) {
        rc = gy_complain_memory();
    }
    if (!rc) {
        gy_complain_secret(out->config);
        warn(out->pool, path);
    }
    return rc;
}

void gy_topo_fini(struct gy_topo *t)
{
    gyre_map_unref(t->map);
    gy_pools_free(t->pools);
    *t = (struct gy_topo){0};
}

int gy_topo_no_node(const gyre_map_t *m, const char *what, const char *name)
{
    uint32_t count = gyre_map_count(m);
    char q[GY_QUOTE], near_quoted[GY_QUOTE];
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names) {
        return gy_complain_memory();
    }
    for (uint32_t i = 0; i < count; i++) {
        names[i] = gyre_map_node(m, i)->name;
    }
    const char *near = gyre_nearest(name, names, count);
    free(names);
    gy_complain("%s %s%s%s%s", what, gy_utf8_quote(q, gy_str(name)), near ? "; did you mean " : "",
                near ? gy_utf8_quote(near_quoted, gy_str(near)) : "", near ? "?" : "");
    return GY_EXIT_USAGE;
}

int gy_topo_some(const struct gy_pools *f, const char *name, const char *path,
                 const struct gy_pool **out, gyre_error_t *e)
{
    for (size_t i = 0; name && i < f->count; i++) {
        if (strcmp(f->list[i]->name, name) == 0) {
            *out = f->list[i];
            return GYRE_OK;
        }
    }
    struct gy_pool *none;
    return name ? gy_pools_pick(f, name, path, &none, e) : GYRE_OK;
}

int gy_topo_judge(struct gy_pool *p, gyre_map_t **out)
{
    gyre_error_t e = {0};
    int rc;
    *out = NULL;
    if (!p->config) {
        return GY_EXIT_OK;
    }
    if (gyre_map_build(p->config->topology, out, &e)) {
        rc = gy_pool_note(p, GY_LEVEL_WARNING, "no-map", 0, "no key can be placed: %s", e.message);
    } else {
        rc = gy_pool_judge(p, *out);
    }
    return rc ? gy_complain_memory() : GY_EXIT_OK;
}

int gy_topo_check_shared(const gyre_topology_t *t, bool serves, const char *what)
{
    gyre_error_t e = {0};
    int rc = gy_config_check_shared(t, &e);
    if (rc == GYRE_OK) {
        return GY_EXIT_OK;
    }
    if (rc == GYRE_REFUSED && !serves) {
        gy_complain("warning: %s: %s; good to plan with, but no proxy would serve it", what,
                    e.message);
        return GY_EXIT_OK;
    }
    snprintf(e.file, sizeof e.file, "%s", what);
    return gy_complain_error(&e);
}

static void json_removed(const gyre_topology_t *t, struct gy_json *j)
{
    size_t n;
    const uint32_t *slots = gyre_topology_removed(t, &n);
    if (n) {
        gy_json_key(j, "removed");
        gy_json_array(j);
        for (size_t i = 0; i < n; i++) {
            gy_json_uint(j, slots[i]);
        }
        gy_json_array_end(j);
    }
}

void gy_topo_json(const gyre_topology_t *t, struct gy_json *j)
{
    size_t n, count = gyre_topology_count(t);
    const struct gyre_setting *all = gyre_settings(&n);
    gy_json_object(j);
    gy_json_kuint(j, "gyre", 1);
    gy_json_kuint(j, "version", gyre_topology_version(t));
    gy_json_key(j, "placement");
    gy_json_object(j);
    for (size_t i = 0; i < n; i++) {
        const char *value = gyre_topology_get(t, all[i].key);
        bool holds =
            *value || strcmp(all[i].key, "like") == 0 || strcmp(all[i].key, "hash_tag") == 0;
        if (holds && gy_readers_check(t, all[i].key, NULL) == GYRE_OK) {
            gy_json_kstring(j, all[i].key, value); /* the others are not in force */
        }
    }
    gy_json_object_end(j);
    json_removed(t, j);
    gy_json_key(j, "nodes");
    gy_json_array(j);
    for (size_t i = 0; i < count; i++) {
        const struct gyre_node *node = gyre_topology_node(t, i);
        gy_json_object(j);
        gy_json_kstring(j, "name", node->name);
        gy_json_kstring(j, "address", node->address);
        gy_json_kdouble(j, "weight", node->weight);
        gy_json_kstring(j, "zone", node->zone);
        if (node->slot) {
            gy_json_kuint(j, "slot", node->slot);
        }
        if (node->options) {
            gy_json_kstring(j, "options", node->options);
        }
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
    gy_json_object_end(j);
}
