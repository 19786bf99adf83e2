/* SPDX-License-Identifier: Apache-2.0 */
/* buf.c - see buf.h. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

char *gy_slice_dup(struct gy_slice s)
{
    char *copy = malloc(s.n + 1);
    if (copy) {
        if (s.n) {
            memcpy(copy, s.p, s.n);
        }
        copy[s.n] = 0;
    }
    return copy;
}

void gy_buf_fini(struct gy_buf *b)
{
    free(b->data);
    *b = (struct gy_buf){0};
}

void gy_buf_reset(struct gy_buf *b)
{
    b->off = b->len = 0;
    b->failed = false;
}

bool gy_buf_reserve(struct gy_buf *b, size_t more)
{
    if (b->cap - b->len >= more) {
        return true;
    }
    size_t live = gy_buf_size(b);
    /* Sliding is cheap when the dead front is at least as large as what is alive; otherwise grow.
     */
    if (b->off >= live && b->cap - live >= more) {
        if (live) {
            memcpy(b->data, b->data + b->off, live);
        }
        b->off = 0;
        b->len = live;
        return true;
    }
    if (more > SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    size_t cap = b->cap ? b->cap : 256;
    while (cap - live < more) {
        cap *= 2;
    }
    uint8_t *data = malloc(cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    if (live) {
        memcpy(data, b->data + b->off, live);
    }
    free(b->data);
    b->data = data;
    b->cap = cap;
    b->off = 0;
    b->len = live;
    return true;
}

void gy_buf_add(struct gy_buf *b, const void *p, size_t n)
{
    if (n && gy_buf_reserve(b, n)) {
        memcpy(b->data + b->len, p, n);
        b->len += n;
    }
}

void gy_buf_puts(struct gy_buf *b, const char *s)
{
    gy_buf_add(b, s, strlen(s));
}

void gy_buf_putc(struct gy_buf *b, char c)
{
    gy_buf_add(b, &c, 1);
}

void gy_buf_vprintf(struct gy_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && gy_buf_reserve(b, (size_t)n + 1)) {
        vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void gy_buf_printf(struct gy_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void gy_buf_consume(struct gy_buf *b, size_t n)
{
    b->off += n;
    if (b->off >= b->len) {
        b->off = b->len = 0;
    }
}

void gy_buf_trim(struct gy_buf *b, size_t keep)
{
    if (gy_buf_size(b) == 0 && b->cap > keep) {
        bool failed = b->failed;
        gy_buf_fini(b);
        b->failed = failed;
    }
}

const char *gy_buf_cstr(struct gy_buf *b)
{
    if (!gy_buf_reserve(b, 1)) {
        return "";
    }
    b->data[b->len] = 0;
    return (const char *)gy_buf_head(b);
}
