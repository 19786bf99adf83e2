/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.h - MD5 as the words of its digest: of one message, and of many at once. Threads: any.
 */
#ifndef GY_LIB_HASH_MD5_H
#define GY_LIB_HASH_MD5_H

#include <stddef.h>
#include <stdint.h>

#include "lib/place/simd.h"

/* The digest as four words, its bytes in little-endian order. */
void gy_md5_words(const void *data, size_t len, uint32_t state[4]);

#define GY_MD5_LANES 32 /* messages side by side at the highest level */
#define GY_MD5_MOST  96 /* of a batch: whole groups at each level */

/* Word w of the digest of message i is word[w][i]. */
struct gy_md5_words {
    uint32_t word[4][GY_MD5_MOST];
};

/* Of at most GY_MD5_MOST messages. Those of up to 55 bytes, one block, go through the vectors of
 * that level; the same at every level. What follows the n-th is left undefined. */
void gy_md5_batch(enum gy_simd level, const void *const *data, const size_t *len, size_t n,
                  struct gy_md5_words *out);

#endif
