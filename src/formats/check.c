/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - gy_config_check_proxy: everything the proxy could not honour is refused before it
 * starts, with the reason: never a setting that looks obeyed and is not.
 */
#include "base/utf8.h"
#include "formats/config.h"
#include "formats/mark.h"

#include <stdlib.h>

static int refuse_settings(const struct gy_config *c, gyre_error_t *e)
{
    const struct gy_proxy_conf *p = &c->proxy;
    const char *replicas = gyre_topology_get(c->topology, "replicas");
    if (replicas && strcmp(replicas, "1") != 0) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "placement.replicas is %s, but the proxy keeps one copy of a key so "
                              "far; set replicas: 1",
                              replicas);
    }
    if (p->down != GY_DOWN_FAIL) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "proxy.down is '%s', but the proxy only knows 'fail' so far: keys of "
                              "a node that is down get an error",
                              p->down == GY_DOWN_REPLICA ? "replica" : "spill");
    }
    if (p->connections != 1) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "proxy.backend.connections is %u, but the proxy pipelines over one "
                              "connection a node and worker so far; set connections: 1",
                              p->connections);
    }
    if (p->user && !p->password_file) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "proxy.backend has a user but no password_file");
    }
    return GYRE_OK;
}

static int refuse_section(const struct gy_config *c, gyre_error_t *e)
{
    const struct gy_proxy_conf *p = &c->proxy;
    if (!p->present) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "there is no proxy section: this topology can be planned with but "
                              "not served ('gyre help topology' shows one)");
    }
    if (p->listen_count == 0) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "proxy.listen is missing: where shall clients connect?");
    }
    if (!p->state) {
        return gy_format_fail(e, GYRE_REFUSED, NULL,
                              "proxy.state is missing: the directory that remembers the topology "
                              "in force and the progress of moves");
    }
    return GYRE_OK;
}

static int by_address(const void *a, const void *b)
{
    const struct gyre_node *const *x = a, *const *y = b;
    return strcmp((*x)->address, (*y)->address);
}

/* Two nodes on one server would each take the other's keys for strays. */
int gy_config_check_shared(const gyre_topology_t *t, gyre_error_t *e)
{
    size_t n = 0, count = gyre_topology_count(t);
    const struct gyre_node **sorted = calloc(count ? count : 1, sizeof *sorted);
    if (!sorted) {
        return gy_format_fail(e, GYRE_NOMEM, NULL, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        const struct gyre_node *node = gyre_topology_node(t, i);
        if (node->address) {
            sorted[n++] = node;
        }
    }
    qsort(sorted, n, sizeof *sorted, by_address);
    int rc = GYRE_OK;
    for (size_t i = 1; i < n && !rc; i++) {
        if (strcmp(sorted[i - 1]->address, sorted[i]->address) == 0) {
            char q[2][GY_QUOTE];
            rc = gy_format_fail(e, GYRE_REFUSED, NULL, "nodes %s and %s have one address, %s",
                                gy_utf8_quote(q[0], gy_str(sorted[i - 1]->name)),
                                gy_utf8_quote(q[1], gy_str(sorted[i]->name)), sorted[i]->address);
        }
    }
    free(sorted);
    return rc;
}

static bool is_listened(const struct gy_proxy_conf *p, const char *address)
{
    for (size_t i = 0; i < p->listen_count; i++) {
        if (strcmp(p->listen[i], address) == 0) {
            return true;
        }
    }
    return false;
}

static int refuse_nodes(const struct gy_config *c, gyre_error_t *e)
{
    for (size_t i = 0; i < gyre_topology_count(c->topology); i++) {
        char q[GY_QUOTE];
        const struct gyre_node *node = gyre_topology_node(c->topology, i);
        if (!node->address) {
            return gy_format_fail(e, GYRE_REFUSED, NULL, "node %s has no address to connect to",
                                  gy_utf8_quote(q, gy_str(node->name)));
        }
        if (is_listened(&c->proxy, node->address)) {
            return gy_format_fail(e, GYRE_REFUSED, NULL,
                                  "node %s has the address %s, which the proxy itself listens on",
                                  gy_utf8_quote(q, gy_str(node->name)), node->address);
        }
    }
    return gy_config_check_shared(c->topology, e);
}

int gy_config_check_owners(const gyre_topology_t *t, gyre_error_t *e)
{
    for (size_t i = 0; i < gyre_topology_count(t); i++) {
        if (gyre_topology_node(t, i)->weight > 0) {
            return GYRE_OK;
        }
    }
    if (gyre_topology_count(t) == 0) {
        return gy_format_fail(e, GYRE_EMPTY, NULL, "no node is left");
    }
    return gy_format_fail(e, GYRE_EMPTY, NULL, "no node can take a key: every node has weight 0");
}

int gy_config_check_proxy(const struct gy_config *c, gyre_error_t *e)
{
    int rc = refuse_section(c, e);
    if (!rc) {
        rc = refuse_settings(c, e);
    }
    if (!rc) {
        rc = refuse_nodes(c, e);
    }
    if (!rc) {
        rc = gy_config_check_owners(c->topology, e);
    }
    gyre_map_t *map = NULL;
    if (!rc) {
        rc = gyre_map_build(c->topology, &map, e); /* too many points */
    }
    gyre_map_unref(map);
    return rc;
}
