/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.c - the servers a process knows, one a (name, address), by an index that never changes
 * while it lives. See state.h. Threads: one thread an array.
 */
#include "lib/error.h"
#include "move/state.h"

#include <stdlib.h>

void gy_fleet_free(struct gy_server *servers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        free(servers[i].name);
        free(servers[i].address);
    }
    free(servers);
}

int gy_fleet_append(struct gy_server **servers, uint32_t *n, const char *name, const char *address,
                    gyre_error_t *e)
{
    struct gy_server *v = realloc(*servers, (*n + 1) * sizeof *v);
    if (!v) {
        return gy_fail_nomem(e);
    }
    *servers = v;
    v[*n] = (struct gy_server){strdup(name), strdup(address)};
    if (!v[*n].name || !v[*n].address) {
        free(v[*n].name);
        free(v[*n].address);
        return gy_fail_nomem(e);
    }
    (*n)++;
    return GYRE_OK;
}

int gy_fleet_copy(const struct gy_server *from, uint32_t n, struct gy_server **out, gyre_error_t *e)
{
    uint32_t k = 0;
    int rc = GYRE_OK;
    *out = NULL;
    while (k < n && rc == GYRE_OK) {
        rc = gy_fleet_append(out, &k, from[k].name, from[k].address, e);
    }
    if (rc != GYRE_OK) {
        gy_fleet_free(*out, k);
        *out = NULL;
    }
    return rc;
}

static uint32_t find(const struct gy_server *s, uint32_t n, const char *name, const char *address)
{
    uint32_t i = 0;
    while (i < n && (strcmp(s[i].name, name) != 0 || strcmp(s[i].address, address) != 0)) {
        i++;
    }
    return i;
}

int gy_fleet_place(const gyre_map_t *map, struct gy_server **servers, uint32_t *n, uint32_t **index,
                   gyre_error_t *e)
{
    uint32_t count = gyre_map_count(map);
    int rc = GYRE_OK;
    *index = calloc(count ? count : 1, sizeof **index);
    if (!*index) {
        return gy_fail_nomem(e);
    }
    for (uint32_t i = 0; i < count && rc == GYRE_OK; i++) {
        const struct gyre_node *node = gyre_map_node(map, i);
        const char *address = node->address ? node->address : "";
        uint32_t at = find(*servers, *n, node->name, address);
        if (at == *n) {
            rc = gy_fleet_append(servers, n, node->name, address, e);
        }
        (*index)[i] = at;
    }
    if (rc != GYRE_OK) {
        free(*index);
        *index = NULL;
    }
    return rc;
}
