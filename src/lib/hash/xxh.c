/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xxh.c - XXH32, XXH64 and XXH3's 128 bits (xxHash 0.8, values frozen by its specification),
 * inlined from the reference implementation's header as xxh3.c does. Envoy and gRPC place by XXH64,
 * HAProxy 3 hashes IPv6 addresses and guids by XXH32. Threads: any.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/hash/functions.h"

uint32_t gy_xxh32(const void *data, size_t len, uint32_t seed)
{
    return XXH32(data, len, seed);
}

uint64_t gy_xxh64(const void *data, size_t len, uint64_t seed)
{
    return XXH64(data, len, seed);
}

gy_u128 gy_xxh3_128(const void *data, size_t len, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(data, len, seed);
    return gy_wide(h.high64, h.low64);
}
