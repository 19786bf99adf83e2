/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contest.h - placements timed beside each other on this machine: same nodes, same keys, in turns,
 * so that whatever else the machine does slows all of them alike. Beside them stands what anybody
 * would write at first: the points of a ring in one sorted array, and a binary search. Times are
 * CPU time of this thread. Threads: main only.
 */
#ifndef GY_CLI_CONTEST_H
#define GY_CLI_CONTEST_H

#include "gyre.h"

#define GY_CONTEST_ROUNDS 7
#define GY_CONTEST_KEYS   16384

/* Nanoseconds a key. */
struct gy_timing {
    double round[GY_CONTEST_ROUNDS]; /* sorted after the contest */
    double least, median;
};

struct gy_contestant {
    const char *name; /* "ring"; "sorted array": the baseline; "as the file says" */
    char word[32];    /* where that is kept, if need be */
    gyre_map_t *map;  /* NULL: the baseline, or why says why not */
    char why[160];
    bool equal; /* it knows no weights: measured with all of them 1 */
    double build_ms;
    uint64_t bytes;
    double moved, minimum; /* shares of the keys when one node of weight 1 comes */
    double cv;
    struct gy_timing single, batch; /* the baseline has no batch */
};

struct gy_contest {
    const gyre_topology_t *fleet; /* its nodes; its placement is that of "as the file says" */
    bool own;                     /* the file's placement takes part */
    double seconds;               /* of each contestant's lookups */
    struct gy_contestant *list;
    size_t count;
    uint64_t points; /* of the baseline: those of the ring */
};

/* GY_EXIT_OK, or memory, reported. Fini in every case. */
int gy_contest_run(struct gy_contest *c);
void gy_contest_fini(struct gy_contest *c);

#endif
