/* SPDX-License-Identifier: Apache-2.0 */
/* carbon.h - clusters of carbon-c-relay. See format.h. Threads: any. */
#ifndef GY_FORMATS_CARBON_H
#define GY_FORMATS_CARBON_H

#include "formats/format.h"

int gy_carbon_sniff(struct gy_slice head);
int gy_carbon_parse(struct gy_reading *r);

#endif
