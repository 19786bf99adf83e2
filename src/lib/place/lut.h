/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lut.h - placements by lookup table: slot s of M holds the keys whose first 32 hash bits times
 * M, over 2^32, have the whole part s. That makes the table a ring of M evenly spaced points, so
 * shares, replicas, sameness and exact diffs (with each other and with `ring`) are the ring's.
 * Threads: immutable once built.
 */
#ifndef GY_LIB_LUT_H
#define GY_LIB_LUT_H

#include "lib/map.h"

/* m->data: the owner of each slot, m->table of them. NOMEM; RANGE: fewer slots than nodes. */
int gy_lut_init(struct gyre_map *m, gyre_error_t *e);
/* Once the owners are filled in. */
void gy_lut_done(struct gyre_map *m);

void gy_lut_fini(struct gyre_map *m);
uint32_t gy_lut_locate(const gyre_map_t *m, gy_u128 hash);
void gy_lut_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out);
size_t gy_lut_first(const gyre_map_t *m, gy_u128 hash);
uint32_t gy_lut_node(const gyre_map_t *m, size_t slot);
void gy_lut_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size);
gy_u128 gy_lut_position(const gyre_map_t *m, size_t slot);

#endif
