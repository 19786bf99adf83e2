/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envoy_hosts.c - see envoy_cluster.h. A host's hash key is hash_key of its metadata (envoy.lb),
 * else its name where use_hostname_for_hashing, else its address as Envoy prints it.
 */
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/envoy_cluster.h"

#include <arpa/inet.h>
#include <stdlib.h>

void gy_envoy_hosts_fini(struct gy_envoy_hosts *h)
{
    for (size_t i = 0; i < h->count; i++) {
        free(h->list[i].name);
        free(h->list[i].address);
    }
    for (size_t i = 0; i < h->locality_count; i++) {
        free(h->localities[i].zone);
    }
    free(h->list);
    free(h->localities);
}

static int fail_missing(struct gy_reading *r, const struct gy_tree *t, const char *what)
{
    return gy_read_fail(r, GYRE_SYNTAX, t->at, "%s is required", what);
}

/* An address in numbers as Envoy prints it: IPv6 at its shortest. False for a name. */
static bool print_ip(struct gy_slice host, struct gy_buf *out)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr bits;
    if (host.n >= sizeof text) {
        return false;
    }
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (inet_pton(AF_INET, text, &bits) == 1) {
        gy_buf_puts(out, text);
        return true;
    }
    if (inet_pton(AF_INET6, text, &bits) == 1 && inet_ntop(AF_INET6, &bits, text, sizeof text)) {
        gy_buf_puts(out, text);
        return true;
    }
    return false;
}

struct endpoint {
    struct gy_buf host; /* name or address without brackets; a path for a socket */
    uint64_t port;
    bool socket, numbers;
};

static int read_socket_address(struct gy_envoy_hosts *h, const struct gy_tree *t,
                               struct endpoint *out)
{
    static const char *const fields[] = {"protocol",
                                         "address",
                                         "port_value",
                                         "named_port",
                                         "resolver_name",
                                         "ipv4_compat",
                                         "network_namespace_filepath",
                                         NULL};
    const struct gy_tree *host = gy_envoy_get(t, "address");
    char q[GY_QUOTE];
    int rc = gy_envoy_check(h->r, t, "SocketAddress", fields, false);
    if (!rc && (!host || host->kind != GY_TREE_TEXT || host->text.n == 0)) {
        rc = fail_missing(h->r, t, "SocketAddress: address");
    }
    if (!rc && !gy_envoy_get(t, "port_value") && !gy_envoy_get(t, "named_port")) {
        rc = fail_missing(h->r, t, "SocketAddress: port_value");
    }
    rc = rc ? rc : gy_envoy_number(h->r, t, "port_value", 0, 65535, &out->port);
    if (rc) {
        return rc;
    }
    out->numbers = print_ip(host->text, &out->host);
    if (!out->numbers && h->type == GY_ENVOY_STATIC) {
        return gy_read_fail(h->r, GYRE_SYNTAX, host->at,
                            "malformed IP address: %s; a name needs type: STRICT_DNS or "
                            "LOGICAL_DNS",
                            gy_utf8_quote(q, host->text));
    }
    if (!out->numbers) {
        gy_buf_add(&out->host, host->text.p, host->text.n);
    }
    return GYRE_OK;
}

static int read_address(struct gy_envoy_hosts *h, const struct gy_tree *t, struct endpoint *out)
{
    const struct gy_tree *socket, *pipe;
    int rc = gy_envoy_map(h->r, t, "socket_address", &socket);
    rc = rc ? rc : gy_envoy_map(h->r, t, "pipe", &pipe);
    if (!rc && socket) {
        return read_socket_address(h, socket, out);
    }
    const struct gy_tree *path = pipe ? gy_envoy_get(pipe, "path") : NULL;
    if (rc || !path || path->kind != GY_TREE_TEXT || path->text.n == 0) {
        return rc ? rc : fail_missing(h->r, t, "Address: socket_address, or a pipe with its path,");
    }
    out->socket = out->numbers = true;
    gy_buf_add(&out->host, path->text.p, path->text.n);
    return GYRE_OK;
}

/* metadata: {filter_metadata: {envoy.lb: {hash_key: ...}}} */
static const struct gy_tree *hash_key(const struct gy_tree *lb_endpoint)
{
    const struct gy_tree *t =
        gy_envoy_get(gy_envoy_get(lb_endpoint, "metadata"), "filter_metadata");
    t = gy_envoy_get(gy_envoy_get(t, "envoy.lb"), "hash_key");
    return t && t->kind == GY_TREE_TEXT && t->text.n ? t : NULL;
}

