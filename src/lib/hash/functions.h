/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.h - every hash function with its own types, for placements that know which one they
 * want; by name they are had from table.h. A digest is bytes in their published order, all else a
 * number. Names that end in what a system made of a function say how: _signed reads keys as
 * x86's char, _length takes its seed from the key's length. Threads: any; nothing here has state.
 */
#ifndef GY_LIB_HASH_FUNCTIONS_H
#define GY_LIB_HASH_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/hash/hash.h"
#include "lib/wide.h"

/* xxh.c */
uint32_t gy_xxh32(const void *data, size_t len, uint32_t seed);
uint64_t gy_xxh64(const void *data, size_t len, uint64_t seed);
gy_u128 gy_xxh3_128(const void *data, size_t len, uint64_t seed);

/* murmur2.c */
uint32_t gy_murmur2_32(const void *data, size_t len, uint32_t seed);
uint64_t gy_murmur2_64a(const void *data, size_t len, uint64_t seed);
uint32_t gy_murmur2_length(const void *data, size_t len);

/* murmur3.c; the first 64 bits are h1 */
uint32_t gy_murmur3_32(const void *data, size_t len, uint32_t seed);
gy_u128 gy_murmur3_128(const void *data, size_t len, uint64_t seed);
gy_u128 gy_murmur3_cassandra(const void *data, size_t len);
uint32_t gy_murmur3_length(const void *data, size_t len);
uint64_t gy_murmur3_mix64(uint64_t x); /* fmix64 */

/* fnv.c */
uint32_t gy_fnv1_32(const void *data, size_t len);
uint32_t gy_fnv1a_32(const void *data, size_t len);
uint64_t gy_fnv1_64(const void *data, size_t len);
uint64_t gy_fnv1a_64(const void *data, size_t len);
uint32_t gy_fnv1_32_signed(const void *data, size_t len);
uint32_t gy_fnv1a_32_signed(const void *data, size_t len);
uint32_t gy_fnv1_64_signed_low(const void *data, size_t len);
uint32_t gy_fnv1a_64_signed_cut(const void *data, size_t len);

/* sha1.c, ripemd160.c */
void gy_sha1(const void *data, size_t len, uint8_t digest[20]);
void gy_ripemd160(const void *data, size_t len, uint8_t digest[20]);

/* The same, and MD5, of a text in pieces (digest.h). */
struct gy_piece;
void gy_sha1_pieces(const struct gy_piece *p, size_t n, uint8_t digest[20]);
void gy_ripemd160_pieces(const struct gy_piece *p, size_t n, uint8_t digest[20]);
void gy_md5_pieces(const struct gy_piece *p, size_t n, uint8_t digest[16]);

/* crc16.c, crc32.c; _more goes on from the CRC of what came before (0: of nothing) */
uint16_t gy_crc16(const void *data, size_t len);
uint32_t gy_crc16_wide(const void *data, size_t len);
uint32_t gy_crc32(const void *data, size_t len);
uint32_t gy_crc32_more(uint32_t before, const void *data, size_t len);
uint32_t gy_crc32_15(const void *data, size_t len);
uint32_t gy_crc32c(const void *data, size_t len);

/* jenkins.c */
uint32_t gy_one_at_a_time(const void *data, size_t len);
uint32_t gy_one_at_a_time_signed(const void *data, size_t len);
uint32_t gy_lookup3(const void *data, size_t len, uint32_t seed);

/* hsieh.c */
uint32_t gy_hsieh(const void *data, size_t len);

/* haproxy.c */
uint32_t gy_sdbm(const void *data, size_t len);
uint32_t gy_djb2(const void *data, size_t len);
uint32_t gy_wt6(const void *data, size_t len);
uint32_t gy_avalanche(uint32_t a);

/* siphash.c; _halves: v0 ^ v1, then v2 ^ v3 */
uint64_t gy_siphash24(const void *data, size_t len, const uint8_t key[16]);
gy_u128 gy_siphash24_halves(const void *data, size_t len, const uint8_t key[16]);

/* city.c; _fold is its Hash128to64 */
uint64_t gy_city64(const void *data, size_t len);
uint64_t gy_city_fold(uint64_t u, uint64_t v);

/* spooky.c; the low 64 bits are the first word */
gy_u128 gy_spooky128(const void *data, size_t len, uint64_t seed1, uint64_t seed2);
uint32_t gy_spooky32(const void *data, size_t len, uint32_t seed);

/* clickhouse.c, des.c: of numbers */
uint64_t gy_int_hash64(uint64_t n);
uint32_t gy_int_hash32(uint64_t n);
uint64_t gy_des_zero_key(uint64_t block);

#endif
