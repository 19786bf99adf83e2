/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jenkins.c - Bob Jenkins' one_at_a_time (Dr Dobb's, 1997) and lookup3's hashlittle (2006, public
 * domain), little-endian on every machine; and one_at_a_time as libmemcached and twemproxy have it,
 * through a signed char. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

static uint32_t step(uint32_t h, uint32_t byte)
{
    h += byte;
    h += h << 10;
    return h ^ h >> 6;
}

static uint32_t finish(uint32_t h)
{
    h += h << 3;
    h ^= h >> 11;
    return h + (h << 15);
}

uint32_t gy_one_at_a_time(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = 0;
    for (size_t i = 0; i < len; i++) {
        h = step(h, p[i]);
    }
    return finish(h);
}

uint32_t gy_one_at_a_time_signed(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = 0;
    for (size_t i = 0; i < len; i++) {
        h = step(h, gy_signed32(p[i]));
    }
    return finish(h);
}

/* lookup3.c's mix(): each word in turn minus, xor and plus its neighbours. */
static void mix(uint32_t s[3])
{
    static const uint8_t turns[6] = {4, 6, 8, 16, 19, 4};
#pragma GCC unroll 6
    for (unsigned i = 0; i < 6; i++) {
        uint32_t *a = &s[i % 3], *b = &s[(i + 1) % 3], *c = &s[(i + 2) % 3];
        *a -= *c;
        *a ^= gy_rotl32(*c, turns[i]);
        *c += *b;
    }
}

/* Its final(), which begins with the last word. */
static uint32_t final(uint32_t s[3])
{
    static const uint8_t turns[7] = {14, 11, 25, 16, 4, 14, 24};
#pragma GCC unroll 7
    for (unsigned i = 0; i < 7; i++) {
        uint32_t *c = &s[(i + 2) % 3], *b = &s[(i + 1) % 3];
        *c ^= *b;
        *c -= gy_rotl32(*b, turns[i]);
    }
    return s[2];
}

uint32_t gy_lookup3(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t start = 0xdeadbeef + (uint32_t)len + seed;
    uint32_t s[3] = {start, start, start};
    for (; len > 12; p += 12, len -= 12) {
        for (unsigned i = 0; i < 3; i++) {
            s[i] += gy_load_le32(p + 4 * i);
        }
        mix(s);
    }
    if (len == 0) { /* the empty message alone: others keep 1 to 12 bytes for the end */
        return s[2];
    }
    for (size_t i = 0; i < len; i++) {
        s[i / 4] += (uint32_t)p[i] << 8 * (i % 4);
    }
    return final(s);
}
