/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_shards.c - CLUSTER SLOTS and CLUSTER SHARDS of Redis 3 to 7 and Valkey, in any form a reply
 * is kept in (redis_reply.h, redis_raw.h). SLOTS is a list of ranges, each with its primary and
 * replicas; SHARDS of shards, each with its ranges and nodes. Only ranges with an owner are listed.
 * Threads: one an object.
 */
#include "formats/redis_shards.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/redis_raw.h"
#include "formats/redis_reply.h"
#include "formats/redis_slots.h"

#include <stdlib.h>

#define NODES_MAX GY_REDIS_SLOTS /* no more can own a slot; a cluster has some 1000 at most */

struct work {
    struct gy_reading *r;
    struct gy_pool *p;
    struct gy_slot_owners *o;
};

/* ---- what both have ---- */

static int wants(struct work *w, const struct gy_tree *t, enum gy_tree_kind kind, const char *what)
{
    static const char *const needs[] = {"nothing", "a single value", "a list", "a mapping"};
    return t->kind == kind ? GYRE_OK
                           : gy_read_fail(w->r, GYRE_SYNTAX, t->at, "%s must be %s, not %s", what,
                                          needs[kind], gy_tree_word(t));
}

static int take_number(struct work *w, const struct gy_tree *t, const char *what, uint64_t most,
                       uint64_t *v)
{
    char q[GY_QUOTE];
    if (t->kind == GY_TREE_TEXT && gy_num_uint(t->text, v) == GYRE_OK && *v <= most) {
        return GYRE_OK;
    }
    return gy_read_fail(w->r, GYRE_SYNTAX, t->at, "%s is %s; it must be a number, 0 to %llu", what,
                        t->kind == GY_TREE_TEXT ? gy_utf8_quote(q, t->text) : gy_tree_word(t),
                        (unsigned long long)most);
}

static int claim(struct work *w, const struct gy_tree *first, const struct gy_tree *last,
                 uint32_t owner)
{
    uint64_t a, b;
    int rc = take_number(w, first, "the first slot of a range", GY_REDIS_SLOTS - 1, &a);
    rc = rc ? rc : take_number(w, last, "the last slot of a range", GY_REDIS_SLOTS - 1, &b);
    if (!rc && a > b) {
        rc = gy_read_fail(w->r, GYRE_SYNTAX, first->at, "the range %llu-%llu runs backwards",
                          (unsigned long long)a, (unsigned long long)b);
    }
    return rc ? rc : gy_redis_claim(w->r, w->p, w->o, first->at, (uint32_t)a, (uint32_t)b, owner);
}

/* A reply's field in a map, or in a list of names and values, which RESP2 makes of a map. */
static const struct gy_tree *field(const struct gy_tree *t, const char *name)
{
    if (t->kind == GY_TREE_MAP) {
        return gy_tree_get(t, name);
    }
    for (const struct gy_tree *k = t->first; k && k->next; k = k->next->next) {
        if (gy_tree_is(k, name)) {
            return k->next;
        }
    }
    return NULL;
}

static struct gy_slice text_of(const struct gy_tree *t)
{
    bool unknown = !t || t->kind != GY_TREE_TEXT || gy_slice_eq(t->text, GY_LIT("?"));
    return unknown ? GY_LIT("") : t->text;
}

/* The server of that id (or else endpoint), a new one if there is none. */
static int find_server(struct work *w, struct gy_mark at, struct gy_slice id, struct gy_slice ip,
                       struct gy_slice hostname, struct gy_slice port, uint32_t *index)
{
    struct gy_server *s = NULL;
    int rc = gy_read_server(w->r, w->p, at, id.n ? id : GY_LIT("?"), &s);
    if (!rc && id.n) {
        rc = gy_read_text(w->r, &s->id, id);
    }
    rc = rc ? rc : gy_redis_endpoint(w->r, s, at, ip, hostname, port);
    *index = (uint32_t)w->p->server_count - 1;
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < *index; i++) {
        const struct gy_server *old = &w->p->servers[i];
        if (strcmp(id.n ? s->id : s->name, id.n && old->id ? old->id : old->name) == 0) {
            *index = i;
            gy_pool_drop_last(w->p);
            return GYRE_OK;
        }
    }
    return w->p->server_count <= NODES_MAX
               ? GYRE_OK
               : gy_read_fail(w->r, GYRE_RANGE, at, "more than %u nodes", NODES_MAX);
}

static int set_role(struct work *w, struct gy_mark at, uint32_t i, uint32_t primary)
{
    struct gy_server *s = &w->p->servers[i], *of = &w->p->servers[primary];
    enum gy_role role = i == primary ? GY_ROLE_PRIMARY : GY_ROLE_REPLICA;
    if (s->role && s->role != role) {
        char q[GY_QUOTE];
        return gy_read_fail(w->r, GYRE_INVALID, at,
                            "%s is a primary of some slots and a replica "
                            "of others",
                            gy_utf8_quote(q, gy_str(s->name)));
    }
    s->role = role;
    return role == GY_ROLE_PRIMARY
               ? GYRE_OK
               : gy_read_text(w->r, &s->replica_of, gy_str(of->id ? of->id : of->name));
}

