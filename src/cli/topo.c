/* SPDX-License-Identifier: Apache-2.0 */
/* topo.c - see topo.h. */
#include "cli/topo.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <stdio.h>

int gy_topo_build(const gyre_topology_t *t, const char *what, gyre_map_t **out)
{
    gyre_error_t e = {0};
    int rc = gy_config_check_owners(t, &e);
    if (!rc) {
        rc = gyre_map_build(t, out, &e);
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

int gy_topo_load(const char *path, struct gy_topo *out)
{
    *out = (struct gy_topo){0};
    gyre_error_t e = {0};
    if (gy_config_load(path, &out->config, &e)) {
        return gy_complain_error(&e);
    }
    return gy_topo_build(out->config->topology, path, &out->map);
}

void gy_topo_fini(struct gy_topo *t)
{
    gyre_map_unref(t->map);
    gy_config_free(t->config);
    *t = (struct gy_topo){0};
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
        if (*value || strcmp(all[i].key, "like") == 0 || strcmp(all[i].key, "hash_tag") == 0) {
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
