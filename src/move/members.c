/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.c - one server can be only one node, and one proxy of a pool moves its keys. Two nodes on
 * one server would each take the other's keys for strays, and a purge of the one would delete the
 * data of the other. Addresses are compared as text where no server need be asked, and by the
 * server's own run_id, since one server has many addresses (localhost and 127.0.0.1). Threads: the
 * admin's.
 */
#include "base/utf8.h"
#include "lib/error.h"
#include "move/precheck.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- by address ---- */

static int by_address(const void *a, const void *b)
{
    const struct gyre_node *const *x = a, *const *y = b;
    return strcmp((*x)->address, (*y)->address);
}

int gy_members_shared(const gyre_topology_t *t, const struct gyre_node *out[2], gyre_error_t *e)
{
    size_t n = gyre_topology_count(t), k = 0;
    const struct gyre_node **sorted = calloc(n ? n : 1, sizeof *sorted);
    out[0] = out[1] = NULL;
    if (!sorted) {
        return gy_fail_nomem(e);
    }
    for (size_t i = 0; i < n; i++) {
        const struct gyre_node *node = gyre_topology_node(t, i);
        if (node->address) {
            sorted[k++] = node;
        }
    }
    qsort(sorted, k, sizeof *sorted, by_address);
    for (size_t i = 1; i < k && !out[0]; i++) {
        if (by_address(&sorted[i - 1], &sorted[i]) == 0) {
            out[0] = sorted[i - 1];
            out[1] = sorted[i];
        }
    }
    free(sorted);
    return GYRE_OK;
}

static bool serves(const gyre_topology_t *current, const struct gyre_node *n)
{
    const struct gyre_node *now = gyre_topology_find(current, n->name);
    return now && now->address && strcmp(now->address, n->address) == 0;
}

int gy_members_check_text(const gyre_topology_t *current, const gyre_topology_t *next,
                          gyre_error_t *e)
{
    const struct gyre_node *two[2];
    char name[2][GY_QUOTE];
    int rc = gy_members_shared(next, two, e);
    if (rc != GYRE_OK || !two[0]) {
        return rc;
    }
    int old = serves(current, two[0]) ? 0 : 1;
    gy_utf8_quote(name[0], gy_str(two[0]->name));
    gy_utf8_quote(name[1], gy_str(two[1]->name));
    if (serves(current, two[old]) && !serves(current, two[!old])) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s is %s of this fleet already; one server can be only one node: give %s a "
                       "server of its own",
                       two[old]->address, two[old]->name, name[!old]);
    }
    return gy_fail(e, GYRE_REFUSED, "nodes %s and %s have one address, %s", name[0], name[1],
                   two[0]->address);
}

/* ---- by run_id ---- */

/* A node of one of the two maps, and who its server says it is. */
struct member {
    const char *run_id;
    uint32_t node, server;
};

struct members {
    struct member *v;
    size_t n;
};

static int by_run_id(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int c = strcmp(x->run_id, y->run_id);
    return c ? c : (x->node > y->node) - (x->node < y->node);
}

/* The nodes of the map whose servers answered, by run_id. */
static bool collect(const struct gy_checks *k, const gyre_map_t *map, const uint32_t *server,
                    struct members *out)
{
    uint32_t count = gyre_map_count(map);
    out->v = calloc(count ? count : 1, sizeof *out->v);
    for (uint32_t i = 0; out->v && i < count; i++) {
        const char *id = k->facts[server[i]].run_id;
        if (*id) {
            out->v[out->n++] = (struct member){id, i, server[i]};
        }
    }
    if (out->v) {
        qsort(out->v, out->n, sizeof *out->v, by_run_id);
    }
    return out->v != NULL;
}

static const struct gy_server *at(const struct gy_checks *k, const struct member *m)
{
    return &k->c->view->servers[m->server];
}

/* Does this very (name, address) serve now? */
static bool is_current(const struct gy_precheck *c, uint32_t server)
{
    for (uint32_t i = 0; i < gyre_map_count(c->view->map); i++) {
        if (c->view->server[i] == server) {
            return true;
        }
    }
    return false;
}

static int is_already(const struct gy_checks *k, const struct member *wished,
                      const struct member *member, gyre_error_t *e)
{
    char a[GY_SHOW], b[GY_SHOW];
    const struct gy_server *w = at(k, wished), *m = at(k, member);
    bool same = strcmp(w->address, m->address) == 0;
    return gy_fail(e, GYRE_REFUSED,
                   "%s is %s of this fleet already%s%s%s; one server can be only one node: give "
                   "%s a server of its own, or take %s out first, in a move of its own",
                   w->address, gy_show(m->name, a), same ? "" : " (", same ? "" : m->address,
                   same ? "" : ")", gy_show(w->name, b), a);
}

/* Two nodes of the wished topology. */
static int check_next(const struct gy_checks *k, const struct members *next, gyre_error_t *e)
{
    for (size_t i = 1; i < next->n; i++) {
        const struct member *a = &next->v[i - 1], *b = &next->v[i];
        if (strcmp(a->run_id, b->run_id) != 0) {
            continue;
        }
        bool old_a = is_current(k->c, a->server), old_b = is_current(k->c, b->server);
        if (old_a != old_b) {
            return is_already(k, old_a ? b : a, old_a ? a : b, e);
        }
        char x[GY_SHOW], y[GY_SHOW];
        return gy_fail(e, GYRE_REFUSED,
                       "nodes %s (%s) and %s (%s) are one server; one server can be only one node",
                       gy_show(at(k, a)->name, x), at(k, a)->address, gy_show(at(k, b)->name, y),
                       at(k, b)->address);
    }
    return GYRE_OK;
}

