/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxies.c - nginx and HAProxy: header fields into the topology of that system. Threads: one.
 */
#include <stdlib.h>
#include <string.h>

#include "vectors/fleet.h"

void check_nginx(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {"down", "removal", "removed_from_config", "key", NULL};
    struct fleet fl;
    fleet_read(&fl, f, "consistent|plain", known, v);
    fleet_want(&fl, "removal", MARKED_OUT);
    fleet_want(&fl, "key", "header|request_uri"); /* both are hashed as they are */
    fleet_want(&fl, "hash", "crc32");
    fleet_set(&fl, "like", "nginx");
    fleet_set(&fl, "distribution", vf_get(f, "mode"));
    for (size_t i = 0; i < fl.n; i++) {
        if (fl.node[i].down) {
            fleet_option(&fl, i, "down", NULL);
        }
    }
    fleet_add(&fl, true);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}

/* A list of one item for each node, into an option. */
static void option_list(struct fleet *fl, const char *field, const char *word)
{
    const char *list = vf_get(fl->f, field);
    for (size_t i = 0; list && i < fl->n; i++) {
        char *item = fleet_item(list, i);
        if (item) {
            fleet_option(fl, i, word, item);
        } else {
            fleet_stop(fl, "too short a list:", field);
        }
        free(item);
    }
    char *more = list ? fleet_item(list, fl->n) : NULL;
    if (more) {
        fleet_stop(fl, "too long a list:", field);
    }
    free(more);
}

void check_haproxy(const struct vfile *f, struct verdict *v)
{
    static const char *const known[] = {
        "down",  "removal", "removed_from_config", "key", "ids", "avalanche", "hash_key", "id_base",
        "guids", NULL};
    struct fleet fl;
    fleet_read(&fl, f, "map-based|consistent", known, v);
    fleet_want(&fl, "removal", MARKED_OUT);
    fleet_set(&fl, "like", "haproxy");
    fleet_set(&fl, "hash_type", vf_get(f, "mode"));
    fleet_set(&fl, "hash", vf_get(f, "hash"));
    fleet_set(&fl, "avalanche", vf_get(f, "avalanche"));
    fleet_set(&fl, "balance", vf_get(f, "key"));
    fleet_set(&fl, "hash_key", vf_get(f, "hash_key"));
    fleet_set(&fl, "id_base", vf_get(f, "id_base"));
    option_list(&fl, "ids", "id");
    option_list(&fl, "guids", "guid");
    for (size_t i = 0; i < fl.n; i++) {
        if (fl.node[i].down) {
            fleet_option(&fl, i, "disabled", NULL);
        }
    }
    fleet_add(&fl, true);
    fleet_check_keys(&fl);
    fleet_free(&fl);
}
