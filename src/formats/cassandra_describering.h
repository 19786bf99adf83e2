/* SPDX-License-Identifier: Apache-2.0 */
/* cassandra_describering.h - nodetool describering: see format.h. Threads: any. */
#ifndef GY_FORMATS_CASSANDRA_DESCRIBERING_H
#define GY_FORMATS_CASSANDRA_DESCRIBERING_H

#include "formats/format.h"

int gy_cassandra_describering_sniff(struct gy_slice head);
int gy_cassandra_describering_parse(struct gy_reading *r);

#endif
