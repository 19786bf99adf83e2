/* SPDX-License-Identifier: Apache-2.0 */
/*
 * city.c - CityHash64 of CityHash 1.0.2 (Pike and Alakuijala, Google, 2011), the release ClickHouse
 * has kept: 1.0.3 and later give other values. The short forms read head and tail of the message,
 * which overlap. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f,
                      k3 = 0xc949d7c7509e6557;

struct pair {
    uint64_t first, second;
};

static uint64_t rotr(uint64_t x, unsigned n)
{
    return gy_rotl64(x, 64 - n);
}

static uint64_t mix(uint64_t x)
{
    return x ^ x >> 47;
}

uint64_t gy_city_fold(uint64_t u, uint64_t v)
{
    const uint64_t multiplier = 0x9ddfea08eb382d69;
    uint64_t a = mix((u ^ v) * multiplier);
    return mix((v ^ a) * multiplier) * multiplier;
}

static uint64_t upto16(const uint8_t *s, size_t n)
{
    if (n > 8) {
        uint64_t a = gy_load_le64(s), b = gy_load_le64(s + n - 8);
        return gy_city_fold(a, rotr(b + n, (unsigned)n)) ^ b;
    }
    if (n >= 4) {
        return gy_city_fold(n + ((uint64_t)gy_load_le32(s) << 3), gy_load_le32(s + n - 4));
    }
    if (n > 0) {
        uint32_t y = s[0] + ((uint32_t)s[n / 2] << 8);
        uint32_t z = (uint32_t)n + ((uint32_t)s[n - 1] << 2);
        return mix(y * k2 ^ z * k3) * k2;
    }
    return k2;
}

static uint64_t upto32(const uint8_t *s, size_t n)
{
    uint64_t a = gy_load_le64(s) * k1, b = gy_load_le64(s + 8);
    uint64_t c = gy_load_le64(s + n - 8) * k2, d = gy_load_le64(s + n - 16) * k0;
    return gy_city_fold(rotr(a - b, 43) + rotr(c, 30) + d, a + rotr(b ^ k3, 20) - c + n);
}

/* One half of upto64: 32 bytes from s, begun with a and z. */
static struct pair half64(const uint8_t *s, uint64_t a, uint64_t z)
{
    uint64_t b = rotr(a + z, 52), c = rotr(a, 37);
    a += gy_load_le64(s + 8);
    c += rotr(a, 7);
    a += gy_load_le64(s + 16);
    return (struct pair){a + z, b + rotr(a, 31) + c};
}

static uint64_t upto64(const uint8_t *s, size_t n)
{
    uint64_t z = gy_load_le64(s + 24);
    uint64_t a = gy_load_le64(s) + (n + gy_load_le64(s + n - 16)) * k0;
    struct pair v = half64(s, a, z);
    struct pair w = half64(s + n - 32, gy_load_le64(s + 16) + gy_load_le64(s + n - 32),
                           gy_load_le64(s + n - 8));
    uint64_t r = mix((v.first + w.second) * k2 + (w.first + v.second) * k0);
    return mix(r * k0 + v.second) * k2;
}

/* WeakHashLen32WithSeeds. */
static struct pair weak32(const uint8_t *s, uint64_t a, uint64_t b)
{
    uint64_t z = gy_load_le64(s + 24);
    a += gy_load_le64(s);
    b = rotr(b + a + z, 21);
    uint64_t c = a;
    a += gy_load_le64(s + 8) + gy_load_le64(s + 16);
    b += rotr(a, 44);
    return (struct pair){a + z, b + c};
}

static uint64_t longer(const uint8_t *s, size_t n)
{
    uint64_t x = gy_load_le64(s), y = gy_load_le64(s + n - 16) ^ k1;
    uint64_t z = gy_load_le64(s + n - 56) ^ k0;
    struct pair v = weak32(s + n - 64, n, y), w = weak32(s + n - 32, n * k1, k0);
    z += mix(v.second) * k1;
    x = rotr(z + x, 39) * k1;
    y = rotr(y, 33) * k1;
    for (size_t left = (n - 1) / 64; left; left--, s += 64) {
        x = rotr(x + y + v.first + gy_load_le64(s + 16), 37) * k1;
        y = rotr(y + v.second + gy_load_le64(s + 48), 42) * k1;
        x ^= w.second;
        y ^= v.first;
        uint64_t next = rotr(z ^ w.first, 33);
        v = weak32(s, v.second * k1, x + w.first);
        w = weak32(s + 32, next + w.second, y);
        z = x;
        x = next;
    }
    return gy_city_fold(gy_city_fold(v.first, w.first) + mix(y) * k1 + z,
                        gy_city_fold(v.second, w.second) + x);
}

uint64_t gy_city64(const void *data, size_t len)
{
    if (len <= 16) {
        return upto16(data, len);
    }
    if (len <= 32) {
        return upto32(data, len);
    }
    return len <= 64 ? upto64(data, len) : longer(data, len);
}
