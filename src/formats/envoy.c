/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envoy.c - clusters of Envoy in YAML or JSON: a bootstrap file (static_resources), a file of
 * clusters (clusters, resources, a bare one), or what /config_dump answers. Each is a pool; where
 * its hosts are not in the file, or are not hashed, it says why it cannot be placed. Threads: one
 * an object.
 */
#include "formats/envoy.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/envoy_cluster.h"
#include "formats/lines.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLUSTER_MAX = 10000, WEIGHT_MAX = 1000000 };
enum { UNHEALTHY = 2, DRAINING = 3, TIMEOUT = 4, DEGRADED = 5 };

int gy_envoy_sniff(struct gy_slice head)
{
    static const char *const own[] = {"load_assignment",     "loadAssignment",   "lb_endpoints",
                                      "lbEndpoints",         "static_resources", "staticResources",
                                      "envoy.config.cluster"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (gy_slice_has(head, own[i])) {
            return GY_SURE_YES;
        }
    }
    return gy_slice_has(head, "lb_policy") || gy_slice_has(head, "lbPolicy") ? GY_SURE_LIKELY
                                                                             : GY_SURE_NOT;
}

/* ---- a pool ---- */

static int by_name(const void *a, const void *b)
{
    const struct gy_envoy_host *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : *x < *y ? -1 : 1;
}

/* The lowest priority that has hosts takes the keys; *twice: two of those hosts are hashed alike.
 */
static int look_over(struct gy_envoy_hosts *h, unsigned *priority, const char **twice)
{
    const struct gy_envoy_host **sorted = calloc(h->count + 1, sizeof *sorted);
    size_t n = 0;
    if (!sorted) {
        return gy_read_nomem(h->r);
    }
    *priority = h->count ? h->list[0].priority : 0;
    *twice = NULL;
    for (size_t i = 0; i < h->count; i++) {
        *priority = h->list[i].priority < *priority ? h->list[i].priority : *priority;
    }
    for (size_t i = 0; i < h->count; i++) {
        if (h->list[i].priority == *priority) {
            sorted[n++] = &h->list[i];
        }
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n && !*twice; i++) {
        *twice = strcmp(sorted[i]->name, sorted[i - 1]->name) == 0 ? sorted[i]->name : NULL;
    }
    free(sorted);
    return GYRE_OK;
}

/* A locality's name as a node's option has it: by its number where it has no plain one. */
static void locality_word(const struct gy_envoy_hosts *h, size_t i, struct gy_buf *out)
{
    const char *zone = h->localities[i].zone;
    gy_buf_printf(out, "%zu", i + 1);
    for (size_t k = 0; *zone && zone[k]; k++) {
        bool plain = gy_utf8_is_plain((uint8_t)zone[k]) || zone[k] == '/';
        gy_buf_printf(out, "%s%c", k ? "" : "-", plain ? zone[k] : '_');
    }
}

struct making {
    struct gy_reading *r;
    const struct gy_tree *cluster;
    struct gy_envoy_policy policy;
    struct gy_envoy_hosts hosts;
    struct gy_pool *pool;
    unsigned priority;
};

static int set_number(const struct making *m, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return value ? gy_read_set(m->r, m->pool, m->policy.at, key, text) : GYRE_OK;
}

static int set_localities(const struct making *m)
{
    struct gy_buf text = {0};
    for (size_t i = 0; i < m->hosts.locality_count; i++) {
        const struct gy_envoy_locality *l = &m->hosts.localities[i];
        if (l->priority == m->priority) {
            gy_buf_puts(&text, gy_buf_size(&text) ? "," : "");
            locality_word(&m->hosts, i, &text);
            gy_buf_printf(&text, ":%llu", (unsigned long long)l->weight);
        }
    }
    int rc = text.failed
                 ? gy_read_nomem(m->r)
                 : gy_read_set(m->r, m->pool, m->policy.at, "locality_weights", gy_buf_cstr(&text));
    gy_buf_fini(&text);
    return rc;
}

static int set_placement(const struct making *m)
{
    const struct gy_envoy_policy *p = &m->policy;
    int rc = gy_read_set(m->r, m->pool, p->at, "like", "envoy");
    rc = rc ? rc
            : gy_read_set(m->r, m->pool, p->at, "distribution", p->maglev ? "maglev" : "ring_hash");
    if (!rc && p->ring && p->murmur) {
        rc = gy_read_set(m->r, m->pool, p->at, "hash", "MURMUR_HASH_2");
    }
    if (!rc && p->ring) {
        rc = set_number(m, "minimum_ring_size", p->minimum);
        rc = rc ? rc : set_number(m, "maximum_ring_size", p->maximum);
    } else if (!rc) {
        rc = set_number(m, "table_size", p->table);
    }
    return rc || !p->by_locality ? rc : set_localities(m);
}

