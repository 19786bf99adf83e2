/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the typed functions behind the one form of hash.h, and both lists of names. A function
 * that a system calls with a fixed seed, or of whose digest it reads a few bytes its own way, is a
 * function of its own here; an alias is only a name. Threads: any.
 */
#include "lib/hash/table.h"

#include <string.h>

#include "gyre.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "lib/hash/md5.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static gy_u128 sha1_value(const void *data, size_t len)
{
    uint8_t digest[20];
    gy_sha1(data, len, digest);
    return gy_wide(gy_load_be64(digest), gy_load_be64(digest + 8));
}

static gy_u128 ripemd160_value(const void *data, size_t len)
{
    uint8_t digest[20];
    gy_ripemd160(data, len, digest);
    return gy_wide(gy_load_be64(digest), gy_load_be64(digest + 8));
}

static uint32_t sha1_le32(const void *data, size_t len)
{
    uint8_t digest[20];
    gy_sha1(data, len, digest);
    return gy_load_le32(digest);
}

static gy_u128 murmur3_128_xor(const void *data, size_t len, uint64_t seed)
{
    gy_u128 h = gy_murmur3_128(data, len, seed);
    return (uint64_t)(h >> 64) ^ (uint64_t)h;
}

static const uint8_t no_key[16];

/* One gy_hash each: name, bits, and the value of (data, len) and, further down, of a seed, with the
 * seed when none is given, or of a key. */
#define PLAIN(name, bits, expression)                         \
    static gy_u128 name##_plain(const void *data, size_t len) \
    {                                                         \
        return expression;                                    \
    }                                                         \
    const struct gy_hash gy_hash_##name = {#name, bits, name##_plain, NULL, NULL};

#define SEEDED(name, bits, usual, expression)                                 \
    static gy_u128 name##_seeded(const void *data, size_t len, uint64_t seed) \
    {                                                                         \
        return expression;                                                    \
    }                                                                         \
    static gy_u128 name##_plain(const void *data, size_t len)                 \
    {                                                                         \
        return name##_seeded(data, len, usual);                               \
    }                                                                         \
    const struct gy_hash gy_hash_##name = {#name, bits, name##_plain, name##_seeded, NULL};

#define KEYED(name, bits, expression)                                                \
    static gy_u128 name##_keyed(const void *data, size_t len, const uint8_t key[16]) \
    {                                                                                \
        return expression;                                                           \
    }                                                                                \
    static gy_u128 name##_plain(const void *data, size_t len)                        \
    {                                                                                \
        return name##_keyed(data, len, no_key);                                      \
    }                                                                                \
    const struct gy_hash gy_hash_##name = {#name, bits, name##_plain, NULL, name##_keyed};

/* Of the digest as four little-endian words. */
#define MD5(name, bits, expression)                           \
    static gy_u128 name##_of(const uint32_t state[4])         \
    {                                                         \
        return expression;                                    \
    }                                                         \
    static gy_u128 name##_plain(const void *data, size_t len) \
    {                                                         \
        uint32_t state[4];                                    \
        gy_md5_words(data, len, state);                       \
        return name##_of(state);                              \
    }                                                         \
    const struct gy_hash gy_hash_##name = {#name, bits, name##_plain, NULL, NULL, name##_of};

