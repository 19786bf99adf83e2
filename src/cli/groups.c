/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - see groups.h. */
#include "cli/groups.h"
#include "cli/table.h"
#include "formats/address.h"

#include <stdlib.h>

/* Which group a node belongs to; empty: none. */
static struct gy_slice group_of(const struct gyre_node *n, enum gy_group_by by)
{
    if (by == GY_BY_HOST) {
        return n->address ? gy_address_host(n->address) : (struct gy_slice){NULL, 0};
    }
    if (!n->zone) {
        return (struct gy_slice){NULL, 0};
    }
    size_t len = strcspn(n->zone, "/");
    if (n->zone[len]) {
        len += 1 + strcspn(n->zone + len + 1, "/");
    }
    return (struct gy_slice){(const uint8_t *)n->zone, len};
}

static int by_name(const void *a, const void *b)
{
    const struct gy_group *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Groups of one node each, sorted, are then folded into one where the name is the same. */
static void fold(struct gy_groups *g)
{
    size_t w = 0;
    qsort(g->list, g->count, sizeof *g->list, by_name);
    for (size_t i = 0; i < g->count; i++) {
        struct gy_group *last = w ? &g->list[w - 1] : NULL;
        if (last && strcmp(last->name, g->list[i].name) == 0) {
            last->nodes += g->list[i].nodes;
            last->keys += g->list[i].keys;
            last->weight += g->list[i].weight;
            last->share += g->list[i].share;
            free(g->list[i].name);
        } else {
            g->list[w++] = g->list[i];
        }
    }
    g->count = w;
}

int gy_groups_make(const gyre_map_t *map, const uint64_t *keys, enum gy_group_by by,
                   struct gy_groups *out)
{
    uint32_t n = gyre_map_count(map);
    *out = (struct gy_groups){.list = calloc(n ? n : 1, sizeof *out->list)};
    if (!out->list) {
        return GYRE_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct gyre_node *node = gyre_map_node(map, i);
        struct gy_slice name = group_of(node, by);
        if (!name.n) {
            out->ungrouped++;
            continue;
        }
        char *copy = gy_slice_dup(name);
        if (!copy) {
            gy_groups_fini(out);
            return GYRE_NOMEM;
        }
        out->list[out->count++] =
            (struct gy_group){copy, 1, keys ? keys[i] : 0, node->weight, gyre_map_share(map, i)};
    }
    fold(out);
    return GYRE_OK;
}

void gy_groups_fini(struct gy_groups *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free(g->list[i].name);
    }
    free(g->list);
    *g = (struct gy_groups){0};
}

void gy_groups_table(const struct gy_groups *g, const char *head, uint64_t keys_total,
                     struct gy_buf *out)
{
    const char *heads[] = {head,         ">NODES", ">WEIGHT", ">SHARE", keys_total ? ">KEYS" : NULL,
                           ">KEY SHARE", NULL};
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t i = 0; i < g->count; i++) {
        const struct gy_group *x = &g->list[i];
        gy_table_cell(&t, x->name);
        gy_table_format(&t, "%llu", (unsigned long long)x->nodes);
        gy_table_format(&t, "%.6g", x->weight);
        gy_table_format(&t, "%.2f %%", 100 * x->share);
        if (keys_total) {
            gy_table_format(&t, "%llu", (unsigned long long)x->keys);
            gy_table_format(&t, "%.2f %%", 100 * (double)x->keys / (double)keys_total);
        }
    }
    gy_table_end(&t, out);
}

void gy_groups_json(const struct gy_groups *g, struct gy_json *j, const char *key,
                    const char *name_key, bool measured, uint64_t keys_total)
{
    gy_json_key(j, key);
    gy_json_array(j);
    for (size_t i = 0; i < g->count; i++) {
        const struct gy_group *x = &g->list[i];
        gy_json_object(j);
        gy_json_kstring(j, name_key, x->name);
        gy_json_kuint(j, "nodes", x->nodes);
        gy_json_kdouble(j, "weight", x->weight);
        gy_json_kdouble(j, "share", x->share);
        if (measured) {
            gy_json_kuint(j, "keys", x->keys);
            gy_json_kdouble(j, "key_share", keys_total ? (double)x->keys / (double)keys_total : 0);
        }
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}
