/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - connections and listeners of a loop; see loop.h. */
#include "net/loop_internal.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Emptied output buffers above this are given back, so that one large reply does not stay in memory
 * for ever. */
#define KEEP_BUFFER (256 * 1024)
/* A peer whose last answer is out may still be sending, and reads only then: so long, and so many
 * bytes, are let go by. */
#define LINGER_MS    1000
#define LINGER_BYTES (256u * 1024 * 1024)

static void link_conn(struct gy_loop *l, struct gy_conn *c)
{
    c->next = l->conns;
    c->link = &l->conns;
    if (c->next) {
        c->next->link = &c->next;
    }
    l->conns = c;
}

static void unlink_dirty(struct gy_conn *c)
{
    for (struct gy_conn **p = &c->loop->dirty; *p; p = &(*p)->next_dirty) {
        if (*p == c) {
            *p = c->next_dirty;
            break;
        }
    }
    c->dirty = false;
}

static void on_closed(uv_handle_t *h)
{
    struct gy_conn *c = h->data;
    *c->link = c->next;
    if (c->next) {
        c->next->link = c->link;
    }
    if (c->dirty) {
        unlink_dirty(c);
    }
    gy_buf_fini(&c->out);
    gy_buf_fini(&c->sending);
    c->ev->closed(c, c->why);
}

void gy_conn_close(struct gy_conn *c, const char *why)
{
    if (c->closing) {
        return;
    }
    if (c->is_open && !c->writing && gy_buf_size(&c->out)) { /* the farewell of a protocol error */
        uv_buf_t b = uv_buf_init((char *)c->out.data + c->out.off, (unsigned)gy_buf_size(&c->out));
        uv_try_write(&c->u.stream, &b, 1);
    }
    c->closing = true;
    c->reading = false;
    c->why = why;
    c->loop->lingering -= c->lingering;
    uv_close(&c->u.handle, on_closed);
}

/* Everything is written and nothing more will be. */
static void linger(struct gy_conn *c)
{
    uv_os_fd_t fd;
    if (c->peer_ended || uv_fileno(&c->u.handle, &fd) || shutdown(fd, SHUT_WR)) {
        gy_conn_close(c, c->why);
        return;
    }
    gy_buf_fini(&c->out);
    gy_buf_fini(&c->sending);
    c->lingering = true;
    c->linger_until = uv_now(&c->loop->uv) + LINGER_MS;
    c->linger_left = LINGER_BYTES;
    c->loop->lingering++;
    gy_conn_read(c, true);
}

void gy_conns_linger(struct gy_loop *l)
{
    uint64_t now = uv_now(&l->uv);
    for (struct gy_conn *c = l->conns; c; c = c->next) {
        if (c->lingering && now > c->linger_until) {
            gy_conn_close(c, c->why);
        }
    }
}

static void let_go_by(struct gy_conn *c, ssize_t n)
{
    if (n < 0 || (size_t)n > c->linger_left) {
        gy_conn_close(c, c->why);
    } else {
        c->linger_left -= (size_t)n;
    }
}

static void on_written(uv_write_t *req, int status)
{
    struct gy_conn *c = req->data;
    c->writing = false;
    c->written += gy_buf_size(&c->sending);
    gy_buf_reset(&c->sending);
    gy_buf_trim(&c->sending, KEEP_BUFFER);
    if (c->closing) {
        return;
    }
    if (status < 0) {
        gy_conn_close(c, uv_strerror(status));
        return;
    }
    if (gy_buf_size(&c->out) || c->finishing) {
        gy_conn_flush(c);
    }
    if (!c->writing && !c->closing) {
        c->ev->drained(c);
    }
}

/* The kernel took less than everything: hand the rest to uv_write, which arms the poller for
 * writability. */
static void arm(struct gy_conn *c)
{
    struct gy_buf swap = c->sending;
    c->sending = c->out;
    c->out = swap;
    gy_buf_reset(&c->out);
    uv_buf_t b =
        uv_buf_init((char *)c->sending.data + c->sending.off, (unsigned)gy_buf_size(&c->sending));
    c->req.write.data = c;
    c->writing = true;
    int rc = uv_write(&c->req.write, &c->u.stream, &b, 1, on_written);
    if (rc) {
        c->writing = false;
        gy_conn_close(c, uv_strerror(rc));
    }
}

