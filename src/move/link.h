/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - the mover's own connections to the storage servers, one each, opened when needed. A link
 * that broke is opened again only after the old connection was killed at the server, so no request
 * of ours lands late (migration.md 3.6, race 7). Threads: one thread an object.
 */
#ifndef GY_MOVE_LINK_H
#define GY_MOVE_LINK_H

#include "formats/config.h"
#include "move/stamp.h"
#include "move/view.h"
#include "net/sync.h"

/* Said where a server does not allow it. */
#define GY_FENCE_GRANT                                                                       \
    "ACL SETUSER %s +acl|list +acl|setuser +acl|deluser +acl|dryrun there (and ACL neither " \
    "renamed nor disabled)"

/* What every link is opened with; constant, shared. */
struct gy_link_conf {
    char *user, *password; /* NULL: none */
    struct gy_fence fence; /* who we are there */
    char *name;            /* the fence's user and "-mover" */
    int connect_ms, timeout_ms;
};
GYRE_NODISCARD int gy_link_conf_init(struct gy_link_conf *c, const struct gy_proxy_conf *proxy,
                                     const char *pool, const char *id, uint64_t generation,
                                     gyre_error_t *e);
/* Before any link was opened. */
GYRE_NODISCARD int gy_link_conf_renumber(struct gy_link_conf *c, uint64_t generation,
                                         gyre_error_t *e);
void gy_link_conf_fini(struct gy_link_conf *c);
/* A short look at a server, as the configured user: nobody is made or put away. Within about `ms`.
 */
GYRE_NODISCARD int gy_link_visit(const struct gy_link_conf *c, const struct gy_server *server,
                                 int64_t ms, struct gy_sync **out, gyre_error_t *e);
/* Our users there go, the older generations' too, if `may` (NULL: in any case) says so of the
 * server's process. Nothing to do where ACL is not known; where it is forbidden only if `weak`,
 * since else there may be such a user. */
GYRE_NODISCARD int gy_link_retire(const struct gy_link_conf *c, const struct gy_server *server,
                                  int64_t ms, bool weak, bool (*may)(void *ctx, const char *run_id),
                                  void *ctx, gyre_error_t *e);

struct gy_link {
    struct gy_sync *sync;
    int64_t dead_id; /* our last connection's, should it have broken */
    char dead_run_id[48];
    bool loaded; /* the function library is there */
    bool made;   /* our user was made there through this link, or may have been */
};

struct gy_links {
    const struct gy_link_conf *conf;
    struct gy_link *v; /* by server index */
    uint32_t n;
    /* Told when a server is reached again and is another process than before. NULL: nobody. */
    void (*restarted)(void *ctx, uint32_t server, const char *run_id);
    void *ctx;
    bool weak_ok;     /* a server where ACL cannot fence is good enough */
    const char *pool; /* whose stamp goes with the library */
    struct gy_stamp stamp;
};

void gy_links_init(struct gy_links *l, const struct gy_link_conf *conf);
void gy_links_fini(struct gy_links *l);
/* A usable connection to server i at this address; with `library` the function library is loaded
 * first. Errors name the server. */
GYRE_NODISCARD int gy_links_get(struct gy_links *l, uint32_t i, const struct gy_server *server,
                                bool library, struct gy_sync **out, gyre_error_t *e);
/* Of the process that server i is connected to; "": it is not. */
const char *gy_links_run_id(const struct gy_links *l, uint32_t i);
/* Why server i, just got, cannot be fenced by ACL; "": it can. */
const char *gy_links_weak(const struct gy_links *l, uint32_t i);
bool gy_links_made(const struct gy_links *l, uint32_t i);
/* To be called after an error: the connection is given up when it is broken. */
void gy_links_check(struct gy_links *l, uint32_t i);
/* The library was taken away (FUNCTION FLUSH): it is loaded again when the link is next got. */
void gy_links_unload(struct gy_links *l, uint32_t i);
/* Every server that got the library learns that the move has ended; as well as it goes. */
void gy_links_seal(struct gy_links *l);
void gy_links_drop(struct gy_links *l, uint32_t i); /* close in peace */

#endif
