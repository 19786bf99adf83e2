/* SPDX-License-Identifier: Apache-2.0 */
/* cortex.h - the ring of Cortex, Mimir, Loki as JSON: see format.h. Threads: any. */
#ifndef GY_FORMATS_CORTEX_H
#define GY_FORMATS_CORTEX_H

#include "formats/format.h"

int gy_cortex_sniff(struct gy_slice head);
int gy_cortex_parse(struct gy_reading *r);

#endif
