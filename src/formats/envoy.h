/* SPDX-License-Identifier: Apache-2.0 */
/* envoy.h - clusters of Envoy. See format.h. Threads: any. */
#ifndef GY_FORMATS_ENVOY_H
#define GY_FORMATS_ENVOY_H

#include "formats/format.h"

int gy_envoy_sniff(struct gy_slice head);
int gy_envoy_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_envoy_write(struct gy_writing *w);

#endif
