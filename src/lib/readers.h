/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.h - which of Gyre's own algorithms read which setting. The library keeps a setting that
 * the algorithm does not read, so that one may be changed before the other; files and answers say
 * only what counts. Threads: any; the table is constant.
 */
#ifndef GY_LIB_READERS_H
#define GY_LIB_READERS_H

#include "gyre.h"

/* OK if t's placement reads the setting, else UNKNOWN: whose it is. With `like` always OK: what the
 * imitated system has not was refused, or reads as "". */
int gy_readers_check(const gyre_topology_t *t, const char *key, gyre_error_t *e);

#endif
