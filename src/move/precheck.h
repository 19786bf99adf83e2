/* SPDX-License-Identifier: Apache-2.0 */
/*
 * precheck.h - the pre-checks' insides: what was learned of each server. precheck.c asks the
 * servers; rights.c tries what the proxy's user may do there; members.c tells them apart;
 * same_data.c knows a promoted replica; leftovers.c looks at a destination's keys and functions.
 * Threads: the admin's.
 */
#ifndef GY_MOVE_PRECHECK_H
#define GY_MOVE_PRECHECK_H

#include "move/state.h"

struct gy_node_facts {
    struct gy_sync *sync; /* NULL: not asked */
    bool known;           /* all below but run_id; run_id "": it did not answer */
    char run_id[48], replid[48], replid2[48], policy[32];
    bool master, loading, cluster, other_dbs;
    bool tried, may_try; /* its rights; could they be? */
    uint64_t used, max;  /* memory, bytes; max 0: no limit */
    uint64_t keys;
    uint64_t offset, offset2; /* of the replication streams replid and, up to offset2, replid2 */
    uint64_t samples;         /* made-up keys that the current map places here */
    int64_t clock;            /* its clock minus ours, microseconds */
    unsigned rdb;             /* version of its DUMP payloads */
};

struct gy_checks {
    struct gy_precheck *c;
    struct gy_links links;
    struct gy_node_facts *facts; /* by server */
    uint64_t *flow;              /* by pair: keys */
};

/* Asks a server, once; fills its facts. */
GYRE_NODISCARD int gy_check_look(struct gy_checks *k, uint32_t i, gyre_error_t *e);
/* The same of one that takes part: it must be a master, ready, and know of no later move. */
GYRE_NODISCARD int gy_check_server(struct gy_checks *k, uint32_t i, gyre_error_t *e);
/* What a move does on its servers: an example, and what for. docs/topology.md lists them. */
enum gy_right_when {
    GY_RIGHT_MOVE,
    GY_RIGHT_FENCE,    /* not with weak fencing */
    GY_RIGHT_SNAPSHOT, /* at a destination that keeps its data by snapshots */
};
struct gy_right {
    const char *command, *why;
    enum gy_right_when when;
};
extern const struct gy_right gy_rights[];
extern const size_t gy_rights_count;
/* May the proxy's user do all of that on server i? Once; it is connected to. */
GYRE_NODISCARD int gy_check_rights(struct gy_checks *k, uint32_t i, bool destination,
                                   gyre_error_t *e);
/* The same with some of the keys that move from src, there and where they go. */
GYRE_NODISCARD int gy_check_key_rights(struct gy_checks *k, uint32_t src, gyre_error_t *e);
/* An error `rc` of a hand-shake that was refused a command gets the line that would grant it. */
int gy_rights_advise(const struct gy_checks *k, int rc, gyre_error_t *e);
/* May values travel from s to d: its version, eviction policy and clock. Pure. */
GYRE_NODISCARD int gy_check_pair(const char *src, const struct gy_node_facts *s, const char *dst,
                                 const struct gy_node_facts *d, gyre_error_t *e);
/* Is p's destination a promoted replica of its source (0a.6)? */
GYRE_NODISCARD int gy_check_same_data(struct gy_checks *k, const struct gy_pair *p,
                                      gyre_error_t *e);
/* Every server of the fleet that is and of the one that is wished is asked who it is: no two nodes
 * may be one server, none may take over another's. Fills run_id. */
GYRE_NODISCARD int gy_check_members(struct gy_checks *k, gyre_error_t *e);
/* No other proxy of the pool, by its id, is connected to one of them: it would not learn of the
 * move and go on routing by where keys were. What it left behind when it died is no reason. */
GYRE_NODISCARD int gy_check_alone(struct gy_checks *k, gyre_error_t *e);
/* Records of a move that this state does not know: it is not the state that began it. */
GYRE_NODISCARD int gy_check_records(struct gy_checks *k, uint32_t dst, gyre_error_t *e);
/* Keys at dst that the current view does not place there (0a.5). */
GYRE_NODISCARD int gy_check_leftovers(struct gy_checks *k, uint32_t dst, gyre_error_t *e);
/* A joining node gets the function libraries it lacks (0a.15). */
GYRE_NODISCARD int gy_check_functions(struct gy_checks *k, uint32_t dst, gyre_error_t *e);

#endif
