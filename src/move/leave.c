/* SPDX-License-Identifier: Apache-2.0 */
/* leave.c - see leave.h: trying, and what is told of it. The notes themselves: leave_notes.c. */
#include "move/leave.h"

#include "base/log.h"
#include "lib/error.h"
#include "move/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SETTLE_MS   1000
#define VISIT_MS    500
#define SERVING_MS  1500 /* for all that serve together */
#define BACKOFF_MS  1000 /* after a first failure; doubles */
#define BACKOFF_MAX 60000

/* ---- one server ---- */

struct who {
    struct gy_mover *m;
    struct gy_view *view;
};

/* Under another name or address it may still be one of ours: then its user is in use. Who serves is
 * asked; one that does not answer is not the one that does. */
static bool is_strange(void *ctx, const char *run_id)
{
    const struct who *w = ctx;
    uint32_t n = gyre_map_count(w->view->map);
    int64_t end = gy_now_ms() + SERVING_MS;
    bool strange = true;
    for (uint32_t i = 0; i < n && strange; i++) {
        struct gy_sync *c = NULL;
        int64_t left = (end - gy_now_ms()) / (n - i);
        const struct gy_server *s = &w->view->servers[w->view->server[i]];
        if (gy_link_visit(&w->m->link_conf, s, left > 0 ? left : 0, &c, NULL) == GYRE_OK) {
            strange = strcmp(gy_sync_run_id(c), run_id) != 0;
        }
        gy_sync_close(c);
    }
    return strange;
}

static bool serves(const struct gy_view *v, const char *address)
{
    for (uint32_t i = 0; i < v->nservers; i++) {
        if (strcmp(v->servers[i].address, address) == 0 && gy_view_serves(v, i)) {
            return true;
        }
    }
    return false;
}

/* ---- those that are due ---- */

static struct gy_left *due(const struct gy_mover *m, bool fresh_only)
{
    int64_t now = gy_now_ms();
    for (size_t i = 0; i < m->nleft; i++) {
        if (m->left[i].next_at <= now && (!fresh_only || m->left[i].tries == 0)) {
            return &m->left[i];
        }
    }
    return NULL;
}

static void put_off(struct gy_mover *m, struct gy_left *l, const gyre_error_t *e)
{
    char name[GY_SHOW];
    int64_t ms = (int64_t)BACKOFF_MS << (l->tries < 8 ? l->tries : 8);
    ms = ms > BACKOFF_MAX ? BACKOFF_MAX : ms;
    l->next_at = gy_now_ms() + ms / 2 + rand_r(&m->seed) % (ms / 2 + 1);
    snprintf(l->why, sizeof l->why, "%.*s", (int)sizeof l->why - 1, e->message);
    if (l->tries++ == 0) {
        gy_warn("%s at %s is not of this fleet now, and the proxy's users %s* could not be deleted "
                "there: %s; it is tried again (`gyre move status` shows it; if that server is gone "
                "for good: gyre move forget %s)",
                gy_show(l->name, name), l->address, m->link_conf.fence.prefix, e->message,
                l->address);
    }
}

static void took_leave(struct gy_mover *m, struct gy_left *l)
{
    gyre_error_t e;
    char name[GY_SHOW];
    if (l->tries) {
        gy_info("%s at %s: the proxy's users are gone there", gy_show(l->name, name), l->address);
    }
    if (gy_leave_drop(m, l, &e) != GYRE_OK) {
        put_off(m, l, &e);
    }
}

