/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks_fleet.c - the checks on servers: their states, their replicas, where they stand, and how
 * even their shares are. Threads: any.
 */
#include "cli/checks.h"
#include "formats/address.h"
#include "gyre.h"

#include <stdlib.h>

#define SPREAD_LIMIT 0.20 /* the alert of gyre balance */
#define GONE         (GY_STATE_DOWN | GY_STATE_SUSPECT)

/* A Redis Cluster: there an id is a node's identity. */
static bool is_cluster(const struct gy_patient *p)
{
    return gy_pool_fact_of(p->pool, "slots_covered") != NULL;
}

/* ---- states ---- */

bool gy_is_owner_down(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return gy_server_holds(s) && s->states & GY_STATE_DOWN;
}

bool gy_is_owner_suspect(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return gy_server_holds(s) && (s->states & GONE) == GY_STATE_SUSPECT;
}

bool gy_is_forgotten(const struct gy_patient *p, const struct gy_server *s)
{
    return is_cluster(p) && !gy_server_holds(s) && s->states & GY_STATE_NO_ADDRESS;
}

bool gy_is_down(const struct gy_patient *p, const struct gy_server *s)
{
    return !gy_server_holds(s) && s->states & GONE && !gy_is_forgotten(p, s);
}

bool gy_is_changing(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return s->states & (GY_STATE_JOINING | GY_STATE_LEAVING | GY_STATE_MOVING | GY_STATE_HANDSHAKE);
}

bool gy_is_undialled(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return gy_server_holds(s) && s->states & GY_STATE_NO_ADDRESS;
}

bool gy_is_disconnected(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return s->states & GY_STATE_DISCONNECTED && !(s->states & (GONE | GY_STATE_NO_ADDRESS));
}

bool gy_is_loading(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return s->states & GY_STATE_LOADING;
}

bool gy_is_out(const struct gy_patient *p, const struct gy_server *s)
{
    (void)p;
    return s->states & (GY_STATE_DISABLED | GY_STATE_DRAINING);
}

/* ---- replicas ---- */

bool gy_is_single(const struct gy_patient *p, const struct gy_server *s)
{
    if (!gy_server_serves(s) || !s->slots || !s->id) {
        return false;
    }
    size_t count;
    const struct gy_server *const *r = gy_pool_replicas(p->pool, s->id, &count);
    for (size_t i = 0; i < count; i++) {
        if (!(r[i]->states & (GONE | GY_STATE_NO_ADDRESS))) {
            return false;
        }
    }
    return true;
}

static const struct gy_server *primary_of(const struct gy_patient *p, const struct gy_server *s)
{
    return s->role == GY_ROLE_REPLICA && s->replica_of ? gy_pool_find_id(p->pool, s->replica_of)
                                                       : NULL;
}

bool gy_is_orphan(const struct gy_patient *p, const struct gy_server *s)
{
    return is_cluster(p) && s->role == GY_ROLE_REPLICA && s->replica_of && !primary_of(p, s);
}

static bool is_same_host(const struct gy_server *a, const struct gy_server *b)
{
    return a->address && b->address &&
           gy_slice_eq(gy_address_host(a->address), gy_address_host(b->address));
}

static bool is_loopback(const struct gy_server *s)
{
    struct gy_slice host = s->address ? gy_address_host(s->address) : gy_str("");
    return (host.n > 4 && memcmp(host.p, "127.", 4) == 0) || gy_slice_eq(host, GY_LIT("::1")) ||
           gy_slice_eq(host, GY_LIT("localhost")) || gy_slice_eq(host, GY_LIT("unix"));
}

bool gy_is_same_host(const struct gy_patient *p, const struct gy_server *s)
{
    const struct gy_server *primary = primary_of(p, s);
    return primary && is_same_host(primary, s) && !is_loopback(s);
}

bool gy_is_same_loopback(const struct gy_patient *p, const struct gy_server *s)
{
    const struct gy_server *primary = primary_of(p, s);
    return primary && is_same_host(primary, s) && is_loopback(s);
}

bool gy_is_same_zone(const struct gy_patient *p, const struct gy_server *s)
{
    const struct gy_server *primary = primary_of(p, s);
    return primary && primary->zone && s->zone && strcmp(primary->zone, s->zone) == 0 &&
           !is_same_host(primary, s);
}

/* ---- where they stand ---- */

static int by_address(const void *a, const void *b)
{
    const struct gy_server *const *x = a, *const *y = b;
    int order = strcmp((*x)->address, (*y)->address);
    return order ? order : *x < *y ? -1 : 1;
}

