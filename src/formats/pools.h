/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.h - what a file of any format says: its pools, each with the topology that places keys as
 * that system does, and beside it what gyre's own topology has no word for: roles, states, open
 * slots, ids, and notes for people. Readers build it with the functions below; after that it is
 * only read. Names are the same in both: servers[i].name is a node's name where the server is one.
 *
 * Invariant: a pool has either a config or a reason (why) for having none. Threads: one thread an
 * object while it is built, any afterwards.
 */
#ifndef GY_FORMATS_POOLS_H
#define GY_FORMATS_POOLS_H

#include "formats/config.h"
#include "formats/mark.h"

enum gy_role { GY_ROLE_NONE, GY_ROLE_PRIMARY, GY_ROLE_REPLICA };

/* What is true of a server now, as the file has it. X(bit, name) */
/* clang-format off */
#define GY_STATES(X)                                                                           \
    X(DOWN, "down") X(SUSPECT, "suspect") X(DISABLED, "disabled") X(DRAINING, "draining")      \
    X(JOINING, "joining") X(LEAVING, "leaving") X(MOVING, "moving") X(LOADING, "loading")      \
    X(BACKUP, "backup") X(HANDSHAKE, "handshake") X(NO_ADDRESS, "no-address")                  \
    X(DISCONNECTED, "disconnected") X(SELF, "self") X(READ_ONLY, "read-only")
/* clang-format on */
enum gy_state_bit {
#define GY_STATE_ENUM(id, name) GY_STATE_BIT_##id,
    GY_STATES(GY_STATE_ENUM)
#undef GY_STATE_ENUM
        GY_STATE_COUNT
};
enum gy_state {
#define GY_STATE_ENUM(id, name) GY_STATE_##id = 1 << GY_STATE_BIT_##id,
    GY_STATES(GY_STATE_ENUM)
#undef GY_STATE_ENUM
};
const char *gy_state_name(enum gy_state_bit bit);
const char *gy_role_name(enum gy_role role); /* NULL for GY_ROLE_NONE */

/* A slot that is on its way: it stays with its owner until the move ends. */
struct gy_open {
    uint32_t slot;
    bool importing; /* seen from the taker; otherwise from the giver */
    char *peer;     /* id of the other side */
};

struct gy_server {
    char *name;       /* never NULL */
    char *id;         /* the system's own, where it has one */
    char *address;    /* host:port, [ipv6]:port, unix:/path; NULL: none that could be dialled */
    char *zone;       /* region/zone/rack, the parts that are known */
    char *replica_of; /* id of the primary */
    char *owned;      /* what it owns by state: "0-5460,9000", or tokens "-1,5"; NULL: nothing */
    char *reported;   /* the share the file itself prints, "33.3%"; NULL: none */
    double weight;    /* as the file has it */
    unsigned line;
    enum gy_role role;
    unsigned states;        /* bits of enum gy_state */
    bool is_node;           /* the topology has a node of this name */
    uint32_t slots, tokens; /* how many it owns */
    struct gy_open *open;
    size_t open_count;
};

enum gy_level { GY_LEVEL_NOTE, GY_LEVEL_WARNING }; /* good to know; keys or machines are at stake */

struct gy_note {
    enum gy_level level;
    const char *code; /* a constant word, "hash-too-short": stable, in JSON */
    unsigned line;
    char *text; /* one sentence without a final stop */
};

/* Anything else a format knows of a pool, "partitions" = "512": in JSON as it stands here. */
struct gy_fact {
    const char *key; /* constant */
    char *value;
};

/* Servers in the order of one of their texts, to be found by it. */
struct gy_sorted {
    const struct gy_server **list; /* NULL: not sorted yet */
    size_t count;
};

struct gy_pool {
    char *name; /* "" where the format has no names */
    unsigned line;
    struct gy_config *config; /* NULL: gyre cannot place its keys, see why */
    char *why;
    struct gy_server *servers;
    size_t server_count, server_room;
    struct gy_sorted by_name, by_id, by_primary; /* by_primary: whom they follow */
    struct gy_note *notes;
    size_t note_count;
    struct gy_fact *facts;
    size_t fact_count;
    unsigned *node_lines; /* of the topology's nodes, in order */
    size_t node_count, node_room;
};

struct gy_pools {
    const struct gy_format *format;
    struct gy_pool **list;
    size_t count;
};

struct gy_pools *gy_pools_new(void); /* NULL: out of memory */
void gy_pools_free(struct gy_pools *f);
/* The pool of that name. NULL name: the only one, or the only one that can be placed; where there
 * is a choice, or no such pool, GYRE_UNKNOWN with the names there are, and for a pool without a
 * config GYRE_UNSUPPORTED with the reason. */
GYRE_NODISCARD int gy_pools_pick(const struct gy_pools *f, const char *name, const char *file,
                                 struct gy_pool **out, gyre_error_t *e);
/* One more note: NOMEM. code is kept, not copied. */
GYRE_NODISCARD int gy_pool_note(struct gy_pool *p, enum gy_level level, const char *code,
                                unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
GYRE_NODISCARD int gy_pool_vnote(struct gy_pool *p, enum gy_level level, const char *code,
                                 unsigned line, const char *fmt, va_list ap)
    __attribute__((format(printf, 5, 0)));
/* Notes on what only the map shows: servers that no key can reach. NOMEM. */
GYRE_NODISCARD int gy_pool_judge(struct gy_pool *p, const gyre_map_t *map);
/* Takes the server added last away again. */
void gy_pool_drop_last(struct gy_pool *p);
/* All servers are there, and their names and ids stay: from now on they are found in the time of a
 * search, not of a look at each. NOMEM. */
GYRE_NODISCARD int gy_pool_sort(struct gy_pool *p);
/* The server of a node's name, NULL: none. */
const struct gy_server *gy_pool_find(const struct gy_pool *p, const char *name);
const struct gy_server *gy_pool_find_id(const struct gy_pool *p, const char *id);
/* Of a sorted pool: who follows the server of this id, in the file's order. */
const struct gy_server *const *gy_pool_replicas(const struct gy_pool *p, const char *id,
                                                size_t *count);
/* A fact's value, NULL: not there. */
const char *gy_pool_fact_of(const struct gy_pool *p, const char *key);

#endif