/* The name that is hashed, and the address. */
static int name_host(struct gy_envoy_hosts *h, struct gy_envoy_host *out, struct endpoint *e,
                     const struct gy_tree *lb_endpoint, const struct gy_tree *endpoint)
{
    struct gy_buf name = {0}, address = {0};
    const struct gy_tree *key = lb_endpoint ? hash_key(lb_endpoint) : NULL;
    const struct gy_tree *hostname = endpoint ? gy_envoy_get(endpoint, "hostname") : NULL;
    struct gy_slice host = {gy_buf_head(&e->host), gy_buf_size(&e->host)};
    char port[GY_NUM_TEXT];
    gy_num_fmt_micros(port, e->port * 1000000);
    gy_address_join(&address, host, e->socket ? GY_LIT("") : gy_str(port));
    bool named = hostname && hostname->kind == GY_TREE_TEXT && hostname->text.n;
    if (key) {
        gy_buf_add(&name, key->text.p, key->text.n);
    } else if (h->by_hostname && named) {
        gy_buf_add(&name, hostname->text.p, hostname->text.n);
    } else if (h->by_hostname && h->type != GY_ENVOY_STATIC) {
        gy_buf_add(&name, host.p, host.n);
    } else if (!h->by_hostname && e->socket) {
        gy_buf_add(&name, host.p, host.n);
    } else if (!h->by_hostname) {
        bool six = e->numbers && memchr(host.p, ':', host.n);
        gy_buf_printf(&name, six ? "[%.*s]:%s" : "%.*s:%s", (int)host.n, host.p, port);
        out->resolved = !e->numbers;
    }
    address.failed |= e->host.failed;
    int rc = name.failed || address.failed
                 ? gy_read_nomem(h->r)
                 : gy_read_text(h->r, &out->name,
                                (struct gy_slice){gy_buf_head(&name), gy_buf_size(&name)});
    if (!rc && gy_buf_size(&address)) {
        rc = gy_read_text(h->r, &out->address, gy_str(gy_buf_cstr(&address)));
    }
    gy_buf_fini(&name);
    gy_buf_fini(&address);
    return rc;
}

static struct gy_envoy_host *add_host(struct gy_envoy_hosts *h, const struct gy_tree *at)
{
    if (h->count == h->room) {
        size_t room = h->room ? h->room * 2 : 16;
        struct gy_envoy_host *grown = realloc(h->list, room * sizeof *grown);
        if (!grown) {
            gy_read_nomem(h->r);
            return NULL;
        }
        h->list = grown;
        h->room = room;
    }
    struct gy_envoy_host *out = &h->list[h->count++];
    *out = (struct gy_envoy_host){.at = at, .weight = 1, .locality = h->locality_count - 1};
    out->priority = h->localities[out->locality].priority;
    return out;
}

static int read_host(struct gy_envoy_hosts *h, const struct gy_tree *t)
{
    static const char *const healths[] = {"UNKNOWN", "HEALTHY",  "UNHEALTHY", "DRAINING",
                                          "TIMEOUT", "DEGRADED", NULL};
    static const char *const fields[] = {"endpoint", "endpoint_name",         "health_status",
                                         "metadata", "load_balancing_weight", NULL};
    static const char *const endpoint_fields[] = {"address", "health_check_config", "hostname",
                                                  "additional_addresses", NULL};
    const struct gy_tree *endpoint, *address;
    struct endpoint e = {0};
    if (t->kind != GY_TREE_MAP) {
        return gy_read_fail(h->r, GYRE_SYNTAX, t->at, "an endpoint must be a mapping, not %s",
                            gy_tree_word(t));
    }
    struct gy_envoy_host *host = add_host(h, t);
    int rc = host ? gy_envoy_check(h->r, t, "LbEndpoint", fields, false) : GYRE_NOMEM;
    rc = rc ? rc : gy_envoy_number(h->r, t, "load_balancing_weight", 1, UINT32_MAX, &host->weight);
    rc = rc ? rc : gy_envoy_enum(h->r, t, "health_status", healths, &host->health);
    rc = rc ? rc : gy_envoy_map(h->r, t, "endpoint", &endpoint);
    if (!rc && !endpoint) {
        rc = fail_missing(h->r, t, "LbEndpoint: endpoint");
    }
    rc = rc ? rc : gy_envoy_check(h->r, endpoint, "Endpoint", endpoint_fields, false);
    rc = rc ? rc : gy_envoy_map(h->r, endpoint, "address", &address);
    if (!rc && !address) {
        rc = fail_missing(h->r, endpoint, "Endpoint: address");
    }
    rc = rc ? rc : read_address(h, address, &e);
    rc = rc ? rc : name_host(h, host, &e, t, endpoint);
    gy_buf_fini(&e.host);
    return rc;
}

