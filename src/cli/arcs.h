/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arcs.h - positions of the hash space as people read them, and the arcs of a diff one by one.
 * Threads: one thread an object.
 */
#ifndef GY_CLI_ARCS_H
#define GY_CLI_ARCS_H

#include "base/json.h"
#include "gyre.h"

#define GY_POSITION 40

/* A slot's number, or a position in as many hexadecimal digits as the map's have. Returns out. */
const char *gy_position_text(const gyre_map_t *m, uint64_t hi, uint64_t lo, char out[GY_POSITION]);
/* The same as a member of the object that is open: a number, or a string. */
void gy_position_json(const gyre_map_t *m, const char *key, uint64_t hi, uint64_t lo,
                      struct gy_json *j);

/* Every arc that moves, as a table, or as the member "arcs". */
void gy_arcs_text(const gyre_diff_t *d, const gyre_map_t *from, const gyre_map_t *to,
                  struct gy_buf *out);
void gy_arcs_json(const gyre_diff_t *d, const gyre_map_t *from, const gyre_map_t *to,
                  struct gy_json *j);

#endif
