/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_slots.h - what the three texts of a Redis Cluster (NODES, SLOTS, SHARDS) share: who owns
 * which of the 16384 slots, the names of the nodes, and the topology made from both. Slots without
 * an owner belong to a node of their own, GY_NO_OWNER, so that every share stays exact and a key
 * there is answered with the truth: nobody has it. Threads: one an object.
 */
#ifndef GY_FORMATS_REDIS_SLOTS_H
#define GY_FORMATS_REDIS_SLOTS_H

#include "formats/format.h"

#define GY_REDIS_SLOTS 16384u
#define GY_NO_OWNER    "(no owner)"

struct gy_slot_owners {
    uint32_t server[GY_REDIS_SLOTS]; /* place in the pool's servers + 1; 0: nobody */
};

/* "0-5460" or "12287" among slots; false for anything else. */
bool gy_redis_range(struct gy_slice text, uint32_t *first, uint32_t *last);
/* The slots of each owner, so that none of them needs a look at all. */
struct gy_slot_groups {
    uint16_t *slot;  /* by owner, then by number */
    uint32_t *start; /* of owner i in slot; one more at the end */
    uint32_t owners; /* 0 (nobody) to owners */
};
/* No server in o is above owners. NOMEM; fini in every case. */
GYRE_NODISCARD int gy_slot_groups_init(struct gy_slot_groups *g, const struct gy_slot_owners *o,
                                       size_t owners);
void gy_slot_groups_fini(struct gy_slot_groups *g);
/* "0-5460,9000": the slots of `owner`, 0 for nobody, into out; returns how many. */
uint32_t gy_redis_ranges(const struct gy_slot_groups *g, uint32_t owner, struct gy_buf *out);
/* The slots go to the pool's server i; DUPLICATE where one has an owner already. */
GYRE_NODISCARD int gy_redis_claim(struct gy_reading *r, struct gy_pool *p, struct gy_slot_owners *o,
                                  struct gy_mark at, uint32_t first, uint32_t last, uint32_t i);
/* The address of s, and its name: endpoint, or what there is of it, or the id. What cannot be
 * dialled (no host, port 0) gets no address. hostname stands in where ip is empty. */
GYRE_NODISCARD int gy_redis_endpoint(struct gy_reading *r, struct gy_server *s, struct gy_mark at,
                                     struct gy_slice ip, struct gy_slice hostname,
                                     struct gy_slice port);
/* Gives servers their final names (endpoint; with the id behind it where two share one), checks
 * ids, and adds the topology's nodes, facts and notes. */
GYRE_NODISCARD int gy_redis_settle(struct gy_reading *r, struct gy_pool *p,
                                   const struct gy_slot_owners *o);

#endif
