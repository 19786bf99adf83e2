/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_show.c - the steps from a key to its nodes, as text and as JSON: what is hashed, the
 * hash, the point on the ring (or the rule, where there is no ring), its owner, the walk from there
 * over nodes and zones, and who answers when the owner is down. Threads: main only.
 */
#include "base/json.h"
#include "cli/explain.h"
#include "cli/replica_set.h"
#include "cli/table.h"
#include "cli/term.h"

#include <stdio.h>

#define WALK_SHOWN 8 /* nodes of the walk in the table, unless more replicas are asked for */
#define HEX_TEXT   40

static bool is_chosen(const struct gy_explain *x, uint32_t node, size_t *place)
{
    for (*place = 0; *place < x->chosen_count; ++*place) {
        if (x->chosen[*place] == node) {
            return true;
        }
    }
    return false;
}

static uint32_t when_down(const struct gy_explain *x)
{
    return x->walk_count > 1 ? x->walk[1] : GYRE_NONE;
}

static const struct gyre_node *node_at(const struct gy_explain *x, uint32_t i)
{
    return gyre_map_node(x->topo.map, i);
}

/* A position or hash of so many bits in hexadecimal. */
static char *hex(char out[HEX_TEXT], unsigned bits, uint64_t hi, uint64_t lo)
{
    if (bits > 64) {
        snprintf(out, HEX_TEXT, "0x%016llx%016llx", (unsigned long long)hi, (unsigned long long)lo);
    } else {
        snprintf(out, HEX_TEXT, "0x%0*llx", (int)bits / 4, (unsigned long long)lo);
    }
    return out;
}

/* Gyre's own ring keeps the top 32 bits of a 64-bit hash as position; an imitated one all of it. */
static unsigned position_bits(const struct gy_explain *x)
{
    if (x->x.hash_bits > 64) {
        return x->x.hash_bits;
    }
    bool narrow = x->x.position_lo <= UINT32_MAX && x->x.point_lo <= UINT32_MAX;
    return x->like ? x->x.hash_bits : narrow ? 32 : 64;
}

/* ---- as text ---- */

static void label(struct gy_buf *out, const char *text)
{
    gy_buf_puts(out, text);
    gy_buf_printf(out, "%*s", (int)(12 - strlen(text)), "");
}

static void text_bytes(struct gy_buf *out, const struct gy_explain *x, struct gy_slice text)
{
    if (x->encoded || x->from.recipe) { /* a made key has line feeds in it */
        gy_term_encode(out, text);
    } else {
        gy_term_text(out, text);
    }
}

static void text_node(struct gy_buf *out, const struct gyre_node *n)
{
    gy_term_encode(out, gy_str(n->name));
    if (n->address) {
        gy_buf_printf(out, "  %s", n->address);
    }
    if (n->zone) {
        gy_buf_puts(out, "  zone ");
        gy_term_encode(out, gy_str(n->zone));
    }
    gy_buf_putc(out, '\n');
}

static void text_hash(struct gy_buf *out, const struct gy_explain *x)
{
    char h[HEX_TEXT];
    struct gy_slice part = {x->x.part, x->x.part_len};
    if (x->from.recipe) {
        label(out, "url");
        gy_term_text(out, x->url);
        gy_buf_putc(out, '\n');
    }
    label(out, "key");
    text_bytes(out, x, x->key);
    gy_buf_printf(out, "  (%zu byte%s)\n", x->key.n, x->key.n == 1 ? "" : "s");
    label(out, "hashed");
    text_bytes(out, x, part);
    gy_buf_puts(out, part.n == x->key.n ? "  (the whole key)\n" : "  (what the tag holds)\n");
    label(out, "hash");
    gy_buf_printf(out, "%s  (%s%s%s, %u bits)\n",
                  hex(h, x->x.hash_bits, x->x.hash_hi, x->x.hash_lo), x->like ? x->like : "",
                  x->like && *x->hash ? " " : "", x->hash, x->x.hash_bits);
}