/* ---- SLOTS ---- */

/* host, port, id, metadata: the first may be unknown, the last two are newer than Redis 3. */
static int slots_node(struct work *w, const struct gy_tree *t, uint32_t *index)
{
    int rc = wants(w, t, GY_TREE_LIST, "a node of a range");
    if (!rc && t->count < 2) {
        rc = gy_read_fail(w->r, GYRE_SYNTAX, t->at, "a node needs a host and a port");
    }
    uint64_t port;
    rc = rc ? rc : take_number(w, t->first->next, "a node's port", 65535, &port);
    if (rc) {
        return rc;
    }
    const struct gy_tree *id = t->first->next->next, *more = id ? id->next : NULL;
    struct gy_slice ip = text_of(more ? field(more, "ip") : NULL);
    struct gy_slice name = text_of(more ? field(more, "hostname") : NULL);
    struct gy_slice host = text_of(t->first);
    return find_server(w, t->at, text_of(id), host.n ? host : ip, name, t->first->next->text,
                       index);
}

static int slots_range(struct work *w, const struct gy_tree *t)
{
    int rc = wants(w, t, GY_TREE_LIST, "a range of slots");
    if (!rc && t->count < 3) {
        rc = gy_read_fail(w->r, GYRE_SYNTAX, t->at,
                          "a range needs its first slot, its last slot and a node");
    }
    uint32_t primary = 0, i;
    const struct gy_tree *node = rc ? NULL : t->first->next->next;
    for (bool first = true; node && !rc; node = node->next, first = false) {
        rc = slots_node(w, node, &i);
        primary = first ? i : primary;
        rc = rc ? rc : set_role(w, node->at, i, primary);
    }
    return rc ? rc : claim(w, t->first, t->first->next, primary);
}

/* ---- SHARDS ---- */

static const struct {
    const char *health;
    unsigned states;
} HEALTHS[] = {{"online", 0},
               {"failed", GY_STATE_DOWN},
               {"fail", GY_STATE_DOWN},
               {"loading", GY_STATE_LOADING}};

static int take_health(struct work *w, const struct gy_tree *node, struct gy_server *s)
{
    const struct gy_tree *health = field(node, "health");
    const char *words[5] = {NULL};
    for (size_t i = 0; i < 4 && health; i++) {
        words[i] = HEALTHS[i].health;
        if (gy_tree_is(health, words[i])) {
            s->states |= HEALTHS[i].states;
            return GYRE_OK;
        }
    }
    return health ? gy_read_unknown(w->r, health->at, "health", health->text, words) : GYRE_OK;
}

static int take_role(struct work *w, const struct gy_tree *role, bool *primary)
{
    char q[GY_QUOTE];
    *primary = gy_tree_is(role, "master") || gy_tree_is(role, "primary");
    return *primary || gy_tree_is(role, "replica") || gy_tree_is(role, "slave")
               ? GYRE_OK
               : gy_read_fail(w->r, GYRE_UNKNOWN, role->at,
                              "a node's role is master or replica, not %s",
                              gy_utf8_quote(q, role->text));
}

static int shards_server(struct work *w, const struct gy_tree *t, const struct gy_tree *port,
                         uint32_t *index)
{
    struct gy_slice ip = text_of(field(t, "ip")), zone = text_of(field(t, "availability-zone"));
    int rc =
        find_server(w, t->at, text_of(field(t, "id")), ip.n ? ip : text_of(field(t, "endpoint")),
                    text_of(field(t, "hostname")), port->text, index);
    if (!rc && zone.n) {
        rc = gy_read_text(w->r, &w->p->servers[*index].zone, zone);
    }
    return rc ? rc : take_health(w, t, &w->p->servers[*index]);
}

static int shards_node(struct work *w, const struct gy_tree *t, uint32_t *index, bool *primary)
{
    bool fields = t->kind == GY_TREE_MAP || t->kind == GY_TREE_LIST;
    const struct gy_tree *port = fields ? field(t, "port") : NULL;
    const struct gy_tree *role = fields ? field(t, "role") : NULL;
    port = port || !fields ? port : field(t, "tls-port");
    if (!port || !role || !field(t, "id")) {
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at, "a node needs an id, a port and a role");
    }
    uint64_t number;
    int rc = take_number(w, port, "a node's port", 65535, &number);
    rc = rc ? rc : take_role(w, role, primary);
    return rc ? rc : shards_server(w, t, port, index);
}

/* After a failover the old primary is still called one: the one that is up owns the slots. */
static bool better(const struct gy_pool *p, uint32_t i, uint32_t than)
{
    return p->servers[than].states & GY_STATE_DOWN && !(p->servers[i].states & GY_STATE_DOWN);
}

