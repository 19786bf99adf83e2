/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo.h - a topology file of any format and the map built from it, with every failure already
 * reported on stderr: what each offline command starts with. Threads: main only.
 */
#ifndef GY_CLI_TOPO_H
#define GY_CLI_TOPO_H

#include "base/json.h"
#include "formats/pools.h"

/* What the options said; NULL: recognised by content, the only pool. */
struct gy_topo_from {
    const char *format, *pool;
};

/* Rows for a command's option table; `type` has a member `topo_from`. */
/* clang-format off */
#define GY_TOPO_OPTIONS(type)                                                                  \
    {0, "format", "NAME", "what the file is, if its content does not say ('gyre show --formats')", \
     GY_OPT_TEXT, offsetof(type, topo_from.format), 0, 0, NULL},                               \
    {0, "pool", "NAME", "which of the pools in the file", GY_OPT_TEXT,                         \
     offsetof(type, topo_from.pool), 0, 0, NULL}
/* clang-format on */

struct gy_topo {
    struct gy_config *config; /* of pool */
    gyre_map_t *map;
    struct gy_pools *pools;
    struct gy_pool *pool;
};

/* Reads, picks the pool, builds, and says what the file warns of. GY_EXIT_OK or GY_EXIT_USAGE. Fini
 * in every case. */
int gy_topo_load(const char *path, const struct gy_topo_from *from, struct gy_topo *out);
void gy_topo_fini(struct gy_topo *t);
/* Complains of a name that is none of the map's: "WHAT 'x'; did you mean 'y'?". GY_EXIT_USAGE. */
int gy_topo_no_node(const gyre_map_t *m, const char *what, const char *name);
/* The pool of that name, placed or not; NULL name: *out stays as it is, for all of them. */
int gy_topo_some(const struct gy_pools *f, const char *name, const char *path,
                 const struct gy_pool **out, gyre_error_t *e);
/* Adds the notes that only the map shows; *out is the map, NULL where the pool has none. A map that
 * cannot be built is a note too, which says why. GY_EXIT_OK, or memory, reported. */
int gy_topo_judge(struct gy_pool *p, gyre_map_t **out);
/* The map of a topology that came from no file; `what` names it in messages. */
int gy_topo_build(const gyre_topology_t *t, const char *what, gyre_map_t **out);
/* Two nodes of one address: refused where the topology serves, otherwise warned of. */
int gy_topo_check_shared(const gyre_topology_t *t, bool serves, const char *what);
/* The topology as one JSON object; the settings that are not in force are left out. */
void gy_topo_json(const gyre_topology_t *t, struct gy_json *j);

#endif
