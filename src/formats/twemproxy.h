/* SPDX-License-Identifier: Apache-2.0 */
/* twemproxy.h - nutcracker.yml: see format.h. Threads: one an object. */
#ifndef GY_FORMATS_TWEMPROXY_H
#define GY_FORMATS_TWEMPROXY_H

#include "formats/format.h"

int gy_twemproxy_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_twemproxy_parse(struct gy_reading *r);

#endif
