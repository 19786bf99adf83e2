/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zoned.c - two levels (setting `level`): a key is dealt to a zone first, each as heavy as its
 * nodes together, then to a node within it; both by the algorithm that the topology names. In the
 * manner of hierarchical rendezvous (Yao and Ravishankar, "A hash family for hierarchical
 * placement", 2004).
 *
 * Cost: two lookups. Memory: a map of the zones and one of each zone's nodes.
 * Guaranteed: what happens to a node moves no key between two nodes of other zones, nor, between
 * zones, more than the zone's weight asks for; a change that leaves the zone's weight as it was
 * moves keys within the zone only; a walk visits every zone once before any a second time.
 * Not: minimal moves. A zone that grows takes keys to all of its nodes, so that one node's change
 * moves up to twice the minimum (with algorithms for which it is 1). Diffs are sampled.
 * Threads: immutable once built.
 */
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/map.h"
#include "lib/place/mix.h"

struct zoned {
    gyre_map_t *outer;  /* of the zones */
    gyre_map_t **inner; /* by zone, of its nodes */
    uint16_t **node;    /* by zone: its nodes' numbers in the whole map */
    uint16_t *at;       /* by node: its number in its zone's map */
    uint16_t *zone;     /* by node */
};

/* The second level hashes anew, or each zone's nodes would share the zone's part of a ring. */
static uint64_t within(uint64_t hash)
{
    return gy_stream(hash, 0);
}

static uint32_t in_zone(const struct zoned *x, uint32_t zone, uint64_t hash)
{
    return x->node[zone][gyre_map_locate_hash(x->inner[zone], within(hash))];
}

static uint32_t zoned_locate(const gyre_map_t *m, gy_u128 hash)
{
    const struct zoned *x = m->data;
    return in_zone(x, gyre_map_locate_hash(x->outer, (uint64_t)hash), (uint64_t)hash);
}

static void zoned_locate_batch(const gyre_map_t *m, const uint64_t *hashes, size_t n, uint32_t *out)
{
    const struct zoned *x = m->data;
    gyre_map_locate_hash_batch(x->outer, hashes, n, out);
    for (size_t i = 0; i < n; i++) {
        out[i] = in_zone(x, out[i], hashes[i]);
    }
}

/* ---- the walk: each zone's first node, then zone by zone ---- */

enum { FIRST_OF_EACH, NEXT_ZONE, INSIDE };

static void zoned_start(struct gy_walk *w)
{
    const struct zoned *x = w->map->data;
    gy_walk_start(w + 1, x->outer, w->hash);
}

/* The next zone not yet met in this round; those beyond 64 may be met again, which costs time. */
static uint32_t next_zone(struct gy_walk *w)
{
    for (;;) {
        uint32_t zone = gy_walk_next(w + 1);
        if (zone == GYRE_NONE || zone >= 64) {
            return zone;
        }
        if (!(w->draws >> zone & 1)) {
            w->draws |= (uint64_t)1 << zone;
            return zone;
        }
    }
}

static uint32_t zoned_next(struct gy_walk *w)
{
    const struct zoned *x = w->map->data;
    for (;;) {
        uint32_t zone, node;
        switch (w->state) {
        case FIRST_OF_EACH:
            zone = next_zone(w);
            if (zone != GYRE_NONE) {
                return in_zone(x, zone, w->hash);
            }
            gy_walk_start(w + 1, x->outer, w->hash);
            w->draws = 0;
            w->state = NEXT_ZONE;
            break;
        case NEXT_ZONE:
            zone = next_zone(w);
            if (zone == GYRE_NONE) {
                return GYRE_NONE;
            }
            w->have = zone;
            gy_walk_start(w + 2, x->inner[zone], within(w->hash));
            w->state = INSIDE;
            break;
        default:
            node = gy_walk_next(w + 2);
            if (node != GYRE_NONE) {
                return x->node[w->have][node];
            }
            w->state = NEXT_ZONE;
            break;
        }
    }
}

static double zoned_share(const gyre_map_t *m, uint32_t i)
{
    const struct zoned *x = m->data;
    return gyre_map_share(x->outer, x->zone[i]) * gyre_map_share(x->inner[x->zone[i]], x->at[i]);
}

static bool zoned_same(const gyre_map_t *a, const gyre_map_t *b)
{
    const struct zoned *x = a->data, *y = b->data;
    if (!gyre_map_same(x->outer, y->outer)) {
        return false;
    }
    for (uint32_t i = 0; i < x->outer->count; i++) {
        if (x->outer->weight[i]) {
            uint32_t j = gyre_map_find(y->outer, x->outer->nodes[i].name);
            if (!gyre_map_same(x->inner[i], y->inner[j])) {
                return false;
            }
        }
    }
    return true;
}

static void zoned_explain(const gyre_map_t *m, gy_u128 hash, char *out, size_t size)
{
    const struct zoned *x = m->data;
    char shown[GY_SHOW];
    uint32_t zone = gyre_map_locate_hash(x->outer, (uint64_t)hash);
    snprintf(out, size, "zone %.60s by %s, then by %s within it",
             gy_show(x->outer->nodes[zone].name, shown), x->outer->place->name,
             x->outer->place->name);
}

/* ---- build ---- */

static void zoned_fini(struct gyre_map *m)
{
    struct zoned *x = m->data;
    for (uint32_t i = 0; x->outer && i < x->outer->count; i++) {
        if (x->inner) {
            gyre_map_unref(x->inner[i]);
        }
        if (x->node) {
            gy_mem_free(x->node[i]);
        }
    }
    gyre_map_unref(x->outer);
    gy_mem_free(x->inner);
    gy_mem_free(x->node);
    gy_mem_free(x->at);
    gy_mem_free(x->zone);
    gy_mem_free(x);
}

/* The topology's settings, for one level of the two. */
static gyre_topology_t *level_new(const struct gy_settings *s, uint64_t version)
{
    gyre_topology_t *t = gyre_topology_new();
    if (t) {
        t->settings = *s;
        t->settings.value[GY_SET_LEVEL] = 0;
        t->settings.value[GY_SET_SPREAD] = 0;
        t->version = version;
    }
    return t;
}

/* The zone is a node of the outer map; to whoever reads the message it is none. */
static int check_zone(const struct gyre_node *n, const char *zone, gyre_error_t *e)
{
    char shown[GY_SHOW], zone_shown[GY_SHOW];
    return strlen(zone) <= GY_NAME_MAX
               ? GYRE_OK
               : gy_fail(e, GYRE_RANGE,
                         "node '%s': its zone '%s' is longer than %u bytes, the most with `level`",
                         gy_show(n->name, shown), gy_show(zone, zone_shown), GY_NAME_MAX);
}

/* Zones in name order of their paths' first parts; a node without a path stands in "(none)". */
static int build_outer(struct gyre_map *m, struct zoned *x, const struct gy_settings *s,
                       gyre_error_t *e)
{
    gyre_topology_t *t = level_new(s, m->version);
    int err = t ? GYRE_OK : gy_fail_nomem(e);
    for (uint32_t i = 0; !err && i < m->count; i++) {
        char name[GY_NAME_MAX + 2];
        gy_zone_name(&m->nodes[i], (uint32_t)s->value[GY_SET_LEVEL], name, sizeof name);
        const struct gyre_node *zone = gyre_topology_find(t, name);
        err = check_zone(&m->nodes[i], name, e);
        if (!err && zone) {
            err = gyre_topology_set_weight(t, name, zone->weight + m->nodes[i].weight, e);
        } else if (!err) {
            struct gyre_node n = {.size = sizeof n, .name = name, .weight = m->nodes[i].weight};
            err = gyre_topology_add(t, &n, e);
        }
    }
    err = err ? err : gyre_map_build(t, &x->outer, e);
    gyre_topology_free(t);
    return err;
}

static int build_inner(struct gyre_map *m, struct zoned *x, const struct gy_settings *s,
                       uint32_t zone, gyre_error_t *e)
{
    gyre_topology_t *t = level_new(s, m->version);
    int err = t ? GYRE_OK : gy_fail_nomem(e);
    uint32_t count = 0;
    for (uint32_t i = 0; !err && i < m->count; i++) {
        if (x->zone[i] == zone) {
            x->at[i] = (uint16_t)count++; /* both maps are in name order */
            err = gyre_topology_add(t, &m->nodes[i], e);
        }
    }
    err = err ? err : gyre_map_build(t, &x->inner[zone], e);
    gyre_topology_free(t);
    if (err) {
        return err;
    }
    x->node[zone] = gy_mem_alloc(count, sizeof **x->node);
    if (!x->node[zone]) {
        return gy_fail_nomem(e);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (x->zone[i] == zone) {
            x->node[zone][x->at[i]] = (uint16_t)i;
        }
    }
    m->bytes += gyre_map_bytes(x->inner[zone]) + count * sizeof **x->node;
    return GYRE_OK;
}

static int build_zones(struct gyre_map *m, struct zoned *x, const struct gy_settings *s,
                       gyre_error_t *e)
{
    uint32_t zones = x->outer->count;
    x->inner = gy_mem_alloc(zones, sizeof(gyre_map_t *));
    x->node = gy_mem_alloc(zones, sizeof(uint16_t *));
    x->at = gy_mem_alloc(m->count, sizeof *x->at);
    x->zone = gy_mem_alloc(m->count, sizeof *x->zone);
    for (uint32_t i = 0; i < zones; i++) {
        if (x->inner) {
            x->inner[i] = NULL;
        }
        if (x->node) {
            x->node[i] = NULL;
        }
    }
    if (!x->inner || !x->node || !x->at || !x->zone) {
        return gy_fail_nomem(e);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        char name[GY_NAME_MAX + 2];
        gy_zone_name(&m->nodes[i], (uint32_t)s->value[GY_SET_LEVEL], name, sizeof name);
        x->zone[i] = (uint16_t)gyre_map_find(x->outer, name);
    }
    m->bytes = gyre_map_bytes(x->outer);
    int err = GYRE_OK;
    for (uint32_t i = 0; !err && i < zones; i++) {
        err = build_inner(m, x, s, i, e);
    }
    return err;
}

static int zoned_build(struct gyre_map *m, const void *settings, gyre_error_t *e)
{
    const struct gy_settings *s = settings;
    struct zoned *x = gy_mem_alloc(1, sizeof *x);
    if (!x) {
        return gy_fail_nomem(e);
    }
    *x = (struct zoned){0};
    m->data = x;
    m->steps = m->positive;
    int err = build_outer(m, x, s, e);
    return err ? err : build_zones(m, x, s, e);
}

const struct gy_place gy_place_zoned = {
    .name = "two levels",
    .build = zoned_build,
    .explain = zoned_explain,
    .fini = zoned_fini,
    .locate = zoned_locate,
    .locate_batch = zoned_locate_batch,
    .start = zoned_start,
    .next = zoned_next,
    .share = zoned_share,
    .same = zoned_same,
};
