/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spooky.c - SpookyHash V2 (Bob Jenkins, 2012, public domain), little-endian on every machine, the
 * short form below 192 bytes and the long one from there. mcrouter's weights are drawn by its
 * lowest 32 bits. The unrolled steps of the original are loops here: each is the one before it
 * moved on by a word. Threads: any.
 */
#include <string.h>

#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

enum { WORDS = 12, BLOCK = 8 * WORDS, LONG_FROM = 2 * BLOCK };

static const uint64_t filler = 0xdeadbeefdeadbeef;

/* h[2], h[3], h[0], h[1], h[2], ... */
static void short_mix(uint64_t h[4])
{
    static const uint8_t turns[12] = {50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36};
#pragma GCC unroll 12
    for (unsigned i = 0; i < 12; i++) {
        unsigned at = (i + 2) % 4;
        h[at] = gy_rotl64(h[at], turns[i]) + h[(at + 1) % 4];
        h[(at + 2) % 4] ^= h[at];
    }
}

static void short_end(uint64_t h[4])
{
    static const uint8_t turns[11] = {15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63};
#pragma GCC unroll 11
    for (unsigned i = 0; i < 11; i++) {
        unsigned at = (i + 2) % 4, next = (at + 1) % 4;
        h[next] ^= h[at];
        h[at] = gy_rotl64(h[at], turns[i]);
        h[next] += h[at];
    }
}

static gy_u128 hash_short(const uint8_t *p, size_t len, uint64_t seed1, uint64_t seed2)
{
    uint64_t h[4] = {seed1, seed2, filler, filler};
    size_t left = len;
    for (; left >= 16; p += 16, left -= 16) {
        h[2] += gy_load_le64(p);
        h[3] += gy_load_le64(p + 8);
        short_mix(h);
        if (left >= 32) {
            p += 16;
            left -= 16;
            h[0] += gy_load_le64(p);
            h[1] += gy_load_le64(p + 8);
        }
    }
    h[3] += (uint64_t)len << 56;
    if (left) {
        h[2] += gy_load_tail(p, left < 8 ? left : 8);
        h[3] += left > 8 ? gy_load_tail(p + 8, left - 8) : 0;
    } else {
        h[2] += filler;
        h[3] += filler;
    }
    short_end(h);
    return gy_wide(h[1], h[0]);
}

static void add_block(uint64_t s[WORDS], const uint8_t *p)
{
    for (unsigned i = 0; i < WORDS; i++) {
        s[i] += gy_load_le64(p + 8 * i);
    }
}

static void long_mix(uint64_t s[WORDS], const uint8_t *p)
{
    static const uint8_t turns[WORDS] = {11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46};
#pragma GCC unroll 12
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned before = (i + WORDS - 1) % WORDS;
        s[i] += gy_load_le64(p + 8 * i);
        s[(i + 2) % WORDS] ^= s[(i + 10) % WORDS];
        s[before] ^= s[i];
        s[i] = gy_rotl64(s[i], turns[i]);
        s[before] += s[(i + 1) % WORDS];
    }
}

static void end_partial(uint64_t h[WORDS])
{
    static const uint8_t turns[WORDS] = {44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54};
#pragma GCC unroll 12
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned before = (i + WORDS - 1) % WORDS, next = (i + 1) % WORDS;
        h[before] += h[next];
        h[(i + 2) % WORDS] ^= h[before];
        h[next] = gy_rotl64(h[next], turns[i]);
    }
}

static gy_u128 hash_long(const uint8_t *p, size_t len, uint64_t seed1, uint64_t seed2)
{
    uint64_t s[WORDS];
    for (unsigned i = 0; i < WORDS; i += 3) {
        s[i] = seed1;
        s[i + 1] = seed2;
        s[i + 2] = filler;
    }
    for (; len >= BLOCK; p += BLOCK, len -= BLOCK) {
        long_mix(s, p);
    }
    uint8_t last[BLOCK] = {0};
    if (len) {
        memcpy(last, p, len);
    }
    last[BLOCK - 1] = (uint8_t)len;
    add_block(s, last);
    for (unsigned i = 0; i < 3; i++) {
        end_partial(s);
    }
    return gy_wide(s[1], s[0]);
}

gy_u128 gy_spooky128(const void *data, size_t len, uint64_t seed1, uint64_t seed2)
{
    return len < LONG_FROM ? hash_short(data, len, seed1, seed2)
                           : hash_long(data, len, seed1, seed2);
}

uint32_t gy_spooky32(const void *data, size_t len, uint32_t seed)
{
    return (uint32_t)gy_spooky128(data, len, seed, seed);
}
