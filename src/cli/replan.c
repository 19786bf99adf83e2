/* SPDX-License-Identifier: Apache-2.0 */
/* replan.c - see replan.h. */
#include "cli/replan.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/live.h"
#include "cli/live_sizes.h"
#include "cli/out.h"
#include "cli/source.h"
#include "formats/file.h"
#include "formats/zone_list.h"

#include <stdlib.h>

void gy_replan_fini(struct gy_replan *r)
{
    free(r->size);
    r->size = NULL;
}

static bool is_cluster(const struct gy_topo *old)
{
    return strcmp(gyre_topology_get(old->config->topology, "like"), "redis-cluster") == 0;
}

bool gy_replan_wanted(const struct gy_replan *r, const struct gy_topo *old,
                      const struct gy_changes *changes)
{
    bool wanted = r->even || r->by_bytes;
    for (size_t i = 0; i < changes->count && is_cluster(old); i++) {
        wanted = wanted || changes->list[i].kind != GYRE_REPLACE;
    }
    return wanted;
}

int gy_replan_check(const struct gy_replan *r, const struct gy_topo *old,
                    const struct gy_changes *changes)
{
    if (r->sizes && r->sample) {
        gy_complain("plan: --slot-sizes and --sample exclude each other");
        return GY_EXIT_USAGE;
    }
    if ((r->sizes || r->sample || r->zones) && !gy_replan_wanted(r, old, changes)) {
        gy_complain(
            "plan: --slot-sizes, --sample and --zones are for slots of a Redis Cluster that "
            "are dealt anew: --even, --add, --remove, --weight");
        return GY_EXIT_USAGE;
    }
    return GY_EXIT_OK;
}

/* ---- may slots move now? ---- */

static int refuse(const struct gy_topo *old)
{
    const struct gy_pool *p = old->pool;
    const char *missing = gy_pool_fact_of(p, "slots_missing");
    char q[GY_QUOTE];
    if (!is_cluster(old)) {
        gy_complain("plan: --even and --even-bytes are for a Redis Cluster");
        return GY_EXIT_USAGE;
    }
    if (missing && *missing) {
        gy_complain("plan: slots %s have no owner; give each to a master first ('gyre doctor' says "
                    "how)",
                    missing);
        return GY_EXIT_USAGE;
    }
    for (size_t i = 0; i < p->server_count; i++) {
        const struct gy_server *s = &p->servers[i];
        gy_utf8_quote(q, gy_str(s->name));
        if (s->open_count) {
            gy_complain("plan: slot %u of %s is open, a move begun and not ended; end it first: "
                        "redis-cli --cluster fix",
                        s->open[0].slot, q);
            return GY_EXIT_USAGE;
        }
        if (s->slots && s->states & GY_STATE_DOWN) {
            gy_complain("plan: %s is down and owns %u slots; bring it back, or let a replica take "
                        "its place",
                        q, s->slots);
            return GY_EXIT_USAGE;
        }
    }
    return GY_EXIT_OK;
}

/* ---- what is known besides ---- */

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}

static int read_file(const char *path, const char *what, struct gy_buf *text)
{
    gyre_error_t e = {0};
    int rc = gy_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, what, text, &e);
    return rc ? gy_complain_error(&e) : GY_EXIT_OK;
}

