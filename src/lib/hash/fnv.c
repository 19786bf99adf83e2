/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnv.c - FNV-1 and FNV-1a of 32 and 64 bits (draft-eastlake-fnv), and the four as libmemcached
 * 1.1.4 and twemproxy 0.5.0 have them: keys are read through a signed char, and both 64-bit ones
 * give 32 bits: FNV-1 by cutting at the end, FNV-1a by cutting offset and prime beforehand. Those
 * 32 bits are no published FNV. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

#define OFFSET32 UINT32_C(2166136261)
#define PRIME32  UINT32_C(16777619)
#define OFFSET64 UINT64_C(0xcbf29ce484222325)
#define PRIME64  UINT64_C(0x100000001b3)

uint32_t gy_fnv1_32(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = OFFSET32;
    for (size_t i = 0; i < len; i++) {
        h = h * PRIME32 ^ p[i];
    }
    return h;
}

uint32_t gy_fnv1a_32(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = OFFSET32;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ p[i]) * PRIME32;
    }
    return h;
}

uint64_t gy_fnv1_64(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t h = OFFSET64;
    for (size_t i = 0; i < len; i++) {
        h = h * PRIME64 ^ p[i];
    }
    return h;
}

uint64_t gy_fnv1a_64(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t h = OFFSET64;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ p[i]) * PRIME64;
    }
    return h;
}

uint32_t gy_fnv1_32_signed(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = OFFSET32;
    for (size_t i = 0; i < len; i++) {
        h = h * PRIME32 ^ gy_signed32(p[i]);
    }
    return h;
}

uint32_t gy_fnv1a_32_signed(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = OFFSET32;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ gy_signed32(p[i])) * PRIME32;
    }
    return h;
}

uint32_t gy_fnv1_64_signed_low(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t h = OFFSET64;
    for (size_t i = 0; i < len; i++) {
        h = h * PRIME64 ^ gy_signed64(p[i]);
    }
    return (uint32_t)h;
}

uint32_t gy_fnv1a_64_signed_cut(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint32_t h = (uint32_t)OFFSET64;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ gy_signed32(p[i])) * (uint32_t)PRIME64;
    }
    return h;
}
