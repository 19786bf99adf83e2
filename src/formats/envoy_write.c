/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envoy_write.c - one cluster of Envoy, in YAML, as a bootstrap file has it. A host's hash key is
 * its node's name: written down wherever Envoy would not take the very same text from the address.
 * Hosts stand in the order of the nodes, for the ring depends on it; so a zone may be written as
 * several localities. Threads: one an object.
 */
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/dump.h"
#include "formats/envoy.h"
#include "formats/format.h"
#include "formats/lines.h"

#include <arpa/inet.h>

/* ---- the cluster ---- */

static void put_number(struct gy_writing *w, const char *key, const char *fallback,
                       const char **head)
{
    if (!gy_write_is(w, key, fallback)) {
        gy_buf_printf(w->out, "%s      %s: %s\n", *head, key, gy_write_get(w, key));
        *head = "";
    }
}

static void put_policy(struct gy_writing *w)
{
    bool maglev = gy_write_is(w, "distribution", "maglev");
    const char *factor = gy_write_fact(w, "hash_balance_factor");
    const char *head = maglev ? "    maglev_lb_config:\n" : "    ring_hash_lb_config:\n";
    gy_buf_printf(w->out, "    lb_policy: %s\n", maglev ? "MAGLEV" : "RING_HASH");
    if (maglev) {
        put_number(w, "table_size", "65537", &head);
    } else {
        put_number(w, "minimum_ring_size", "1024", &head);
        put_number(w, "maximum_ring_size", "8388608", &head);
    }
    if (!maglev && !gy_write_is(w, "hash", "XX_HASH")) {
        gy_buf_printf(w->out, "%s      hash_function: %s\n", head, gy_write_get(w, "hash"));
    }
    head = "    common_lb_config:\n";
    if (factor) {
        gy_buf_printf(w->out, "%s      consistent_hashing_lb_config: {hash_balance_factor: %s}\n",
                      head, factor);
        head = "";
    }
    if (*gy_write_get(w, "locality_weights")) {
        gy_buf_printf(w->out, "%s      locality_weighted_lb_config: {}\n", head);
    }
}

/* ---- hosts ---- */

static bool is_number(struct gy_slice host, char out[INET6_ADDRSTRLEN])
{
    struct in6_addr bits;
    char text[INET6_ADDRSTRLEN] = "";
    if (host.n >= sizeof text) {
        return false;
    }
    memcpy(text, host.p, host.n);
    int family = memchr(host.p, ':', host.n) ? AF_INET6 : AF_INET;
    return inet_pton(family, text, &bits) == 1 && inet_ntop(family, &bits, out, INET6_ADDRSTRLEN);
}

/* STATIC wants numbers or sockets, STRICT_DNS names or numbers. */
static int find_type(struct gy_writing *w, bool *names)
{
    const struct gyre_node *node;
    bool sockets = false;
    char number[INET6_ADDRSTRLEN];
    int rc = GYRE_OK;
    *names = false;
    for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL;) {
        struct gy_slice host, port;
        rc = gy_write_address(w, node, &host, &port);
        sockets = sockets || (!rc && !port.n);
        *names = *names || (!rc && port.n && !is_number(host, number));
    }
    return !rc && sockets && *names
               ? gy_write_refuse(w, "one cluster of Envoy has either host names or unix sockets")
               : rc;
}

/* Does the source leave it to the name server which address is hashed? */
static bool hashes_resolved(const struct gy_writing *w, const struct gyre_node *node)
{
    bool noted = false;
    const struct gy_server *s = gy_write_server(w, node);
    for (size_t i = 0; s && i < w->what->from->note_count; i++) {
        noted = noted || strcmp(w->what->from->notes[i].code, "names-resolved") == 0;
    }
    return noted && strcmp(node->name, node->address) == 0;
}

/* What Envoy hashes of the address alone. */
static void own_key(struct gy_slice host, struct gy_slice port, struct gy_buf *out)
{
    char number[INET6_ADDRSTRLEN];
    if (!port.n) {
        gy_buf_add(out, host.p, host.n);
    } else if (is_number(host, number)) {
        gy_buf_printf(out, strchr(number, ':') ? "[%s]:%.*s" : "%s:%.*s", number, (int)port.n,
                      port.p);
    }
}

static void put_address(struct gy_writing *w, struct gy_slice host, struct gy_slice port)
{
    char number[INET6_ADDRSTRLEN]; /* as Envoy prints it */
    bool is = port.n && is_number(host, number);
    struct gy_buf text = {0};
    gy_buf_add(&text, host.p, host.n);
    gy_buf_puts(w->out, port.n ? "{socket_address: {address: " : "{pipe: {path: ");
    gy_dump_scalar(w->out, is ? number : gy_buf_cstr(&text));
    gy_buf_printf(w->out, port.n ? ", port_value: %.*s}}" : "%.*s}}", (int)port.n, port.p);
    w->out->failed |= text.failed;
    gy_buf_fini(&text);
}

