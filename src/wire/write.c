/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - requests and replies written in RESP2. Memory running out marks the buffer as failed
 * (gy_buf_failed): callers look once at the end. Threads: one thread a buffer.
 */
#include "wire/resp.h"

enum { HEADER_MAX = 32 }; /* type byte, sign, 19 digits, CR LF; with room for a bulk's own CR LF */

/* "<type><v>\r\n" into at[HEADER_MAX]; returns its length. printf would cost ten times as much. */
static size_t header(uint8_t *at, char type, int64_t v)
{
    uint8_t digits[20];
    size_t n = 0, len = 0;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        digits[n++] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    at[len++] = (uint8_t)type;
    if (v < 0) {
        at[len++] = '-';
    }
    while (n) {
        at[len++] = digits[--n];
    }
    at[len++] = '\r';
    at[len++] = '\n';
    return len;
}

static void number(struct gy_buf *b, char type, int64_t v)
{
    if (gy_buf_reserve(b, HEADER_MAX)) {
        b->len += header(b->data + b->len, type, v);
    }
}

void gy_resp_array(struct gy_buf *b, size_t count)
{
    number(b, '*', (int64_t)count);
}

void gy_resp_int(struct gy_buf *b, int64_t v)
{
    number(b, ':', v);
}

void gy_resp_bulk(struct gy_buf *b, const void *p, size_t n)
{
    if (n > SIZE_MAX / 2 || !gy_buf_reserve(b, n + HEADER_MAX)) {
        b->failed = true;
        return;
    }
    b->len += header(b->data + b->len, '$', (int64_t)n);
    if (n) {
        memcpy(b->data + b->len, p, n);
    }
    b->len += n;
    b->data[b->len++] = '\r';
    b->data[b->len++] = '\n';
}

void gy_resp_bulk_str(struct gy_buf *b, const char *s)
{
    gy_resp_bulk(b, s, strlen(s));
}

void gy_resp_nil(struct gy_buf *b)
{
    gy_buf_add(b, "$-1\r\n", 5);
}

/* Blanks the control bytes written behind `from`, so that no text can end its line early. The
 * buffer may have slid since: count from the end. */
static void end_line(struct gy_buf *b, size_t written)
{
    for (uint8_t *s = b->data + b->len - written; s < b->data + b->len; s++) {
        if (*s < ' ' || *s == 127) {
            *s = ' ';
        }
    }
    gy_buf_add(b, "\r\n", 2);
}

void gy_resp_simple(struct gy_buf *b, const char *s)
{
    size_t before = gy_buf_size(b);
    gy_buf_putc(b, '+');
    gy_buf_puts(b, s);
    end_line(b, gy_buf_size(b) - before);
}

void gy_resp_verror(struct gy_buf *b, const char *fmt, va_list ap)
{
    size_t before = gy_buf_size(b);
    gy_buf_putc(b, '-');
    gy_buf_vprintf(b, fmt, ap);
    end_line(b, gy_buf_size(b) - before);
}

void gy_resp_error(struct gy_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_resp_verror(b, fmt, ap);
    va_end(ap);
}

void gy_resp_command(struct gy_buf *b, size_t argc, const struct gy_slice *argv)
{
    gy_resp_array(b, argc);
    for (size_t i = 0; i < argc; i++) {
        gy_resp_bulk(b, argv[i].p, argv[i].n);
    }
}

void gy_resp_cmd(struct gy_buf *b, ...)
{
    va_list ap;
    size_t argc = 0;
    va_start(ap, b);
    while (va_arg(ap, const char *)) {
        argc++;
    }
    va_end(ap);
    gy_resp_array(b, argc);
    va_start(ap, b);
    for (size_t i = 0; i < argc; i++) {
        gy_resp_bulk_str(b, va_arg(ap, const char *));
    }
    va_end(ap);
}
