/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - the fleets that studies look at: N nodes of weight 1 under some settings, built by the
 * library like any other; and the keys they hold. Names carry seed and trial, so that each trial is
 * another ring of the same kind. Threads: any.
 */
#ifndef GY_STUDY_FLEET_H
#define GY_STUDY_FLEET_H

#include <stdio.h>

#include "gyre.h"
#include "study/study.h"

#define GY_FLEET_SETTINGS 6
#define GY_FLEET_KEY      48

struct gy_fleet {
    const char *setting[GY_FLEET_SETTINGS + 1][2]; /* ends with NULL */
    uint64_t points;                               /* 0: the default */
    uint64_t nodes, trial;
    const double *weights; /* of each node; NULL: 1 */
    bool plain;            /* cache-0, cache-1, ... whatever seed and trial */
};

/* Each returns GYRE_OK, or an error with lab->error filled. */
int gy_fleet_topology(struct gy_lab *lab, const struct gy_fleet *f, gyre_topology_t **out);
int gy_fleet_map(struct gy_lab *lab, const struct gy_fleet *f, gyre_map_t **out);
/* The map after one node more (n = nodes), or without node n. Nodes that go by number keep theirs,
 * as `gyre plan` does it. */
int gy_fleet_change(struct gy_lab *lab, const struct gy_fleet *f, enum gyre_change_kind kind,
                    uint64_t n, gyre_map_t **out);
char *gy_fleet_name(const struct gy_lab *lab, const struct gy_fleet *f, uint64_t n,
                    char out[GY_FLEET_KEY]);

/* The algorithms of the library, in the order of its own table; NULL past the last. */
const char *gy_fleet_algorithm(size_t i, char out[GY_FLEET_KEY]);

/* Key i: "user:i". Returns its length. */
static inline size_t gy_fleet_key(uint64_t i, char out[GY_FLEET_KEY])
{
    return (size_t)snprintf(out, GY_FLEET_KEY, "user:%llu", (unsigned long long)i);
}

int gy_lab_memory(struct gy_lab *lab);
/* Step i of n is done. */
void gy_lab_step(const struct gy_lab *lab, double i, double n);

#endif
