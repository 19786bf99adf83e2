/* SPDX-License-Identifier: Apache-2.0 */
/* haproxy.h - backends of HAProxy. See format.h. Threads: any. */
#ifndef GY_FORMATS_HAPROXY_H
#define GY_FORMATS_HAPROXY_H

#include "formats/format.h"

int gy_haproxy_sniff(struct gy_slice head);
int gy_haproxy_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_haproxy_write(struct gy_writing *w);

#endif
