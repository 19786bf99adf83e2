/* SPDX-License-Identifier: Apache-2.0 */
/* memcached.h - lists of memcached servers as clients have them: see format.h. Threads: one an
 * object. */
#ifndef GY_FORMATS_MEMCACHED_H
#define GY_FORMATS_MEMCACHED_H

#include "formats/format.h"

int gy_memcached_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_memcached_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_memcached_write(struct gy_writing *w);

#endif