/* The lock is not held while a server is asked; the note may be gone then. */
static void see_to(struct gy_mover *m, bool fresh_only)
{
    struct gy_left *l;
    pthread_mutex_lock(&m->lock);
    while (!m->stop && (l = due(m, fresh_only)) != NULL) {
        gyre_error_t e = {0};
        struct who w = {m, gy_view_ref(m->view)};
        struct gy_server s = {strdup(l->name), strdup(l->address)};
        bool weak = l->weak, here = serves(m->view, l->address);
        int rc = s.name && s.address ? GYRE_OK : gy_fail_nomem(&e);
        if (rc == GYRE_OK && !here) {
            pthread_mutex_unlock(&m->lock);
            rc = gy_link_retire(&m->link_conf, &s, VISIT_MS, weak, is_strange, &w, &e);
            pthread_mutex_lock(&m->lock);
            l = gy_leave_find(m, s.address);
        }
        if (l && rc == GYRE_OK) {
            took_leave(m, l);
        } else if (l) {
            put_off(m, l, &e);
        }
        free(s.name);
        free(s.address);
        gy_view_unref(w.view);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- when ---- */

void gy_leave(struct gy_mover *m, const struct gy_view *was, uint64_t seq)
{
    bool any = false;
    for (uint32_t i = 0; i < m->nservers; i++) {
        if (gy_view_serves(was, i) && !gy_view_serves(m->view, i)) {
            gy_links_drop(&m->links, i);
            any = true;
        }
    }
    if (any) { /* the workers close their connections when they ack a view without the server */
        (void)m->host->barrier(m->host->ctx, seq, SETTLE_MS);
        see_to(m, true);
    }
}

void gy_leave_met(struct gy_mover *m, const char *address)
{
    pthread_mutex_lock(&m->lock);
    struct gy_left *l = gy_leave_find(m, address);
    if (l) {
        l->promised = false;
    }
    pthread_mutex_unlock(&m->lock);
}

void gy_leave_refused(struct gy_mover *m)
{
    gyre_error_t e;
    pthread_mutex_lock(&m->lock);
    for (size_t i = m->nleft; i-- > 0;) {
        if (m->left[i].promised && gy_leave_drop(m, &m->left[i], &e) != GYRE_OK) {
            gy_warn("%s", e.message);
        }
    }
    pthread_mutex_unlock(&m->lock);
    see_to(m, true);
}

int64_t gy_leave_turn(struct gy_mover *m)
{
    int64_t soonest = INT64_MAX;
    pthread_mutex_lock(&m->lock);
    m->leaving = !m->preparing && !m->job && m->nleft;
    bool may = m->leaving;
    pthread_mutex_unlock(&m->lock);
    if (!may) {
        return -1;
    }
    see_to(m, false);
    pthread_mutex_lock(&m->lock);
    m->leaving = false;
    for (size_t i = 0; i < m->nleft; i++) {
        soonest = m->left[i].next_at < soonest ? m->left[i].next_at : soonest;
    }
    pthread_cond_broadcast(&m->wake); /* a move may be waiting to begin */
    pthread_mutex_unlock(&m->lock);
    int64_t ms = soonest - gy_now_ms();
    return soonest == INT64_MAX ? -1 : ms > 0 ? ms : 0;
}

int gy_mover_forget(struct gy_mover *m, const char *address, gyre_error_t *e)
{
    pthread_mutex_lock(&m->lock);
    struct gy_left *l = gy_leave_find(m, address);
    int rc = GYRE_OK;
    if (!l || serves(m->view, address)) {
        rc = gy_fail(e, GYRE_REFUSED,
                     "no server at %.200s waits to be cleaned up: `gyre move status` lists them",
                     address);
    } else {
        gy_info("%s: forgotten, as was asked; users %s* may still be there", l->address,
                m->link_conf.fence.prefix);
        rc = gy_leave_drop(m, l, e);
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void gy_leave_write(const struct gy_mover *m, struct gy_json *w)
{
    char users[160];
    snprintf(users, sizeof users, "%s*", m->link_conf.fence.prefix);
    gy_json_key(w, "leaving");
    gy_json_array(w);
    for (size_t i = 0; i < m->nleft; i++) {
        const struct gy_left *l = &m->left[i];
        if (serves(m->view, l->address)) {
            continue;
        }
        gy_json_object(w);
        gy_json_kstring(w, "name", l->name);
        gy_json_kstring(w, "address", l->address);
        gy_json_kstring(w, "users", users);
        gy_json_kint(w, "since", l->since);
        gy_json_kuint(w, "tries", l->tries);
        gy_json_kstring(w, "error", l->why[0] ? l->why : NULL);
        gy_json_object_end(w);
    }
    gy_json_array_end(w);
}
