/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - how a function of the library says what went wrong: one line, `return gy_fail(e, ...)`.
 * Threads: any.
 */
#ifndef GY_LIB_ERROR_H
#define GY_LIB_ERROR_H

#include "gyre.h"

/* Fills e (may be NULL) and returns code. The text is cut to fit; it depends on no locale. */
int gy_fail(gyre_error_t *e, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For GYRE_NOMEM, whose text is always the same. */
int gy_fail_nomem(gyre_error_t *e);

#define GY_SHOW 72
/* A name as an error message may show it: control characters (utf8.h), broken bytes and quotes as
 * \xHH, long ones cut with "...". Any other UTF-8 reads as written. Returns out. */
const char *gy_show(const char *name, char out[GY_SHOW]);

#endif