static int read_sizes(struct gy_replan *r, const char *path, const struct gy_topo *old)
{
    struct gy_slot_owners *owners;
    struct gy_buf text = {0};
    gyre_error_t e = {0};
    if (!r->sizes && !r->sample) {
        return GY_EXIT_OK;
    }
    r->size = calloc(GY_REDIS_SLOTS, sizeof *r->size);
    if (!r->size) {
        return gy_complain_memory();
    }
    if (r->sizes) {
        int rc = read_file(r->sizes, "list of slot sizes", &text);
        struct gy_slice all = {gy_buf_head(&text), gy_buf_size(&text)};
        if (!rc && gy_slot_sizes_parse(all, shown(r->sizes), r->size, &e)) {
            rc = gy_complain_error(&e);
        }
        gy_buf_fini(&text);
        return rc;
    }
    if (!gy_live_is(path)) {
        gy_complain("plan: --sample asks servers: give redis://HOST:PORT as the topology, or the "
                    "sizes by --slot-sizes");
        return GY_EXIT_USAGE;
    }
    owners = calloc(1, sizeof *owners);
    int rc = owners ? gy_slot_owners_of(old->config->topology, owners, &e) : GYRE_NOMEM;
    rc = rc ? rc : gy_live_sizes(path, old->config->topology, owners, r->sample, r->size, &e);
    free(owners);
    e.code = rc;
    return !rc ? GY_EXIT_OK : !*e.message ? gy_complain_memory() : gy_source_complain(path, &e);
}

static int read_zones(const struct gy_replan *r, const struct gy_topo *old)
{
    struct gy_buf text = {0};
    gyre_error_t e = {0};
    if (!r->zones) {
        return GY_EXIT_OK;
    }
    int rc = read_file(r->zones, "list of zones", &text);
    struct gy_slice all = {gy_buf_head(&text), gy_buf_size(&text)};
    if (!rc && gy_zone_list_apply(all, shown(r->zones), old->pool, &e)) {
        rc = gy_complain_error(&e);
    }
    gy_buf_fini(&text);
    return rc;
}

/* ---- weights ---- */

static bool is_named(const struct gy_changes *changes, const char *name)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct gyre_change *c = &changes->list[i];
        if ((c->kind == GYRE_ADD || c->kind == GYRE_WEIGHT) && strcmp(c->node.name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A master without slots was perhaps drained for a reason: it gets some only if it is named. */
static uint64_t *weigh(const struct gy_topo *old, const struct gy_changes *changes,
                       const gyre_topology_t *next)
{
    size_t n = gyre_topology_count(next), spare = 0;
    const char *first = NULL;
    char q[GY_QUOTE];
    uint64_t *weights = calloc(n + 1, sizeof *weights);
    for (size_t i = 0; weights && i < n; i++) {
        const struct gyre_node *node = gyre_topology_node(next, i);
        const struct gyre_node *was = gyre_topology_find(old->config->topology, node->name);
        bool gets = !was || (was->options && strstr(was->options, "slots=")) ||
                    is_named(changes, node->name);
        weights[i] = gets ? gy_num_to_micros(node->weight) : 0;
        first = !gets && node->weight != 0 && !spare ? node->name : first;
        spare += !gets && node->weight != 0;
    }
    if (spare) {
        gy_complain("note: %zu master%s no slots and get%s none: %s%s; --weight NAME=1 gives one "
                    "its share",
                    spare, spare == 1 ? " has" : "s have", spare == 1 ? "s" : "",
                    gy_utf8_quote(q, gy_str(first)), spare > 1 ? ", ..." : "");
    }
    return weights;
}

int gy_replan(struct gy_replan *r, const char *path, const struct gy_topo *old,
              const struct gy_changes *changes, gyre_topology_t **next)
{
    gyre_error_t e = {0};
    gyre_topology_t *planned = NULL;
    int rc = refuse(old);
    rc = rc ? rc : read_sizes(r, path, old);
    rc = rc ? rc : read_zones(r, old);
    if (rc) {
        return rc;
    }
    uint64_t *weights = weigh(old, changes, *next);
    if (!weights) {
        return gy_complain_memory();
    }
    struct gy_slot_plan plan = {.old = old->config->topology,
                                .next = *next,
                                .weights = weights,
                                .size = r->size,
                                .by_bytes = r->by_bytes,
                                .servers = old->pool};
    e.code = gy_slot_plan(&plan, &planned, &e);
    free(weights);
    if (e.code) {
        return gy_complain_error(&e);
    }
    gyre_topology_free(*next);
    *next = planned;
    return GY_EXIT_OK;
}
