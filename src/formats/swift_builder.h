/* SPDX-License-Identifier: Apache-2.0 */
/* swift_builder.h - what swift-ring-builder prints: see format.h. Threads: any. */
#ifndef GY_FORMATS_SWIFT_BUILDER_H
#define GY_FORMATS_SWIFT_BUILDER_H

#include "formats/format.h"

int gy_swift_builder_sniff(struct gy_slice head);
int gy_swift_builder_parse(struct gy_reading *r);

#endif
