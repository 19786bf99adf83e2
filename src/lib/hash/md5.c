/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.c - MD5 (RFC 1321), one call for the whole message: keys are short and always in memory. Here
 * for the placements that use it; it protects nothing. Many keys at once: md5_batch.c. Threads:
 * any.
 */
#include <string.h>

#include "gyre.h"
#include "lib/hash/digest.h"
#include "lib/hash/functions.h"
#include "lib/hash/hash.h"
#include "lib/hash/md5.h"
#include "lib/hash/md5_block.h"
#include "lib/hash/md5_tables.h"

/* The block of a message of up to 15 bytes: of its words 4 to 13 and 15, which are zeros, nothing
 * is left to be added. */
struct short_block {
    uint64_t half[2];
    uint32_t bits;
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* Tells the compiler that x changes in a way it cannot see: else it sums in another order. */
#define HOLD(x) __asm__("" : "+r"(x))

/* Where a word of a block comes from. */
typedef uint32_t word_of(const void *block, unsigned w);

static inline uint32_t word_of_block(const void *block, unsigned w)
{
    const struct gy_md5_block *b = block;
    return b->word[w];
}

static inline uint32_t word_of_short(const void *block, unsigned w)
{
    const struct short_block *s = block;
    return w < 4 ? (uint32_t)(s->half[w / 2] >> 32 * (w % 2)) : w == 14 ? s->bits : 0;
}

/* Each step waits for the b of the one before, and nothing else takes time. So all that needs no b
 * is computed first; and of two numbers with no bit in common, which or unites, one can be added
 * before b is there. */
static inline __attribute__((always_inline)) void absorb_words(uint32_t state[4], word_of *word,
                                                               const void *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
#pragma GCC unroll 64
    for (unsigned step = 0; step < 64; step++) {
        uint32_t f, early = c ^ d, sum = a + sines[step] + word(block, word_of_step(step));
        if (step < 16) {
            f = d ^ (b & early);
        } else if (step < 32) {
            sum += ~d & c;
            f = d & b;
        } else if (step < 48) {
            HOLD(early);
            f = b ^ early;
        } else {
            f = c ^ (b | ~d);
        }
        HOLD(sum);
        sum += f;
        a = d;
        d = c;
        c = b;
        b += rotate(sum, turns[step / 16][step % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

static void absorb_block(uint32_t state[4], const struct gy_md5_block *block)
{
    absorb_words(state, word_of_block, block);
}

static void absorb(uint32_t state[4], const uint8_t *bytes)
{
    struct gy_md5_block block;
    for (unsigned w = 0; w < 16; w++) {
        block.word[w] = gy_load_le32(bytes + (size_t)4 * w);
    }
    absorb_block(state, &block);
}

/* Of more than one block. The last, or the last two: what is left, a bit, and the length. */
static void absorb_all(uint32_t state[4], const uint8_t *in, size_t len)
{
    uint8_t tail[2 * GY_MD5_BLOCK] = {0};
    const size_t rest = len % GY_MD5_BLOCK, whole = len - rest;
    const size_t tail_len = rest < GY_MD5_BLOCK - 8 ? GY_MD5_BLOCK : 2 * GY_MD5_BLOCK;
    for (size_t i = 0; i < whole; i += GY_MD5_BLOCK) {
        absorb(state, in + i);
    }
    memcpy(tail, in + whole, rest);
    tail[rest] = 0x80;
    gy_store_le64(tail + tail_len - 8, (uint64_t)len * 8);
    for (size_t i = 0; i < tail_len; i += GY_MD5_BLOCK) {
        absorb(state, tail + i);
    }
}

void gy_md5_words(const void *data, size_t len, uint32_t state[4])
{
    memcpy(state, initial, sizeof initial);
    if (len < GY_MD5_CHUNK) {
        struct short_block block = {.bits = (uint32_t)len * 8};
        gy_md5_end(data, len, block.half);
        absorb_words(state, word_of_short, &block);
    } else if (len <= GY_MD5_ONE) {
        struct gy_md5_block block;
        gy_md5_fill(&block, data, len);
        absorb_block(state, &block);
    } else {
        absorb_all(state, data, len);
    }
}

void gyre_hash_md5(const void *data, size_t len, uint8_t digest[16])
{
    uint32_t state[4];
    gy_md5_words(data, len, state);
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

static gy_u128 digest_of(const uint32_t state[4])
{
    return gy_wide((uint64_t)__builtin_bswap32(state[0]) << 32 | __builtin_bswap32(state[1]),
                   (uint64_t)__builtin_bswap32(state[2]) << 32 | __builtin_bswap32(state[3]));
}

static gy_u128 md5_value(const void *data, size_t len)
{
    uint32_t state[4];
    gy_md5_words(data, len, state);
    return digest_of(state);
}

const struct gy_hash gy_hash_md5 = {"md5", 128, md5_value, .of_md5 = digest_of};
