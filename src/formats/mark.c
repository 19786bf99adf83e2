/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c - see mark.h. */
#include "formats/mark.h"

#include <stdio.h>

int gy_format_vfail(gyre_error_t *e, int code, const char *file, struct gy_mark at, const char *fmt,
                    va_list ap)
{
    if (e) {
        vsnprintf(e->message, sizeof e->message, fmt, ap);
    }
    return gy_format_place(e, code, file, at);
}

int gy_format_place(gyre_error_t *e, int code, const char *file, struct gy_mark at)
{
    if (e) {
        snprintf(e->file, sizeof e->file, "%s", file ? file : "");
        e->code = code;
        e->line = at.line;
        e->column = at.column;
    }
    return code;
}

int gy_format_fail_at(gyre_error_t *e, int code, const char *file, struct gy_mark at,
                      const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_format_vfail(e, code, file, at, fmt, ap);
    va_end(ap);
    return code;
}

int gy_format_fail(gyre_error_t *e, int code, const char *file, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_format_vfail(e, code, file, (struct gy_mark){0, 0}, fmt, ap);
    va_end(ap);
    return code;
}

struct gy_mark gy_mark_of(struct gy_slice text, size_t offset)
{
    struct gy_mark at = {1, 1};
    for (size_t i = 0; i < offset && i < text.n; i++) {
        at.column++;
        if (text.p[i] == '\n') {
            at = (struct gy_mark){at.line + 1, 1};
        }
    }
    return at;
}
