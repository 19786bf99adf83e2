/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caches.c - caches' clients and proxies: libmemcached, twemproxy and the ketama family. One
 * function a system turns header fields into the topology of that system. Threads: one.
 */
#include <stdlib.h>
#include <string.h>

#include "vectors/fleet.h"

void check_twemproxy(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"down", "removal", "names", "hash_tag", "protocol", NULL};
    struct fleet fl;
    const char *tag = vf_get(f, "hash_tag");
    char *tag_text = tag ? vf_decode_text(tag, strlen(tag)) : NULL;
    fleet_read(&fl, f, known, v);
    fleet_want(&fl, "removal", "ejected");
    fleet_want(&fl, "protocol", "redis|memcached");
    fleet_set(&fl, "like", "twemproxy");
    fleet_set(&fl, "distribution", vf_get(f, "mode"));
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_set(&fl, "names", vf_get(f, "names"));
    fleet_set(&fl, "hash_tag", tag_text);
    fleet_add(&fl, false);
    fleet_check_keys(&fl);
    fleet_free(&fl);
    free(tag_text);
}
