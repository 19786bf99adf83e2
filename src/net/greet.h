/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greet.h - the hand-shake on a new connection to a storage server, as a machine without sockets:
 * answers in, commands out. The proxy's loops and the blocking client both use it.
 *
 * Who am I (AUTH, CLIENT SETNAME, CLIENT ID), who is the server (INFO), and with a fence, in an
 * order that leaves a predecessor no gap: our own user is made; connections of older generations
 * are killed; only then their users, which such a connection may just have made, are deleted; then
 * we log in. A predecessor that comes by later looks before it makes its user, finds ours, and
 * gives up (docs/migration.md 3.7). Where ACL may not be used the connection stays the configured
 * user's, and only killing by name is left: `weak` says why.
 *
 * Threads: one thread an object.
 */
#ifndef GY_NET_GREET_H
#define GY_NET_GREET_H

#include "net/fence.h"

enum gy_greeting { GY_GREETING_MORE, GY_GREETING_DONE, GY_GREETING_FAILED /* why says it */ };

enum gy_greet_ask {
    GY_ASK_AUTH,
    GY_ASK_NAME,
    GY_ASK_ID,
    GY_ASK_INFO,
    GY_ASK_ACL,
    GY_ASK_ALLOWED, /* deletes nobody */
    GY_ASK_MAKE,
    GY_ASK_CLIENTS,
    GY_ASK_KILL, /* `kills` of them */
    GY_ASK_ACL_AGAIN,
    GY_ASK_DELETE,
    GY_ASK_LOGIN,
    GY_ASK_COUNT
};

struct gy_greet {
    /* in; the texts outlive the hand-shake */
    const char *user, *password; /* NULL: none */
    const char *name;            /* CLIENT SETNAME; NULL: none */
    const struct gy_fence *fence;
    bool look; /* with a fence: only see who is there */
    /* A broken connection of our own that may still have commands queued there; killed if the
     * server is still the process with this run_id. 0: none. */
    int64_t kill_id;
    const char *kill_run_id;
    /* in: an earlier hand-shake of the caller with the process run_id has fenced; out: it is done
     */
    bool fenced;
    char run_id[48]; /* in: of the server met last, or ""; out */
    /* out */
    int64_t client_id;
    struct gy_fence_seen seen; /* before anything was changed */
    bool made;                 /* our user was made, or that was tried */
    char weak[200];            /* why the connection is not our own user's; "": it is */
    char why[160];
    /* inner */
    uint8_t ask[GY_ASK_COUNT];
    unsigned at, n, kills, round;
    bool full; /* older generations are to be put away in this hand-shake */
    struct gy_buf rules, clients;
};

/* The first commands. The caller then feeds every reply, one by one, until it is not MORE. */
void gy_greet_begin(struct gy_greet *g, struct gy_buf *out);
enum gy_greeting gy_greet_take(struct gy_greet *g, const struct gy_reply *r, struct gy_buf *out);
void gy_greet_fini(struct gy_greet *g);

#endif
