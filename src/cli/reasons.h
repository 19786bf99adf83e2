/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons.h - why two configurations place keys differently. Each difference between them is tried:
 * B is built again with A's names, weights, order or setting, and what the two still disagree on
 * tells what that difference is worth. Differences that change no placement are left out. Threads:
 * one thread an object.
 */
#ifndef GY_CLI_REASONS_H
#define GY_CLI_REASONS_H

#include "cli/pairs.h"

struct gy_reason {
    const char *code; /* stable, in JSON: docs/json.md */
    char *text;       /* one sentence without a final stop */
    bool exact;       /* remains is */
    double remains;   /* what they disagree on when B has A's value; NaN: that cannot be told */
};

struct gy_reasons {
    struct gy_reason *list;
    size_t count;
};

/* Of the two maps in p, built from these topologies. NOMEM. Fini in every case. */
GYRE_NODISCARD int gy_reasons_find(struct gy_reasons *r, const struct gy_pairs *p,
                                   const gyre_topology_t *a, const gyre_topology_t *b,
                                   uint64_t samples);
void gy_reasons_fini(struct gy_reasons *r);

#endif
