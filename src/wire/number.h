/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - the decimal numbers of the Redis protocol, by the rules of Redis' string2ll: an
 * optional '-', no '+', no leading zero, no blanks, within int64. Shared by the parsers of this
 * room. Pure: any thread.
 */
#ifndef GY_WIRE_NUMBER_H
#define GY_WIRE_NUMBER_H

#include "base/buf.h"

/* The hot path: a number of up to 18 digits and its CR LF, whole in the input. Returns the byte
 * behind it, or NULL when it is anything else (cut, malformed, longer): the caller finds out. */
static inline const uint8_t *gy_number_crlf(const uint8_t *s, const uint8_t *end, int64_t *v)
{
    bool neg = s < end && *s == '-';
    s += neg;
    const uint8_t *first = s;
    int64_t n = 0;
    while (s < end && (uint8_t)(*s - '0') <= 9) {
        if (s - first == 18) {
            return NULL;
        }
        n = n * 10 + (*s - '0');
        s++;
    }
    if (end - s < 2 || s[0] != '\r' || s[1] != '\n' || s == first ||
        (*first == '0' && (neg || s - first > 1))) {
        return NULL;
    }
    *v = neg ? -n : n;
    return s + 2;
}

/* The whole slice is one number of int64's range. */
bool gy_number(struct gy_slice text, int64_t *v);

#endif
