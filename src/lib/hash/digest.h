/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - the frame that SHA-1 and RIPEMD-160 share with MD4's whole family: 64-byte blocks, a
 * bit of padding, zeros, and the length in bits as the last 8 bytes. Threads: any.
 */
#ifndef GY_LIB_HASH_DIGEST_H
#define GY_LIB_HASH_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GY_DIGEST_BLOCK = 64 };

typedef void gy_absorb(uint32_t *state, const uint8_t *block);

static inline void gy_digest_all(gy_absorb *absorb, uint32_t state[5], const void *data, size_t len,
                                 bool big_endian)
{
    const uint8_t *in = data;
    size_t rest = len % GY_DIGEST_BLOCK, whole = len - rest;
    for (size_t i = 0; i < whole; i += GY_DIGEST_BLOCK) {
        absorb(state, in + i);
    }
    uint8_t tail[2 * GY_DIGEST_BLOCK] = {0};
    size_t tail_len = rest < GY_DIGEST_BLOCK - 8 ? GY_DIGEST_BLOCK : 2 * GY_DIGEST_BLOCK;
    if (rest) {
        memcpy(tail, in + whole, rest);
    }
    tail[rest] = 0x80;
    uint64_t bits = (uint64_t)len * 8;
    for (unsigned i = 0; i < 8; i++) {
        tail[big_endian ? tail_len - 1 - i : tail_len - 8 + i] = (uint8_t)(bits >> 8 * i);
    }
    for (size_t i = 0; i < tail_len; i += GY_DIGEST_BLOCK) {
        absorb(state, tail + i);
    }
}

/* A text in pieces, which lookups cannot put together for want of memory. */
struct gy_piece {
    const void *data;
    size_t len;
};

static inline void gy_digest_pieces(gy_absorb *absorb, uint32_t *state, const struct gy_piece *p,
                                    size_t n, bool big_endian)
{
    uint8_t block[GY_DIGEST_BLOCK];
    size_t have = 0, left = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *in = p[i].data;
        bits += (uint64_t)p[i].len * 8;
        for (left = p[i].len; left;) {
            size_t now = left < sizeof block - have ? left : sizeof block - have;
            memcpy(block + have, in, now);
            in += now;
            left -= now;
            have += now;
            if (have == sizeof block) {
                absorb(state, block);
                have = 0;
            }
        }
    }
    block[have++] = 0x80;
    if (have > sizeof block - 8) {
        memset(block + have, 0, sizeof block - have);
        absorb(state, block);
        have = 0;
    }
    memset(block + have, 0, sizeof block - have);
    for (unsigned i = 0; i < 8; i++) {
        block[big_endian ? sizeof block - 1 - i : sizeof block - 8 + i] = (uint8_t)(bits >> 8 * i);
    }
    absorb(state, block);
}

#endif
