/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - one event loop, its connections and listeners: the only code that knows libuv.
 *
 * A connection gathers what is written to it during a turn and is flushed once, at the end of the
 * turn, with one attempt at write(2); the poller is armed for writability only for what the kernel
 * did not take. Reading uses one buffer a loop: on_data gets bytes that live until it returns.
 *
 * Threads: everything belongs to the loop's thread, except gy_loop_wake and gy_loop_stop, which any
 * thread may call.
 */
#ifndef GY_NET_LOOP_H
#define GY_NET_LOOP_H

#include "base/buf.h"
#include "gyre.h"
#include "net/addr.h"

#include <uv.h>

struct gy_loop;
struct gy_conn;

struct gy_loop_hooks {
    void *ctx;
    void (*wake)(void *ctx); /* after gy_loop_wake, in the loop's thread */
    void (*turn)(void *ctx); /* at the end of each turn, before the flush */
    void (*tick)(void *ctx); /* every tick_ms */
    unsigned tick_ms;
};

GYRE_NODISCARD int gy_loop_new(const struct gy_loop_hooks *hooks, struct gy_loop **out,
                               gyre_error_t *e);
void gy_loop_run(struct gy_loop *l); /* returns after gy_loop_stop, when everything is closed */
void gy_loop_stop(
    struct gy_loop *l); /* any thread: closes listeners and connections, then run returns */
void gy_loop_wake(struct gy_loop *l);           /* any thread */
void gy_loop_free(struct gy_loop *l);           /* after run returned, or before it was called */
bool gy_loop_stopping(const struct gy_loop *l); /* connections are being closed because of us */
uint64_t gy_loop_now(const struct gy_loop *l);  /* milliseconds, monotonic, of this turn */

struct gy_conn_events {
    void (*opened)(struct gy_conn *c); /* a connect succeeded */
    void (*data)(struct gy_conn *c, const uint8_t *p, size_t n);
    void (*drained)(struct gy_conn *c); /* the last written byte was taken by the kernel */
    void (*ended)(
        struct gy_conn *c); /* the peer will send no more, but may still read; NULL: close */
    void (*closed)(struct gy_conn *c, const char *why); /* once, last: the owner may free c in it */
};

/* Embedded in its owner. Fields are the loop's, except `out`, to which the owner appends and then
 * calls gy_conn_dirty. */
struct gy_conn {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } u;
    struct gy_loop *loop;
    const struct gy_conn_events *ev;
    struct gy_conn *next, **link; /* of the loop's list of all connections */
    struct gy_conn *next_dirty;
    struct gy_buf out;     /* written this turn, not yet offered to the kernel */
    struct gy_buf sending; /* handed to uv_write: what the kernel did not take at once */
    union {
        uv_write_t write;
        uv_connect_t connect;
    } req;
    size_t written;  /* bytes of finished writes; see gy_conn_taken */
    const char *why; /* reason of the close, for closed() */
    bool dirty, writing, reading, closing, is_open, finishing, peer_ended, lingering;
    uint64_t linger_until; /* ms */
    size_t linger_left;    /* bytes that may still be let go by */
};

/* Starts a connect; opened or closed follows, never from within this call. */
void gy_conn_connect(struct gy_loop *l, struct gy_conn *c, const struct gy_conn_events *ev,
                     const struct gy_addr *addr, const struct sockaddr_storage *resolved);
void gy_conn_dirty(struct gy_conn *c);
/* Closes once everything written has been taken by the kernel, in a way that lets the peer read it:
 * our side is shut, then what the peer is still sending is let go by until it closes too, for a
 * short while. No event comes in between. A close with unread bytes would be a reset, which makes
 * the peer's writes fail, and the last answer (why it is closed) is not looked for. */
void gy_conn_finish(struct gy_conn *c, const char *why);
void gy_conn_read(struct gy_conn *c, bool on);
void gy_conn_close(
    struct gy_conn *c,
    const char *why); /* unsent bytes are offered once more, then dropped; closed() comes later */
/* Bytes accepted from the owner and not yet taken by the kernel. */
size_t gy_conn_unsent(const struct gy_conn *c);
/* Bytes the kernel has taken in all: grows as long as the peer reads. */
size_t gy_conn_taken(const struct gy_conn *c);

struct gy_listener_events {
    /* Returns the connection to accept into (embedded in its owner) and its events, or NULL to turn
     * the peer away: then *farewell is what it is told. */
    struct gy_conn *(*accept)(void *ctx, const struct gy_conn_events **ev, const char **farewell);
};

/* fd: a bound and listening socket (addr.h: gy_listen); taken over. */
GYRE_NODISCARD int gy_listener_add(struct gy_loop *l, int fd, bool is_unix,
                                   const struct gy_listener_events *ev, void *ctx, gyre_error_t *e);

#endif
