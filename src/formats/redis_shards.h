/* SPDX-License-Identifier: Apache-2.0 */
/* redis_shards.h - CLUSTER SLOTS and CLUSTER SHARDS: see format.h. Threads: one an object. */
#ifndef GY_FORMATS_REDIS_SHARDS_H
#define GY_FORMATS_REDIS_SHARDS_H

#include "formats/format.h"

int gy_redis_slots_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_redis_slots_parse(struct gy_reading *r);
int gy_redis_shards_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_redis_shards_parse(struct gy_reading *r);

#endif