void gy_conn_flush(struct gy_conn *c)
{
    if (!c->is_open || c->closing || c->writing) {
        return;
    }
    if (gy_buf_failed(&c->out)) {
        gy_conn_close(c, "out of memory for its output");
        return;
    }
    size_t n = gy_buf_size(&c->out);
    if (n == 0) {
        if (c->finishing && !c->lingering) {
            linger(c);
        }
        return;
    }
    uv_buf_t b =
        uv_buf_init((char *)c->out.data + c->out.off, (unsigned)(n < INT32_MAX ? n : INT32_MAX));
    int rc = uv_try_write(&c->u.stream, &b, 1);
    if (rc < 0 && rc != UV_EAGAIN) {
        gy_conn_close(c, uv_strerror(rc));
        return;
    }
    if (rc > 0) {
        gy_buf_consume(&c->out, (size_t)rc);
        c->written += (size_t)rc;
    }
    if (gy_buf_size(&c->out)) {
        arm(c);
        return;
    }
    gy_buf_trim(&c->out, KEEP_BUFFER);
    if (c->finishing) {
        linger(c);
    }
}

void gy_conn_finish(struct gy_conn *c, const char *why)
{
    if (!c->closing && !c->finishing) {
        c->finishing = true;
        c->why = why;
        gy_conn_dirty(c);
    }
}

size_t gy_conn_unsent(const struct gy_conn *c)
{
    return gy_buf_size(&c->out) + (c->writing ? uv_stream_get_write_queue_size(&c->u.stream) : 0);
}

size_t gy_conn_taken(const struct gy_conn *c)
{
    size_t part =
        c->writing ? gy_buf_size(&c->sending) - uv_stream_get_write_queue_size(&c->u.stream) : 0;
    return c->written + part;
}

void gy_conn_dirty(struct gy_conn *c)
{
    if (!c->dirty && !c->closing) {
        c->dirty = true;
        c->next_dirty = c->loop->dirty;
        c->loop->dirty = c;
    }
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *out)
{
    (void)suggested;
    struct gy_conn *c = h->data;
    *out = uv_buf_init((char *)c->loop->read_buffer, GY_READ_BUFFER);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct gy_conn *c = s->data;
    if (c->lingering) {
        let_go_by(c, n);
    } else if (n > 0) {
        c->ev->data(c, (const uint8_t *)b->base, (size_t)n);
    } else if (n == UV_EOF && c->ev->ended) {
        gy_conn_read(c, false);
        c->peer_ended = true;
        c->ev->ended(c);
    } else if (n < 0) {
        gy_conn_close(c, n == UV_EOF ? "closed by the peer" : uv_strerror((int)n));
    }
}

void gy_conn_read(struct gy_conn *c, bool on)
{
    if (c->closing || !c->is_open || on == c->reading || (c->lingering && !on)) {
        return;
    }
    c->reading = on;
    if (on) {
        int rc = uv_read_start(&c->u.stream, on_alloc, on_read);
        if (rc) {
            gy_conn_close(c, uv_strerror(rc));
        }
    } else {
        uv_read_stop(&c->u.stream);
    }
}

static void init_handle(struct gy_loop *l, struct gy_conn *c, const struct gy_conn_events *ev,
                        bool is_unix)
{
    if (is_unix) {
        uv_pipe_init(&l->uv, &c->u.pipe, 0);
    } else {
        uv_tcp_init(&l->uv, &c->u.tcp);
    }
    c->loop = l;
    c->ev = ev;
    c->u.handle.data = c;
    c->dirty = c->writing = c->reading = c->closing = c->is_open = c->finishing = false;
    c->lingering = c->peer_ended = false;
    c->why = NULL;
    c->written = 0;
    c->out = c->sending = (struct gy_buf){0};
    link_conn(l, c);
}

