/* SPDX-License-Identifier: Apache-2.0 */
/* loop_internal.h - what loop.c and conn.c share; nobody else includes it. */
#ifndef GY_NET_LOOP_INTERNAL_H
#define GY_NET_LOOP_INTERNAL_H

#include "net/loop.h"

#include <stdatomic.h>

/* One read fills at most this much; larger requests are gathered by their owner. */
#define GY_READ_BUFFER (64 * 1024)

struct gy_listener {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } u;
    struct gy_loop *loop;
    struct gy_listener *next;
    struct gy_listener_events ev;
    void *ctx;
    bool is_unix;
};

struct gy_loop {
    uv_loop_t uv;
    uv_async_t async;
    uv_timer_t tick;
    uv_check_t check;
    uv_prepare_t prepare;
    struct gy_loop_hooks hooks;
    struct gy_conn *conns;
    struct gy_conn *dirty;
    struct gy_listener *listeners;
    unsigned lingering; /* connections that let the peer's last bytes go by */
    _Atomic bool stop;
    bool stopping;
    uint8_t read_buffer[GY_READ_BUFFER];
};

void gy_conn_flush(struct gy_conn *c);
void gy_conns_linger(struct gy_loop *l); /* closes those whose time is over */
void gy_listener_close(struct gy_listener *n);

#endif
