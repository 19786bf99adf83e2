/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - which server of one configuration is which of another, and for what share of the keys
 * the two name different servers. Systems call one server by different names, so an address tells
 * first, where it is one server's on both sides; the name tells where no address does.
 *
 * Invariant: a node is in at most one pair. Threads: one thread an object; the maps are borrowed.
 */
#ifndef GY_CLI_PAIRS_H
#define GY_CLI_PAIRS_H

#include "base/buf.h"
#include "gyre.h"

struct gy_pairs {
    gyre_map_t *a, *b;
    uint32_t *to;   /* of each node of a its number in b, or GYRE_NONE */
    uint32_t *from; /* of each node of b its number in a, or GYRE_NONE */
};

/* What the two disagree on. */
struct gy_disagreement {
    double share; /* of the key space; of the samples where it is not exact */
    double error; /* at 95 %; 0 where exact. With no sample that differs: the most it may be. */
    bool exact;
};

/* NOMEM. Fini in every case. */
GYRE_NODISCARD int gy_pairs_make(struct gy_pairs *p, gyre_map_t *a, gyre_map_t *b);
void gy_pairs_fini(struct gy_pairs *p);
/* Do a number of a's map and one of b's mean the same server (or both none)? */
bool gy_pairs_same(const struct gy_pairs *p, uint32_t in_a, uint32_t in_b);
/* Exact where the library's diff is, otherwise by that many generated keys. NOMEM. */
GYRE_NODISCARD int gy_pairs_compare(const struct gy_pairs *p, uint64_t samples,
                                    struct gy_disagreement *out);
/* The key of a sample: "key:0", "key:1", ... */
#define GY_SAMPLE_ROOM 32
size_t gy_sample_key(char out[GY_SAMPLE_ROOM], uint64_t i);

#endif
