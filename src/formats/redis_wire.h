/* SPDX-License-Identifier: Apache-2.0 */
/* redis_wire.h - a reply as it goes over the wire (RESP2, RESP3), kept in a file, into a tree. Line
 * ends may have become plain LF. Threads: one an object. */
#ifndef GY_FORMATS_REDIS_WIRE_H
#define GY_FORMATS_REDIS_WIRE_H

#include "formats/tree.h"

/* d is initialised. One reply, and nothing behind it. */
GYRE_NODISCARD int gy_doc_wire(struct gy_doc *d, struct gy_slice text);

#endif
