/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - see worker.h. */
#include "proxy/worker.h"

#include "base/alloc.h"
#include "base/log.h"
#include "proxy/client.h"
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <urcu/urcu-qsbr.h>

#define TICK_MS 20
/* A turn that comes this late means that the process slept: nobody's clock may be judged by it. */
#define STALL_MS      250
#define SUMMARY_EVERY 10 /* ticks */

static void grow_backends(struct gy_worker *w, const struct gy_view *v)
{
    if (v->nservers <= w->nbackends) {
        return;
    }
    w->backends = gy_xrealloc(w->backends, v->nservers, sizeof(struct gy_backend *));
    w->marks = gy_xrealloc(w->marks, v->nservers, sizeof *w->marks);
    for (uint32_t i = w->nbackends; i < v->nservers; i++) {
        w->backends[i] = gy_backend_new(w, i, v->servers[i].name, v->servers[i].address);
    }
    w->nbackends = v->nservers;
}

/* From now on this view decides; what must be answered before it counts as acknowledged is marked.
 */
static void adopt(struct gy_worker *w, struct gy_view *v)
{
    gy_view_unref(w->view);
    w->view = gy_view_ref(v);
    grow_backends(w, v);
    for (uint32_t i = 0; i < w->nbackends; i++) {
        w->backends[i]->left = !gy_view_serves(v, i);
    }
    for (uint32_t i = 0; i < v->ndrain; i++) {
        w->marks[i] = w->backends[v->drain[i]]->sent;
    }
    gy_known_review(w, v);
    w->acking = true;
    gy_tasks_review(w);
}

static void refresh_view(struct gy_worker *w)
{
    struct gy_view *v = atomic_load_explicit(&w->proxy->view, memory_order_acquire);
    if (v != w->view) {
        adopt(w, v);
    }
}

static void try_ack(struct gy_worker *w)
{
    const struct gy_view *v = w->view;
    for (uint32_t i = 0; i < v->ndrain; i++) {
        if (!gy_backend_drained(w->backends[v->drain[i]], w->marks[i])) {
            return;
        }
    }
    if (gy_tasks_older(w, v->seq)) {
        return;
    }
    for (uint32_t i = 0; i < w->nbackends; i++) {
        (void)gy_backend_leave(w->backends[i]);
    }
    w->acking = false;
    /* Release: whoever sees the ack sees that the answers before it were processed. */
    atomic_store_explicit(&w->acked, v->seq, memory_order_release);
    gy_proxy_acked(w->proxy);
}

static void on_wake(void *ctx)
{
    refresh_view(ctx);
}

static void on_turn(void *ctx)
{
    struct gy_worker *w = ctx;
    while (w->ready) {
        struct gy_client *c = w->ready;
        w->ready = c->next_ready;
        c->is_ready = false;
        gy_client_resume(c);
    }
    gy_room_turn(w);
    refresh_view(w);
    gy_carries_turn(w);
    if (w->acking) {
        try_ack(w);
    }
    urcu_qsbr_quiescent_state();
}

void gy_worker_summarise(struct gy_worker *w)
{
    pthread_mutex_lock(&w->proxy->lock);
    w->summary = w->stats;
    if (w->nnodes < w->nbackends) {
        w->nodes = gy_xrealloc(w->nodes, w->nbackends, sizeof *w->nodes);
        for (uint32_t i = w->nnodes; i < w->nbackends; i++) {
            w->nodes[i] =
                (struct gy_backend_summary){.name = gy_xstrdup(w->backends[i]->name),
                                            .address = gy_xstrdup(w->backends[i]->address)};
        }
        w->nnodes = w->nbackends;
    }
    for (uint32_t i = 0; i < w->nnodes; i++) {
        const struct gy_backend *b = w->backends[i];
        struct gy_backend_summary *s = &w->nodes[i];
        s->state = b->state;
        s->left = b->left;
        s->failures = b->failures;
        s->requests = b->requests;
        s->inflight = b->count;
        memcpy(s->why, b->why, sizeof s->why);
    }
    pthread_mutex_unlock(&w->proxy->lock);
}

static void count_memory(struct gy_worker *w, uint64_t now)
{
    w->stats.memory = w->room.gathered;
    for (const struct gy_task *t = w->tasks; t; t = t->next) {
        w->stats.memory += t->request;
    }
    for (struct gy_client *c = w->clients, *next; c; c = next) {
        next = c->next;
        gy_client_tick(c, now);
    }
}

static void on_tick(void *ctx)
{
    struct gy_worker *w = ctx;
    uint64_t now = gy_loop_now(w->loop);
    bool stalled = w->last_tick && now - w->last_tick > STALL_MS;
    w->last_tick = now;
    for (uint32_t i = 0; i < w->nbackends; i++) {
        gy_backend_tick(w->backends[i], now, stalled);
    }
    if (!stalled) {
        gy_tasks_expire(w, now);
    }
    bool due = w->ticks++ % SUMMARY_EVERY == 0;
    if (due || w->room.short_since || w->room.refused) { /* more often when it matters */
        count_memory(w, now);
    }
    gy_room_tick(w, now);
    if (due) {
        gy_worker_summarise(w);
    }
}

int gy_worker_init(struct gy_worker *w, struct gy_proxy *p, unsigned index, gyre_error_t *e)
{
    *w = (struct gy_worker){.proxy = p, .index = index};
    gy_room_init(&w->room, p->config->proxy.max_memory / p->nworkers);
    struct gy_loop_hooks hooks = {w, on_wake, on_turn, on_tick, TICK_MS};
    return gy_loop_new(&hooks, &w->loop, e);
}

static void *run(void *arg)
{
    struct gy_worker *w = arg;
    urcu_qsbr_register_thread();
    refresh_view(w);
    gy_loop_run(w->loop);
    urcu_qsbr_unregister_thread();
    return NULL;
}

int gy_worker_start(struct gy_worker *w, gyre_error_t *e)
{
    int rc = pthread_create(&w->thread, NULL, run, w);
    if (rc) {
        *e = (gyre_error_t){.code = GYRE_IO};
        snprintf(e->message, sizeof e->message, "cannot start a worker thread: %s", strerror(rc));
        return GYRE_IO;
    }
    w->started = true;
    return GYRE_OK;
}

void gy_worker_join(struct gy_worker *w)
{
    if (w->started) {
        pthread_join(w->thread, NULL);
        w->started = false;
    }
}

void gy_worker_fini(struct gy_worker *w)
{
    gy_loop_free(w->loop);
    gy_known_fini(w);
    gy_tasks_free(w);
    gy_reqs_free(w);
    for (uint32_t i = 0; i < w->nbackends; i++) {
        gy_backend_free(w->backends[i]);
    }
    for (uint32_t i = 0; i < w->nnodes; i++) {
        free(w->nodes[i].name);
        free(w->nodes[i].address);
    }
    free(w->nodes);
    free(w->backends);
    free(w->marks);
    gy_view_unref(w->view);
}
