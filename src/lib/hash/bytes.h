/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - how the hash functions read: always byte by byte, so that neither the machine's byte
 * order, nor alignment, nor whether its plain char has a sign can change an answer. Compilers make
 * one load of each. Threads: any.
 */
#ifndef GY_LIB_HASH_BYTES_H
#define GY_LIB_HASH_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t gy_load_le16(const uint8_t *p)
{
    return (uint32_t)p[1] << 8 | p[0];
}

static inline uint32_t gy_load_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint64_t gy_load_le64(const uint8_t *p)
{
    return (uint64_t)gy_load_le32(p + 4) << 32 | gy_load_le32(p);
}

/* The 0 to 8 bytes of a tail, as if zeros followed. Their number cannot be foretold: from four on
 * they are loaded by fours that may overlap. */
static inline uint64_t gy_load_tail(const uint8_t *p, size_t len)
{
    if (len >= 4) {
        return gy_load_le32(p) | (uint64_t)gy_load_le32(p + len - 4) << 8 * (len - 4);
    }
    uint64_t x = 0;
    for (size_t i = 0; i < len; i++) {
        x |= (uint64_t)p[i] << 8 * i;
    }
    return x;
}

static inline void gy_store_le32(uint8_t *p, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(x >> 8 * i);
    }
}

static inline void gy_store_le64(uint8_t *p, uint64_t x)
{
    gy_store_le32(p, (uint32_t)x);
    gy_store_le32(p + 4, (uint32_t)(x >> 32));
}

static inline void gy_store_be32(uint8_t *p, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(x >> (24 - 8 * i));
    }
}

/* A rotation by 0 leaves x as it is. */
static inline uint32_t gy_rotl32(uint32_t x, unsigned n)
{
    return x << (n & 31) | x >> (-n & 31);
}

static inline uint64_t gy_rotl64(uint64_t x, unsigned n)
{
    return x << (n & 63) | x >> (-n & 63);
}

/* A byte as systems see it that read keys through x86's plain, signed char: 0x80 to 0xff become
 * -128 to -1. */
static inline uint32_t gy_signed32(uint8_t b)
{
    return (b ^ 0x80u) - 0x80u;
}

static inline uint64_t gy_signed64(uint8_t b)
{
    return (b ^ (uint64_t)0x80) - 0x80u;
}

#endif
