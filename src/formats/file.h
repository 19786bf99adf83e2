/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - a file read whole, at most GY_TEXT_MAX bytes of it, whatever it claims to be: a pipe, or
 * a device without end, is bounded too. Threads: any.
 */
#ifndef GY_FORMATS_FILE_H
#define GY_FORMATS_FILE_H

#include "base/buf.h"
#include "gyre.h"

/* Appends to text. what it should be, "topology": for messages. IO, RANGE (too large), NOMEM, with
 * the path and the reason in e. */
GYRE_NODISCARD int gy_file_read(const char *path, const char *what, struct gy_buf *text,
                                gyre_error_t *e);

#endif
