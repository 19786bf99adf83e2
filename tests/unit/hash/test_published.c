/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_published.c - each hash function against values its authors, its standard or a system's own
 * tests publish, and the table's names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash/functions.h"
#include "lib/hash/table.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Of 64 bits or fewer. */
static const struct {
    const char *hash, *text;
    uint64_t value;
} known[] = {
    /* The check values of the catalogue of parametrised CRC algorithms (reveng). */
    {"crc16", "123456789", 0x31c3},
    {"crc32", "123456789", 0xcbf43926},
    {"crc32c", "123456789", 0xe3069283},
    /* Redis Cluster's specification: slots of its examples. */
    {"redis-cluster:crc16", "123456789", 0x31c3},
    /* draft-eastlake-fnv, appendix C. */
    {"fnv1_32", "", 0x811c9dc5},
    {"fnv1_32", "a", 0x050c5d7e},
    {"fnv1_32", "foobar", 0x31f0b262},
    {"fnv1a_32", "a", 0xe40c292c},
    {"fnv1a_32", "foobar", 0xbf9cf968},
    {"fnv1_64", "a", 0xaf63bd4c8601b7be},
    {"fnv1_64", "foobar", 0x340d8765a4dda9c2},
    {"fnv1a_64", "", 0xcbf29ce484222325},
    {"fnv1a_64", "a", 0xaf63dc4c8601ec8c},
    {"fnv1a_64", "foobar", 0x85944171f73967e8},
    /* Wikipedia, "Jenkins hash function". */
    {"one_at_a_time", "a", 0xca2e9442},
    {"one_at_a_time", "The quick brown fox jumps over the lazy dog", 0x519e91f5},
    /* lookup3.c, driver5. */
    {"lookup3", "", 0xdeadbeef},
    {"lookup3", "Four score and seven years ago", 0x17770551},
    /* Kafka's UtilsTest, testMurmur2. */
    {"kafka:murmur2", "21", (uint32_t)-973932308},
    {"kafka:murmur2", "foobar", (uint32_t)-790332482},
    {"kafka:murmur2", "a-little-bit-long-string", (uint32_t)-985981536},
    {"kafka:murmur2", "a-little-bit-longer-string", (uint32_t)-1486304829},
    {"kafka:murmur2", "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", (uint32_t)-58897971},
    {"kafka:murmur2", "abc", 479470107},
    /* Lucene's TestStringHelper, testMurmurHash3; python-mmh3's manual. */
    {"murmur3_32", "foo", (uint32_t)-156908512},
    {"murmur3_32", "hello", 613153351},
    /* RFC 1321's digest of "abc", read as its users do. */
    {"md5_be64", "abc", 0x900150983cd24fb0},
    {"md5_le64", "abc", 0xb04fd23c98500190},
    {"md5_le32", "abc", 0x98500190},
    {"sha1_le32", "abc", 0x363e99a9},
};

static void test_known_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        const struct gy_hash *h = gy_hash_find(known[i].hash);
        assert_non_null(h);
        uint64_t got = (uint64_t)h->value(known[i].text, strlen(known[i].text));
        if (got != known[i].value) {
            fail_msg("%s of \"%s\": %llx, not %llx", known[i].hash, known[i].text,
                     (unsigned long long)got, (unsigned long long)known[i].value);
        }
    }
}

/* lookup3.c, driver5. */
static void test_lookup3_seeds(void **state)
{
    (void)state;
    assert_int_equal(gy_lookup3("", 0, 0xdeadbeef), 0xbd5b7dde);
    assert_int_equal(gy_lookup3("Four score and seven years ago", 30, 1), 0xcd628161);
}

typedef void digest_fn(const void *data, size_t len, uint8_t digest[20]);

