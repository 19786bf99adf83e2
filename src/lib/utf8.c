/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - see utf8.h. Only what decides how a name is shown; widths and quoting are base's.
 */
#include "lib/utf8.h"

size_t gy_utf8_decode(const uint8_t *p, size_t n, uint32_t *cp)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len) {
        return 0;
    }
    uint32_t c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
        return 0;
    }
    *cp = c;
    return len;
}

bool gy_utf8_control(uint32_t cp)
{
    static const struct range {
        uint32_t from, to;
    } control[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof control / sizeof control[0]; i++) {
        if (cp >= control[i].from && cp <= control[i].to) {
            return true;
        }
    }
    return false;
}
