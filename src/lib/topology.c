/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - nodes and settings before they become a map. Everything is checked on the way in, so
 * that building a map from a topology can fail only for want of memory or for what nodes and
 * settings are together. A failed call leaves the topology as it was. Threads: one at a time.
 */
#include "lib/topology.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"

#define NODES_MAX (1u << 24) /* a topology; a ring takes fewer, and says so */

uint64_t gy_weight_steps(double weight)
{
    return (uint64_t)(weight * GY_WEIGHT_STEPS + 0.5);
}

static int check_weight(const char *name, double *weight, gyre_error_t *e)
{
    char shown[GY_SHOW];
    /* Written so that NaN, for which every comparison is false, is refused. */
    bool fits = *weight >= 1.0 / GY_WEIGHT_STEPS && *weight <= GY_WEIGHT_MAX;
    if (*weight != 0 && !fits) {
        return gy_fail(e, GYRE_RANGE, "node '%s': weight is neither 0 nor from 0.000001 to 1000000",
                       gy_show(name, shown));
    }
    *weight = (double)gy_weight_steps(*weight) / GY_WEIGHT_STEPS;
    return GYRE_OK;
}

static int check_name(const char *name, gyre_error_t *e)
{
    size_t len = name ? strnlen(name, GY_NAME_MAX + 1) : 0;
    if (len == 0) {
        return gy_fail(e, GYRE_INVALID, "a node has no name");
    }
    if (len > GY_NAME_MAX) {
        char shown[GY_SHOW];
        return gy_fail(e, GYRE_RANGE, "node '%s': name is longer than %u bytes",
                       gy_show(name, shown), GY_NAME_MAX);
    }
    return GYRE_OK;
}

/* NULL stays NULL; false only when out of memory. */
static bool copy_text(const char *text, const char **out)
{
    *out = NULL;
    if (text) {
        size_t size = strlen(text) + 1;
        char *copy = gy_mem_alloc(size, 1);
        if (!copy) {
            return false;
        }
        *out = memcpy(copy, text, size);
    }
    return true;
}

static void free_text(const char *text)
{
    union {
        const char *in;
        void *out;
    } drop = {.in = text}; /* ours since copy_text; const only for the reader of struct gyre_node */
    gy_mem_free(drop.out);
}

static void free_node(const struct gyre_node *n)
{
    free_text(n->name);
    free_text(n->address);
    free_text(n->zone);
    free_text(n->options);
}

static int copy_node(const struct gyre_node *from, struct gyre_node *to)
{
    *to = (struct gyre_node){.size = sizeof *to, .weight = from->weight, .slot = from->slot};
    if (copy_text(from->name, &to->name) && copy_text(from->address, &to->address) &&
        copy_text(from->zone, &to->zone) && copy_text(from->options, &to->options)) {
        return GYRE_OK;
    }
    free_node(to);
    return GYRE_NOMEM;
}

/* The slot of a name, or the free slot where it would go. */
static size_t index_slot(const struct gyre_topology *t, const char *name)
{
    size_t mask = t->index_size - 1;
    size_t i = (size_t)gyre_hash_xxh3(name, strlen(name)) & mask;
    while (t->index[i] && strcmp(t->nodes[t->index[i] - 1].name, name) != 0) {
        i = (i + 1) & mask;
    }
    return i;
}

static void index_fill(struct gyre_topology *t)
{
    memset(t->index, 0, t->index_size * sizeof t->index[0]);
    for (size_t i = 0; i < t->count; i++) {
        t->index[index_slot(t, t->nodes[i].name)] = (uint32_t)(i + 1);
    }
}

/* Room for one more node, both in the list and in the index. */
static int reserve(struct gyre_topology *t)
{
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 8;
        struct gyre_node *nodes = gy_mem_grow(t->nodes, room, sizeof *nodes);
        if (!nodes) {
            return GYRE_NOMEM;
        }
        t->nodes = nodes;
        t->room = room;
    }
    if ((t->count + 1) * 2 > t->index_size) {
        size_t size = t->index_size ? t->index_size * 2 : 16;
        uint32_t *index = gy_mem_alloc(size, sizeof *index);
        if (!index) {
            return GYRE_NOMEM;
        }
        gy_mem_free(t->index);
        t->index = index;
        t->index_size = size;
        index_fill(t);
    }
    return GYRE_OK;
}

static struct gyre_node *find(const gyre_topology_t *t, const char *name)
{
    if (t->count == 0) {
        return NULL;
    }
    uint32_t at = t->index[index_slot(t, name)];
    return at ? &t->nodes[at - 1] : NULL;
}

/* The node, or e filled with the nearest known name. */
static struct gyre_node *must_find(const gyre_topology_t *t, const char *name, gyre_error_t *e)
{
    char shown[GY_SHOW], near_shown[GY_SHOW];
    struct gyre_node *n = name ? find(t, name) : NULL;
    const char *near = NULL;
    if (n) {
        return n;
    }
    if (!name) {
        gy_fail(e, GYRE_INVALID, "no node name given");
        return NULL;
    }
    for (size_t i = 0; i < t->count; i++) {
        const char *two[] = {near ? near : t->nodes[i].name, t->nodes[i].name};
        near = gyre_nearest(name, two, 2);
    }
    gy_fail(e, GYRE_UNKNOWN, "no node is called '%s'%s%s%s", gy_show(name, shown),
            near ? "; did you mean '" : "", near ? gy_show(near, near_shown) : "",
            near ? "'?" : "");
    return NULL;
}

