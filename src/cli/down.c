/* SPDX-License-Identifier: Apache-2.0 */
/* down.c - see down.h. */
#include "cli/down.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "formats/address.h"

#include <stdlib.h>

int gy_down_take(void *from, const char *value)
{
    struct gy_down_from *f = from;
    if (f->count == GY_DOWN_MAX) {
        gy_complain("--down is given more than %d times; a zone or a host names many at once",
                    GY_DOWN_MAX);
        return GY_EXIT_USAGE;
    }
    f->names[f->count++] = value;
    return 0;
}

bool gy_is_cluster(const struct gy_pool *p)
{
    return gy_pool_fact_of(p, "slots_covered") != NULL;
}

static bool is_within(const char *zone, const char *name)
{
    size_t n = strlen(name);
    return zone && n && strncmp(zone, name, n) == 0 && (zone[n] == 0 || zone[n] == '/');
}

static bool stands_in(const char *zone, const char *address, const char *name)
{
    return is_within(zone, name) ||
           (address && gy_slice_eq(gy_address_host(address), gy_str(name)));
}

/* How many of them it names; by_place: as a zone or a host. */
static size_t mark(struct gy_downed *d, const struct gy_topo *t, const char *name, bool by_place)
{
    size_t found = 0;
    for (uint32_t i = 0; i < gyre_map_count(t->map); i++) {
        const struct gyre_node *n = gyre_map_node(t->map, i);
        if (by_place ? stands_in(n->zone, n->address, name) : strcmp(n->name, name) == 0) {
            d->nodes += !d->node[i];
            d->node[i] = true;
            found++;
        }
    }
    for (size_t i = 0; i < t->pool->server_count; i++) {
        const struct gy_server *s = &t->pool->servers[i];
        if (by_place ? stands_in(s->zone, s->address, name) : strcmp(s->name, name) == 0) {
            d->server[i] = true;
            found++;
        }
    }
    return found;
}

int gy_down_find(struct gy_downed *d, const struct gy_down_from *from, const struct gy_topo *topo)
{
    *d = (struct gy_downed){.node = calloc((size_t)gyre_map_count(topo->map) + 1, sizeof *d->node),
                            .server = calloc(topo->pool->server_count + 1, sizeof *d->server),
                            .cluster = gy_is_cluster(topo->pool)};
    if (!d->node || !d->server) {
        return gy_complain_memory();
    }
    for (size_t i = 0; i < from->count; i++) {
        if (!mark(d, topo, from->names[i], false) && !mark(d, topo, from->names[i], true)) {
            return gy_topo_no_node(topo->map, "--down: no node, zone or host", from->names[i]);
        }
    }
    return GY_EXIT_OK;
}

void gy_down_fini(struct gy_downed *d)
{
    free(d->node);
    free(d->server);
    *d = (struct gy_downed){0};
}

gyre_mask_t *gy_down_mask(const struct gy_downed *d, gyre_map_t *map)
{
    gyre_mask_t *k = NULL;
    if (gyre_mask_new(map, NULL, &k, NULL)) {
        return NULL;
    }
    for (uint32_t i = 0; i < gyre_map_count(map); i++) {
        gyre_mask_set(k, i, !d->node[i]);
    }
    return k;
}

const struct gy_server *gy_standby(const struct gy_pool *p, const struct gy_server *master,
                                   const struct gy_downed *d)
{
    size_t count = 0;
    const struct gy_server *const *r = master->id ? gy_pool_replicas(p, master->id, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        bool away = r[i]->states & (GY_STATE_DOWN | GY_STATE_SUSPECT | GY_STATE_NO_ADDRESS);
        if (!away && !(d && d->server[r[i] - p->servers])) {
            return r[i];
        }
    }
    return NULL;
}
