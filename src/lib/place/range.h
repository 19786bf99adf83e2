/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - what the hashes onto a range 0 to n - 1 share: jump and jumpback, and memento which
 * begins with the latter. Threads: any.
 */
#ifndef GY_LIB_RANGE_H
#define GY_LIB_RANGE_H

#include "lib/map.h"

/* Slots without a gap and equal weights; m->data is a struct gy_numbers. */
int gy_range_build(struct gyre_map *m, const void *rule, gyre_error_t *e);
void gy_range_fini(struct gyre_map *m);
/* Slots, from 0, become the numbers of their nodes. m->data begins with a struct gy_numbers. */
void gy_range_nodes(const gyre_map_t *m, uint32_t *slots, size_t n);

/* jumpback.c; n from 1 to 2^31. */
uint32_t gy_jumpback(uint64_t hash, uint32_t n);
/* The same for many; n from 1 to 2^31 - 1. */
void gy_jumpback_batch(enum gy_simd simd, const uint64_t *hashes, size_t count, uint32_t n,
                       uint32_t *out);
/* Of the hashes that the larger of two ranges puts beyond the smaller one, is each number as likely
 * to come from any of the smaller? */
bool gy_jumpback_independent(uint32_t n, uint32_t m);

#endif
