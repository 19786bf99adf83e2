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

typedef void gy_absorb(uint32_t state[5], const uint8_t *block);

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

#endif
