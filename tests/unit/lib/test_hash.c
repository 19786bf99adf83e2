/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hash.c - each hash function against published values, and the digests against another
 * implementation at every length where the padding changes its form.
 */
#include "fleet.h"
#include "lib/hash/hash.h"

static const char *hex(const uint8_t *p, size_t n)
{
    static char out[65];
    for (size_t i = 0; i < n; i++) {
        snprintf(out + 2 * i, 3, "%02x", p[i]);
    }
    return out;
}

static const char *md5(const char *text)
{
    uint8_t digest[16];
    gyre_hash_md5(text, strlen(text), digest);
    return hex(digest, sizeof digest);
}

static const char *sha256(const char *text)
{
    uint8_t digest[32];
    gyre_hash_sha256(text, strlen(text), digest);
    return hex(digest, sizeof digest);
}

/* RFC 1321, appendix A.5. */
static void test_md5_rfc(void **state)
{
    (void)state;
    assert_string_equal(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
    assert_string_equal(md5("a"), "0cc175b9c0f1b6a831c399e269772661");
    assert_string_equal(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
    assert_string_equal(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
    assert_string_equal(md5("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
    assert_string_equal(md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
                        "d174ab98d277d9f5a5611c2c9f419d9f");
    assert_string_equal(md5("1234567890123456789012345678901234567890123456789012345678901234567890"
                            "1234567890"),
                        "57edf4a22be3c955ac49da2e2107b67a");
}

/* FIPS 180-4 examples (csrc.nist.gov, SHA256.pdf), and the empty message. */
static void test_sha256_fips(void **state)
{
    (void)state;
    assert_string_equal(sha256(""),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(sha256("abc"),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    static char million[1000001];
    memset(million, 'a', 1000000);
    assert_string_equal(sha256(million),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Of n bytes (7 i + n) mod 256; made with Python's hashlib (OpenSSL). */
static const struct {
    size_t n;
    const char *md5, *sha256;
} rows[] = {
    {0, "d41d8cd98f00b204e9800998ecf8427e",
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {1, "55a54008ad1ba589aa210d2629c1df41",
     "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},
    {3, "c9aee4810523ef8658121b8d492c6b41",
     "6ab0dba1f4f1dfbb37b4f9eeb092c09fca4900ad32bdcd147d8dde35d6c87c35"},
    {55, "f1289732253518750e22b62a571a1748",
     "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72"},
    {56, "179e3b9fa272a23e2a8b32bde1015414",
     "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1"},
    {57, "d5f0a59aa9d6d8164d3754fb91f67809",
     "903284efbf9100e8ba1614ec65eacacad125e03f857cae7acbf8b73b23e0fdfe"},
    {63, "dd785945d1d6b87eca0d276dbb8756fd",
     "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e"},
    {64, "e3ab394ce4eb7da020a27d2e2443143c",
     "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8"},
    {65, "28a6b0f918d9aea03e979a1657d8d0f6",
     "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720"},
    {111, "d54c1b85b05a0800af2c6d01394f0421",
     "b41ae5233b9ec35d8576a032034d2857b667a618c7038714d727d4dae3aa2525"},
    {119, "d49720530a386a3191eac0dc840dd1bd",
     "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e"},
    {120, "8a440004b569286a42c722295ce1c5a6",
     "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d"},
    {127, "36d03458e8a745e61afcf02257826e12",
     "68f6ff710276900c0ffbbc57426f67e00c2e01f0750c7edc25ac06b8ce7a8095"},
    {128, "52cc29caecfd9380a2261a80c58e6787",
     "489d55fea9a73af36b6dd0be7b4117d8e5683386d39544e8a44c99a87f368707"},
    {129, "0fa5eac15b498f879494809c74939fc7",
     "4e1556b2e9a50a3cc9478f3254727b01065f9ac5d2c3a8b4cd538ae7240bb87d"},
    {1000, "c3b2968d34e038455d14c8827156e193",
     "6b0df76627243d095b0c4400cb658b7e804dd03461cc03aee8fc8fe0bcada168"},
};

static void test_digests_at_block_edges(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        uint8_t data[1000], digest[32];
        for (size_t i = 0; i < rows[r].n; i++) {
            data[i] = (uint8_t)(i * 7 + rows[r].n);
        }
        gyre_hash_md5(data, rows[r].n, digest);
        assert_string_equal(hex(digest, 16), rows[r].md5);
        gyre_hash_sha256(data, rows[r].n, digest);
        assert_string_equal(hex(digest, 32), rows[r].sha256);
    }
}

/* xxHash 0.8, tests/sanity_test_vectors.h: XXH3_64bits, seed 0, of its standard buffer. */
static void test_xxh3(void **state)
{
    (void)state;
    uint8_t buffer[2367];
    uint64_t gen = 0x9e3779b1u;
    for (size_t i = 0; i < sizeof buffer; i++) {
        buffer[i] = (uint8_t)(gen >> 56);
        gen *= 11400714785074694797u;
    }
    const struct {
        size_t n;
        uint64_t hash;
    } known[] = {
        {0, 0x2d06800538d394c2u},   {1, 0xc44bdff4074eecdbu},    {6, 0x27b56a84cd2d7325u},
        {12, 0xa713daf0dfbb77e7u},  {24, 0xa3fe70bf9d3510ebu},   {48, 0x397da259ecba1f11u},
        {80, 0xbcdefbbb2c47c90au},  {195, 0xcd94217ee362ec3au},  {403, 0xcdeb804d65c6dea4u},
        {512, 0x617e49599013cb6bu}, {2048, 0xdd59e2c3a5f038e0u}, {2240, 0x6e73a90539cf2948u},
        {2367, 0xcb37aeb9e5d361edu}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(gyre_hash_xxh3(buffer, known[i].n), known[i].hash);
    }
    assert_int_equal(gyre_hash_xxh3(NULL, 0), 0x2d06800538d394c2u);
}

static void test_leading_bits(void **state)
{
    (void)state;
    gy_u128 m = gy_hash_md5.value("abc", 3), s = gy_hash_sha256.value("abc", 3);
    assert_int_equal((uint64_t)(m >> 64), 0x900150983cd24fb0u);
    assert_int_equal((uint64_t)m, 0xd6963f7d28e17f72u);
    assert_int_equal((uint64_t)(s >> 64), 0xba7816bf8f01cfeau);
    assert_int_equal((uint64_t)s, 0x414140de5dae2223u);
    assert_true(gy_hash_xxh3.value("abc", 3) == gyre_hash_xxh3("abc", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_md5_rfc),
        cmocka_unit_test(test_sha256_fips),
        cmocka_unit_test(test_digests_at_block_edges),
        cmocka_unit_test(test_xxh3),
        cmocka_unit_test(test_leading_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
