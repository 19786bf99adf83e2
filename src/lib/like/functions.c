/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.c - the bucket functions of buckets.h. The jumps differ where a quotient is rounded
 * before it is multiplied; tests/vectors/jump has keys that tell. Sources: the published
 * code of jump (arXiv 1406.2294), the behaviour of Guava 31.1, ClickHouse 18.16 and mcrouter;
 * docs/compat/SPEC-databases.md sections 2, 3 and 6. Threads: any.
 */
#include "lib/hash/functions.h"
#include "lib/hash/bytes.h"
#include "lib/like/buckets.h"

#define TWO31 2147483648.0

static uint64_t jump_next(uint64_t key)
{
    return key * 2862933555777941757u + 1;
}

uint32_t gy_jump_published(uint64_t key, uint32_t n)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)n) {
        b = j;
        key = jump_next(key);
        double quotient = TWO31 / (double)((key >> 33) + 1);
        j = (int64_t)((double)(b + 1) * quotient);
    }
    return (uint32_t)b;
}

uint32_t gy_jump_guava(uint64_t key, uint32_t n)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)n) {
        b = j;
        key = jump_next(key);
        double x = (double)((key >> 33) + 1) / TWO31; /* exact */
        j = (int64_t)((double)(b + 1) / x);
    }
    return (uint32_t)b;
}

uint32_t gy_jump_exact(uint64_t key, uint32_t n)
{
    uint64_t b = 0, j = 0;
    while (j < n) {
        b = j;
        key = jump_next(key);
        j = ((b + 1) << 31) / ((key >> 33) + 1);
    }
    return (uint32_t)b;
}

/* ---- ClickHouse ---- */

static unsigned bits_of(uint32_t x)
{
    unsigned bits = 0;
    for (; x; x >>= 1) {
        bits++;
    }
    return bits;
}

/* The bucket among 2^k: the low bits of c, with those below the highest taken from a or b. */
static uint32_t power(const uint32_t part[4], unsigned k)
{
    uint32_t low = part[2] & ((1u << k) - 1), ones = 0;
    if (low < 2) {
        return low;
    }
    for (uint32_t rest = low; rest; rest &= rest - 1) {
        ones++;
    }
    uint32_t top = 1u << (bits_of(low) - 1);
    return top + (part[ones % 2] & (top - 1));
}

uint32_t gy_bucket_yandex(uint64_t x, uint32_t n)
{
    uint32_t part[4];
    if (n <= 1) {
        return 0;
    }
    for (unsigned i = 0; i < 4; i++) {
        part[i] = (uint32_t)(x >> 16 * i) & 0xffff;
    }
    unsigned k = bits_of(n - 1);
    uint32_t low = power(part, k);
    if (low < n) {
        return low;
    }
    uint64_t t = (uint64_t)part[3] << (16 - k) | part[2] >> k;
    t = t << (17 - k) | part[1] >> (k - 1);
    t = t << (17 - k) | part[0] >> (k - 1);
    uint64_t m = (t % ((uint64_t)low * (low + 1)) >> k) + (1u << (k - 1));
    return m < n ? (uint32_t)m : power(part, k - 1);
}

uint32_t gy_bucket_sumbur(uint64_t hash, uint32_t n)
{
    const uint32_t all = UINT32_MAX;
    uint32_t h = (uint32_t)hash, part = all / n, s = 1;
    if (all - h < part) {
        return 0;
    }
    if (h >= all / 2) {
        h -= all / 2;
    } else {
        s = 2;
        if (all / 2 - h < part) {
            return 1;
        }
    }
    if (n == 2) {
        return 1;
    }
    for (uint32_t i = 3; i <= n; i++) {
        uint32_t c = (uint32_t)(all / ((uint64_t)i * (i - 1)));
        if (c <= h) {
            h -= c;
        } else {
            h += c * (i - s - 1);
            s = i;
            if (all / i - h < part) {
                break;
            }
        }
    }
    return s - 1;
}

/* ---- mcrouter ---- */

enum {
    FURC_TRIES = 32,
    FURC_BITS = 23,
    FURC_WORDS = (FURC_BITS + FURC_TRIES * FURC_BITS * FURC_BITS) / 64 + 1
};

/* An endless stream of bits: the hash, its hash, and so on. */
struct stream {
    uint64_t word[FURC_WORDS];
    unsigned known;
};

static unsigned bit_at(struct stream *s, unsigned i)
{
    for (; s->known <= i / 64; s->known++) {
        uint8_t bytes[8];
        uint64_t before = s->word[s->known - 1];
        gy_store_le32(bytes, (uint32_t)before);
        gy_store_le32(bytes + 4, (uint32_t)(before >> 32));
        s->word[s->known] = gy_murmur2_64a(bytes, sizeof bytes, GY_FURC_SEED);
    }
    return s->word[i / 64] >> (i % 64) & 1;
}

uint32_t gy_bucket_furc(uint64_t hash, uint32_t n)
{
    struct stream s;
    s.word[0] = hash;
    s.known = 1;
    if (n <= 1) {
        return 0;
    }
    unsigned d = bits_of(n - 1), a = d;
    for (unsigned turn = 0; turn < FURC_TRIES; turn++) {
        while (!bit_at(&s, a)) {
            if (--d == 0) {
                return 0;
            }
            a = d;
        }
        a += FURC_BITS;
        uint32_t number = 1;
        for (unsigned i = 1; i < d; i++) {
            number = number << 1 | bit_at(&s, a);
            a += FURC_BITS;
        }
        if (number < n) {
            return number;
        }
    }
    return 0;
}
