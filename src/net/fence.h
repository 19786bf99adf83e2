/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.h - who this process is to the storage servers, and who of its predecessors must not
 * execute anything there any more (docs/migration.md 3.7). Lists in, commands out; no sockets.
 *
 * On each server the process has a user of its own, "gyre-<pool>-<id>-<generation>", with the
 * rights of the configured one, compared and made afresh at every hand-shake, and a random secret
 * that is in memory only. ACL DELUSER of an older
 * one closes its connections and discards what they had buffered. Its connections are named like
 * the user, so that those not logged in yet, or on a server without ACL, are found too.
 *
 * Threads: constant after init, any may read.
 */
#ifndef GY_NET_FENCE_H
#define GY_NET_FENCE_H

#include "gyre.h"
#include "wire/resp.h"

#define GY_FENCE_ID 8 /* hex digits */

struct gy_fence {
    char *pool;   /* "gyre-<pool>-" */
    char *prefix; /* "gyre-<pool>-<id>-" */
    char *user;   /* prefix and the generation */
    char *base;   /* whose rights are copied */
    char secret[65];
    uint64_t generation;
    /* May this process still act under its generation: is the state directory's lock its own? */
    bool (*holds)(void *ctx);
    void *ctx;
};

/* base: the configured user; NULL: "default". id: GY_FENCE_ID hex digits. */
GYRE_NODISCARD int gy_fence_init(struct gy_fence *f, const char *pool, const char *id,
                                 uint64_t generation, const char *base, gyre_error_t *e);
GYRE_NODISCARD int gy_fence_renumber(struct gy_fence *f, uint64_t generation, gyre_error_t *e);
void gy_fence_fini(struct gy_fence *f);

/* What an answer to ACL LIST says of us. */
struct gy_fence_seen {
    bool own;        /* our user is there */
    bool older;      /* a predecessor's is there */
    bool stale;      /* ours is there, with other rights than the base user has now */
    uint64_t newest; /* generation among ours; 0: none */
};
void gy_fence_look(const struct gy_fence *f, const struct gy_reply *acl, struct gy_fence_seen *out);
/* The rules of the base user in an answer to ACL LIST, without its passwords; false: it is not
 * listed. */
bool gy_fence_rules(const struct gy_fence *f, const struct gy_reply *acl, struct gy_buf *out);

/* ACL SETUSER of our user with these rules; false: out of memory. */
bool gy_fence_make(const struct gy_fence *f, struct gy_slice rules, struct gy_buf *out);
/* ACL DELUSER of our own user and the older generations', of those an answer to ACL LIST shows;
 * malloc'ed, its words live as long as the answer. NULL: nobody to delete, or out of memory. */
struct gy_slice *gy_fence_unmake(const struct gy_fence *f, const struct gy_reply *acl,
                                 size_t *argc);
void gy_fence_login(const struct gy_fence *f, struct gy_buf *out);
/* CLIENT KILL ID of each connection named like an older generation's; the number of commands. */
unsigned gy_fence_kill(const struct gy_fence *f, struct gy_slice clients, struct gy_buf *out);
/* Connections that are logged in as our user. */
unsigned gy_fence_count(const struct gy_fence *f, struct gy_slice clients);
/* A connection of a proxy of the pool under another id; false: there is none. `from` is its
 * address, within `clients`. */
bool gy_fence_other(const struct gy_fence *f, struct gy_slice clients, char id[GY_FENCE_ID + 1],
                    struct gy_slice *from);
/* One ACL DELUSER, always: of the older generations' users, and of those of lost state directories
 * of the pool that no connection uses. acl NULL: of nobody, to see whether it is allowed. */
void gy_fence_delete(const struct gy_fence *f, const struct gy_reply *acl, struct gy_slice clients,
                     struct gy_buf *out);

#endif