static void check_digest(digest_fn *fn, const char *text, size_t times, const char *hex)
{
    static char data[1000001];
    uint8_t digest[20];
    char got[41];
    size_t len = strlen(text);
    for (size_t i = 0; i < times; i++) {
        memcpy(data + i * len, text, len);
    }
    fn(data, times * len, digest);
    for (size_t i = 0; i < 20; i++) {
        snprintf(got + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(got, hex);
}

/* FIPS 180-4 examples (csrc.nist.gov, SHA1.pdf), the empty message and a million a. */
static void test_sha1(void **state)
{
    (void)state;
    check_digest(gy_sha1, "", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    check_digest(gy_sha1, "abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d");
    check_digest(gy_sha1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                 "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    check_digest(gy_sha1, "a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

/* The test values of the paper's appendix B. */
static void test_ripemd160(void **state)
{
    (void)state;
    check_digest(gy_ripemd160, "", 1, "9c1185a5c5e9fc54612808977ee8f548b2258d31");
    check_digest(gy_ripemd160, "a", 1, "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe");
    check_digest(gy_ripemd160, "abc", 1, "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
    check_digest(gy_ripemd160, "message digest", 1, "5d0689ef49d2fae572b881b123a85ffa21595f36");
    check_digest(gy_ripemd160, "1234567890", 8, "9b752e45573d4b39f4dbd3323cab82bf63326bfb");
    check_digest(gy_ripemd160, "a", 1000000, "52783243c1697bdbe16d37f97f68f08325dc1528");
}

/* The paper's appendix A, and the first of the reference implementation's vectors. */
static void test_siphash(void **state)
{
    (void)state;
    uint8_t key[16], data[15];
    for (unsigned i = 0; i < 16; i++) {
        key[i] = (uint8_t)i;
    }
    memcpy(data, key, sizeof data);
    assert_true(gy_siphash24(data, sizeof data, key) == 0xa129ca6149be45e5);
    assert_true(gy_siphash24(data, 0, key) == 0x726fdb47dd0e0e31);
    assert_true(gy_hash_siphash24.keyed(data, 15, key) == 0xa129ca6149be45e5);
}

/* The zero block is the commonest DES example; the others are Vitess' hash_test.go. */
static void test_des(void **state)
{
    (void)state;
    assert_true(gy_des_zero_key(0) == 0x8ca64de9c1b123a7);
    assert_true(gy_des_zero_key(1) == 0x166b40b44aba4bd6);
    assert_true(gy_des_zero_key(2) == 0x06e7ea22ce92708f);
    assert_true(gy_des_zero_key(3) == 0x4eb190c9a2fa169c);
    assert_true(gy_des_zero_key(4) == 0xd2fd8867d50d2dfe);
    assert_true(gy_des_zero_key(5) == 0x70bb023c810ca87a);
    assert_true(gy_des_zero_key(6) == 0xf098480ac4c4be71);
}

/* xxHash 0.8, xxhsum's sanity check of XXH128, seed 0: low and high half of the first 0 and 1 bytes
 * of its standard buffer. */
static void test_xxh3_128(void **state)
{
    (void)state;
    const uint8_t first = (uint8_t)(UINT64_C(0x9e3779b1) >> 56);
    assert_true(gy_xxh3_128(NULL, 0, 0) == gy_wide(0x99aa06d3014798d8, 0x6001c324468d497f));
    assert_true(gy_xxh3_128(&first, 1, 0) == gy_wide(0xa6cd5e9392000f6a, 0xc44bdff4074eecdb));
}

/* ---- SMHasher's verification codes ---- */

typedef gy_u128 seeded_fn(const void *data, size_t len, uint64_t seed);

/* Of keys {}, {0}, {0, 1}, ... to 255 bytes, with the seed 256 - length: the hashes in a row, as
 * bytes, are hashed with seed 0; the code is the first four bytes. */
static uint32_t verification(seeded_fn *fn, unsigned bits, bool high_word_first)
{
    uint8_t key[256], hashes[256 * 16];
    size_t width = bits / 8;
    for (unsigned i = 0; i < 256; i++) {
        key[i] = (uint8_t)i;
        gy_u128 h = fn(key, i, 256 - i);
        h = high_word_first ? h << 64 | h >> 64 : h;
        for (size_t k = 0; k < width; k++) {
            hashes[i * width + k] = (uint8_t)(h >> 8 * k);
        }
    }
    gy_u128 last = fn(hashes, 256 * width, 0);
    return (uint32_t)(high_word_first ? last >> 64 : last);
}

/* SMHasher (aappleby, rurban), main.cpp; City64 and xxh3 as in its releases of the same versions.
 */
static void test_smhasher_codes(void **state)
{
    (void)state;
    assert_int_equal(verification(gy_hash_murmur2_32.seeded, 32, false), 0x27864c1e);
    assert_int_equal(verification(gy_hash_murmur2_64a.seeded, 64, false), 0x1f0d3804);
    assert_int_equal(verification(gy_hash_murmur3_32.seeded, 32, false), 0xb0f57ee3);
    assert_int_equal(verification(gy_hash_murmur3_128.seeded, 128, true), 0x6384ba69);
    assert_int_equal(verification(gy_hash_lookup3.seeded, 32, false), 0x3d83917a);
    assert_int_equal(verification(gy_hash_spooky32_mcrouter.seeded, 32, false), 0xa48be265);
    assert_int_equal(verification(gy_hash_spooky128.seeded, 64, false), 0x972c4bdc);
    assert_int_equal(verification(gy_hash_spooky128.seeded, 128, false), 0x893cfcbe);
    assert_int_equal(verification(gy_hash_xxh32.seeded, 32, false), 0xba88b743);
    assert_int_equal(verification(gy_hash_xxh64.seeded, 64, false), 0x024b7cf4);
}

/* ---- names ---- */

static void test_names_are_sorted_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < gy_hash_count; i++) {
        const struct gy_hash *h = gy_hashes[i];
        assert_ptr_equal(gy_hash_find(h->name), h);
        assert_in_range(h->bits, 1, 128);
        if (i) {
            assert_true(strcmp(gy_hashes[i - 1]->name, h->name) < 0);
        }
    }
}

static void test_aliases_are_sorted_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < gy_hash_alias_count; i++) {
        const struct gy_hash_alias *a = &gy_hash_aliases[i];
        char both[64];
        snprintf(both, sizeof both, "%s:%s", a->system, a->name);
        assert_ptr_equal(gy_hash_find(both), a->hash);
        assert_ptr_equal(gy_hash_find_alias(a->system, a->name), a->hash);
        assert_ptr_equal(gy_hash_find(a->hash->name), a->hash);
        if (i) {
            int order = strcmp(a[-1].system, a->system);
            assert_true(order < 0 || (order == 0 && strcmp(a[-1].name, a->name) < 0));
        }
    }
}

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "", ":", "md", "md55", "MD5", "twemproxy:", ":md5", "twemproxy:crc", "nosuch:md5", "md5:"};
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_null(gy_hash_find(names[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_lookup3_seeds),
        cmocka_unit_test(test_sha1),
        cmocka_unit_test(test_ripemd160),
        cmocka_unit_test(test_siphash),
        cmocka_unit_test(test_des),
        cmocka_unit_test(test_xxh3_128),
        cmocka_unit_test(test_smhasher_codes),
        cmocka_unit_test(test_names_are_sorted_and_found),
        cmocka_unit_test(test_aliases_are_sorted_and_found),
        cmocka_unit_test(test_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
