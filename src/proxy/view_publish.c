/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_publish.c - the mover's side of the view: one pointer swap, and the barrier that waits for
 * the workers (move/host.h).
 *
 * A reader takes a reference between two quiescent states; the old view is let go only after every
 * worker has passed one. Workers pass one a turn and are woken for it, so publishing takes about a
 * turn.
 */
#include "proxy/proxy.h"

#include <errno.h>
#include <time.h>
#include <urcu/urcu-qsbr.h>

void gy_proxy_publish(void *ctx, struct gy_view *v)
{
    struct gy_proxy *p = ctx;
    v->seq = ++p->view_seq;
    /* Release: a worker that sees the pointer sees what it points to. */
    struct gy_view *old = atomic_exchange_explicit(&p->view, v, memory_order_release);
    for (unsigned i = 0; i < p->nworkers; i++) {
        gy_loop_wake(p->workers[i].loop);
    }
    urcu_qsbr_synchronize_rcu();
    gy_view_unref(old);
}

void gy_proxy_acked(struct gy_proxy *p)
{
    pthread_mutex_lock(&p->ack_lock);
    pthread_cond_broadcast(&p->acked);
    pthread_mutex_unlock(&p->ack_lock);
}

static bool all_acked(struct gy_proxy *p, uint64_t seq)
{
    for (unsigned i = 0; i < p->nworkers; i++) {
        /* Acquire: pairs with the release of try_ack, so that what the worker did before its ack is
         * done. */
        if (atomic_load_explicit(&p->workers[i].acked, memory_order_acquire) < seq) {
            return false;
        }
    }
    return true;
}

bool gy_proxy_barrier(void *ctx, uint64_t seq, int timeout_ms)
{
    struct gy_proxy *p = ctx;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&p->ack_lock);
    bool acked = all_acked(p, seq);
    int rc = 0;
    while (!acked && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&p->acked, &p->ack_lock, &until);
        acked = all_acked(p, seq);
    }
    pthread_mutex_unlock(&p->ack_lock);
    return acked;
}

void gy_proxy_on_access(void *ctx, uint64_t *keys, uint64_t *bytes)
{
    struct gy_proxy *p = ctx;
    *keys = *bytes = 0;
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->nworkers; i++) {
        *keys += p->workers[i].summary.moved_keys;
        *bytes += p->workers[i].summary.moved_bytes;
    }
    pthread_mutex_unlock(&p->lock);
}

/* A worker only ever raises its figure, between a look at it and a store: whichever of the two our
 * exchange falls behind, the longer wait is either taken now or stays to be taken next. */
uint64_t gy_proxy_longest_hold(void *ctx)
{
    struct gy_proxy *p = ctx;
    uint64_t longest = 0;
    for (unsigned i = 0; i < p->nworkers; i++) {
        uint64_t ms = atomic_exchange_explicit(&p->workers[i].hold_ms, 0, memory_order_relaxed);
        longest = ms > longest ? ms : longest;
    }
    return longest;
}

/* The loops' clock is CLOCK_MONOTONIC in milliseconds (uv_now). */
void gy_proxy_patience(void *ctx, uint32_t src, uint32_t dst, uint32_t ms)
{
    struct gy_proxy *p = ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t until = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + ms;
    /* The servers before the time: whoever sees the time (acquire) sees whose it is. A reader that
     * meets the next key's servers with this key's time errs by one tick on the patient side. */
    atomic_store_explicit(&p->busy[0], src, memory_order_relaxed);
    atomic_store_explicit(&p->busy[1], dst, memory_order_relaxed);
    atomic_store_explicit(&p->busy_until, ms ? until : 0, memory_order_release);
}

bool gy_proxy_is_busy(const struct gy_proxy *p, uint32_t server, uint64_t now)
{
    return now < atomic_load_explicit(&p->busy_until, memory_order_acquire) &&
           (atomic_load_explicit(&p->busy[0], memory_order_relaxed) == server ||
            atomic_load_explicit(&p->busy[1], memory_order_relaxed) == server);
}
