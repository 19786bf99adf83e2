/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - a file of any format, and those it includes, from the disk into pools; the formats
 * themselves only see text. "-" is stdin, redis://HOST:PORT a
 * server that is asked. Threads: main only.
 */
#ifndef GY_CLI_SOURCE_H
#define GY_CLI_SOURCE_H

#include "formats/pools.h"

/* format NULL: recognised by content. *out is NULL on failure, which e tells in full. */
GYRE_NODISCARD int gy_source_read(const char *path, const char *format, struct gy_pools **out,
                                  gyre_error_t *e);
/* Reports it; GY_EXIT_USAGE, or GY_EXIT_UNREACHABLE for a server. */
int gy_source_complain(const char *path, const gyre_error_t *e);

#endif
