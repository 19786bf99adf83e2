/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what a worker routes by: the current map, and while a move is under way the next map and
 * the state of every unit.
 *
 * A view is immutable once published; a change of any unit's state is a new view with a higher seq.
 * The fleet (servers) and the migration's constant part (maps, units, names) are shared between
 * views by reference. Threads: build in one, read in any.
 */
#ifndef GY_MOVE_VIEW_H
#define GY_MOVE_VIEW_H

#include "gyre.h"
#include "move/unit.h"

#include <stdatomic.h>

#define GY_NO_UNIT UINT32_MAX

/* A storage server. One entry a (name, address): replacing a machine makes two entries of one name
 * (0a.6). */
struct gy_server {
    char *name;
    char *address;
};

/* Everything about a migration that does not change while it runs. */
struct gy_migration {
    uint64_t epoch;
    gyre_map_t *next;
    uint32_t *next_server; /* node index of next -> server index */
    uint32_t nchunks;
    uint32_t nunits;
    struct gy_unit *units;       /* sorted by (src, dst, chunk) */
    struct gy_unit_names *names; /* of each unit */
    uint32_t *pairs;             /* open-addressed table: (src, dst) -> first unit; see view.c */
    uint32_t npairs_mask;
    _Atomic uint32_t refs;
};

struct gy_view {
    _Atomic uint32_t refs;
    uint64_t seq;     /* of this process; grows with every published view */
    gyre_map_t *map;  /* the current (during a move: the old) map */
    uint32_t *server; /* node index of map -> server index */
    uint32_t nservers;
    struct gy_server
        *servers; /* indices never change while the process lives: the mover only appends */
    struct gy_migration *move; /* NULL: nothing is moving */
    uint8_t *state;            /* enum gy_unit_state of each unit */
    uint32_t *attempt;         /* of each unit */
    uint8_t *from_complete;    /* abort began in COMPLETE (or later): all of the destination is the
                                  destination's */
    /* Servers whose requests sent under earlier views must be answered before this view counts as
     * acked. */
    uint32_t *drain;
    uint32_t ndrain;
};

struct gy_view *gy_view_ref(struct gy_view *v);
void gy_view_unref(struct gy_view *v);
/* A view without a move. servers (name, address pairs) are copied; server[] maps node -> server.
 * NULL: out of memory. */
struct gy_view *gy_view_new(gyre_map_t *map, const struct gy_server *servers, uint32_t nservers,
                            const uint32_t *server);
/* The same with a migration attached, every unit STABLE. */
struct gy_view *gy_view_with_move(const struct gy_view *v, struct gy_migration *m);
/* A copy to change (states, attempts, drain) before it is published. */
struct gy_view *gy_view_clone(const struct gy_view *v);
bool gy_view_set_drain(struct gy_view *v, const uint32_t *servers, uint32_t n);

/* Does a node of the current map, or of the next one, have this server? */
bool gy_view_serves(const struct gy_view *v, uint32_t server);

/* Where a unit of m stands under v. A view without m is one from before its first unit is armed, or
 * the last: the map that m led to then says that everything has moved. */
enum gy_unit_state gy_view_state_of(const struct gy_view *v, const struct gy_migration *m,
                                    uint32_t unit);

/* A flow of keys from one server to another. */
struct gy_pair {
    uint32_t src, dst; /* server indices */
};

/* Every (server of old owner, server of new owner) pair that keys can take, sorted; *out is
 * malloc'ed. They come from the exact diff, and from nodes whose address changes; where a diff is
 * not exact, all ordered pairs of servers. */
GYRE_NODISCARD int gy_migration_pairs(const struct gy_view *v, gyre_map_t *next,
                                      const uint32_t *next_server, struct gy_pair **out, size_t *n,
                                      gyre_error_t *e);
/* Units: the pairs (sorted; those left out stay at the source until the end) times nchunks. The
 * names of the servers in the new map are taken from v, which must hold them all. */
GYRE_NODISCARD int gy_migration_new(const struct gy_view *v, gyre_map_t *next,
                                    const uint32_t *next_server, const struct gy_pair *pairs,
                                    size_t npairs, uint64_t epoch, uint32_t nchunks,
                                    const char *prefix, const char *pool, struct gy_migration **out,
                                    gyre_error_t *e);
struct gy_migration *gy_migration_ref(struct gy_migration *m);
void gy_migration_unref(struct gy_migration *m);

struct gy_route {
    uint32_t src;  /* server by the current map; GYRE_NONE: no node */
    uint32_t dst;  /* server by the next map; = src when nothing moves */
    uint32_t unit; /* GY_NO_UNIT: stable */
    enum gy_unit_state state;
};
/* One map lookup when nothing is moving, two when something is. */
struct gy_route gy_view_route(const struct gy_view *v, const void *key, size_t len);

#endif