static int put_host(struct gy_writing *w, const struct gyre_node *node)
{
    struct gy_slice host, port;
    struct gy_buf own = {0};
    int rc = gy_write_address(w, node, &host, &port);
    if (rc) {
        return rc;
    }
    const struct gy_server *s = gy_write_server(w, node);
    double weight = node->weight != 0 ? node->weight : s ? s->weight : 1;
    own_key(host, port, &own);
    gy_buf_puts(w->out, "            - endpoint: {address: ");
    put_address(w, host, port);
    gy_buf_puts(w->out, "}\n");
    if (weight != 1) {
        gy_buf_puts(w->out, "              load_balancing_weight: ");
        gy_write_weight(w->out, weight);
        gy_buf_putc(w->out, '\n');
    }
    if (node->weight == 0) {
        bool down = s && s->states & GY_STATE_DOWN;
        gy_buf_printf(w->out, "              health_status: %s\n", down ? "UNHEALTHY" : "DRAINING");
    }
    if (strcmp(gy_buf_cstr(&own), node->name) != 0 && !hashes_resolved(w, node)) {
        gy_buf_puts(w->out, "              metadata: {filter_metadata: {envoy.lb: {hash_key: ");
        gy_dump_scalar(w->out, node->name);
        gy_buf_puts(w->out, "}}}\n");
    }
    w->out->failed |= own.failed;
    gy_buf_fini(&own);
    return GYRE_OK;
}

/* ---- localities ---- */

/* "region/zone/sub_zone"; what is left over belongs to the last. */
static void put_locality(struct gy_writing *w, const char *zone, struct gy_slice weight)
{
    static const char *const parts[] = {"region", "zone", "sub_zone"};
    const char *head = "        - locality: {";
    for (size_t i = 0; zone && *zone && i < 3; i++) {
        size_t n = i < 2 ? strcspn(zone, "/") : strlen(zone);
        struct gy_buf part = {0};
        gy_buf_add(&part, zone, n);
        gy_buf_printf(w->out, "%s%s: ", head, parts[i]);
        gy_dump_scalar(w->out, gy_buf_cstr(&part));
        w->out->failed |= part.failed;
        gy_buf_fini(&part);
        head = ", ";
        zone += n + (zone[n] == '/');
    }
    bool any = *head == ',';
    gy_buf_puts(w->out, any ? "}\n" : "");
    if (weight.n && !gy_slice_eq(weight, GY_LIT("0"))) {
        gy_buf_printf(w->out, "%sload_balancing_weight: %.*s\n", any ? "          " : "        - ",
                      (int)weight.n, weight.p);
        any = true;
    }
    gy_buf_printf(w->out, "%slb_endpoints:\n", any ? "          " : "        - ");
}

static bool same_zone(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Neighbours of one zone make a locality. */
static int put_zones(struct gy_writing *w)
{
    const struct gyre_node *node, *before = NULL;
    int rc = GYRE_OK;
    for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL; before = node) {
        if (!before || !same_zone(before->zone, node->zone)) {
            put_locality(w, node->zone, GY_LIT(""));
        }
        rc = put_host(w, node);
    }
    return rc;
}

/* "A:1,B:2": each with the hosts that name it. */
static int put_weighted(struct gy_writing *w)
{
    int rc = GYRE_OK;
    for (struct gy_slice rest = gy_str(gy_write_get(w, "locality_weights")); !rc && rest.n;) {
        struct gy_slice item = gy_slice_cut(&rest, ','), own;
        const uint8_t *colon = memrchr(item.p, ':', item.n);
        size_t n = colon ? (size_t)(colon - item.p) : item.n;
        struct gy_slice name = {item.p, n}, weight = {item.p + n + 1, item.n - n - (n < item.n)};
        const struct gyre_node *node;
        bool begun = false;
        for (size_t i = 0; !rc && (node = gy_write_next(w, &i)) != NULL;) {
            if (!gy_write_option(node, "locality", &own) || !gy_slice_eq(own, name)) {
                continue;
            }
            if (!begun) {
                put_locality(w, node->zone, weight);
            }
            begun = true;
            rc = put_host(w, node);
        }
    }
    return rc;
}

int gy_envoy_write(struct gy_writing *w)
{
    bool names;
    int rc = find_type(w, &names);
    if (rc) {
        return rc;
    }
    gy_buf_puts(w->out, "static_resources:\n  clusters:\n  - name: ");
    gy_dump_scalar(w->out, w->name);
    gy_buf_printf(w->out, "\n    type: %s\n", names ? "STRICT_DNS" : "STATIC");
    put_policy(w);
    gy_buf_puts(w->out, "    load_assignment:\n      cluster_name: ");
    gy_dump_scalar(w->out, w->name);
    gy_buf_puts(w->out, "\n      endpoints:\n");
    return *gy_write_get(w, "locality_weights") ? put_weighted(w) : put_zones(w);
}