const struct gy_hash gy_hash_sha1 = {"sha1", 128, sha1_value, NULL, NULL};
const struct gy_hash gy_hash_ripemd160 = {"ripemd160", 128, ripemd160_value, NULL, NULL};
PLAIN(city64, 64, gy_city64(data, len))
PLAIN(crc16, 16, gy_crc16(data, len))
PLAIN(crc16_wide, 32, gy_crc16_wide(data, len))
PLAIN(crc32, 32, gy_crc32(data, len))
PLAIN(crc32_15, 15, gy_crc32_15(data, len))
PLAIN(crc32c, 32, gy_crc32c(data, len))
PLAIN(djb2, 32, gy_djb2(data, len))
PLAIN(fnv1_32, 32, gy_fnv1_32(data, len))
PLAIN(fnv1_32_signed, 32, gy_fnv1_32_signed(data, len))
PLAIN(fnv1_64, 64, gy_fnv1_64(data, len))
PLAIN(fnv1_64_signed_low, 32, gy_fnv1_64_signed_low(data, len))
PLAIN(fnv1a_32, 32, gy_fnv1a_32(data, len))
PLAIN(fnv1a_32_signed, 32, gy_fnv1a_32_signed(data, len))
PLAIN(fnv1a_64, 64, gy_fnv1a_64(data, len))
PLAIN(fnv1a_64_signed_cut, 32, gy_fnv1a_64_signed_cut(data, len))
PLAIN(hsieh, 32, gy_hsieh(data, len))
SEEDED(lookup3, 32, 0, gy_lookup3(data, len, (uint32_t)seed))
SEEDED(lookup3_13, 32, 13, gy_lookup3(data, len, (uint32_t)seed))
MD5(md5_be64, 64, (uint64_t)__builtin_bswap32(state[0]) << 32 | __builtin_bswap32(state[1]))
MD5(md5_le32, 32, state[0])
MD5(md5_le64, 64, (uint64_t)state[1] << 32 | state[0])
SEEDED(murmur2_32, 32, 0, gy_murmur2_32(data, len, (uint32_t)seed))
SEEDED(murmur2_32_kafka, 32, 0x9747b28c, gy_murmur2_32(data, len, (uint32_t)seed))
SEEDED(murmur2_64a, 64, 0, gy_murmur2_64a(data, len, seed))
SEEDED(murmur2_64a_envoy, 64, 0xc70f6907, gy_murmur2_64a(data, len, seed))
SEEDED(murmur2_64a_mcrouter, 64, 4193360111, gy_murmur2_64a(data, len, seed))
PLAIN(murmur2_length, 32, gy_murmur2_length(data, len))
SEEDED(murmur3_128, 128, 0, gy_murmur3_128(data, len, seed))
SEEDED(murmur3_128_xor, 64, 0, murmur3_128_xor(data, len, seed))
SEEDED(murmur3_32, 32, 0, gy_murmur3_32(data, len, (uint32_t)seed))
PLAIN(murmur3_cassandra, 128, gy_murmur3_cassandra(data, len))
PLAIN(murmur3_length, 32, gy_murmur3_length(data, len))
PLAIN(one_at_a_time, 32, gy_one_at_a_time(data, len))
PLAIN(one_at_a_time_signed, 32, gy_one_at_a_time_signed(data, len))
PLAIN(sdbm, 32, gy_sdbm(data, len))
PLAIN(sha1_le32, 32, sha1_le32(data, len))
KEYED(siphash24, 64, gy_siphash24(data, len, key))
KEYED(siphash24_halves, 128, gy_siphash24_halves(data, len, key))
SEEDED(spooky128, 128, 0, gy_spooky128(data, len, seed, seed))
SEEDED(spooky32_mcrouter, 32, 0xface2014, gy_spooky32(data, len, (uint32_t)seed))
PLAIN(wt6, 32, gy_wt6(data, len))
SEEDED(xxh32, 32, 0, gy_xxh32(data, len, (uint32_t)seed))
SEEDED(xxh3_128, 128, 0, gy_xxh3_128(data, len, seed))
SEEDED(xxh64, 64, 0, gy_xxh64(data, len, seed))

