/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra.h - what nodetool's listings (ring, status, describering) share: nodes by address with
 * their datacenter, rack, state and printed share, and the tokens they own. Readers collect them in
 * a gy_cassandra, in any order; settling makes the topology of it: finds the partitioner, picks the
 * strategy that gives the printed shares, and tells where print and tokens contradict each other.
 * Slices point into the text that is read. Threads: one thread an object.
 */
#ifndef GY_FORMATS_CASSANDRA_H
#define GY_FORMATS_CASSANDRA_H

#include "formats/format.h"

#define GY_CASSANDRA_DCS    256
#define GY_CASSANDRA_JUDGED 400 /* nodes: beyond, printed shares are not compared */

struct gy_cassandra_node {
    struct gy_slice name, rack, id, owns; /* n == 0: the listing has none */
    uint32_t dc;
    unsigned states;
    struct gy_mark at;
    uint64_t counted;     /* tokens, where the listing gives their number only */
    uint32_t token_count; /* those collected */
    bool owns_differ;     /* rows of one node print different shares */
};

struct gy_cassandra_token {
    struct gy_slice digits; /* without sign and leading zeros; all of it where it is no number */
    bool minus, is_number, zeros;
    uint32_t node;
    struct gy_mark at;
};

struct gy_cassandra_dc {
    struct gy_slice name;
    uint32_t nodes, racks, rf; /* racks: 2 stands for several */
    struct gy_slice rack;      /* of its first node */
    double owns;               /* sum of what is printed */
};

struct gy_cassandra {
    struct gy_reading *r;
    struct gy_pool *p;
    struct gy_cassandra_node *nodes;
    uint32_t node_count, node_room;
    uint32_t *index; /* by the hash of the name: place in nodes + 1; 0: free */
    uint32_t index_room;
    struct gy_cassandra_token *tokens;
    uint32_t token_count, token_room;
    struct gy_cassandra_dc dcs[GY_CASSANDRA_DCS];
    uint32_t dc_count;
    uint32_t replicas;             /* as the listing says; 0: it does not */
    bool exact_rf;                 /* dcs[].rf is known */
    bool ordered, random, assumed; /* of the tokens: text; which partitioner's; or either's */
};

/* The datacenter of that name, made if it is new; "" is the default's, "datacenter1". */
GYRE_NODISCARD int gy_cassandra_dc(struct gy_cassandra *c, struct gy_mark at, struct gy_slice name,
                                   uint32_t *dc);
/* The node of that name, made with what is given if it is new. INVALID if it stands elsewhere. */
GYRE_NODISCARD int gy_cassandra_node(struct gy_cassandra *c, const struct gy_cassandra_node *node,
                                     uint32_t *out);
GYRE_NODISCARD int gy_cassandra_token(struct gy_cassandra *c, struct gy_mark at,
                                      struct gy_slice text, uint32_t node);
/* Checks tokens, and adds servers, nodes, settings, facts and notes to the pool. */
GYRE_NODISCARD int gy_cassandra_settle(struct gy_cassandra *c);
/* With its one pool. *out is what gy_cassandra_free takes, also after an error. */
GYRE_NODISCARD int gy_cassandra_new(struct gy_reading *r, struct gy_cassandra **out);
void gy_cassandra_free(struct gy_cassandra *c);

/* "33.3%", "33,3%": a share from 0 on. False: "?", or no share. */
bool gy_cassandra_share(struct gy_slice text, double *share);
/* "dc1/r1". */
void gy_cassandra_zone(const struct gy_cassandra *c, const struct gy_cassandra_node *n,
                       struct gy_buf *out);

/* ---- cassandra_judge.c ---- */

/* Sets strategy and replicas, compares the printed shares, tells facts and notes. The topology has
 * its nodes already. */
GYRE_NODISCARD int gy_cassandra_judge(struct gy_cassandra *c);

#endif