static unsigned states_of(const struct gy_envoy_host *s, unsigned priority)
{
    unsigned states = s->health == UNHEALTHY || s->health == TIMEOUT ? GY_STATE_DOWN
                      : s->health == DRAINING                        ? GY_STATE_DRAINING
                      : s->health == DEGRADED                        ? GY_STATE_SUSPECT
                                                                     : 0;
    return states | (s->priority == priority ? 0 : GY_STATE_BACKUP);
}

static int put_host(const struct making *m, size_t i, bool placed)
{
    const struct gy_envoy_host *s = &m->hosts.list[i];
    const char *zone = m->hosts.localities[s->locality].zone;
    struct gy_buf options = {0};
    struct gy_server *out = NULL;
    if (m->policy.by_locality) {
        gy_buf_puts(&options, "locality=");
        locality_word(&m->hosts, s->locality, &options);
    }
    unsigned states = states_of(s, m->priority);
    struct gyre_node n = {.size = sizeof n,
                          .name = s->name,
                          .address = s->address,
                          .zone = *zone ? zone : NULL,
                          .weight = states ? 0 : (double)s->weight, /* of healthy hosts only */
                          .options = gy_buf_size(&options) ? gy_buf_cstr(&options) : NULL};
    int rc;
    if (options.failed) {
        rc = gy_read_nomem(m->r);
    } else if (placed && s->priority == m->priority) {
        rc = gy_read_both(m->r, m->pool, s->at->at, &n, &out);
    } else {
        rc = gy_read_server(m->r, m->pool, s->at->at,
                            *s->name ? gy_str(s->name) : gy_str(s->address), &out);
        rc = rc || !n.zone ? rc : gy_read_text(m->r, &out->zone, gy_str(n.zone));
        rc = rc || !n.address ? rc : gy_read_text(m->r, &out->address, gy_str(n.address));
    }
    if (!rc) {
        out->weight = (double)s->weight;
        out->states |= states;
    }
    gy_buf_fini(&options);
    return rc;
}

static int add_notes(const struct making *m)
{
    const struct gy_envoy_policy *p = &m->policy;
    size_t resolved = 0, later = 0;
    bool unused = false;
    int rc = GYRE_OK;
    for (size_t i = 0; i < m->hosts.count; i++) {
        resolved += m->hosts.list[i].resolved;
        later += m->hosts.list[i].priority != m->priority;
    }
    for (size_t i = 0; i < m->hosts.locality_count; i++) {
        unused = unused || (!p->by_locality && m->hosts.localities[i].weight);
    }
    if (resolved) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_WARNING, "names-resolved", m->cluster->at,
                          "Envoy hashes the addresses that %zu names resolve to, which are not "
                          "known here: shares are about right, places of keys are not; set "
                          "use_hostname_for_hashing, or a hash_key for each",
                          resolved);
    }
    if (!rc && p->subsets) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_WARNING, "subsets", m->cluster->at,
                          "lb_subset_config: requests with matching metadata have a ring for their "
                          "subset; this is the ring of all hosts");
    }
    if (!rc && p->factor) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "bounded-load", p->at,
                          "a host with more than %llu %% of the average load passes requests on; "
                          "the places here are those without load",
                          (unsigned long long)p->factor);
    }
    if (!rc && unused) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "weight-unused", p->at,
                          "weights of localities count only with locality_weighted_lb_config");
    }
    if (!rc && later) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "failover-priority", m->cluster->at,
                          "hosts of a later priority (%zu) get keys only as those of priority "
                          "%u fail",
                          later, m->priority);
    }
    return rc ? rc : gy_read_shared(m->r, m->pool);
}

