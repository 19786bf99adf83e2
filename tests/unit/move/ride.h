/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ride.h - a mover with a host that stands in for the proxy: it keeps the published view, acks
 * every barrier at once (it has no requests in flight), and at the views a test names it does what
 * a client's request would do through the protocol.
 */
#ifndef TEST_MOVE_RIDE_H
#define TEST_MOVE_RIDE_H

#include "fleet.h"
#include "move/mover.h"

struct ride {
    struct gy_store *store;
    struct gy_mover *mover;
    struct gy_view *view;
    struct gy_move_host host;
    struct gy_config conf;
    uint64_t seq;
    _Atomic uint64_t access_keys, access_bytes;
    _Atomic uint64_t hold_ms;     /* what a write has waited since the mover asked last */
    _Atomic bool refuse_barriers; /* until cleared */
    bool stubborn;                /* the first hold of each direction is not acked in time */
    bool refused_prepare, refused_abort;
    _Atomic unsigned barriers;
    /* Called after each published view, by the mover's thread. */
    void (*at_view)(struct ride *r, const struct gy_view *v);
    void *ctx;
};

/* Opens the store in dir/state with the topology as the file's; the caller keeps t. */
void ride_open(struct ride *r, const char *dir, gyre_topology_t *t);
void ride_start(struct ride *r);
void ride_close(struct ride *r);
/* Polls the status until the state is `state`; fails after 30 s. */
void ride_wait(struct ride *r, const char *state);
/* The text of the status; free it. */
char *ride_status(struct ride *r);
/* A number of the status: "keys.moved". */
double ride_number(struct ride *r, const char *path);
/* The stored topology, as the next process would read it. */
gyre_topology_t *ride_topology(struct ride *r);
unsigned ride_count(const struct gy_view *v, enum gy_unit_state s);

#endif
