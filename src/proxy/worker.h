/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - one thread of the proxy: a loop, its clients, its connections to the nodes, and the
 * view it routes by.
 *
 * The view is read through liburcu (qsbr) once a turn and kept by reference until a newer one is
 * seen. Adopting one takes a mark on every connection named in its drain list; the view is
 * acknowledged when all that was sent before the mark is answered and all multi-step requests begun
 * under earlier views are finished (docs/migration.md 3.2).
 *
 * Threads: the worker's own, but for `acked` and `hold_ms` (atomic) and `summary` (under the
 * proxy's lock).
 */
#ifndef GY_PROXY_WORKER_H
#define GY_PROXY_WORKER_H

#include "move/view.h"
#include "net/loop.h"
#include "proxy/backend.h"
#include "proxy/carries.h"
#include "proxy/known.h"
#include "proxy/room.h"

#include <pthread.h>

struct gy_proxy;
struct gy_client;
struct gy_task;

struct gy_worker_stats {
    uint64_t clients, requests, errors, held, moved_keys, moved_bytes, known, memory;
    uint64_t longest_hold_ms;
    uint64_t waited; /* commands that stood in a line of carries.h */
};

struct gy_backend_summary {
    char *name, *address;
    enum gy_backend_state state;
    bool left; /* no node has this server any more: nobody is told of it */
    char why[160];
    uint64_t failures, requests, inflight;
};

struct gy_worker {
    struct gy_proxy *proxy;
    unsigned index;
    struct gy_loop *loop;
    pthread_t thread;
    bool started;

    struct gy_view *view;
    struct gy_backend **backends; /* by server index */
    uint32_t nbackends;

    uint64_t *marks; /* of each backend, for the view being acknowledged */
    bool acking;
    _Atomic uint64_t acked;   /* seq of the newest acknowledged view */
    _Atomic uint64_t hold_ms; /* longest wait of a write since the mover asked (view_publish.c) */

    struct gy_client *clients;
    struct gy_client *ready; /* those that may go on parsing */
    struct gy_task *tasks;   /* multi-step and held requests */
    struct gy_req *free_reqs;
    size_t reply_peak;  /* size of recent large answers to anybody */
    size_t input_bytes; /* held for requests of all clients: unfinished ones, and those of tasks */
    struct gy_room room;
    struct gy_carries carries;
    struct gy_known known;

    uint64_t last_tick;
    unsigned ticks;
    struct gy_worker_stats stats;

    /* under proxy->lock */
    struct gy_worker_stats summary;
    struct gy_backend_summary *nodes;
    uint32_t nnodes;
};

GYRE_NODISCARD int gy_worker_init(struct gy_worker *w, struct gy_proxy *p, unsigned index,
                                  gyre_error_t *e);
GYRE_NODISCARD int gy_worker_start(struct gy_worker *w, gyre_error_t *e);
void gy_worker_summarise(struct gy_worker *w); /* its figures, for readers in other threads */
void gy_worker_join(struct gy_worker *w);      /* after gy_loop_stop */
void gy_worker_fini(struct gy_worker *w);

static inline struct gy_backend *gy_worker_backend(const struct gy_worker *w, uint32_t server)
{
    return w->backends[server];
}

#endif
