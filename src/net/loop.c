/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - the loop itself: turns, ticks, wake-ups, the end. Connections: conn.c. */
#include "net/loop_internal.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void flush_dirty(struct gy_loop *l)
{
    while (l->dirty) {
        struct gy_conn *c = l->dirty;
        l->dirty = c->next_dirty;
        c->dirty = false;
        gy_conn_flush(c);
    }
}

/* After the I/O callbacks of a turn: the owner's end-of-turn work, then one write a connection. */
static void on_check(uv_check_t *h)
{
    struct gy_loop *l = h->data;
    l->hooks.turn(l->hooks.ctx);
    flush_dirty(l);
}

/* Before the poll: what timers wrote. */
static void on_prepare(uv_prepare_t *h)
{
    flush_dirty(h->data);
}

static void on_tick(uv_timer_t *h)
{
    struct gy_loop *l = h->data;
    if (l->lingering) {
        gy_conns_linger(l);
    }
    l->hooks.tick(l->hooks.ctx);
}

static void close_handle(uv_handle_t *h)
{
    if (!uv_is_closing(h)) {
        uv_close(h, NULL);
    }
}

static void shut_down(struct gy_loop *l)
{
    l->stopping = true;
    while (l->listeners) {
        struct gy_listener *n = l->listeners;
        l->listeners = n->next;
        gy_listener_close(n);
    }
    for (struct gy_conn *c = l->conns, *next; c; c = next) {
        next = c->next;
        gy_conn_close(c, "the process is stopping");
    }
    close_handle((uv_handle_t *)&l->tick);
    close_handle((uv_handle_t *)&l->check);
    close_handle((uv_handle_t *)&l->prepare);
    close_handle((uv_handle_t *)&l->async);
}

static void on_async(uv_async_t *h)
{
    struct gy_loop *l = h->data;
    if (atomic_load_explicit(&l->stop,
                             memory_order_acquire)) { /* pairs with the release in gy_loop_stop */
        shut_down(l);
        return;
    }
    l->hooks.wake(l->hooks.ctx);
}

int gy_loop_new(const struct gy_loop_hooks *hooks, struct gy_loop **out, gyre_error_t *e)
{
    struct gy_loop *l = gy_xcalloc(1, sizeof *l);
    l->hooks = *hooks;
    int rc = uv_loop_init(&l->uv);
    if (rc == 0) {
        rc = uv_async_init(&l->uv, &l->async, on_async);
        if (rc) {
            uv_loop_close(&l->uv);
        }
    }
    if (rc) {
        if (e) {
            *e = (gyre_error_t){.code = GYRE_IO};
            snprintf(e->message, sizeof e->message, "cannot make an event loop: %s",
                     uv_strerror(rc));
        }
        free(l);
        *out = NULL;
        return GYRE_IO;
    }
    /* These three cannot fail once the loop exists. */
    uv_timer_init(&l->uv, &l->tick);
    uv_check_init(&l->uv, &l->check);
    uv_prepare_init(&l->uv, &l->prepare);
    l->async.data = l->tick.data = l->check.data = l->prepare.data = l;
    uv_timer_start(&l->tick, on_tick, hooks->tick_ms, hooks->tick_ms);
    uv_check_start(&l->check, on_check);
    uv_prepare_start(&l->prepare, on_prepare);
    *out = l;
    return GYRE_OK;
}

void gy_loop_run(struct gy_loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void gy_loop_stop(struct gy_loop *l)
{
    atomic_store_explicit(&l->stop, true,
                          memory_order_release); /* seen by on_async behind the send */
    uv_async_send(&l->async);
}

void gy_loop_wake(struct gy_loop *l)
{
    uv_async_send(&l->async);
}

void gy_loop_free(struct gy_loop *l)
{
    if (!l) {
        return;
    }
    if (!l->stopping) { /* never ran: close what gy_loop_new opened */
        shut_down(l);
        uv_run(&l->uv, UV_RUN_DEFAULT);
    }
    uv_loop_close(&l->uv);
    free(l);
}

bool gy_loop_stopping(const struct gy_loop *l)
{
    return l->stopping;
}

uint64_t gy_loop_now(const struct gy_loop *l)
{
    return uv_now(&l->uv);
}
