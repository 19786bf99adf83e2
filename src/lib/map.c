/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - builds a map from a topology and keeps it alive. A map copies all it needs: the topology
 * may change or go the moment gyre_map_build returns. Threads: build and the last unref one thread,
 * everything between any.
 */
#include "lib/map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/like/like.h"

uint64_t gy_point_count(uint64_t weight, uint32_t per_unit)
{
    uint64_t n = (weight * per_unit + GY_WEIGHT_STEPS / 2) / GY_WEIGHT_STEPS;
    return weight == 0 ? 0 : n ? n : 1;
}

struct by_name {
    const struct gyre_node *node;
    uint32_t order;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct by_name *)a)->node->name, ((const struct by_name *)b)->node->name);
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *put_text(const char *text, char **at)
{
    if (!text) {
        return NULL;
    }
    char *to = *at;
    size_t size = text_size(text);
    *at += size;
    return memcpy(to, text, size);
}

static void copy_nodes(struct gyre_map *m, const struct by_name *sorted)
{
    char *at = m->text;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct gyre_node *from = sorted[i].node;
        m->nodes[i] = (struct gyre_node){.size = sizeof *from,
                                         .name = put_text(from->name, &at),
                                         .address = put_text(from->address, &at),
                                         .weight = from->weight,
                                         .zone = put_text(from->zone, &at),
                                         .options = put_text(from->options, &at),
                                         .slot = from->slot};
        m->weight[i] = gy_weight_steps(from->weight);
        m->order[i] = sorted[i].order;
        m->positive += m->weight[i] != 0;
        m->heavy += m->weight[i];
        m->points[i] = 0;
        m->owned[i] = 0;
    }
}

static int take_nodes(struct gyre_map *m, const gyre_topology_t *t, gyre_error_t *e)
{
    if (t->count > GY_MAP_NODES_MAX) {
        return gy_fail(e, GYRE_RANGE, "%zu nodes; a map holds at most %u", t->count,
                       GY_MAP_NODES_MAX);
    }
    m->count = (uint32_t)t->count;
    size_t text = 0;
    struct by_name *sorted = gy_mem_alloc(t->count, sizeof *sorted);
    for (uint32_t i = 0; sorted && i < m->count; i++) {
        const struct gyre_node *n = &t->nodes[i];
        sorted[i] = (struct by_name){n, i};
        text +=
            text_size(n->name) + text_size(n->address) + text_size(n->zone) + text_size(n->options);
    }
    m->nodes = gy_mem_alloc(t->count, sizeof *m->nodes);
    m->text = gy_mem_alloc(text, 1);
    m->weight = gy_mem_alloc(t->count, sizeof *m->weight);
    m->order = gy_mem_alloc(t->count, sizeof *m->order);
    m->points = gy_mem_alloc(t->count, sizeof *m->points);
    m->owned = gy_mem_alloc(t->count, sizeof *m->owned);
    int err = GYRE_NOMEM;
    if (sorted && m->nodes && m->text && m->weight && m->order && m->points && m->owned) {
        qsort(sorted, t->count, sizeof *sorted, compare_names);
        copy_nodes(m, sorted);
        err = GYRE_OK;
    }
    gy_mem_free(sorted);
    return err ? gy_fail_nomem(e) : GYRE_OK;
}

/* In the order of enum GY_ALGORITHM_. */
static const struct gy_place *const own_places[] = {
    &gy_place_ring, &gy_place_modulo,   &gy_place_rendezvous, &gy_place_maglev, &gy_place_slots,
    &gy_place_jump, &gy_place_jumpback, &gy_place_memento,    &gy_place_dx,
};

static void take_settings(struct gyre_map *m, const gyre_topology_t *t,
                          const struct gy_sample_rule *rule)
{
    const struct gy_settings *s = &t->settings;
    m->version = t->version;
    m->simd = gy_simd_best();
    m->replicas = (uint32_t)s->value[GY_SET_REPLICAS];
    m->spread = (uint32_t)s->value[GY_SET_SPREAD];
    m->per_unit = (uint32_t)s->value[rule ? GY_SET_VNODES : GY_SET_POINTS];
    m->hash = rule ? rule->hash : &gy_hash_xxh3;
    m->hash_bits = rule ? rule->hash_bits : 64;
    m->position_bits = rule ? rule->hash_bits : 32;
    m->after = rule && rule->after;
    memcpy(m->tag, gy_settings_tag(s), strlen(gy_settings_tag(s)) + 1);
    m->table = (uint32_t)s->value[GY_SET_TABLE];
    m->capacity = (uint32_t)s->value[GY_SET_CAPACITY];
    m->heaviest = (uint32_t)s->value[GY_SET_HEAVIEST];
    m->place = own_places[s->value[GY_SET_ALGORITHM]];
    if (rule && m->place == &gy_place_ring) {
        m->place = &gy_place_sample;
    } else if (s->value[GY_SET_LEVEL]) {
        m->place = &gy_place_zoned;
    }
}

