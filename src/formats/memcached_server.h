/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached_server.h - one server of a memcached client's list, and the pool they make: what the
 * forms of memcached.h share. Threads: one an object.
 */
#ifndef GY_FORMATS_MEMCACHED_SERVER_H
#define GY_FORMATS_MEMCACHED_SERVER_H

#include "formats/format.h"
#include "formats/lines.h"

struct gy_mc_server {
    struct gy_slice host, port; /* port empty: memcached's */
    struct gy_slice name;       /* as the client calls it */
    uint64_t weight;            /* millionths */
    const char *options;
};

/* host, host:port, [ipv6]:port, /path: host, port and name point into s, weight is 1. False: it is
 * none of them. */
bool gy_mc_split(struct gy_slice s, struct gy_mc_server *out);
bool gy_mc_remark(struct gy_slice line); /* empty, or begins with # */

GYRE_NODISCARD int gy_mc_begin(struct gy_reading *r, struct gy_mark at, const char *like,
                               struct gy_pool **out);
GYRE_NODISCARD int gy_mc_add(struct gy_reading *r, struct gy_pool *p, struct gy_mark at,
                             const struct gy_mc_server *e);
/* A whole number, into millionths. */
GYRE_NODISCARD int gy_mc_weight(struct gy_reading *r, struct gy_mark at, struct gy_slice text,
                                uint64_t *out);
int gy_mc_bad(struct gy_reading *r, struct gy_mark at, struct gy_slice text);
/* Some server there must be; notes which client was assumed. */
GYRE_NODISCARD int gy_mc_end(struct gy_reading *r, struct gy_pool *p, const char *client);
/* Notes weights that libmemcached's distribution in force does not look at. */
GYRE_NODISCARD int gy_mc_unused(struct gy_reading *r, struct gy_pool *p);

/* libmemcached's configuration: libmemcached.c. */
GYRE_NODISCARD int gy_libmemcached_parse(struct gy_reading *r);

#endif
