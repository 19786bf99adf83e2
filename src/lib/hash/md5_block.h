/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5_block.h - how a message ends: its last bytes and the bit that RFC 1321 puts after them, for
 * md5.c and md5_batch.c. Keys are short and of lengths that cannot be foretold, so no byte is
 * copied on its own: the last 8 are loaded as one, whatever of them is wanted, and moved into
 * place. Nothing is read before a message or past its end. Threads: any.
 */
#ifndef GY_LIB_HASH_MD5_BLOCK_H
#define GY_LIB_HASH_MD5_BLOCK_H

#include "lib/hash/bytes.h"

enum { GY_MD5_BLOCK = 64, GY_MD5_CHUNK = 16, GY_MD5_ONE = 55 };

struct gy_md5_block {
    uint32_t word[16];
};

/* The high bytes of x and the bit after them, moved down by so many bytes. */
static inline uint64_t gy_md5_ended(uint64_t x, size_t bytes)
{
    return (x >> 8 | (uint64_t)0x80 << 56) >> 8 * bytes;
}

/* A message's last chunk, the one the bit falls in, in two halves. */
static inline void gy_md5_end(const uint8_t *data, size_t len, uint64_t half[2])
{
    const size_t rest = len % GY_MD5_CHUNK;
    half[1] = 0;
    if (rest >= 8) {
        half[0] = gy_load_le64(data + len - rest);
        half[1] = gy_md5_ended(gy_load_le64(data + len - 8), 15 - rest);
    } else if (len >= 8) {
        half[0] = gy_md5_ended(gy_load_le64(data + len - 8), 7 - rest);
    } else if (len >= 4) {
        uint64_t last = (uint64_t)gy_load_le32(data + len - 4) << 32;
        half[0] = gy_load_le32(data) | gy_md5_ended(last, 7 - len);
    } else {
        half[0] = gy_load_tail(data, len) | (uint64_t)0x80 << 8 * len;
    }
}

static inline void gy_md5_put(uint32_t word[2], uint64_t half)
{
    word[0] = (uint32_t)half;
    word[1] = (uint32_t)(half >> 32);
}

/* The block of a message of up to 55 bytes. */
static inline void gy_md5_fill(struct gy_md5_block *block, const uint8_t *data, size_t len)
{
    uint32_t *word = block->word;
    uint64_t half[2];
    size_t at = 0;
    *block = (struct gy_md5_block){{0}};
    for (; at + GY_MD5_CHUNK <= len; at += GY_MD5_CHUNK) {
        gy_md5_put(word + at / 4, gy_load_le64(data + at));
        gy_md5_put(word + at / 4 + 2, gy_load_le64(data + at + 8));
    }
    gy_md5_end(data, len, half);
    gy_md5_put(word + at / 4, half[0]);
    gy_md5_put(word + at / 4 + 2, half[1]);
    word[14] = (uint32_t)len * 8;
}

#endif