static int shards_nodes(struct work *w, const struct gy_tree *nodes, uint32_t from, bool *owned,
                        uint32_t *owner)
{
    uint32_t i;
    int rc = GYRE_OK;
    *owned = false;
    for (const struct gy_tree *t = nodes->first; t && !rc; t = t->next) {
        bool primary;
        rc = shards_node(w, t, &i, &primary);
        if (!rc && i < from) {
            rc = gy_read_fail(w->r, GYRE_DUPLICATE, t->at, "a node stands in two shards");
        }
        if (!rc && primary) {
            w->p->servers[i].role = GY_ROLE_PRIMARY;
            *owner = !*owned || better(w->p, i, *owner) ? i : *owner;
            *owned = true;
        }
    }
    for (i = from; i < w->p->server_count && !rc; i++) {
        if (w->p->servers[i].role == GY_ROLE_NONE) {
            w->p->servers[i].role = GY_ROLE_REPLICA;
            rc = *owned ? set_role(w, nodes->at, i, *owner) : GYRE_OK;
        }
    }
    return rc;
}

static int shards_shard(struct work *w, const struct gy_tree *t)
{
    bool fields = t->kind == GY_TREE_MAP || t->kind == GY_TREE_LIST, owned = false;
    const struct gy_tree *slots = fields ? field(t, "slots") : NULL;
    const struct gy_tree *nodes = fields ? field(t, "nodes") : NULL;
    if (!slots || !nodes || slots->kind != GY_TREE_LIST || nodes->kind != GY_TREE_LIST) {
        return gy_read_fail(w->r, GYRE_SYNTAX, t->at, "a shard needs its slots and its nodes");
    }
    uint32_t owner = 0;
    int rc = shards_nodes(w, nodes, (uint32_t)w->p->server_count, &owned, &owner);
    if (!rc && slots->count % 2) {
        rc = gy_read_fail(w->r, GYRE_SYNTAX, slots->at,
                          "slots are pairs, the first and the last of each range; here are %zu "
                          "numbers",
                          slots->count);
    }
    if (!rc && slots->count && !owned) {
        rc = gy_read_fail(w->r, GYRE_SYNTAX, t->at, "a shard with slots has no master");
    }
    for (const struct gy_tree *s = slots->first; s && !rc; s = s->next->next) {
        rc = claim(w, s, s->next, owner);
    }
    return rc;
}

/* ---- the files ---- */

typedef int doc_fn(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e);

static int parse(struct gy_reading *r, doc_fn *read,
                 int (*each)(struct work *w, const struct gy_tree *t))
{
    struct gy_doc doc;
    struct work w = {.r = r, .o = calloc(1, sizeof *w.o)};
    int rc = read(&doc, r->text, r->file, r->e);
    if (!rc && !w.o) {
        rc = gy_read_nomem(r);
    }
    rc = rc ? rc : gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &w.p);
    rc = rc ? rc : wants(&w, doc.root, GY_TREE_LIST, "the reply");
    for (const struct gy_tree *t = rc ? NULL : doc.root->first; t && !rc; t = t->next) {
        rc = each(&w, t);
    }
    if (!rc && w.p->server_count == 0) {
        rc = gy_read_fail(r, GYRE_EMPTY, doc.root->at, "there is no node in it");
    }
    rc = rc ? rc : gy_redis_settle(r, w.p, w.o);
    gy_doc_fini(&doc);
    free(w.o);
    return rc;
}

int gy_redis_slots_parse(struct gy_reading *r)
{
    return parse(r, gy_raw_is_slots(r->text) ? gy_doc_raw_slots : gy_doc_reply, slots_range);
}

int gy_redis_shards_parse(struct gy_reading *r)
{
    return parse(r, gy_raw_is_shards(r->text) ? gy_doc_raw_shards : gy_doc_reply, shards_shard);
}

/* The first characters, without blanks and line ends. */
static void squeeze(struct gy_slice head, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < head.n && n + 1 < size; i++) {
        if (head.p[i] && !memchr(" \t\r\n", head.p[i], 4)) {
            out[n++] = (char)head.p[i];
        }
    }
    out[n] = 0;
}

int gy_redis_slots_sniff(struct gy_slice head)
{
    char text[32];
    squeeze(head, text, sizeof text);
    bool json = strncmp(text, "[[", 2) == 0 && strspn(text + 2, "0123456789") &&
                text[2 + strspn(text + 2, "0123456789")] == ',';
    bool wire = *text == '*' && strspn(text + 1, "0123456789") &&
                text[1 + strspn(text + 1, "0123456789")] == '*' && strchr(text, ':');
    return json || wire || strncmp(text, "1)1)(integer)", 13) == 0 || gy_raw_is_slots(head)
               ? GY_SURE_YES
               : GY_SURE_NOT;
}

int gy_redis_shards_sniff(struct gy_slice head)
{
    static const char *const starts[] = {"1)1)\"slots\"", "1)1#\"slots\"", "[{\"slots\"",
                                         "[[\"slots\""};
    char text[40];
    squeeze(head, text, sizeof text);
    bool found = gy_raw_is_shards(head);
    for (size_t i = 0; i < 4; i++) {
        found = found || strncmp(text, starts[i], strlen(starts[i])) == 0;
    }
    found = found || (*text == '*' && strstr(text, "$5slots"));
    return found ? GY_SURE_YES : GY_SURE_NOT;
}
