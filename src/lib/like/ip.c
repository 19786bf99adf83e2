/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip.c - see ip.h. IPv6 as RFC 4291 section 2.2 writes it: eight groups, "::" once for any number
 * of zero groups, the last two perhaps as IPv4. Threads: any.
 */
#include "lib/like/ip.h"

#include <string.h>

enum { GROUPS = 8 };

/* 1 to 3 digits up to 255, no zero in front. */
static bool read_octet(const char **p, const char *end, uint8_t *out)
{
    const char *begin = *p;
    unsigned v = 0;
    while (*p < end && **p >= '0' && **p <= '9' && *p - begin < 3) {
        v = v * 10 + (unsigned)(*(*p)++ - '0');
    }
    *out = (uint8_t)v;
    return *p > begin && v <= 255 && (*begin != '0' || *p - begin == 1);
}

static bool read_four(const char *p, const char *end, uint8_t out[4])
{
    for (unsigned i = 0; i < 4; i++) {
        if (i && (p == end || *p++ != '.')) {
            return false;
        }
        if (!read_octet(&p, end, &out[i])) {
            return false;
        }
    }
    return p == end;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 1 to 4 hexadecimal digits. */
static bool read_group(const char **p, const char *end, uint8_t out[2])
{
    const char *begin = *p;
    unsigned v = 0;
    while (*p < end && hex_digit(**p) >= 0 && *p - begin < 4) {
        v = v << 4 | (unsigned)hex_digit(*(*p)++);
    }
    out[0] = (uint8_t)(v >> 8);
    out[1] = (uint8_t)v;
    return *p > begin;
}

/* Groups parted by colons, and perhaps an IPv4 address at the end. Returns how many groups were
 * read; *p is then where it stopped. */
static unsigned read_groups(const char **p, const char *end, uint8_t *out, unsigned most)
{
    unsigned n = 0;
    while (n < most) {
        const char *at = *p;
        if (n) {
            if (at == end || *at != ':' || (at + 1 < end && at[1] == ':')) {
                return n;
            }
            at++;
        }
        if (n + 2 <= most && read_four(at, end, out + (size_t)2 * n)) {
            *p = end;
            return n + 2;
        }
        if (!read_group(&at, end, out + (size_t)2 * n)) {
            return n;
        }
        *p = at;
        n++;
    }
    return n;
}

static bool read_six(const char *p, const char *end, uint8_t out[16])
{
    uint8_t tail[2 * GROUPS];
    memset(out, 0, 16);
    unsigned head = read_groups(&p, end, out, GROUPS);
    if (head == GROUPS || end - p < 2 || p[0] != ':' || p[1] != ':') {
        return head == GROUPS && p == end;
    }
    p += 2;
    unsigned after = read_groups(&p, end, tail, GROUPS - 1 - head);
    memcpy(out + 2 * (size_t)(GROUPS - after), tail, 2 * (size_t)after);
    return p == end;
}

static bool read_port(const char *p, uint32_t *out)
{
    const char *begin = p;
    *out = 0;
    while (*p >= '0' && *p <= '9' && p - begin < 5) {
        *out = *out * 10 + (uint32_t)(*p++ - '0');
    }
    return p > begin && !*p && *out <= 65535;
}

bool gy_ip_read(const char *text, struct gy_ip *out)
{
    const char *colon = strrchr(text, ':');
    if (!colon || !read_port(colon + 1, &out->port)) {
        return false;
    }
    out->six = text[0] == '[';
    if (out->six) {
        return colon - text > 2 && colon[-1] == ']' && read_six(text + 1, colon - 1, out->bytes);
    }
    return read_four(text, colon, out->bytes);
}