/* What the settings' own tables cannot say. */
static int check_together(const gyre_topology_t *t, const struct gy_sample_rule *rule,
                          gyre_error_t *e)
{
    const struct gy_settings *s = &t->settings;
    uint64_t algorithm = s->value[GY_SET_ALGORITHM];
    bool plain = algorithm == GY_ALGORITHM_RING || algorithm == GY_ALGORITHM_MODULO;
    if (rule && (!plain || s->value[GY_SET_LEVEL])) {
        return gy_fail(e, GYRE_UNSUPPORTED, "like: sample is a ring or modulo, of one level");
    }
    if (s->value[GY_SET_LEVEL] && (algorithm == GY_ALGORITHM_MODULO || gy_topology_numbered(t))) {
        return gy_fail(e, GYRE_UNSUPPORTED,
                       "%s does not go in two levels (level: %s); "
                       "ring, rendezvous, maglev and slots do",
                       own_places[algorithm]->name, s->text[GY_SET_LEVEL]);
    }
    return GYRE_OK;
}

static int build_place(struct gyre_map *m, const gyre_topology_t *t,
                       const struct gy_sample_rule *rule, const struct gy_like *like,
                       gyre_error_t *e)
{
    if (m->place->numbered && gy_removed_copy(&m->removed, &t->removed)) {
        return gy_fail_nomem(e);
    }
    if (like && like->build) {
        return gy_like_build(m, &t->settings, e);
    }
    bool zoned = m->place == &gy_place_zoned;
    const void *how = zoned ? (const void *)&t->settings : rule;
    return m->positive ? m->place->build(m, how, e) : GYRE_OK;
}

int gy_map_build_rule(const gyre_topology_t *t, const struct gy_sample_rule *rule, gyre_map_t **out,
                      gyre_error_t *e)
{
    *out = NULL;
    struct gyre_map *m = gy_mem_alloc(1, sizeof *m);
    if (!m) {
        return gy_fail_nomem(e);
    }
    memset(m, 0, sizeof *m);
    atomic_init(&m->refs, 1);
    m->whole = GYRE_NONE;
    bool given = rule != NULL;
    if (!given && t->settings.value[GY_SET_LIKE] == GY_LIKE_SAMPLE) {
        rule = &gy_sample_rules[t->settings.value[GY_SET_MODE]];
    }
    take_settings(m, t, rule);
    int err = gy_settings_check(&t->settings, e);
    err = err ? err : check_together(t, rule, e);
    err = err || given ? err : gy_secret_take(m, t, e);
    err = err ? err : take_nodes(m, t, e);
    err = err ? err : gy_like_check_nodes(m, &t->settings, e);
    err =
        err ? err
            : build_place(m, t, rule, given ? NULL : gy_like_of(t->settings.value[GY_SET_LIKE]), e);
    if (!err && m->spread) {
        err = gy_zones_build(m) ? gy_fail_nomem(e) : GYRE_OK;
    }
    if (err) {
        gyre_map_unref(m);
        return err;
    }
    gy_map_settle(m);
    *out = m;
    return GYRE_OK;
}

int gyre_map_build(const gyre_topology_t *t, gyre_map_t **out, gyre_error_t *e)
{
    return gy_map_build_rule(t, NULL, out, e);
}

gyre_map_t *gyre_map_ref(gyre_map_t *m)
{
    /* Relaxed: who takes a reference already holds one, so nothing has to be made visible. */
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void gyre_map_unref(gyre_map_t *m)
{
    /* Release: our last reads come before the count drops. Acquire, in the thread that frees: the
     * reads of all others are over. */
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (m->data) {
        m->place->fini(m);
    }
    gy_mem_free(m->context);
    gy_mem_free(m->nodes);
    gy_mem_free(m->text);
    gy_mem_free(m->weight);
    gy_mem_free(m->order);
    gy_mem_free(m->points);
    gy_mem_free(m->owned);
    gy_mem_free(m->zone);
    gy_mem_free(m->zone_size);
    gy_mem_free(m->zone_node);
    gy_removed_fini(&m->removed);
    gy_secret_wipe(&m->secret);
    gy_mem_free(m);
}

uint32_t gyre_map_count(const gyre_map_t *m)
{
    return m->count;
}

const struct gyre_node *gyre_map_node(const gyre_map_t *m, uint32_t i)
{
    return i < m->count ? &m->nodes[i] : NULL;
}

uint32_t gyre_map_find(const gyre_map_t *m, const char *name)
{
    uint32_t low = 0, high = m->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = strcmp(m->nodes[mid].name, name);
        if (order == 0) {
            return mid;
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return GYRE_NONE;
}

uint64_t gyre_map_version(const gyre_map_t *m)
{
    return m->version;
}

uint64_t gyre_map_points(const gyre_map_t *m)
{
    return m->place->ring ? m->steps : 0;
}

size_t gyre_map_bytes(const gyre_map_t *m)
{
    return m->bytes;
}
