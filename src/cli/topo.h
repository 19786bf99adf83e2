/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h - a topology file and the map built from it, with every failure already reported on
 * stderr: what each offline command starts with. Threads: main only.
 */
#ifndef GY_CLI_TOPO_H
#define GY_CLI_TOPO_H

#include "base/json.h"
#include "formats/config.h"

struct gy_topo {
    struct gy_config *config;
    gyre_map_t *map;
};

/* GY_EXIT_OK or GY_EXIT_USAGE. Fini in every case. */
int gy_topo_load(const char *path, struct gy_topo *out);
void gy_topo_fini(struct gy_topo *t);
/* The map of a topology that came from no file; `what` names it in messages. */
int gy_topo_build(const gyre_topology_t *t, const char *what, gyre_map_t **out);
/* Two nodes of one address: refused where the topology serves, otherwise warned of. */
int gy_topo_check_shared(const gyre_topology_t *t, bool serves, const char *what);
/* The topology as one JSON object; the settings that are not in force are left out. */
void gy_topo_json(const gyre_topology_t *t, struct gy_json *j);

#endif