/* May the server of the current node `m` become that of the wished node `w`? Only a plain renaming:
 * m leaves and w's name is new. A swap of two servers is two moves. */
static bool may_become(const struct gy_checks *k, const struct member *m, const struct member *w)
{
    const struct gy_precheck *c = k->c;
    const char *name = at(k, w)->name;
    if (strcmp(at(k, m)->name, name) == 0 || is_current(c, w->server)) {
        return true;
    }
    return gyre_map_find(c->view->map, name) == GYRE_NONE &&
           gyre_map_find(c->next, at(k, m)->name) == GYRE_NONE;
}

/* A node of the wished topology and another one that serves now. Both lists are sorted. */
static int check_current(const struct gy_checks *k, const struct members *now,
                         const struct members *next, gyre_error_t *e)
{
    size_t from = 0;
    for (size_t i = 0; i < next->n; i++) {
        const struct member *w = &next->v[i];
        while (from < now->n && strcmp(now->v[from].run_id, w->run_id) < 0) {
            from++;
        }
        for (size_t j = from; j < now->n && strcmp(now->v[j].run_id, w->run_id) == 0; j++) {
            if (!may_become(k, &now->v[j], w)) {
                return is_already(k, w, &now->v[j], e);
            }
        }
    }
    return GYRE_OK;
}

/* ---- asking ---- */

/* A promoted replica takes over from this server, which may be gone. */
static bool is_replaced(const struct gy_precheck *c, uint32_t node)
{
    uint32_t k = gyre_map_find(c->next, gyre_map_node(c->view->map, node)->name);
    return c->options->same_data && k != GYRE_NONE && c->next_server[k] != c->view->server[node];
}

static int ask(struct gy_checks *k, uint32_t server, gyre_error_t *e)
{
    struct gy_node_facts *f = &k->facts[server];
    int rc =
        f->sync ? GYRE_OK
                : gy_links_get(&k->links, server, &k->c->view->servers[server], false, &f->sync, e);
    if (rc == GYRE_OK) {
        snprintf(f->run_id, sizeof f->run_id, "%s", gy_sync_run_id(f->sync));
    }
    return rc;
}

/* A member that is down and gives or takes nothing does not forbid a move; but what a destination
 * holds might be its keys under another address, so then nothing may be purged. */
static int ask_all(struct gy_checks *k, gyre_error_t *e)
{
    const struct gy_precheck *c = k->c;
    gyre_error_t gone;
    for (uint32_t i = 0; i < gyre_map_count(c->view->map); i++) {
        if (ask(k, c->view->server[i], &gone) != GYRE_OK && c->options->purge_destination &&
            !is_replaced(c, i)) {
            return gy_fail(e, GYRE_REFUSED,
                           "%.500s; while a node does not answer, nothing can be purged: what a "
                           "destination holds might be that node's",
                           gone.message);
        }
    }
    for (uint32_t i = 0; i < gyre_map_count(c->next); i++) {
        (void)ask(k, c->next_server[i], &gone); /* whoever takes part is asked again, in earnest */
    }
    return GYRE_OK;
}

int gy_check_members(struct gy_checks *k, gyre_error_t *e)
{
    const struct gy_precheck *c = k->c;
    struct members now = {0}, next = {0};
    int rc = ask_all(k, e);
    if (rc == GYRE_OK && !(collect(k, c->view->map, c->view->server, &now) &&
                           collect(k, c->next, c->next_server, &next))) {
        rc = gy_fail_nomem(e);
    }
    if (rc == GYRE_OK) {
        rc = check_next(k, &next, e);
    }
    if (rc == GYRE_OK) {
        rc = check_current(k, &now, &next, e);
    }
    free(now.v);
    free(next.v);
    return rc;
}

/* ---- other proxies ---- */

static int look_for_others(const struct gy_checks *k, uint32_t server, gyre_error_t *e)
{
    struct gy_reply *r = NULL;
    struct gy_slice from;
    char id[GY_FENCE_ID + 1], name[GY_SHOW], address[GY_QUOTE];
    int rc = gy_sync_call(k->facts[server].sync, &r, e, "CLIENT", "LIST", NULL);
    if (rc == GYRE_REFUSED) {
        rc = GYRE_OK; /* not allowed there: it cannot be known */
    } else if (rc == GYRE_OK && gy_fence_other(&k->c->m->link_conf.fence, r->text, id, &from)) {
        rc =
            gy_fail(e, GYRE_REFUSED,
                    "%s: another proxy of pool %s serves from it too: id %s, connected from %s. It "
                    "would not learn of the move, and lose keys that moved. Stop it and send its "
                    "clients here; then start the move again",
                    gy_show(k->c->view->servers[server].name, name), k->c->m->pool, id,
                    gy_utf8_quote(address, from));
    }
    gy_reply_free(r);
    return rc;
}

int gy_check_alone(struct gy_checks *k, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (uint32_t i = 0; i < k->c->view->nservers && rc == GYRE_OK; i++) {
        rc = k->facts[i].sync ? look_for_others(k, i, e) : GYRE_OK;
    }
    return rc;
}