/* A finding for each run of equal addresses. */
void gy_check_endpoints(const struct gy_check *self, const struct gy_patient *p,
                        struct gy_findings *out)
{
    const struct gy_server **sorted = calloc(p->pool->server_count + 1, sizeof *sorted);
    size_t n = 0;
    if (!sorted) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < p->pool->server_count; i++) {
        if (p->pool->servers[i].address) {
            sorted[n++] = &p->pool->servers[i];
        }
    }
    qsort(sorted, n, sizeof *sorted, by_address);
    for (size_t first = 0, next; first < n; first = next) {
        next = first + 1;
        while (next < n && strcmp(sorted[first]->address, sorted[next]->address) == 0) {
            next++;
        }
        if (next - first < 2) {
            continue;
        }
        bool ids = is_cluster(p) && sorted[first]->id;
        struct gy_finding *f =
            gy_found(out, self, ids ? self->severity : GY_FOUND_NOTE, "%zu %s stand at %s",
                     next - first, ids ? "ids" : "servers", sorted[first]->address);
        for (size_t i = first; i < next; i++) {
            gy_found_server(out, f, p->pool, sorted[i]);
        }
        if (f && !ids) {
            f->todo = NULL; /* meant, mostly: one machine that counts more than once */
        }
    }
    free(sorted);
}

static size_t copies(const struct gy_patient *p)
{
    const char *text =
        p->pool->config ? gyre_topology_get(p->pool->config->topology, "replicas") : "";
    return strtoul(text, NULL, 10);
}

static bool has_text(const char *const *list, size_t n, struct gy_slice what)
{
    for (size_t i = 0; i < n; i++) {
        if (gy_slice_eq(gy_str(list[i]), what)) {
            return true;
        }
    }
    return false;
}

/* Only as many zones are counted as there are replicas: that is enough. */
void gy_check_zones(const struct gy_check *self, const struct gy_patient *p,
                    struct gy_findings *out)
{
    size_t wanted = copies(p), n = 0, nodes = 0;
    if (wanted < 2 || !p->map) {
        return;
    }
    const char **zones = calloc(wanted, sizeof *zones);
    if (!zones) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < gyre_map_count(p->map) && n < wanted; i++) {
        const struct gyre_node *node = gyre_map_node(p->map, i);
        nodes += node->zone && node->weight > 0;
        if (node->zone && node->weight > 0 && !has_text(zones, n, gy_str(node->zone))) {
            zones[n++] = node->zone;
        }
    }
    if (nodes && n < wanted) {
        gy_found(out, self, self->severity, "%zu replicas in %zu zone%s", wanted, n,
                 n == 1 ? "" : "s");
    }
    free(zones);
}

/* Nodes of one host, where zones do not part the copies. */
void gy_check_hosts(const struct gy_check *self, const struct gy_patient *p,
                    struct gy_findings *out)
{
    if (copies(p) < 2 || !p->map) {
        return;
    }
    const struct gy_pool *pool = p->pool;
    for (size_t i = 0; i < pool->server_count; i++) {
        const struct gy_server *a = &pool->servers[i];
        for (size_t k = i + 1; k < pool->server_count && a->is_node; k++) {
            const struct gy_server *b = &pool->servers[k];
            bool parted = a->zone && b->zone && strcmp(a->zone, b->zone) == 0;
            if (b->is_node && !parted && is_same_host(a, b)) {
                struct gy_finding *f =
                    gy_found(out, self, self->severity,
                             "%s and %s stand on one host, and %zu copies of a key can meet there",
                             a->name, b->name, copies(p));
                gy_found_server(out, f, pool, a);
                gy_found_server(out, f, pool, b);
                return; /* one pair says it */
            }
        }
    }
}

/* Slots of a Redis Cluster have owners, not weights. */
void gy_check_weights(const struct gy_check *self, const struct gy_patient *p,
                      struct gy_findings *out)
{
    gyre_error_t e;
    if (p->map && !is_cluster(p) &&
        gy_config_check_owners(p->pool->config->topology, &e) != GYRE_OK) {
        gy_found(out, self, self->severity, "%s", e.message);
    }
}

/* Slots of a Redis Cluster are counted instead. */
void gy_check_spread(const struct gy_check *self, const struct gy_patient *p,
                     struct gy_findings *out)
{
    if (!p->map || is_cluster(p)) {
        return;
    }
    struct gyre_balance b = {.size = sizeof b};
    gyre_map_balance(p->map, &b);
    if (b.cv > SPREAD_LIMIT) {
        gy_found(out, self, self->severity,
                 "CV %.4f; the largest of %u nodes has %.2f times its share, the smallest %.2f",
                 b.cv, b.nodes, b.peak, b.least);
    }
}
