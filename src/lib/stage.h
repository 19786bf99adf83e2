/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - what a view does with the stages it publishes. Threads: any.
 */
#ifndef GY_LIB_STAGE_H
#define GY_LIB_STAGE_H

#include "gyre.h"

/* CONFLICT: an old fleet must not come back. */
int gy_stage_stale(uint64_t comes, uint64_t serves, gyre_error_t *e);
/* Is s complete, do its masks belong to its maps, and can it end? INVALID, RANGE, MISMATCH or
 * CONFLICT. */
int gy_stage_check(const struct gyre_stage *s, gyre_error_t *e);
/* The version that serves: that of a next map counts once it has taken over. */
uint64_t gy_stage_version(const struct gyre_stage *s);
/* A reference to each map and mask of s, and back. */
void gy_stage_hold(const struct gyre_stage *s);
void gy_stage_drop(const struct gyre_stage *s);

#endif
