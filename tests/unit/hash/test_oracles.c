/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_oracles.c - the hash functions against other people's: OpenSSL's libcrypto, zlib, and on
 * x86-64, whose char has the sign that libmemcached's vectors have, libhashkit. Every length from 0
 * to 300, of plain text, of any bytes and of bytes from 0x80 up alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <zlib.h>

#include "gyre.h"
#include "lib/hash/bytes.h"
#include "lib/hash/functions.h"
#include "prop.h"

enum { LEN_MAX = 300, PATTERNS = 3, ROOM = LEN_MAX + 64 };

/* The buffers are longer than what is hashed: some oracles read whole words. */
static void fill(uint8_t data[ROOM], unsigned pattern)
{
    uint64_t state = pattern + 1;
    for (size_t i = 0; i < ROOM; i++) {
        uint8_t byte = (uint8_t)prop_next(&state);
        data[i] = pattern == 0   ? (uint8_t)(' ' + byte % 95)
                  : pattern == 1 ? byte
                                 : (uint8_t)(byte | 0x80);
    }
}

typedef void compare_fn(const uint8_t *data, size_t len);

static void for_all(compare_fn *compare)
{
    uint8_t data[ROOM];
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        fill(data, pattern);
        for (size_t len = 0; len <= LEN_MAX; len++) {
            compare(data, len);
        }
    }
}

/* ---- libcrypto ---- */

static void check_digest(const EVP_MD *md, const uint8_t *data, size_t len, const uint8_t *ours)
{
    uint8_t theirs[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    assert_non_null(md);
    assert_int_equal(EVP_Digest(data, len, theirs, &n, md, NULL), 1);
    assert_memory_equal(ours, theirs, n);
}

static void compare_digests(const uint8_t *data, size_t len)
{
    uint8_t ours[32];
    gyre_hash_md5(data, len, ours);
    check_digest(EVP_md5(), data, len, ours);
    gy_sha1(data, len, ours);
    check_digest(EVP_sha1(), data, len, ours);
    gyre_hash_sha256(data, len, ours);
    check_digest(EVP_sha256(), data, len, ours);
    gy_ripemd160(data, len, ours);
    check_digest(EVP_ripemd160(), data, len, ours);
}

static void compare_siphash(const uint8_t *data, size_t len)
{
    const uint8_t *key = data + 7;
    uint8_t theirs[16];
    size_t n = 0;
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    size_t size = 8;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t("size", &size), OSSL_PARAM_construct_end()};
    assert_int_equal(EVP_MAC_init(ctx, key, 16, params), 1);
    assert_int_equal(EVP_MAC_update(ctx, data, len), 1);
    assert_int_equal(EVP_MAC_final(ctx, theirs, &n, sizeof theirs), 1);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    assert_int_equal(n, 8);
    assert_true(gy_siphash24(data, len, key) == gy_load_le64(theirs));
}

static void test_libcrypto_digests(void **state)
{
    (void)state;
    for_all(compare_digests);
}

static void test_libcrypto_siphash(void **state)
{
    (void)state;
    for_all(compare_siphash);
}

/* Triple DES with one key three times is DES with it once. */
static void test_libcrypto_des(void **state)
{
    (void)state;
    static const uint8_t key[24];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    assert_int_equal(EVP_EncryptInit_ex(ctx, EVP_des_ede3_ecb(), NULL, key, NULL), 1);
    EVP_CIPHER_CTX_set_padding(ctx, 0);
    uint64_t seed = 1;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t block = i < 64 ? (uint64_t)1 << i : prop_next(&seed);
        uint8_t in[8], out[16];
        int n = 0;
        gy_store_be32(in, (uint32_t)(block >> 32));
        gy_store_be32(in + 4, (uint32_t)block);
        assert_int_equal(EVP_EncryptUpdate(ctx, out, &n, in, 8), 1);
        assert_int_equal(n, 8);
        assert_true(gy_des_zero_key(block) == gy_load_be64(out));
    }
    EVP_CIPHER_CTX_free(ctx);
}

/* ---- zlib ---- */

static void compare_zlib(const uint8_t *data, size_t len)
{
    uint32_t theirs = (uint32_t)crc32(0, data, (uInt)len);
    size_t cut = len / 3;
    assert_int_equal(gy_crc32(data, len), theirs);
    assert_int_equal(gy_crc32_more(gy_crc32(data, cut), data + cut, len - cut), theirs);
    assert_int_equal(gy_crc32_15(data, len), theirs >> 16 & 0x7fff);
}

static void test_zlib(void **state)
{
    (void)state;
    for_all(compare_zlib);
}

/* ---- libhashkit ---- */

#if defined(HAVE_LIBHASHKIT) && defined(__x86_64__)
#include <libhashkit-1.0/hashkit.h>

static const struct {
    uint32_t (*theirs)(const char *key, size_t len);
    uint32_t (*ours)(const void *data, size_t len);
} pairs[] = {
    {libhashkit_one_at_a_time, gy_one_at_a_time_signed},
    {libhashkit_fnv1_32, gy_fnv1_32_signed},
    {libhashkit_fnv1a_32, gy_fnv1a_32_signed},
    {libhashkit_fnv1_64, gy_fnv1_64_signed_low},
    {libhashkit_fnv1a_64, gy_fnv1a_64_signed_cut},
    {libhashkit_crc32, gy_crc32_15},
    {libhashkit_murmur, gy_murmur2_length},
    {libhashkit_murmur3, gy_murmur3_length},
};

static void compare_hashkit(const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_int_equal(pairs[i].ours(data, len), pairs[i].theirs((const char *)data, len));
    }
    assert_int_equal(gy_lookup3(data, len, 13), libhashkit_jenkins((const char *)data, len));
    assert_int_equal((uint32_t)gy_hash_md5_le32.value(data, len),
                     libhashkit_md5((const char *)data, len));
}

static void test_libhashkit(void **state)
{
    (void)state;
    for_all(compare_hashkit);
}
#else
static void test_libhashkit(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libcrypto_digests), cmocka_unit_test(test_libcrypto_siphash),
        cmocka_unit_test(test_libcrypto_des),     cmocka_unit_test(test_zlib),
        cmocka_unit_test(test_libhashkit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
