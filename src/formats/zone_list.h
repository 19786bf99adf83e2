/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone_list.h - which host is in which zone, where the system's own file does not say it: lines
 * "HOST ZONE" or "HOST:PORT ZONE"; '#' begins a remark. Threads: one an object.
 */
#ifndef GY_FORMATS_ZONE_LIST_H
#define GY_FORMATS_ZONE_LIST_H

#include "formats/pools.h"

/* Gives zones to the pool's servers; a whole address wins over a host. SYNTAX with line and column;
 * UNKNOWN for a line that speaks of no server; EMPTY if there is no line. */
GYRE_NODISCARD int gy_zone_list_apply(struct gy_slice text, const char *file, struct gy_pool *p,
                                      gyre_error_t *e);

#endif