const struct gy_hash *const gy_hashes[] = {
    &gy_hash_city64,
    &gy_hash_crc16,
    &gy_hash_crc16_wide,
    &gy_hash_crc32,
    &gy_hash_crc32_15,
    &gy_hash_crc32c,
    &gy_hash_djb2,
    &gy_hash_fnv1_32,
    &gy_hash_fnv1_32_signed,
    &gy_hash_fnv1_64,
    &gy_hash_fnv1_64_signed_low,
    &gy_hash_fnv1a_32,
    &gy_hash_fnv1a_32_signed,
    &gy_hash_fnv1a_64,
    &gy_hash_fnv1a_64_signed_cut,
    &gy_hash_hsieh,
    &gy_hash_lookup3,
    &gy_hash_lookup3_13,
    &gy_hash_md5,
    &gy_hash_md5_be64,
    &gy_hash_md5_le32,
    &gy_hash_md5_le64,
    &gy_hash_murmur2_32,
    &gy_hash_murmur2_32_kafka,
    &gy_hash_murmur2_64a,
    &gy_hash_murmur2_64a_envoy,
    &gy_hash_murmur2_64a_mcrouter,
    &gy_hash_murmur2_length,
    &gy_hash_murmur3_128,
    &gy_hash_murmur3_128_xor,
    &gy_hash_murmur3_32,
    &gy_hash_murmur3_cassandra,
    &gy_hash_murmur3_length,
    &gy_hash_one_at_a_time,
    &gy_hash_one_at_a_time_signed,
    &gy_hash_ripemd160,
    &gy_hash_sdbm,
    &gy_hash_sha1,
    &gy_hash_sha1_le32,
    &gy_hash_sha256,
    &gy_hash_siphash24,
    &gy_hash_siphash24_halves,
    &gy_hash_spooky128,
    &gy_hash_spooky32_mcrouter,
    &gy_hash_wt6,
    &gy_hash_xxh3,
    &gy_hash_xxh32,
    &gy_hash_xxh3_128,
    &gy_hash_xxh64,
};
const size_t gy_hash_count = COUNT(gy_hashes);

