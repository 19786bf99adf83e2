/* SPDX-License-Identifier: Apache-2.0 */
/* cassandra_status.h - nodetool status: see format.h. Threads: any. */
#ifndef GY_FORMATS_CASSANDRA_STATUS_H
#define GY_FORMATS_CASSANDRA_STATUS_H

#include "formats/format.h"

int gy_cassandra_status_sniff(struct gy_slice head);
int gy_cassandra_status_parse(struct gy_reading *r);

#endif
