/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nginx_upstream.h - one upstream block of nginx while it is read: its method and its servers. The
 * whole is turned into a pool at its end, for the method may stand behind the servers. Threads: one
 * an object.
 */
#ifndef GY_FORMATS_NGINX_UPSTREAM_H
#define GY_FORMATS_NGINX_UPSTREAM_H

#include "formats/nginx_words.h"

struct gy_nginx_server {
    char *name; /* the argument as it stands: what nginx hashes */
    struct gy_mark at;
    uint64_t weight;
    bool down, backup;
    size_t same; /* the first server of this name, by number; its own: it is the first */
};

struct gy_nginx_upstream {
    struct gy_reading *r;
    struct gy_pool *pool;
    struct gy_mark at;
    bool stream;        /* in stream { }: there is no default port */
    const char *method; /* NULL: round robin */
    struct gy_mark method_at;
    bool consistent, elsewhere; /* elsewhere: servers come from a state file or the like */
    char *key;
    struct gy_nginx_server *servers;
    size_t count, room;
};

/* One directive of the block. */
GYRE_NODISCARD int gy_nginx_directive(struct gy_nginx_upstream *u, const struct gy_nginx *n);
/* At the '}'. */
GYRE_NODISCARD int gy_nginx_upstream_end(struct gy_nginx_upstream *u);
void gy_nginx_upstream_fini(struct gy_nginx_upstream *u);

#endif
