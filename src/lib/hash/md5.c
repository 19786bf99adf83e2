/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.c - MD5 (RFC 1321), one call for the whole message: keys are short and always in memory; and
 * for many keys at once, those of one block side by side in the lanes of vectors. Here for the
 * placements that use it; it protects nothing. No other hash gets lanes: MD5 of a short key takes
 * several times what the lookup takes, the fast hashes less than it, and SHA-1 and SHA-256 are
 * those of few clients. Threads: any.
 */
#include <string.h>

#include "gyre.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/hash.h"
#include "lib/hash/md5.h"
#include "lib/hash/md5_tables.h"

#define BLOCK 64u

static uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* F, G, H, I of the RFC by round, and which word of the block the step takes. */
static uint32_t mix(unsigned step, uint32_t b, uint32_t c, uint32_t d, unsigned *word)
{
    switch (step / 16) {
    case 0:
        *word = step;
        return (b & c) | (~b & d);
    case 1:
        *word = (5 * step + 1) % 16;
        return (d & b) | (~d & c);
    case 2:
        *word = (3 * step + 5) % 16;
        return b ^ c ^ d;
    default:
        *word = 7 * step % 16;
        return c ^ (b | ~d);
    }
}

static void absorb(uint32_t state[4], const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
#pragma GCC unroll 64
    for (unsigned step = 0; step < 64; step++) {
        unsigned word;
        uint32_t f = mix(step, b, c, d, &word) + a + sines[step] + load_le32(block + 4 * word);
        a = d;
        d = c;
        c = b;
        b += rotate(f, turns[step / 16][step % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

/* The last block, or the last two: what is left, a bit, and the length. Returns its bytes. */
static size_t finish(uint8_t tail[2 * BLOCK], const uint8_t *in, size_t rest, size_t len)
{
    size_t tail_len = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    memset(tail, 0, tail_len);
    if (rest) {
        memcpy(tail, in, rest);
    }
    tail[rest] = 0x80;
    uint64_t bits = (uint64_t)len * 8;
    for (unsigned i = 0; i < 8; i++) {
        tail[tail_len - 8 + i] = (uint8_t)(bits >> 8 * i);
    }
    return tail_len;
}

static void digest_words(const void *data, size_t len, uint32_t state[4])
{
    const uint8_t *in = data;
    uint8_t tail[2 * BLOCK];
    size_t whole = len / BLOCK * BLOCK;
    memcpy(state, initial, sizeof initial);
    for (size_t i = 0; i < whole; i += BLOCK) {
        absorb(state, in + i);
    }
    size_t tail_len = finish(tail, whole ? in + whole : in, len - whole, len);
    for (size_t i = 0; i < tail_len; i += BLOCK) {
        absorb(state, tail + i);
    }
}

void gyre_hash_md5(const void *data, size_t len, uint8_t digest[16])
{
    uint32_t state[4];
    digest_words(data, len, state);
    for (unsigned i = 0; i < 16; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
    }
}

void gy_md5_pieces(const struct gy_piece *p, size_t n, uint8_t digest[16])
{
    uint32_t state[4];
    memcpy(state, initial, sizeof initial);
    gy_digest_pieces(absorb, state, p, n, false);
    for (unsigned i = 0; i < 16; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
    }
}

/* ---- many at once ---- */

#ifdef GY_SIMD_X86
/* 128 steps, unrolled over arrays of fixed size: instrumented they take half a minute to compile.
 */
#ifdef __clang__
#define BARE __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define BARE
#endif

#define NAME   md5_avx2
#define LANES  8
#define TARGET GY_TARGET_AVX2 BARE
#include "lib/hash/md5_lanes.h"

#define NAME   md5_avx512
#define LANES  16
#define TARGET GY_TARGET_AVX512 BARE
#include "lib/hash/md5_lanes.h"

/* Below so many the vectors are not worth filling. */
#define FEWEST 3

/* Messages waiting for their block to be hashed: their words, and which they are. Between the words
 * of a message and its length stand zeros; `filled` says how many there are to be cleared by the
 * next one in that lane. */
struct waiting {
    uint32_t words[16][GY_MD5_LANES];
    unsigned filled[GY_MD5_LANES];
    uint32_t state[GY_MD5_LANES][4];
    size_t which[GY_MD5_LANES];
    unsigned n;
};

static void wait_for_block(struct waiting *q, const void *data, size_t len, size_t which)
{
    uint8_t block[BLOCK];
    const unsigned lane = q->n, words = (unsigned)len / 4 + 1;
    if (len) {
        memcpy(block, data, len);
    }
    memcpy(block + len, (const uint8_t[4]){0x80}, 4); /* and zeros to the word's end */
    unsigned w = 0;
    for (; w < words; w++) {
        q->words[w][lane] = load_le32(block + (size_t)4 * w);
    }
    for (; w < q->filled[lane]; w++) {
        q->words[w][lane] = 0;
    }
    q->filled[lane] = words;
    q->words[14][lane] = (uint32_t)len * 8;
    q->which[q->n++] = which;
}

/* Lanes that nobody waits in hold old words, and are not looked at. */
static void hash_waiting(struct waiting *q, enum gy_simd level, uint32_t state[][4])
{
    if (level == GY_SIMD_AVX512 && q->n > GY_MD5_LANES / 2) {
        md5_avx512(q->words, q->state);
    } else {
        md5_avx2(q->words, q->state);
    }
    for (unsigned i = 0; i < q->n; i++) {
        memcpy(state[q->which[i]], q->state[i], sizeof q->state[i]);
    }
    q->n = 0;
}
#endif

void gy_md5_batch(enum gy_simd level, const void *const *data, const size_t *len, size_t n,
                  uint32_t state[][4])
{
    size_t i = 0;
#ifdef GY_SIMD_X86
    if (level != GY_SIMD_NONE && n >= FEWEST) {
        struct waiting q = {.n = 0};
        const unsigned room = level == GY_SIMD_AVX512 ? GY_MD5_LANES : GY_MD5_LANES / 2;
        for (; i < n; i++) {
            if (len[i] >= BLOCK - 8) {
                digest_words(data[i], len[i], state[i]);
                continue;
            }
            wait_for_block(&q, data[i], len[i], i);
            if (q.n == room) {
                hash_waiting(&q, level, state);
            }
        }
        if (q.n) {
            hash_waiting(&q, level, state);
        }
    }
#endif
    for (; i < n; i++) {
        digest_words(data[i], len[i], state[i]);
    }
}

static gy_u128 md5_of(const uint32_t state[4])
{
    return gy_wide((uint64_t)__builtin_bswap32(state[0]) << 32 | __builtin_bswap32(state[1]),
                   (uint64_t)__builtin_bswap32(state[2]) << 32 | __builtin_bswap32(state[3]));
}

static gy_u128 md5_value(const void *data, size_t len)
{
    uint32_t state[4];
    digest_words(data, len, state);
    return md5_of(state);
}

const struct gy_hash gy_hash_md5 = {"md5", 128, md5_value, .of_md5 = md5_of};
