/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.h - MD5 of many messages at once. Threads: any.
 */
#ifndef GY_LIB_HASH_MD5_H
#define GY_LIB_HASH_MD5_H

#include <stddef.h>
#include <stdint.h>

#include "lib/place/simd.h"

#define GY_MD5_LANES 32 /* messages side by side at the highest level */

/* state[i] is the digest of data[i] as four words, its bytes in little-endian order. Messages of up
 * to 55 bytes, one block, go through the vectors of that level; the same at every level. */
void gy_md5_batch(enum gy_simd level, const void *const *data, const size_t *len, size_t n,
                  uint32_t state[][4]);

#endif