static void text_point(struct gy_buf *out, const struct gy_explain *x)
{
    char h[HEX_TEXT];
    unsigned bits = position_bits(x);
    if (*x->x.rule) {
        label(out, "rule");
        gy_buf_printf(out, "%s\n", x->x.rule);
    }
    uint64_t slot, none, slots = gyre_map_slots(x->topo.map);
    if (slots && gyre_map_position(x->topo.map, x->key.p, x->key.n, &none, &slot)) {
        label(out, "slot");
        gy_buf_printf(out, "%llu of %llu\n", (unsigned long long)slot, (unsigned long long)slots);
    }
    /* A table's entries stand in a row as points do, but nobody walks along it from the hash. */
    if (!x->x.has_point || *x->x.rule) {
        return;
    }
    label(out, "position");
    gy_buf_printf(out, "%s on the ring\n", hex(h, bits, x->x.position_hi, x->x.position_lo));
    label(out, "point");
    gy_buf_printf(out, "%s, number %llu of %llu%s\n", hex(h, bits, x->x.point_hi, x->x.point_lo),
                  (unsigned long long)x->x.point_index,
                  (unsigned long long)gyre_map_points(x->topo.map),
                  x->x.wrapped ? " (past the end of the ring, so its first)" : "");
}

static bool is_down(const struct gy_explain *x, uint32_t node)
{
    return x->down_from.count && x->down.node[node];
}

/* What a node of the walk is to the key. */
static void text_part(const struct gy_explain *x, uint32_t node, size_t taken, struct gy_table *t)
{
    size_t place;
    if (is_down(x, node)) {
        gy_table_cell(t, node == x->x.node ? "owner, down" : "down");
    } else if (!is_chosen(x, node, &place)) {
        gy_table_cell(t, taken < x->chosen_count ? "no: zone taken already" : "no");
    } else if (place == 0) {
        gy_table_cell(t, node == x->x.node ? "owner" : "answers for the owner");
    } else {
        gy_table_format(t, "copy %zu", place + 1);
    }
}

static void text_walk(struct gy_buf *out, const struct gy_explain *x)
{
    static const char *const heads[] = {">STEP", "NODE", "ADDRESS", "ZONE", "HOLDS THE KEY", NULL};
    struct gy_table t;
    size_t shown = x->replicas + 1 > WALK_SHOWN ? (size_t)x->replicas + 1 : WALK_SHOWN, taken = 0;
    gy_buf_putc(out, '\n');
    gy_table_init(&t, heads);
    for (size_t i = 0; i < x->walk_count && (i < shown || taken < x->chosen_count); i++) {
        size_t place;
        const struct gyre_node *n = node_at(x, x->walk[i]);
        bool chosen = is_chosen(x, x->walk[i], &place);
        taken += chosen;
        gy_table_format(&t, "%zu", i + 1);
        gy_table_cell(&t, n->name);
        gy_table_cell(&t, n->address);
        gy_table_cell(&t, n->zone);
        text_part(x, x->walk[i], taken, &t);
    }
    gy_table_end(&t, out);
    if (x->walk_count > shown) {
        gy_buf_printf(out, "... and %zu more nodes\n", x->walk_count - shown);
    }
}

static void text_heir(struct gy_buf *out, const struct gy_explain *x)
{
    if (x->master) {
        label(out, "if down");
        gy_standby_text(x->topo.pool, x->master, out);
        return;
    }
    label(out, "if down");
    if (when_down(x) == GYRE_NONE) {
        gy_buf_puts(out, "nobody: there is no other node\n");
    } else {
        text_node(out, node_at(x, when_down(x)));
    }
}

/* With --down: who answers while those are. */
static void text_serves(struct gy_buf *out, const struct gy_explain *x)
{
    const struct gy_server *s = x->master;
    label(out, "answers now");
    if (s) {
        s = x->down.server[s - x->topo.pool->servers] ? gy_standby(x->topo.pool, s, &x->down) : s;
        gy_term_encode(out, gy_str(s ? s->name : "nobody: master and replicas are down"));
        gy_buf_putc(out, '\n');
    } else if (x->serves == GYRE_NONE) {
        gy_buf_puts(out, "nobody: all nodes are down\n");
    } else {
        text_node(out, node_at(x, x->serves));
    }
}

void gy_explain_text(struct gy_buf *out, const struct gy_explain *x)
{
    text_hash(out, x);
    text_point(out, x);
    label(out, "owner");
    text_node(out, node_at(x, x->x.node));
    text_heir(out, x);
    if (x->down_from.count) {
        text_serves(out, x);
    }
    if (x->master) {
        gy_replica_set_text(x->topo.pool, x->master, x->down_from.count ? &x->down : NULL, out);
        return;
    }
    text_walk(out, x);
    if (x->flags & GYRE_REPLICAS_SHORT) {
        gy_buf_puts(out, "degraded: fewer nodes than copies asked for\n");
    }
    if (x->flags & GYRE_REPLICAS_SPREAD) {
        gy_buf_puts(out, "degraded: too few zones, so one holds two copies\n");
    }
}

