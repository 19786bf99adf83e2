/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_plan.h - a changed Redis Cluster with its slots dealt anew: from the nodes that are to be,
 * and what they own now, to the topology in which each owns what it should. Nodes that go give all
 * they have. Pure; threads: one an object.
 */
#ifndef GY_FORMATS_SLOT_PLAN_H
#define GY_FORMATS_SLOT_PLAN_H

#include "formats/slot_deal.h"

/* Of one slot, so that the sum of all slots' is a number too. */
#define GY_SLOT_BYTES_MAX ((uint64_t)INT64_MAX >> 16)

struct gy_slot_plan {
    const gyre_topology_t *old,
        *next;               /* like: redis-cluster; next: the slots of its nodes are old */
    const uint64_t *weights; /* of next's nodes, in millionths; 0: gets nothing */
    const uint64_t *size;    /* of slots, NULL: not known; see gy_deal */
    bool by_bytes;
    const struct gy_pool *servers; /* whose zones the nodes get that have none; NULL: nobody's */
};

/* Who owns each slot by `slots=` of the nodes: place in the topology + 1. INVALID for a slot that
 * has no owner, or where no node has the option. */
GYRE_NODISCARD int gy_slot_owners_of(const gyre_topology_t *t, struct gy_slot_owners *out,
                                     gyre_error_t *e);
/* next, with slots as they are to be. Errors: gy_deal_slots', gy_slot_owners_of's. */
GYRE_NODISCARD int gy_slot_plan(const struct gy_slot_plan *p, gyre_topology_t **out,
                                gyre_error_t *e);

/* Lines "SLOT BYTES", or "FIRST-LAST BYTES" (of each of them); '#' begins a remark; slots that are
 * not named have 0. sizes has room for all. Errors with line and column. */
GYRE_NODISCARD int gy_slot_sizes_parse(struct gy_slice text, const char *file, uint64_t *sizes,
                                       gyre_error_t *e);

#endif
