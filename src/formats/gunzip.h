/* SPDX-License-Identifier: Apache-2.0 */
/* gunzip.h - gzip, with a limit on what comes out: a small file may claim to be a huge one.
 * Threads: any. */
#ifndef GY_FORMATS_GUNZIP_H
#define GY_FORMATS_GUNZIP_H

#include "base/buf.h"
#include "gyre.h"

bool gy_is_gzip(struct gy_slice bytes);
/* Appends to out, every member of the file in turn. SYNTAX (broken, cut off), RANGE (more than
 * `most` bytes), NOMEM. */
GYRE_NODISCARD int gy_gunzip(struct gy_slice bytes, size_t most, struct gy_buf *out,
                             const char *file, gyre_error_t *e);

#endif
