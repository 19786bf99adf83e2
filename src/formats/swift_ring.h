/* SPDX-License-Identifier: Apache-2.0 */
/* swift_ring.h - a .ring.gz of OpenStack Swift: see format.h. Threads: any. */
#ifndef GY_FORMATS_SWIFT_RING_H
#define GY_FORMATS_SWIFT_RING_H

#include "formats/format.h"

int gy_swift_ring_sniff(struct gy_slice head);
int gy_swift_ring_parse(struct gy_reading *r);

#endif