const struct gy_hash_alias gy_hash_aliases[] = {
    {"aerospike", "ripemd160", &gy_hash_ripemd160},
    {"cassandra", "Murmur3Partitioner", &gy_hash_murmur3_cassandra},
    {"cassandra", "RandomPartitioner", &gy_hash_md5},
    {"clickhouse", "cityHash64", &gy_hash_city64},
    {"clickhouse", "halfMD5", &gy_hash_md5_be64},
    {"clickhouse", "murmurHash2_32", &gy_hash_murmur2_32},
    {"clickhouse", "murmurHash2_64", &gy_hash_murmur2_64a},
    {"clickhouse", "murmurHash3_128", &gy_hash_murmur3_128},
    {"clickhouse", "murmurHash3_32", &gy_hash_murmur3_32},
    {"clickhouse", "murmurHash3_64", &gy_hash_murmur3_128_xor},
    {"clickhouse", "sipHash128", &gy_hash_siphash24_halves},
    {"clickhouse", "sipHash64", &gy_hash_siphash24},
    {"clickhouse", "xxHash64", &gy_hash_xxh64},
    {"couchbase", "crc32", &gy_hash_crc32_15},
    {"elasticsearch", "murmur3_x86_32", &gy_hash_murmur3_32},
    {"envoy", "MURMUR_HASH_2", &gy_hash_murmur2_64a_envoy},
    {"envoy", "XX_HASH", &gy_hash_xxh64},
    {"envoy", "xxHash64", &gy_hash_xxh64},
    {"grpc", "xxHash64", &gy_hash_xxh64},
    {"guava", "crc32c", &gy_hash_crc32c},
    {"guava", "murmur3_128", &gy_hash_murmur3_128},
    {"guava", "murmur3_32_fixed", &gy_hash_murmur3_32},
    {"guava", "sha256", &gy_hash_sha256},
    {"guava", "sipHash24", &gy_hash_siphash24},
    {"haproxy", "crc32", &gy_hash_crc32},
    {"haproxy", "djb2", &gy_hash_djb2},
    {"haproxy", "sdbm", &gy_hash_sdbm},
    {"haproxy", "wt6", &gy_hash_wt6},
    {"kafka", "murmur2", &gy_hash_murmur2_32_kafka},
    {"libketama", "md5", &gy_hash_md5_le32},
    {"libmemcached", "crc", &gy_hash_crc32_15},
    {"libmemcached", "default", &gy_hash_one_at_a_time_signed},
    {"libmemcached", "fnv1_32", &gy_hash_fnv1_32_signed},
    {"libmemcached", "fnv1_64", &gy_hash_fnv1_64_signed_low},
    {"libmemcached", "fnv1a_32", &gy_hash_fnv1a_32_signed},
    {"libmemcached", "fnv1a_64", &gy_hash_fnv1a_64_signed_cut},
    {"libmemcached", "hsieh", &gy_hash_hsieh},
    {"libmemcached", "jenkins", &gy_hash_lookup3_13},
    {"libmemcached", "md5", &gy_hash_md5_le32},
    {"libmemcached", "murmur", &gy_hash_murmur2_length},
    {"libmemcached", "murmur3", &gy_hash_murmur3_length},
    {"mcrouter", "MurmurHash64A", &gy_hash_murmur2_64a_mcrouter},
    {"mcrouter", "SpookyHashV2_32", &gy_hash_spooky32_mcrouter},
    {"mcrouter", "crc32", &gy_hash_crc32},
    {"mongodb", "md5", &gy_hash_md5_le64},
    {"nginx", "consistent", &gy_hash_crc32},
    {"nginx", "plain", &gy_hash_crc32_15},
    {"npm-hashring", "md5", &gy_hash_md5_le32},
    {"npm-hashring", "sha1", &gy_hash_sha1_le32},
    {"npm-ketama", "md5", &gy_hash_md5},
    {"npm-ketama", "sha1", &gy_hash_sha1},
    {"npm-memcached", "md5", &gy_hash_md5_le32},
    {"redis-cluster", "crc16", &gy_hash_crc16},
    {"riak", "sha1", &gy_hash_sha1},
    {"swift", "md5", &gy_hash_md5},
    {"twemproxy", "crc16", &gy_hash_crc16_wide},
    {"twemproxy", "crc32", &gy_hash_crc32_15},
    {"twemproxy", "crc32a", &gy_hash_crc32},
    {"twemproxy", "fnv1_32", &gy_hash_fnv1_32_signed},
    {"twemproxy", "fnv1_64", &gy_hash_fnv1_64_signed_low},
    {"twemproxy", "fnv1a_32", &gy_hash_fnv1a_32_signed},
    {"twemproxy", "fnv1a_64", &gy_hash_fnv1a_64_signed_cut},
    {"twemproxy", "hsieh", &gy_hash_hsieh},
    {"twemproxy", "jenkins", &gy_hash_lookup3_13},
    {"twemproxy", "md5", &gy_hash_md5_le32},
    {"twemproxy", "murmur", &gy_hash_murmur2_length},
    {"twemproxy", "one_at_a_time", &gy_hash_one_at_a_time_signed},
    {"uhashring", "md5", &gy_hash_md5},
    {"vitess", "xxhash", &gy_hash_xxh64},
};
const size_t gy_hash_alias_count = COUNT(gy_hash_aliases);

static const struct gy_hash *find_alias(const char *system, size_t len, const char *name)
{
    for (size_t i = 0; i < COUNT(gy_hash_aliases); i++) {
        const struct gy_hash_alias *a = &gy_hash_aliases[i];
        if (strlen(a->system) == len && memcmp(a->system, system, len) == 0 &&
            strcmp(a->name, name) == 0) {
            return a->hash;
        }
    }
    return NULL;
}

const struct gy_hash *gy_hash_find_alias(const char *system, const char *name)
{
    return find_alias(system, strlen(system), name);
}

const struct gy_hash *gy_hash_find(const char *name)
{
    const char *colon = strchr(name, ':');
    if (colon) {
        return find_alias(name, (size_t)(colon - name), colon + 1);
    }
    for (size_t i = 0; i < COUNT(gy_hashes); i++) {
        if (strcmp(gy_hashes[i]->name, name) == 0) {
            return gy_hashes[i];
        }
    }
    return NULL;
}
