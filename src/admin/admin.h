/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin.h - the HTTP door by which `gyre move`, `gyre top` and scripts look into a running proxy
 * and steer a move. docs/admin.md is its manual.
 *
 * One thread of its own serves all connections, one request at a time: it is the "admin thread" of
 * mover.h, and never stands in a client's way. Nobody is authenticated, so the door opens only for
 * the owner of the socket file, or on loopback.
 */
#ifndef GY_ADMIN_ADMIN_H
#define GY_ADMIN_ADMIN_H

#include "base/buf.h"
#include "gyre.h"

struct gy_admin;
struct gy_mover;

struct gy_admin_ops {
    void *ctx;
    struct gy_mover *mover; /* NULL: the proxy keeps no state, so nothing can be moved */
    /* Writes the proxy's state as one JSON object: clients, requests, each node's state. Called by
     * the admin thread. */
    void (*info)(void *ctx, struct gy_buf *json);
};

/* Finds libmicrohttpd (base/late.h), which gy_admin_start does too: called before clients are let
 * in, it leaves them no moment without an admin. IO: it is not installed. */
GYRE_NODISCARD int gy_admin_prepare(gyre_error_t *e);

/* address: "unix:/path" (made with mode 0600; a dead one's file is replaced) or "host:port" on a
 * loopback address (port 0: any free one). ops is copied; its mover and ctx must outlive
 * gy_admin_stop. Errors: INVALID address, CONFLICT in use (unix), REFUSED not loopback or not a
 * socket, IO, NOMEM. */
GYRE_NODISCARD int gy_admin_start(const char *address, const struct gy_admin_ops *ops,
                                  struct gy_admin **out, gyre_error_t *e);
/* Waits for the request in hand, closes all connections, removes the socket file. NULL is fine. */
void gy_admin_stop(struct gy_admin *a);
/* Where it listens, as a client would write it; with the real port where 0 was asked for. */
const char *gy_admin_address(const struct gy_admin *a);

#endif