/* Why its keys have no place; false: they have. */
static bool find_reason(const struct making *m, const char *twice, char why[GY_ADDRESS_WHY])
{
    const struct gy_envoy_policy *p = &m->policy;
    uint64_t heaviest = 0;
    char q[GY_QUOTE];
    *why = '\0';
    for (size_t i = 0; i < m->hosts.count; i++) {
        heaviest = m->hosts.list[i].weight > heaviest ? m->hosts.list[i].weight : heaviest;
    }
    if (!p->ring && !p->maglev) {
        snprintf(why, GY_ADDRESS_WHY, "%s does not go by a key; RING_HASH or MAGLEV would",
                 p->name);
    } else if (m->hosts.count == 0) {
        snprintf(
            why, GY_ADDRESS_WHY, "%s",
            m->hosts.type == GY_ENVOY_EDS
                ? "its endpoints come from a management server (EDS); /config_dump?include_eds "
                  "has them"
                : "it has no endpoints here");
    } else if (twice) {
        snprintf(why, GY_ADDRESS_WHY,
                 *twice ? "two endpoints have one hash key, %s"
                        : "use_hostname_for_hashing, but not every endpoint has a hostname%.0s",
                 gy_utf8_quote(q, gy_str(twice)));
    } else if (heaviest > WEIGHT_MAX) {
        snprintf(why, GY_ADDRESS_WHY,
                 "a weight of %llu; gyre takes at most %d: only the ratio counts, so scale them "
                 "down",
                 (unsigned long long)heaviest, WEIGHT_MAX);
    }
    return *why != '\0';
}

static int make(struct making *m)
{
    const char *twice = NULL;
    char why[GY_ADDRESS_WHY], q[GY_QUOTE];
    int rc = look_over(&m->hosts, &m->priority, &twice);
    for (size_t i = 0; !rc && !twice && i < m->hosts.count; i++) {
        twice = *m->hosts.list[i].name ? NULL : "";
    }
    if (rc) {
        return rc;
    }
    bool placed = !find_reason(m, twice, why);
    rc = gy_read_fact(m->r, m->pool, "lb_policy", "%s", m->policy.name);
    if (!rc && m->policy.factor) {
        rc = gy_read_fact(m->r, m->pool, "hash_balance_factor", "%llu",
                          (unsigned long long)m->policy.factor);
    }
    rc = rc || !placed ? rc : set_placement(m);
    for (size_t i = 0; !rc && i < m->hosts.count; i++) {
        if (placed || *m->hosts.list[i].name || m->hosts.list[i].address) {
            rc = put_host(m, i, placed);
        }
    }
    rc = rc || !placed ? rc : add_notes(m);
    return rc || placed ? rc
                        : gy_read_unplaced(m->r, m->pool, m->policy.at, "cluster %s: %s",
                                           gy_utf8_quote(q, gy_str(m->pool->name)), why);
}

/* ---- a cluster ---- */

static const char *const CLUSTER_FIELDS[] = {"name",
                                             "type",
                                             "cluster_type",
                                             "lb_policy",
                                             "load_assignment",
                                             "ring_hash_lb_config",
                                             "maglev_lb_config",
                                             "common_lb_config",
                                             "load_balancing_policy",
                                             "lb_subset_config",
                                             "eds_cluster_config",
                                             "connect_timeout",
                                             "hosts",
                                             "health_checks",
                                             "metadata",
                                             "alt_stat_name",
                                             "least_request_lb_config",
                                             "round_robin_lb_config",
                                             "transport_socket",
                                             "transport_socket_matches",
                                             "outlier_detection",
                                             "circuit_breakers",
                                             "filters",
                                             "dns_lookup_family",
                                             "dns_refresh_rate",
                                             "respect_dns_ttl",
                                             "protocol_selection",
                                             "lrs_server",
                                             "typed_dns_resolver_config",
                                             "typed_extension_protocol_options",
                                             "tls_context",
                                             NULL};

static int check_name(struct gy_reading *r, const struct gy_tree *cluster,
                      const struct gy_tree **out)
{
    const struct gy_tree *name = gy_envoy_get(cluster, "name");
    char q[GY_QUOTE];
    if (!name || name->kind != GY_TREE_TEXT || name->text.n == 0) {
        return gy_read_fail(r, GYRE_SYNTAX, cluster->at, "a cluster without a name");
    }
    if (r->into->count >= CLUSTER_MAX) {
        return gy_read_fail(r, GYRE_RANGE, cluster->at, "more than %d clusters", CLUSTER_MAX);
    }
    for (size_t i = 0; i < r->into->count; i++) {
        if (gy_slice_eq(gy_str(r->into->list[i]->name), name->text)) {
            return gy_read_fail(r, GYRE_DUPLICATE, name->at,
                                "duplicate cluster %s; the first is on line %u",
                                gy_utf8_quote(q, name->text), r->into->list[i]->line);
        }
    }
    *out = name;
    return GYRE_OK;
}

