/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - the topologies in a store: the one that serves and each that ever did, as YAML with
 * their versions. A proxy changes them by moving keys; `gyre view put` where programs that embed
 * libgyre have no proxy. Keys: "view" and "view/<version>". Threads: those of the store.
 */
#ifndef GY_CONTROL_VIEWS_H
#define GY_CONTROL_VIEWS_H

#include "control/store.h"

#define GY_VIEW_KEY  "view"
#define GY_VIEWS_KEY "view/" /* and the version */
#define GY_MOVE_KEY  "move"  /* the move under way */
#define GY_PROXY_KEY "proxy/id"

/* The topology that serves, as YAML. UNKNOWN: none yet. */
GYRE_NODISCARD int gy_views_get(struct gy_store *s, struct gy_buf *yaml, gyre_error_t *e);

/*
 * Makes `t` the one that serves, if the one that does has the version `expect` (0: there is none).
 * Errors: CONFLICT (it has another version; t's is not higher; a move is under way), REFUSED (the
 * store is a proxy's, whose servers hold keys where the old topology put them: not if `moved`
 * says that they are where t has them), IO, NOMEM.
 */
GYRE_NODISCARD int gy_views_put(struct gy_store *s, const gyre_topology_t *t, uint64_t expect,
                                bool moved, gyre_error_t *e);

/* May a topology of this version be the first of a store, with that expectation? For who would have
 * to make the store to try. CONFLICT. */
GYRE_NODISCARD int gy_views_check_first(uint64_t expect, uint64_t version, gyre_error_t *e);

/* Hands over every one with a version above `after`, the lowest first; fn returns false to stop. */
GYRE_NODISCARD int gy_views_after(struct gy_store *s, uint64_t after,
                                  bool (*fn)(void *ctx, uint64_t version, struct gy_slice yaml),
                                  void *ctx, gyre_error_t *e);

/* A store's YAML as a topology; the caller frees it. where: for messages. */
GYRE_NODISCARD int gy_views_parse(struct gy_slice yaml, const char *where, gyre_topology_t **out,
                                  gyre_error_t *e);

#endif
