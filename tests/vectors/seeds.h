/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds.h - the articles' sample programs: their setting as a header gives it, made into maps.
 */
#ifndef VECTORS_SEEDS_H
#define VECTORS_SEEDS_H

#include "gyre.h"
#include "lib/like/sample.h"
#include "vectors/vectors.h"

struct seeds_node {
    char *shown; /* as the file writes it */
    char *name;  /* decoded */
    double weight;
};

struct seeds {
    struct gy_sample_rule rule;
    char *separator;
    uint64_t vnodes;
    struct seeds_node *node; /* nodes, then added */
    size_t nodes, added;
};

/* False after refuse(). */
bool seeds_read(struct seeds *s, const struct vfile *f, struct verdict *v);
void seeds_free(struct seeds *s);
/* The first n nodes as a ring, or as hash mod n with the same hash. NULL after refuse(). */
gyre_map_t *seeds_ring(const struct seeds *s, size_t n, struct verdict *v);
gyre_map_t *seeds_modulo(const struct seeds *s, size_t n, struct verdict *v);
/* Index among the nodes of the one that holds the key; nodes + added if the library is at odds with
 * itself (single, batch and replicas must agree). */
size_t seeds_locate(const struct seeds *s, const gyre_map_t *m, const char *key, size_t len);

/* Rows of quantity and value. */
void check_experiment(const struct seeds *s, const struct vfile *f, struct verdict *v);

#endif
