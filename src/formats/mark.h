/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark.h - where in a file something stands, and errors that say it. Every reader of a file uses
 * these, so that all errors look alike. Threads: any.
 */
#ifndef GY_FORMATS_MARK_H
#define GY_FORMATS_MARK_H

#include "base/buf.h"
#include "gyre.h"

/* Counted from 1, as editors do; 0: not known. */
struct gy_mark {
    unsigned line, column;
};

/* A file's name and a message into e (which may be NULL); returns code. */
int gy_format_fail(gyre_error_t *e, int code, const char *file, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int gy_format_fail_at(gyre_error_t *e, int code, const char *file, struct gy_mark at,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));
int gy_format_vfail(gyre_error_t *e, int code, const char *file, struct gy_mark at, const char *fmt,
                    va_list ap) __attribute__((format(printf, 5, 0)));
/* The same for a message the library wrote into e already: adds where it stands. */
int gy_format_place(gyre_error_t *e, int code, const char *file, struct gy_mark at);

/* Line and column of a byte of the text. */
struct gy_mark gy_mark_of(struct gy_slice text, size_t offset);

#endif
