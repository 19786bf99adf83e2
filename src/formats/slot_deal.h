/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_deal.h - who is to own which slots of a Redis Cluster, and as few of them moving as can be.
 *
 * Counts are by largest remainder (Hamilton's method): a master of weight w gets the whole part of
 * its share of the slots, and what is left goes to the largest rests, one each; of equal rests to
 * those that have too many anyway, then to those that stand first. So the moves are the sum of what
 * masters have above their count: no fewer lead to these counts, nor to any others that largest
 * remainder allows (tests/property/formats/test_slot_props.c tries them all). Weight 0 is none.
 *
 * Pure and deterministic. Threads: any.
 */
#ifndef GY_FORMATS_SLOT_DEAL_H
#define GY_FORMATS_SLOT_DEAL_H

#include "formats/redis_slots.h"

/* A master is off its fair share of bytes by no more than this, or no slot would help. */
#define GY_DEAL_TOLERANCE 0.02

struct gy_deal {
    uint32_t n;             /* masters */
    const uint64_t *weight; /* of each, in millionths */
    const uint32_t *owner;  /* of each slot: number of a master */
    uint32_t slots;         /* how many: GY_REDIS_SLOTS, or fewer in a test */
    /* Bytes of each slot. NULL: not known; then the lowest slots of a giver go, in order, as
     * redis-cli takes them. Otherwise its lightest ones, and each to whom it evens out best. */
    const uint64_t *size;
    bool by_bytes; /* even out bytes instead of counts; a drained master gives all it has */
};

/* to[slot] becomes the new owner. EMPTY (no weight at all), INVALID (bytes wanted, not known),
 * NOMEM.
 */
GYRE_NODISCARD int gy_deal_slots(const struct gy_deal *d, uint32_t *to, gyre_error_t *e);

#endif
