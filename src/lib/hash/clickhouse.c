/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.c - ClickHouse's hashes of integers (server 18.16.1): intHash64 is MurmurHash3's
 * finalizer behind a constant, intHash32 Thomas Wang's 64-to-32-bit mix with rotations in place of
 * shifts. cityHash64 of an integer column is intHash64, not CityHash. Threads: any.
 */
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"

uint64_t gy_int_hash64(uint64_t n)
{
    return gy_murmur3_mix64(n ^ 0x4cf2d2baae6da887);
}

uint32_t gy_int_hash32(uint64_t n)
{
    uint64_t k = n ^ 0x75d9543de018bf45;
    k = ~k + (k << 18);
    k ^= gy_rotl64(k, 64 - 31);
    k *= 21;
    k ^= gy_rotl64(k, 64 - 11);
    k += k << 6;
    k ^= gy_rotl64(k, 64 - 22);
    return (uint32_t)k;
}