/* ---- as JSON ---- */

static void json_bytes(struct gy_json *j, const char *key, struct gy_slice text)
{
    gy_json_key(j, key);
    gy_json_bytes(j, text.p, text.n);
}

static void json_node(struct gy_json *j, const struct gyre_node *n)
{
    gy_json_object(j);
    gy_json_kstring(j, "name", n->name);
    gy_json_kstring(j, "address", n->address);
    gy_json_kstring(j, "zone", n->zone);
    gy_json_object_end(j);
}

static void json_point(struct gy_json *j, const struct gy_explain *x)
{
    char h[HEX_TEXT];
    unsigned bits = position_bits(x);
    gy_json_kstring(j, "hash", hex(h, x->x.hash_bits, x->x.hash_hi, x->x.hash_lo));
    gy_json_kstring(j, "hash_function", x->hash);
    gy_json_kstring(j, "like", x->like);
    gy_json_kuint(j, "hash_bits", x->x.hash_bits);
    if (*x->x.rule) {
        gy_json_kstring(j, "rule", x->x.rule);
    }
    uint64_t slot, none, slots = gyre_map_slots(x->topo.map);
    if (slots && gyre_map_position(x->topo.map, x->key.p, x->key.n, &none, &slot)) {
        gy_json_kuint(j, "slot", slot);
        gy_json_kuint(j, "slots", slots);
    }
    if (x->x.has_point) {
        gy_json_kstring(j, "position", hex(h, bits, x->x.position_hi, x->x.position_lo));
        gy_json_kstring(j, "point", hex(h, bits, x->x.point_hi, x->x.point_lo));
        gy_json_kuint(j, "point_index", x->x.point_index);
        gy_json_kuint(j, "points", gyre_map_points(x->topo.map));
        gy_json_kbool(j, "wrapped", x->x.wrapped);
    }
}

static void json_walk(struct gy_json *j, const struct gy_explain *x)
{
    gy_json_key(j, "replicas");
    gy_json_array(j);
    for (size_t i = 0; i < x->chosen_count; i++) {
        gy_json_string(j, node_at(x, x->chosen[i])->name);
    }
    gy_json_array_end(j);
    gy_json_key(j, "walk");
    gy_json_array(j);
    for (size_t i = 0; i < x->walk_count; i++) {
        json_node(j, node_at(x, x->walk[i]));
    }
    gy_json_array_end(j);
    gy_json_kbool(j, "short", (x->flags & GYRE_REPLICAS_SHORT) != 0);
    gy_json_kbool(j, "zones_repeat", (x->flags & GYRE_REPLICAS_SPREAD) != 0);
}

static void json_server(struct gy_json *j, const struct gy_server *s)
{
    if (!s) {
        gy_json_null(j);
        return;
    }
    json_node(j, &(struct gyre_node){.name = s->name, .address = s->address, .zone = s->zone});
}

static void json_heirs(struct gy_json *j, const struct gy_explain *x)
{
    const struct gy_pool *p = x->topo.pool;
    gy_json_key(j, "if_down");
    if (x->master) {
        json_server(j, gy_standby(p, x->master, NULL));
    } else if (when_down(x) == GYRE_NONE) {
        gy_json_null(j);
    } else {
        json_node(j, node_at(x, when_down(x)));
    }
    if (!x->down_from.count) {
        return;
    }
    gy_json_key(j, "answers");
    if (x->master) {
        bool down = x->down.server[x->master - p->servers];
        json_server(j, down ? gy_standby(p, x->master, &x->down) : x->master);
    } else if (x->serves == GYRE_NONE) {
        gy_json_null(j);
    } else {
        json_node(j, node_at(x, x->serves));
    }
}

void gy_explain_json(struct gy_buf *out, const struct gy_explain *x)
{
    struct gy_json j;
    gy_json_init(&j, out);
    gy_json_object(&j);
    if (x->from.recipe) {
        json_bytes(&j, "url", x->url);
    }
    json_bytes(&j, "key", x->key);
    json_bytes(&j, "hashed", (struct gy_slice){x->x.part, x->x.part_len});
    json_point(&j, x);
    gy_json_key(&j, "owner");
    json_node(&j, node_at(x, x->x.node));
    json_heirs(&j, x);
    json_walk(&j, x);
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}