gyre_topology_t *gyre_topology_new(void)
{
    gyre_topology_t *t = gy_mem_alloc(1, sizeof *t);
    if (t) {
        *t = (gyre_topology_t){.version = 0};
        gy_settings_init(&t->settings);
    }
    return t;
}

gyre_topology_t *gyre_topology_clone(const gyre_topology_t *t)
{
    gyre_topology_t *copy = gyre_topology_new();
    if (!copy) {
        return NULL;
    }
    copy->version = t->version;
    copy->settings = t->settings;
    copy->secret = t->secret;
    if (gy_removed_copy(&copy->removed, &t->removed)) {
        gyre_topology_free(copy);
        return NULL;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (gyre_topology_add(copy, &t->nodes[i], NULL)) {
            gyre_topology_free(copy);
            return NULL;
        }
    }
    return copy;
}

void gyre_topology_free(gyre_topology_t *t)
{
    if (!t) {
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        free_node(&t->nodes[i]);
    }
    gy_mem_free(t->nodes);
    gy_mem_free(t->index);
    gy_removed_fini(&t->removed);
    gy_secret_wipe(&t->secret);
    gy_mem_free(t);
}

const char *gyre_topology_get(const gyre_topology_t *t, const char *key)
{
    return gy_settings_get(&t->settings, key);
}

void gyre_topology_set_version(gyre_topology_t *t, uint64_t version)
{
    t->version = version;
}

uint64_t gyre_topology_version(const gyre_topology_t *t)
{
    return t->version;
}

int gyre_topology_add(gyre_topology_t *t, const struct gyre_node *node, gyre_error_t *e)
{
    char shown[GY_SHOW];
    if (node->size < offsetof(struct gyre_node, options)) { /* what its first release had */
        return gy_fail(e, GYRE_INVALID, "struct gyre_node: size is not set");
    }
    struct gyre_node checked = {0};
    memcpy(&checked, node, node->size < sizeof checked ? node->size : sizeof checked);
    int err = check_name(node->name, e);
    if (!err) {
        err = gy_slot_check(node->name, checked.slot, e);
        checked.slot = checked.weight > 0 ? checked.slot : 0;
    }
    if (!err) {
        err = check_weight(node->name, &checked.weight, e);
    }
    if (err) {
        return err;
    }
    if (find(t, node->name)) {
        return gy_fail(e, GYRE_DUPLICATE, "two nodes are called '%s'", gy_show(node->name, shown));
    }
    if (t->count == NODES_MAX) {
        return gy_fail(e, GYRE_RANGE, "more than %u nodes", NODES_MAX);
    }
    if (reserve(t) || copy_node(&checked, &t->nodes[t->count])) {
        return gy_fail_nomem(e);
    }
    t->count++;
    t->index[index_slot(t, node->name)] = (uint32_t)t->count;
    gy_removed_drop(&t->removed, checked.slot);
    return GYRE_OK;
}

int gyre_topology_remove(gyre_topology_t *t, const char *name, gyre_error_t *e)
{
    struct gyre_node *n = must_find(t, name, e);
    if (!n) {
        return name ? GYRE_UNKNOWN : GYRE_INVALID;
    }
    if (gy_topology_give_up(t, n->slot)) {
        return gy_fail_nomem(e);
    }
    size_t i = (size_t)(n - t->nodes);
    free_node(n);
    memmove(n, n + 1, (t->count - i - 1) * sizeof *n);
    t->count--;
    index_fill(t);
    return GYRE_OK;
}

int gyre_topology_set_weight(gyre_topology_t *t, const char *name, double weight, gyre_error_t *e)
{
    struct gyre_node *n = must_find(t, name, e);
    if (!n) {
        return name ? GYRE_UNKNOWN : GYRE_INVALID;
    }
    int err = check_weight(name, &weight, e);
    if (err) {
        return err;
    }
    if (weight == 0 && gy_topology_give_up(t, n->slot)) {
        return gy_fail_nomem(e);
    }
    n->slot = weight > 0 ? n->slot : 0;
    n->weight = weight;
    return GYRE_OK;
}

int gyre_topology_set_address(gyre_topology_t *t, const char *name, const char *address,
                              gyre_error_t *e)
{
    const char *copy;
    struct gyre_node *n = must_find(t, name, e);
    if (!n) {
        return name ? GYRE_UNKNOWN : GYRE_INVALID;
    }
    if (!copy_text(address, &copy)) {
        return gy_fail_nomem(e);
    }
    free_text(n->address);
    n->address = copy;
    return GYRE_OK;
}

int gyre_topology_set_slot(gyre_topology_t *t, const char *name, uint32_t slot, gyre_error_t *e)
{
    struct gyre_node *n = must_find(t, name, e);
    if (!n) {
        return name ? GYRE_UNKNOWN : GYRE_INVALID;
    }
    int err = gy_slot_check(name, slot, e);
    if (!err && slot && n->weight == 0) {
        char shown[GY_SHOW];
        err = gy_fail(e, GYRE_INVALID, "node '%s' is drained: it holds no slot",
                      gy_show(name, shown));
    }
    if (!err && gy_topology_move_slot(t, n, slot)) {
        err = gy_fail_nomem(e);
    }
    return err;
}

size_t gyre_topology_count(const gyre_topology_t *t)
{
    return t->count;
}

const struct gyre_node *gyre_topology_node(const gyre_topology_t *t, size_t i)
{
    return i < t->count ? &t->nodes[i] : NULL;
}

const struct gyre_node *gyre_topology_find(const gyre_topology_t *t, const char *name)
{
    return name ? find(t, name) : NULL;
}
