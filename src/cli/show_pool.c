/* SPDX-License-Identifier: Apache-2.0 */
/* show_pool.c - see show_pool.h. */
#include "cli/show_pool.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/topo.h"
#include "lib/readers.h"

#include <stdio.h>

#define OWNED_SHOWN 40 /* columns of a list of slots or tokens */

/* "down, self", or nothing. */
static void states_text(const struct gy_server *s, struct gy_buf *out)
{
    for (unsigned bit = 0; bit < GY_STATE_COUNT; bit++) {
        if (s->states & (1u << bit)) {
            gy_buf_puts(out, gy_buf_size(out) ? ", " : "");
            gy_buf_puts(out, gy_state_name((enum gy_state_bit)bit));
        }
    }
}

static void role_text(const struct gy_pool *p, const struct gy_server *s, struct gy_buf *out)
{
    const struct gy_server *primary = s->replica_of ? gy_pool_find_id(p, s->replica_of) : NULL;
    if (s->role == GY_ROLE_REPLICA) {
        gy_buf_printf(out, "of %s", primary ? primary->name : s->replica_of ? s->replica_of : "-");
    } else {
        gy_buf_puts(out, s->role ? gy_role_name(s->role) : "-");
    }
}

static void owned_text(const struct gy_server *s, struct gy_buf *out)
{
    uint32_t count = s->slots ? s->slots : s->tokens > 1 ? s->tokens : 0;
    if (!s->owned) {
        if (s->slots) {
            gy_buf_printf(out, "%u", s->slots);
        } else {
            gy_buf_putc(out, '-');
        }
        return;
    }
    if (count) {
        gy_buf_printf(out, "%u: ", count);
    }
    size_t n = strlen(s->owned);
    gy_buf_add(out, s->owned, n < OWNED_SHOWN ? n : OWNED_SHOWN);
    gy_buf_puts(out, n > OWNED_SHOWN ? "..." : "");
}

/* Columns appear only where some server has something to say in them. */
static void servers_text(const struct gy_pool *p, struct gy_buf *out)
{
    bool zones = false, roles = false, states = false, owned = false, printed = false;
    for (size_t i = 0; i < p->server_count; i++) {
        zones |= p->servers[i].zone != NULL;
        roles |= p->servers[i].role != GY_ROLE_NONE;
        states |= p->servers[i].states != 0;
        owned |= p->servers[i].owned != NULL || p->servers[i].slots;
        printed |= p->servers[i].reported != NULL;
    }
    const char *heads[9] = {"SERVER", "ADDRESS", ">WEIGHT"};
    size_t n = 3;
    heads[n] = zones ? "ZONE" : NULL;
    n += zones;
    heads[n] = roles ? "ROLE" : NULL;
    n += roles;
    heads[n] = states ? "STATE" : NULL;
    n += states;
    heads[n] = printed ? ">PRINTED" : NULL; /* the share that the file itself has */
    n += printed;
    heads[n] = owned ? "OWNS" : NULL;
    struct gy_table t;
    gy_table_init(&t, heads);
    for (size_t i = 0; i < p->server_count; i++) {
        const struct gy_server *s = &p->servers[i];
        struct gy_buf role = {0}, state = {0}, owns = {0};
        role_text(p, s, &role);
        states_text(s, &state);
        owned_text(s, &owns);
        gy_table_cell(&t, s->name);
        gy_table_cell(&t, s->address);
        gy_table_format(&t, "%.6g", s->weight);
        if (zones) {
            gy_table_cell(&t, s->zone);
        }
        if (roles) {
            gy_table_cell(&t, gy_buf_cstr(&role));
        }
        if (states) {
            gy_table_cell(&t, gy_buf_size(&state) ? gy_buf_cstr(&state) : NULL);
        }
        if (printed) {
            gy_table_format(&t, "%s", s->reported ? s->reported : "-");
        }
        if (owned) {
            gy_table_cell(&t, gy_buf_cstr(&owns));
        }
        gy_buf_fini(&role);
        gy_buf_fini(&state);
        gy_buf_fini(&owns);
    }
    gy_table_end(&t, out);
}

static void settings_text(const struct gy_pool *p, struct gy_buf *out)
{
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    const char *like = gyre_topology_get(p->config->topology, "like");
    gy_buf_printf(out, "placement: %s %s", *like ? "like" : "algorithm",
                  *like ? like : gyre_topology_get(p->config->topology, "algorithm"));
    for (size_t i = 0; i < n; i++) {
        const char *key = all[i].key, *value = gyre_topology_get(p->config->topology, key);
        bool own = *value && strcmp(value, all[i].fallback) != 0 &&
                   gy_readers_check(p->config->topology, key, NULL) == GYRE_OK;
        if (own && strcmp(key, "like") != 0 && strcmp(key, "algorithm") != 0) {
            gy_buf_printf(out, ", %s ", key);
            gy_term_text(out, gy_str(value));
        }
    }
    gy_buf_putc(out, '\n');
}

