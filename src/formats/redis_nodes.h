/* SPDX-License-Identifier: Apache-2.0 */
/* redis_nodes.h - CLUSTER NODES and nodes.conf: see format.h. Threads: one an object. */
#ifndef GY_FORMATS_REDIS_NODES_H
#define GY_FORMATS_REDIS_NODES_H

#include "formats/format.h"

int gy_redis_nodes_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_redis_nodes_parse(struct gy_reading *r);

#endif
