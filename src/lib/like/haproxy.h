/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy.h - what HAProxy takes of a header, a request target or a parameter to hash it; all parts
 * are pieces of what is given. Threads: any.
 */
#ifndef GY_LIB_LIKE_HAPROXY_H
#define GY_LIB_LIKE_HAPROXY_H

#include "lib/like/like.h"

typedef void gy_part_fn(const gyre_map_t *m, const void *key, size_t len, const void **part,
                        size_t *part_len);

/* For a word of the setting `balance`; NULL: all of it. */
gy_part_fn *gy_haproxy_part(const char *balance);

#endif
