/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what the mover needs of the process that routes requests (the proxy; in tests a stand-in
 * that drives the same rules).
 */
#ifndef GY_MOVE_HOST_H
#define GY_MOVE_HOST_H

#include "move/view.h"

struct gy_move_host {
    void *ctx;
    /* Makes v the current view of every worker; takes over the caller's reference; sets v->seq.
     * Called by the mover's thread only.
     */
    void (*publish)(void *ctx, struct gy_view *v);
    /* True once every worker routes by view `seq` or a later one, every request it had sent before
     * to a server in that view's drain list is answered (or its connection was killed at the
     * server), and every multi-step request begun under an earlier view is finished. False at the
     * deadline. */
    bool (*barrier)(void *ctx, uint64_t seq, int timeout_ms);
    /* Counters of on-access moves, for status: keys and bytes moved by the workers since the move
     * began. */
    void (*on_access)(void *ctx, uint64_t *keys, uint64_t *bytes);
    /* These two servers are at work on one large key of the mover's and may answer nobody for up to
     * `ms`: not a reason to call them down. 0 ends it. May be NULL. The mover's thread only. */
    void (*patience)(void *ctx, uint32_t src, uint32_t dst, uint32_t ms);
    /* The longest that a write waited for its unit, in ms, of those that went on since this was
     * last asked; asking begins anew. May be NULL: no write ever waits. */
    uint64_t (*longest_hold)(void *ctx);
};

#endif
