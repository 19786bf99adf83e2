/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - the process: configuration, workers, the published view and its barrier, start and
 * stop. Threads: gy_proxy_run's caller handles signals; workers, mover and admin have threads of
 * their own.
 */
#ifndef GY_PROXY_PROXY_H
#define GY_PROXY_PROXY_H

#include "formats/config.h"
#include "move/host.h"
#include "proxy/worker.h"

struct gy_mover;

struct gy_proxy {
    const struct gy_config *config;
    char *password;               /* of the backends, from password_file; NULL: none */
    const struct gy_fence *fence; /* who this process is to the nodes; the mover's */
    struct gy_worker *workers;
    unsigned nworkers;
    /* Read by the workers, written by the mover's thread; what is replaced is let go after a grace
     * period of liburcu's qsbr. C11's release and acquire instead of rcu_assign_pointer and
     * rcu_dereference, so that the thread sanitizer follows the hand-over. */
    struct gy_view *_Atomic view;
    uint64_t view_seq;
    struct gy_move_host host;
    pthread_mutex_t lock; /* summaries */
    pthread_mutex_t ack_lock;
    pthread_cond_t acked;        /* a worker acknowledged a view */
    _Atomic uint32_t busy[2];    /* servers at work on the mover's large key */
    _Atomic uint64_t busy_until; /* ms of the loops' clock; 0: none is */
    _Atomic uint64_t next_client_id;
    uint64_t started_ms;    /* realtime */
    struct gy_slice prefix; /* of reserved keys */
};

struct gy_proxy_hooks {
    void *ctx;
    /* Called once everything serves; and before it stops. */
    int (*serving)(void *ctx, struct gy_proxy *p, struct gy_mover *m, gyre_error_t *e);
    void (*stopping)(void *ctx);
};

/* Runs until SIGINT or SIGTERM. Errors are those of start-up. */
GYRE_NODISCARD int gy_proxy_run(const struct gy_config *config, const struct gy_proxy_hooks *hooks,
                                gyre_error_t *e);
/* Everything start-up would refuse that can be told without opening a socket or the store, and
 * without changing anything; the admin's address is the admin's (gy_door_check). */
GYRE_NODISCARD int gy_proxy_check(const struct gy_config *config, gyre_error_t *e);
void gy_proxy_info(void *proxy, struct gy_buf *json); /* for the admin server; any thread */
/* view_publish.c: the functions of `host` */
void gy_proxy_publish(void *proxy, struct gy_view *v);
bool gy_proxy_barrier(void *proxy, uint64_t seq, int timeout_ms);
void gy_proxy_on_access(void *proxy, uint64_t *keys, uint64_t *bytes);
uint64_t gy_proxy_longest_hold(void *proxy);
void gy_proxy_patience(void *proxy, uint32_t src, uint32_t dst, uint32_t ms);
/* May this server be silent now without being called down? Any thread. */
bool gy_proxy_is_busy(const struct gy_proxy *p, uint32_t server, uint64_t now);
void gy_proxy_acked(struct gy_proxy *p); /* a worker's ack changed */

#endif
