/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - see json.h. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/utf8.h"

void gy_json_init(struct gy_json *j, struct gy_buf *out)
{
    *j = (struct gy_json){.out = out};
}

/* Before every value: the comma that is due, and note that this level now holds something. */
static void lead(struct gy_json *j)
{
    if (j->keyed) {
        j->keyed = false;
        return;
    }
    uint64_t bit = UINT64_C(1) << (j->depth & 63);
    if (j->filled & bit) {
        gy_buf_putc(j->out, ',');
    }
    j->filled |= bit;
}

static void open_level(struct gy_json *j, char c)
{
    lead(j);
    gy_buf_putc(j->out, c);
    j->depth++;
    j->filled &= ~(UINT64_C(1) << (j->depth & 63));
}

static void close_level(struct gy_json *j, char c)
{
    j->depth--;
    gy_buf_putc(j->out, c);
}

void gy_json_object(struct gy_json *j)
{
    open_level(j, '{');
}
void gy_json_object_end(struct gy_json *j)
{
    close_level(j, '}');
}
void gy_json_array(struct gy_json *j)
{
    open_level(j, '[');
}
void gy_json_array_end(struct gy_json *j)
{
    close_level(j, ']');
}

/* What a terminal must not see (lib/utf8.h) is written as \uXXXX: all of it is below U+10000. */
static void quoted(struct gy_json *j, const uint8_t *p, size_t n)
{
    gy_buf_putc(j->out, '"');
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t len = gy_utf8_decode(p + i, n - i, &cp);
        if (len == 0) {
            gy_buf_puts(j->out, "\\ufffd");
        } else if (gy_utf8_control(cp)) {
            gy_buf_printf(j->out, "\\u%04x", (unsigned)cp);
        } else {
            if (cp == '"' || cp == '\\') {
                gy_buf_putc(j->out, '\\');
            }
            gy_buf_add(j->out, p + i, len);
        }
        i += len ? len : 1;
    }
    gy_buf_putc(j->out, '"');
}

void gy_json_key(struct gy_json *j, const char *key)
{
    lead(j);
    quoted(j, (const uint8_t *)key, strlen(key));
    gy_buf_putc(j->out, ':');
    j->keyed = true;
}

void gy_json_bytes(struct gy_json *j, const void *p, size_t n)
{
    lead(j);
    quoted(j, p, n);
}

void gy_json_string(struct gy_json *j, const char *s)
{
    if (!s) {
        gy_json_null(j);
        return;
    }
    gy_json_bytes(j, s, strlen(s));
}

void gy_json_int(struct gy_json *j, int64_t v)
{
    lead(j);
    gy_buf_printf(j->out, "%lld", (long long)v);
}

void gy_json_uint(struct gy_json *j, uint64_t v)
{
    lead(j);
    gy_buf_printf(j->out, "%llu", (unsigned long long)v);
}

void gy_json_double(struct gy_json *j, double v)
{
    if (!isfinite(v)) {
        gy_json_null(j);
        return;
    }
    lead(j);
    char text[40];
    for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back the same */
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v) {
            break;
        }
    }
    gy_buf_puts(j->out, text);
}

void gy_json_bool(struct gy_json *j, bool v)
{
    lead(j);
    gy_buf_puts(j->out, v ? "true" : "false");
}

void gy_json_null(struct gy_json *j)
{
    lead(j);
    gy_buf_puts(j->out, "null");
}

void gy_json_kstring(struct gy_json *j, const char *key, const char *s)
{
    gy_json_key(j, key);
    gy_json_string(j, s);
}
void gy_json_kuint(struct gy_json *j, const char *key, uint64_t v)
{
    gy_json_key(j, key);
    gy_json_uint(j, v);
}
void gy_json_kint(struct gy_json *j, const char *key, int64_t v)
{
    gy_json_key(j, key);
    gy_json_int(j, v);
}
void gy_json_kdouble(struct gy_json *j, const char *key, double v)
{
    gy_json_key(j, key);
    gy_json_double(j, v);
}
void gy_json_kbool(struct gy_json *j, const char *key, bool v)
{
    gy_json_key(j, key);
    gy_json_bool(j, v);
}
