/* SPDX-License-Identifier: Apache-2.0 */
/* twemproxy.h - nutcracker.yml: see format.h. Threads: one an object. */
#ifndef GY_FORMATS_TWEMPROXY_H
#define GY_FORMATS_TWEMPROXY_H

#include "formats/format.h"

int gy_twemproxy_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_twemproxy_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_twemproxy_write(struct gy_writing *w);
/* What nutcracker hashes of a server without a name; a socket has no port. */
void gy_twemproxy_point_name(struct gy_slice host, struct gy_slice port, struct gy_buf *out);

#endif