static void notes_text(const struct gy_pool *p, struct gy_buf *out)
{
    for (size_t i = 0; i < p->note_count; i++) {
        const struct gy_note *n = &p->notes[i];
        if (n->level == GY_LEVEL_WARNING) {
            gy_term_tint(out, GY_TINT_BAD, "warning");
        } else {
            gy_buf_puts(out, "note");
        }
        if (n->line) {
            gy_buf_printf(out, ", line %u", n->line);
        }
        gy_buf_puts(out, ": ");
        gy_term_text(out, gy_str(n->text));
        gy_buf_putc(out, '\n');
    }
}

void gy_show_pool_text(const struct gy_pool *p, struct gy_buf *out)
{
    if (*p->name) {
        gy_buf_puts(out, "pool ");
        gy_term_tint(out, GY_TINT_BOLD, p->name);
        gy_buf_putc(out, '\n');
    }
    if (p->config) {
        settings_text(p, out);
    } else {
        gy_buf_puts(out, "not placed: ");
        gy_term_text(out, gy_str(p->why));
        gy_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < p->fact_count; i++) {
        gy_buf_printf(out, "%s: ", p->facts[i].key);
        gy_term_text(out, *p->facts[i].value ? gy_str(p->facts[i].value) : GY_LIT("none"));
        gy_buf_putc(out, '\n');
    }
    if (p->server_count) {
        gy_buf_putc(out, '\n');
        servers_text(p, out);
    }
    gy_buf_puts(out, p->note_count ? "\n" : "");
    notes_text(p, out);
}

/* ---- as JSON ---- */

static void json_states(const struct gy_server *s, struct gy_json *j)
{
    gy_json_key(j, "states");
    gy_json_array(j);
    for (unsigned bit = 0; bit < GY_STATE_COUNT; bit++) {
        if (s->states & (1u << bit)) {
            gy_json_string(j, gy_state_name((enum gy_state_bit)bit));
        }
    }
    gy_json_array_end(j);
}

static void json_open(const struct gy_server *s, struct gy_json *j)
{
    gy_json_key(j, "open_slots");
    gy_json_array(j);
    for (size_t i = 0; i < s->open_count; i++) {
        gy_json_object(j);
        gy_json_kuint(j, "slot", s->open[i].slot);
        gy_json_kstring(j, s->open[i].importing ? "importing_from" : "migrating_to",
                        s->open[i].peer);
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}

static void json_server(const struct gy_server *s, struct gy_json *j)
{
    gy_json_object(j);
    gy_json_kstring(j, "name", s->name);
    gy_json_kstring(j, "address", s->address);
    gy_json_kstring(j, "zone", s->zone);
    gy_json_kdouble(j, "weight", s->weight);
    gy_json_kbool(j, "is_node", s->is_node);
    gy_json_kuint(j, "line", s->line);
    gy_json_kstring(j, "id", s->id);
    gy_json_kstring(j, "role", gy_role_name(s->role));
    gy_json_kstring(j, "replica_of", s->replica_of);
    json_states(s, j);
    gy_json_kstring(j, "owned", s->owned);
    gy_json_kuint(j, "slots", s->slots);
    gy_json_kuint(j, "tokens", s->tokens);
    gy_json_kstring(j, "reported", s->reported);
    json_open(s, j);
    gy_json_object_end(j);
}

static void json_note(const struct gy_note *n, struct gy_json *j)
{
    gy_json_object(j);
    gy_json_kstring(j, "level", n->level == GY_LEVEL_WARNING ? "warning" : "note");
    gy_json_kstring(j, "code", n->code);
    gy_json_kuint(j, "line", n->line);
    gy_json_kstring(j, "text", n->text);
    gy_json_object_end(j);
}

void gy_show_pool_json(const struct gy_pool *p, struct gy_json *j)
{
    gy_json_object(j);
    gy_json_kstring(j, "name", p->name);
    gy_json_kuint(j, "line", p->line);
    gy_json_kbool(j, "placed", p->config != NULL);
    gy_json_kstring(j, "why", p->why);
    gy_json_key(j, "facts");
    gy_json_object(j);
    for (size_t i = 0; i < p->fact_count; i++) {
        gy_json_kstring(j, p->facts[i].key, p->facts[i].value);
    }
    gy_json_object_end(j);
    gy_json_key(j, "servers");
    gy_json_array(j);
    for (size_t i = 0; i < p->server_count; i++) {
        json_server(&p->servers[i], j);
    }
    gy_json_array_end(j);
    gy_json_key(j, "notes");
    gy_json_array(j);
    for (size_t i = 0; i < p->note_count; i++) {
        json_note(&p->notes[i], j);
    }
    gy_json_array_end(j);
    gy_json_key(j, "topology");
    if (p->config) {
        gy_topo_json(p->config->topology, j);
    } else {
        gy_json_null(j);
    }
    gy_json_object_end(j);
}
