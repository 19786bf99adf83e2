/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - a growable byte buffer read from the front and written at the back.
 *
 * Invariant: off <= len <= cap; the live bytes are data[off..len). Growing doubles; an emptied
 * buffer goes back to off = len = 0. Allocation failure sets `failed` and drops what was to be
 * added: writers check once at the end (gy_buf_failed). Threads: one thread an object.
 */
#ifndef GY_BASE_BUF_H
#define GY_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gy_buf {
    uint8_t *data;
    size_t off, len, cap;
    bool failed; /* an allocation failed since the last reset */
};

/* A view of bytes owned by someone else. */
struct gy_slice {
    const uint8_t *p;
    size_t n;
};

#define GY_LIT(s) ((struct gy_slice){(const uint8_t *)("" s), sizeof(s) - 1})
static inline struct gy_slice gy_str(const char *s)
{
    return (struct gy_slice){(const uint8_t *)s, s ? strlen(s) : 0};
}
static inline bool gy_slice_eq(struct gy_slice a, struct gy_slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* The bytes with a NUL behind them, malloc'ed; NULL: out of memory. (strndup wants a NUL within
 * reach.) */
char *gy_slice_dup(struct gy_slice s);

void gy_buf_fini(struct gy_buf *b);
void gy_buf_reset(struct gy_buf *b);                /* empty it, keep the memory, clear failed */
bool gy_buf_reserve(struct gy_buf *b, size_t more); /* room for `more` bytes at the back */
void gy_buf_add(struct gy_buf *b, const void *p, size_t n);
void gy_buf_puts(struct gy_buf *b, const char *s);
void gy_buf_putc(struct gy_buf *b, char c);
void gy_buf_printf(struct gy_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gy_buf_vprintf(struct gy_buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
void gy_buf_consume(struct gy_buf *b, size_t n); /* drop n bytes from the front */
void gy_buf_trim(struct gy_buf *b,
                 size_t keep); /* give memory back if empty and larger than keep */
const char *
gy_buf_cstr(struct gy_buf *b); /* NUL-terminated view of the live bytes, "" when failed */

static inline size_t gy_buf_size(const struct gy_buf *b)
{
    return b->len - b->off;
}
static inline const uint8_t *gy_buf_head(const struct gy_buf *b)
{
    /* Never NULL: adding 0 to a null pointer, or copying 0 bytes from it, is undefined in C11. */
    return b->data ? b->data + b->off : (const uint8_t *)"";
}
static inline bool gy_buf_failed(const struct gy_buf *b)
{
    return b->failed;
}

#endif
