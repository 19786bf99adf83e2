/* SPDX-License-Identifier: Apache-2.0 */
/* redis_info.h - INFO of one Redis server: see format.h. Threads: one an object. */
#ifndef GY_FORMATS_REDIS_INFO_H
#define GY_FORMATS_REDIS_INFO_H

#include "formats/format.h"

/* A line that says where the server was asked, for INFO itself does not. */
#define GY_INFO_ASKED_AT "gyre_asked_at"

int gy_redis_info_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_redis_info_parse(struct gy_reading *r);

#endif
