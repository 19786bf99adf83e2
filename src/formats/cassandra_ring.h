/* SPDX-License-Identifier: Apache-2.0 */
/* cassandra_ring.h - nodetool ring: see format.h. Threads: any. */
#ifndef GY_FORMATS_CASSANDRA_RING_H
#define GY_FORMATS_CASSANDRA_RING_H

#include "formats/format.h"

int gy_cassandra_ring_sniff(struct gy_slice head);
int gy_cassandra_ring_parse(struct gy_reading *r);

#endif