static int read_cluster(struct gy_reading *r, const struct gy_tree *cluster)
{
    static const char *const types[] = {"STATIC", "STRICT_DNS",   "LOGICAL_DNS",
                                        "EDS",    "ORIGINAL_DST", NULL};
    struct making m = {.r = r, .cluster = cluster};
    const struct gy_tree *name = NULL;
    unsigned type = GY_ENVOY_STATIC;
    if (cluster->kind != GY_TREE_MAP) {
        return gy_read_fail(r, GYRE_SYNTAX, cluster->at, "a cluster must be a mapping, not %s",
                            gy_tree_word(cluster));
    }
    int rc = check_name(r, cluster, &name);
    rc = rc ? rc : gy_envoy_check(r, cluster, "Cluster", CLUSTER_FIELDS, true);
    rc = rc ? rc : gy_envoy_enum(r, cluster, "type", types, &type);
    rc = rc ? rc : gy_envoy_policy_read(r, cluster, &m.policy);
    m.hosts = (struct gy_envoy_hosts){
        .r = r, .type = (enum gy_envoy_type)type, .by_hostname = m.policy.by_hostname};
    if (!rc && gy_envoy_get(cluster, "cluster_type") && !gy_envoy_get(cluster, "type")) {
        m.hosts.type = GY_ENVOY_STRICT_DNS; /* of its own kind: names may stand */
    }
    rc = rc ? rc : gy_envoy_hosts_read(&m.hosts, cluster);
    rc = rc ? rc : gy_read_pool(r, name->text, cluster->at, &m.pool);
    rc = rc ? rc : make(&m);
    gy_envoy_hosts_fini(&m.hosts);
    return rc;
}

/* ---- where clusters stand ---- */

static bool looks_like_cluster(const struct gy_tree *t)
{
    return gy_envoy_get(t, "name") &&
           (gy_envoy_get(t, "load_assignment") || gy_envoy_get(t, "lb_policy") ||
            gy_envoy_get(t, "load_balancing_policy") || gy_envoy_get(t, "connect_timeout"));
}

/* A list of clusters, each perhaps below `inner`. What is no cluster is passed over. */
static int read_list(struct gy_reading *r, const struct gy_tree *list, const char *inner,
                     bool only_clusters)
{
    int rc = GYRE_OK;
    for (const struct gy_tree *t = list ? list->first : NULL; t && !rc; t = t->next) {
        const struct gy_tree *cluster = inner ? gy_envoy_get(t, inner) : t;
        if (cluster && (only_clusters || looks_like_cluster(cluster))) {
            rc = read_cluster(r, cluster);
        }
    }
    return rc;
}

static int read_root(struct gy_reading *r, const struct gy_tree *root)
{
    const struct gy_tree *resources = gy_envoy_get(root, "static_resources");
    const struct gy_tree *configs = gy_envoy_get(root, "configs");
    const struct gy_tree *listed =
        root->kind == GY_TREE_LIST ? root : gy_envoy_get(root, "resources");
    int rc = GYRE_OK;
    if (looks_like_cluster(root)) {
        return read_cluster(r, root);
    }
    rc = read_list(r, gy_envoy_get(resources ? resources : root, "clusters"), NULL, true);
    rc = rc ? rc : read_list(r, listed, NULL, false);
    for (const struct gy_tree *t = configs && !rc ? configs->first : NULL; t && !rc; t = t->next) {
        rc = read_list(r, gy_envoy_get(t, "static_clusters"), "cluster", true);
        rc = rc ? rc : read_list(r, gy_envoy_get(t, "dynamic_active_clusters"), "cluster", true);
    }
    if (!rc && r->into->count == 0) {
        rc = gy_read_fail(r, GYRE_EMPTY, root->at,
                          "there is no cluster in it: not below static_resources, nor at the top");
    }
    return rc;
}

int gy_envoy_parse(struct gy_reading *r)
{
    struct gy_doc d;
    size_t i = 0;
    while (i < r->text.n && r->text.p[i] && strchr(" \t\r\n", r->text.p[i])) {
        i++;
    }
    bool json = i < r->text.n && (r->text.p[i] == '{' || r->text.p[i] == '[');
    int rc = json ? gy_doc_json(&d, r->text, GY_JSON_PLAIN, r->file, r->e)
                  : gy_doc_yaml(&d, r->text, r->file, r->e);
    rc = rc ? rc : read_root(r, d.root);
    gy_doc_fini(&d);
    return rc;
}