/* ---- localities ---- */

static int add_locality(struct gy_envoy_hosts *h, const struct gy_tree *locality)
{
    static const char *const parts[] = {"region", "zone", "sub_zone"};
    struct gy_buf zone = {0};
    if (h->locality_count == h->locality_room) {
        size_t room = h->locality_room ? h->locality_room * 2 : 4;
        struct gy_envoy_locality *grown = realloc(h->localities, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(h->r);
        }
        h->localities = grown;
        h->locality_room = room;
    }
    for (size_t i = 0; i < 3; i++) {
        const struct gy_tree *t = locality ? gy_envoy_get(locality, parts[i]) : NULL;
        if (t && t->kind == GY_TREE_TEXT && t->text.n) {
            gy_buf_printf(&zone, "%s%.*s", gy_buf_size(&zone) ? "/" : "", (int)t->text.n,
                          t->text.p);
        }
    }
    struct gy_envoy_locality *l = &h->localities[h->locality_count++];
    *l = (struct gy_envoy_locality){0};
    int rc = zone.failed ? gy_read_nomem(h->r)
                         : gy_read_text(h->r, &l->zone, gy_str(gy_buf_cstr(&zone)));
    gy_buf_fini(&zone);
    return rc;
}

static int read_locality(struct gy_envoy_hosts *h, const struct gy_tree *t)
{
    static const char *const fields[] = {
        "locality",  "lb_endpoints", "load_balancing_weight",   "priority",
        "proximity", "metadata",     "load_balancer_endpoints", "leds_cluster_locality_config",
        NULL};
    const struct gy_tree *locality, *hosts;
    uint64_t priority = 0;
    if (t->kind != GY_TREE_MAP) {
        return gy_read_fail(h->r, GYRE_SYNTAX, t->at, "endpoints are mappings, not %s",
                            gy_tree_word(t));
    }
    int rc = gy_envoy_check(h->r, t, "LocalityLbEndpoints", fields, false);
    rc = rc ? rc : gy_envoy_map(h->r, t, "locality", &locality);
    rc = rc ? rc : add_locality(h, locality);
    if (rc) {
        return rc;
    }
    struct gy_envoy_locality *l = &h->localities[h->locality_count - 1];
    rc = gy_envoy_number(h->r, t, "load_balancing_weight", 1, UINT32_MAX, &l->weight);
    rc = rc ? rc : gy_envoy_number(h->r, t, "priority", 0, 128, &priority);
    l->priority = (unsigned)priority;
    rc = rc ? rc : gy_envoy_list(h->r, t, "lb_endpoints", &hosts);
    for (const struct gy_tree *host = !rc && hosts ? hosts->first : NULL; host && !rc;
         host = host->next) {
        rc = read_host(h, host);
    }
    return rc;
}

/* `hosts` of the second API: bare addresses. */
static int read_bare(struct gy_envoy_hosts *h, const struct gy_tree *list)
{
    int rc = add_locality(h, NULL);
    for (const struct gy_tree *t = list->first; t && !rc; t = t->next) {
        struct endpoint e = {0};
        struct gy_envoy_host *host = add_host(h, t);
        rc = host ? read_address(h, t, &e) : GYRE_NOMEM;
        rc = rc ? rc : name_host(h, host, &e, NULL, NULL);
        gy_buf_fini(&e.host);
    }
    return rc;
}

int gy_envoy_hosts_read(struct gy_envoy_hosts *h, const struct gy_tree *cluster)
{
    const struct gy_tree *assignment, *endpoints = NULL, *bare;
    int rc = gy_envoy_map(h->r, cluster, "load_assignment", &assignment);
    rc = rc ? rc : gy_envoy_list(h->r, cluster, "hosts", &bare);
    if (!rc && assignment) {
        rc = gy_envoy_list(h->r, assignment, "endpoints", &endpoints);
    }
    if (!rc && bare) {
        rc = read_bare(h, bare);
    }
    for (const struct gy_tree *t = !rc && endpoints ? endpoints->first : NULL; t && !rc;
         t = t->next) {
        rc = read_locality(h, t);
    }
    if (!rc && h->type == GY_ENVOY_LOGICAL_DNS && h->count != 1) {
        rc = gy_read_fail(h->r, GYRE_INVALID, cluster->at,
                          "LOGICAL_DNS clusters must have a single endpoint, and here are %zu",
                          h->count);
    }
    return rc;
}
