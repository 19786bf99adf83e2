/* SPDX-License-Identifier: Apache-2.0 */
/* thanos.h - the hashrings file of Thanos Receive: see format.h. Threads: any. */
#ifndef GY_FORMATS_THANOS_H
#define GY_FORMATS_THANOS_H

#include "formats/format.h"

int gy_thanos_sniff(struct gy_slice head);
int gy_thanos_parse(struct gy_reading *r);

#endif
