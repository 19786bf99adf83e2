/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h - adds up what goes from which node to which. Amounts are whole numbers (positions of a
 * ring, residues, samples); only at the end are they made fractions. Threads: one.
 */
#ifndef GY_LIB_FLOWS_H
#define GY_LIB_FLOWS_H

#include "lib/map.h"

struct gy_flow {
    uint32_t from, to; /* node numbers of the two maps */
    gy_u128 amount;    /* never nothing: 0 is the whole of a 128-bit ring */
};

struct gy_flows {
    struct gy_flow *cells; /* open addressing by (from, to); from GYRE_NONE = free */
    size_t size, count;    /* size: 0 or a power of two above count * 4 / 3 */
};

/* NOMEM leaves the sums as they were. */
int gy_flows_add(struct gy_flows *f, uint32_t from, uint32_t to, gy_u128 amount);
/* Where a pair's amount is kept, 0 at first; NULL when out of memory. Holds until the next call. */
gy_u128 *gy_flows_find(struct gy_flows *f, uint32_t from, uint32_t to);
/* Ends adding: cells[0..count) are the flows, largest first, equal ones by node numbers. */
void gy_flows_sort(struct gy_flows *f);
void gy_flows_fini(struct gy_flows *f);

#endif
