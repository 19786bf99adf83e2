/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - files whose rows hold more than a key and its node: each column but the key is written
 * anew and compared. Maps of nodes without names call them 0, 1, 2, ... Threads: one.
 */
#ifndef VECTORS_CELLS_H
#define VECTORS_CELLS_H

#include "gyre.h"
#include "lib/wide.h"
#include "vectors/vectors.h"

enum { CELL = 4096 };

struct cell {
    const struct vf_row *row;
    const char *column, *key; /* key: decoded; NULL if the file has none */
    size_t len;
    char got[CELL];
};

/* Writes c->got; false for a column it does not know. */
typedef bool cell_fn(void *self, struct cell *c);

/* False after refuse: a mode not in "a|b", a key_type not in "a|b" (NULL: there must be none), a
 * field not in `known` (NULL-terminated; system version mode columns key_type note always are). */
bool cells_header(const struct vfile *f, const char *modes, const char *key_types,
                  const char *const *known, struct verdict *v);
/* False after refuse: the field is there and not one of "a|b". */
bool cells_want(const struct vfile *f, const char *field, const char *words, struct verdict *v);
/* Every row: each column by fn, or if that does not know it, as a hash (hashes.h). */
void cells_check(const struct vfile *f, cell_fn *fn, void *self, struct verdict *v);

/* A topology with the settings (key, value, key, value, ..., NULL; NULL values are left out), and a
 * map of it. NULL after refuse. */
gyre_topology_t *cells_topology(const char *const *settings, struct verdict *v);
bool cells_add(gyre_topology_t *t, const char *name, double weight, const char *zone,
               const char *options, struct verdict *v);
/* Frees t. */
gyre_map_t *cells_map(gyre_topology_t *t, struct verdict *v);
/* A map of n nodes, weight NULL: all 1. */
gyre_map_t *cells_numbered(const char *const *settings, size_t n, const double *weight,
                           struct verdict *v);

/* The node that all ways of asking agree on, GYRE_NONE if they do not. */
uint32_t cells_locate(const gyre_map_t *m, const void *key, size_t len);
/* Of a hash as the map has it; the map's own key_part is left aside. */
gy_u128 cells_hash(const gyre_map_t *m, const void *key, size_t len);
/* The number that a node of cells_numbered has for a name. */
uint64_t cells_number(const gyre_map_t *m, uint32_t node);

#endif
