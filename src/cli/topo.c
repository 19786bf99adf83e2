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
