/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c - see utf8.h. */
#include "base/utf8.h"

#include <stdio.h>

bool gy_utf8_valid(struct gy_slice s)
{
    uint32_t cp;
    for (size_t i = 0; i < s.n;) {
        size_t len = gy_utf8_decode(s.p + i, s.n - i, &cp);
        if (!len) {
            return false;
        }
        i += len;
    }
    return true;
}

struct range {
    uint32_t from, to;
};

static bool within(const struct range *r, size_t n, uint32_t cp)
{
    for (size_t i = 0; i < n; i++) {
        if (cp >= r[i].from && cp <= r[i].to) {
            return true;
        }
    }
    return false;
}

#define WITHIN(table, cp) within(table, sizeof(table) / sizeof(table[0]), cp)

unsigned gy_utf8_width(uint32_t cp)
{
    /* Blocks of Unicode's EastAsianWidth W and F, and of combining marks: enough to align names. */
    static const struct range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},     {0x610, 0x61a},   {0x64b, 0x65f},
        {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},   {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
        {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
    };
    static const struct range two[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
        {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
        {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    if (WITHIN(none, cp)) {
        return 0;
    }
    return WITHIN(two, cp) ? 2 : 1;
}

size_t gy_utf8_columns(struct gy_slice s)
{
    size_t columns = 0;
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        size_t len = gy_utf8_decode(s.p + i, s.n - i, &cp);
        columns += len ? gy_utf8_width(cp) : 1;
        i += len ? len : 1;
    }
    return columns;
}

char *gy_utf8_quote(char out[GY_QUOTE], struct gy_slice s)
{
    /* 60 units of at most 4 bytes, two quotes, an ellipsis and the NUL stay within GY_QUOTE. */
    size_t w = 0, i = 0;
    out[w++] = '\'';
    for (unsigned shown = 0; i < s.n && shown < 60; shown++) {
        uint32_t cp;
        size_t len = gy_utf8_decode(s.p + i, s.n - i, &cp);
        if (len && !gy_utf8_control(cp)) {
            memcpy(out + w, s.p + i, len);
            w += len;
            i += len;
        } else {
            snprintf(out + w, 5, "\\x%02x", s.p[i++]);
            w += 4;
        }
    }
    memcpy(out + w, i < s.n ? "...'" : "'", i < s.n ? 5 : 2);
    return out;
}

void gy_utf8_escape(struct gy_buf *out, struct gy_slice s)
{
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        size_t len = gy_utf8_decode(s.p + i, s.n - i, &cp);
        if (len && !gy_utf8_control(cp)) {
            gy_buf_add(out, s.p + i, len);
            i += len;
        } else {
            gy_buf_printf(out, "\\x%02x", s.p[i++]);
        }
    }
}

bool gy_utf8_is_plain(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

void gy_utf8_plain(struct gy_buf *out, const char *text)
{
    for (const uint8_t *p = (const uint8_t *)text; *p; p++) {
        gy_buf_printf(out, gy_utf8_is_plain(*p) ? "%c" : "%%%02X", *p);
    }
}

void gy_utf8_shell(struct gy_buf *out, const char *text)
{
    static const char bare[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,[]";
    if (*text && text[strspn(text, bare)] == 0) {
        gy_buf_puts(out, text);
        return;
    }
    gy_buf_putc(out, '\'');
    for (; *text; text++) {
        gy_buf_printf(out, *text == '\'' ? "'\\%c'" : "%c", *text);
    }
    gy_buf_putc(out, '\'');
}
