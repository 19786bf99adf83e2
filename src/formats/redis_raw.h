/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_raw.h - CLUSTER SLOTS and CLUSTER SHARDS as redis-cli writes them into a file or a pipe
 * (--raw): one value a line, no structure. What each line is follows from what stands around it.
 * Threads: one an object.
 */
#ifndef GY_FORMATS_REDIS_RAW_H
#define GY_FORMATS_REDIS_RAW_H

#include "formats/tree.h"

bool gy_raw_is_slots(struct gy_slice text);
bool gy_raw_is_shards(struct gy_slice text);
/* As gy_doc_reply has it. Fini in every case. */
GYRE_NODISCARD int gy_doc_raw_slots(struct gy_doc *d, struct gy_slice text, const char *file,
                                    gyre_error_t *e);
GYRE_NODISCARD int gy_doc_raw_shards(struct gy_doc *d, struct gy_slice text, const char *file,
                                     gyre_error_t *e);

#endif
