/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - see number.h. */
#include "wire/number.h"

bool gy_number(struct gy_slice text, int64_t *v)
{
    const uint8_t *s = text.p;
    size_t n = text.n;
    bool neg = n && *s == '-';
    s += neg;
    n -= neg;
    /* 19 digits always fit in 64 bits without a sign, so one test after the loop is enough. */
    if (n == 0 || n > 19 || (*s == '0' && (neg || n > 1))) {
        return false;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if ((uint8_t)(s[i] - '0') > 9) {
            return false;
        }
        sum = sum * 10 + (uint64_t)(s[i] - '0');
    }
    if (sum > (uint64_t)INT64_MAX + neg) {
        return false;
    }
    *v = neg ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}
