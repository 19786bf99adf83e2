/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse.h - remote_servers of ClickHouse. See format.h. Threads: any. */
#ifndef GY_FORMATS_CLICKHOUSE_H
#define GY_FORMATS_CLICKHOUSE_H

#include "formats/format.h"

int gy_clickhouse_sniff(struct gy_slice head);
int gy_clickhouse_parse(struct gy_reading *r);

#endif
