/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.c - see digits.h. No locale, and no errno: lookups read keys with it. Threads: any.
 */
#include "lib/like/digits.h"

#include "lib/hash/functions.h"

bool gy_digits_read(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;
    bool minus = p < end && *p == '-', good = true;
    uint64_t x = 0;
    if (minus) { /* not p += minus: an empty text may be a null pointer */
        p++;
    }
    const char *first = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        good = good && x <= (UINT64_MAX - digit) / 10;
        x = x * 10 + digit;
    }
    good = good && p > first && (!minus || x <= (uint64_t)1 << 63);
    *out = minus ? -x : x;
    *at = p;
    return good;
}

uint64_t gy_digits_key(const void *key, size_t len)
{
    const char *p = key, *end = len ? p + len : p;
    uint64_t x;
    return gy_digits_read(&p, end, &x) && p == end ? x : gy_xxh64(key, len, 0);
}

static gy_u128 number_value(const void *data, size_t len)
{
    return gy_digits_key(data, len);
}

const struct gy_hash gy_hash_number = {"number", 64, number_value, NULL, NULL};

size_t gy_digits_write(char out[GY_DIGITS], uint64_t x)
{
    char digits[GY_DIGITS];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    for (size_t i = 0; i < n; i++) {
        out[i] = digits[n - 1 - i];
    }
    return n;
}
