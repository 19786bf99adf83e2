/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leave.c - the end of a move at the servers that do not serve any more: those that left, and those
 * that were to join and did not. Nothing of ours with rights stays there: the workers have closed
 * their connections when they ack a view without the server, then our users are deleted. A server
 * that is not reached is told of in the log. Threads: the mover's.
 */
#include "base/log.h"
#include "lib/error.h"
#include "move/state.h"

#include <stdlib.h>

#define SETTLE_MS 1000
#define VISIT_MS  500

struct left {
    const char **run_id; /* of those that serve */
    uint32_t n;
};

/* Under another name or address it may still be one of ours: then its user is in use. */
static bool is_strange(void *ctx, const char *run_id)
{
    const struct left *l = ctx;
    for (uint32_t i = 0; i < l->n; i++) {
        if (strcmp(l->run_id[i], run_id) == 0) {
            return false;
        }
    }
    return true;
}

/* Who serves: the links know those of the move, the others are asked. One that does not answer is
 * not the one that does. */
static void ask_serving(struct gy_mover *m, struct left *l, struct gy_sync **asked)
{
    for (uint32_t i = 0; i < m->nservers; i++) {
        if (!gy_view_serves(m->view, i)) {
            continue;
        }
        const char *id = gy_links_run_id(&m->links, i);
        if (!*id &&
            gy_link_visit(&m->link_conf, &m->servers[i], VISIT_MS, &asked[i], NULL) == GYRE_OK) {
            id = gy_sync_run_id(asked[i]);
        }
        if (*id) {
            l->run_id[l->n++] = id;
        }
    }
}

static bool has_left(const struct gy_mover *m, const struct gy_view *was, uint32_t server)
{
    return gy_view_serves(was, server) && !gy_view_serves(m->view, server);
}

static void leave(struct gy_mover *m, uint32_t server, struct left *l)
{
    gyre_error_t e;
    char name[GY_SHOW];
    const struct gy_server *s = &m->servers[server];
    gy_links_drop(&m->links, server);
    if (gy_link_retire(&m->link_conf, s, VISIT_MS, is_strange, l, &e) != GYRE_OK) {
        gy_warn("%s at %s is not of this fleet now, and the proxy's user could not be deleted "
                "there: %s; where that server lives on, delete the users %s* by ACL DELUSER",
                gy_show(s->name, name), s->address, e.message, m->link_conf.fence.prefix);
    }
}

void gy_leave(struct gy_mover *m, const struct gy_view *was, uint64_t seq)
{
    uint32_t n = m->nservers ? m->nservers : 1;
    struct left l = {.run_id = calloc(n, sizeof *l.run_id)};
    struct gy_sync **asked = calloc(n, sizeof *asked);
    bool any = false;
    for (uint32_t i = 0; i < m->nservers; i++) {
        any |= has_left(m, was, i);
    }
    if (any && asked && l.run_id) {
        (void)m->host->barrier(m->host->ctx, seq, SETTLE_MS);
        ask_serving(m, &l, asked);
        for (uint32_t i = 0; i < m->nservers; i++) {
            if (has_left(m, was, i)) {
                leave(m, i, &l);
            }
        }
    }
    for (uint32_t i = 0; asked && i < m->nservers; i++) {
        gy_sync_close(asked[i]);
    }
    free(asked);
    free(l.run_id);
}
