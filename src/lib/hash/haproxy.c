/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy.c - the key hashes of HAProxy (2.6 to 3.4) that are its own or nobody else's default:
 * sdbm, djb2 and Willy Tarreau's wt6; and the avalanche, Bob Jenkins' full 32-bit integer mix (his
 * page "Integer Hash Function"), which places its points and is a modifier of key hashes. Bytes are
 * unsigned. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

uint32_t gy_sdbm(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = 0;
    for (size_t i = 0; i < len; i++) {
        h = p[i] + (h << 6) + (h << 16) - h;
    }
    return h;
}

uint32_t gy_djb2(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = 5381;
    for (size_t i = 0; i < len; i++) {
        h = h * 33 + p[i];
    }
    return h;
}

uint32_t gy_wt6(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h0 = 0xa53c965a, h1 = 0x5ca6953a;
    unsigned s0 = 6, s1 = 18;
    for (size_t i = 0; i < len; i++) {
        h0 = ~(h0 ^ p[i]);
        h1 = ~(h1 + p[i]);
        uint32_t t = gy_rotl32(h1, s0);
        h1 = gy_rotl32(h0, s1);
        h0 = t;
        t = ((h0 >> 16) ^ h1) & 0xffff;
        s0 = t & 31;
        s1 = t >> 11;
    }
    return h0 ^ h1;
}

uint32_t gy_avalanche(uint32_t a)
{
    a = (a + 0x7ed55d16) + (a << 12);
    a = (a ^ 0xc761c23c) ^ a >> 19;
    a = (a + 0x165667b1) + (a << 5);
    a = (a + 0xd3a2646c) ^ a << 9;
    a = (a + 0xfd7046c5) + (a << 3);
    a = (a ^ 0xb55a4f09) ^ a >> 16;
    return a * 3221225473u;
}
