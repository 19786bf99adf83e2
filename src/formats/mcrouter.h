/* SPDX-License-Identifier: Apache-2.0 */
/* mcrouter.h - mcrouter's configuration: see format.h. Threads: one an object. */
#ifndef GY_FORMATS_MCROUTER_H
#define GY_FORMATS_MCROUTER_H

#include "formats/format.h"

int gy_mcrouter_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_mcrouter_parse(struct gy_reading *r);

#endif
