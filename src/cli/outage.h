/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage.h - what `gyre diff --down` answers: who takes the keys of servers that are down, how much
 * more that is for each, what nobody is left for, and what is lost for good with them. Keys pass
 * over a node that is down in their own order, so no other key moves, and all return when it does.
 * Threads: main only.
 */
#ifndef GY_CLI_OUTAGE_H
#define GY_CLI_OUTAGE_H

#include "cli/down.h"

struct gy_heir {
    const char *name, *address, *zone;
    double owned, gets;
};

struct gy_outage {
    const struct gy_topo *topo;
    const struct gy_downed *down;
    uint64_t copies, samples;
    bool exact;
    struct gy_heir *heirs; /* the one that gets most first */
    size_t count;
    double gone;     /* share of the key space whose owner is down */
    double unserved; /* of that, what nobody is left for */
    double lost;     /* of that, what has no copy on a server that is up */
};

/* copies 0: as the topology says. GY_EXIT_OK or after reporting. Fini in every case. */
int gy_outage_find(struct gy_outage *o, const struct gy_topo *topo, const struct gy_downed *down,
                   uint64_t copies, uint64_t samples);
void gy_outage_fini(struct gy_outage *o);
void gy_outage_text(const struct gy_outage *o, size_t most, struct gy_buf *out);
void gy_outage_json(const struct gy_outage *o, struct gy_buf *out);

/* Copies of a key that the topology asks for, 1 where it has no such setting. */
uint64_t gy_copies_of(const gyre_topology_t *t);
/* The same of two topologies: whichever asks for more. */
uint64_t gy_copies_of_two(const gyre_topology_t *a, const gyre_topology_t *b);
/* The map of the topology with its zones left aside: the key's own order of nodes. */
int gy_plain_map(const gyre_topology_t *t, gyre_map_t **out);

#endif
