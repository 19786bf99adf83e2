/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hsieh.c - Paul Hsieh's SuperFastHash as libhashkit and twemproxy have it: it starts from 0, not
 * from the length, so that the empty key and any run of zero bytes alike begin with 0; of three
 * last bytes the third has a sign. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

static uint32_t tail(uint32_t h, const uint8_t *p, size_t len)
{
    switch (len) {
    case 3:
        h += gy_load_le16(p);
        h ^= h << 16;
        h ^= gy_signed32(p[2]) << 18;
        return h + (h >> 11);
    case 2:
        h += gy_load_le16(p);
        h ^= h << 11;
        return h + (h >> 17);
    case 1:
        h += p[0];
        h ^= h << 10;
        return h + (h >> 1);
    default:
        return h;
    }
}

uint32_t gy_hsieh(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = 0;
    for (; len >= 4; p += 4, len -= 4) {
        h += gy_load_le16(p);
        h = h << 16 ^ (gy_load_le16(p + 2) << 11 ^ h);
        h += h >> 11;
    }
    h = tail(h, p, len);
    h ^= h << 3;
    h += h >> 5;
    h ^= h << 4;
    h += h >> 17;
    h ^= h << 25;
    return h + (h >> 6);
}