static void on_connected(uv_connect_t *req, int status)
{
    struct gy_conn *c = req->data;
    if (c->closing) {
        return;
    }
    if (status < 0) {
        gy_conn_close(c, uv_strerror(status));
        return;
    }
    c->is_open = true;
    if (c->u.handle.type == UV_TCP) {
        uv_tcp_nodelay(&c->u.tcp, 1);
    }
    gy_conn_read(c, true);
    c->ev->opened(c);
}

void gy_conn_connect(struct gy_loop *l, struct gy_conn *c, const struct gy_conn_events *ev,
                     const struct gy_addr *addr, const struct sockaddr_storage *resolved)
{
    init_handle(l, c, ev, addr->is_unix);
    c->req.connect.data = c;
    if (addr->is_unix) {
        uv_pipe_connect(&c->req.connect, &c->u.pipe, addr->host, on_connected);
        return;
    }
    int rc =
        uv_tcp_connect(&c->req.connect, &c->u.tcp, (const struct sockaddr *)resolved, on_connected);
    if (rc) {
        gy_conn_close(c, uv_strerror(rc));
    }
}

/* ---- listeners ---- */

static void free_handle(uv_handle_t *h)
{
    free(h);
}

/* One peer too many: accepted and closed, so that it learns at once instead of waiting in the
 * backlog. */
static void turn_away(struct gy_listener *n, const char *farewell)
{
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } *drop = gy_xcalloc(1, sizeof *drop);
    if (n->is_unix) {
        uv_pipe_init(&n->loop->uv, &drop->pipe, 0);
    } else {
        uv_tcp_init(&n->loop->uv, &drop->tcp);
    }
    if (uv_accept(&n->u.stream, (uv_stream_t *)drop) == 0) {
        uv_buf_t b = uv_buf_init((char *)(uintptr_t)farewell, (unsigned)strlen(farewell));
        uv_try_write((uv_stream_t *)drop, &b, 1); /* closed either way */
    }
    uv_close((uv_handle_t *)drop, free_handle);
}

static void on_peer(uv_stream_t *s, int status)
{
    struct gy_listener *n = s->data;
    if (status < 0) {
        return; /* out of file descriptors, say: the next connection tries again */
    }
    const struct gy_conn_events *ev;
    const char *farewell = "";
    struct gy_conn *c = n->ev.accept(n->ctx, &ev, &farewell);
    if (!c) {
        turn_away(n, farewell);
        return;
    }
    init_handle(n->loop, c, ev, n->is_unix);
    int rc = uv_accept(s, &c->u.stream);
    if (rc) {
        gy_conn_close(c, uv_strerror(rc));
        return;
    }
    c->is_open = true;
    if (!n->is_unix) {
        uv_tcp_nodelay(&c->u.tcp, 1);
    }
    gy_conn_read(c, true);
}

static void on_listener_closed(uv_handle_t *h)
{
    free(h->data);
}

void gy_listener_close(struct gy_listener *n)
{
    uv_close(&n->u.handle, on_listener_closed);
}

int gy_listener_add(struct gy_loop *l, int fd, bool is_unix, const struct gy_listener_events *ev,
                    void *ctx, gyre_error_t *e)
{
    struct gy_listener *n = gy_xcalloc(1, sizeof *n);
    n->loop = l;
    n->ev = *ev;
    n->ctx = ctx;
    n->is_unix = is_unix;
    int rc;
    if (is_unix) {
        uv_pipe_init(&l->uv, &n->u.pipe, 0);
        rc = uv_pipe_open(&n->u.pipe, fd);
    } else {
        uv_tcp_init(&l->uv, &n->u.tcp);
        rc = uv_tcp_open(&n->u.tcp, fd);
    }
    n->u.handle.data = n;
    if (rc == 0) {
        rc = uv_listen(&n->u.stream, 1024, on_peer);
    }
    if (rc) {
        if (e) {
            *e = (gyre_error_t){.code = GYRE_IO};
            snprintf(e->message, sizeof e->message, "cannot listen: %s", uv_strerror(rc));
        }
        gy_listener_close(n);
        return GYRE_IO;
    }
    n->next = l->listeners;
    l->listeners = n;
    return GYRE_OK;
}
