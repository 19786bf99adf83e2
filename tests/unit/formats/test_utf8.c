/* SPDX-License-Identifier: Apache-2.0 */
/* test_utf8.c - decoding against an oracle over all code points; quoting; columns. */
#include "base/json.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The encoder is written from the table in RFC 3629, so it is an oracle for the decoder. */
static size_t encode(uint32_t c, uint8_t out[4])
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) {
        out[i] = (uint8_t)(0x80 | (c & 0x3f));
    }
    out[0] = (uint8_t)((0xf00u >> n & 0xff) | c);
    return n;
}

static void every_code_point(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x110000; c++) {
        uint8_t b[4];
        uint32_t back = 0;
        size_t n = encode(c, b);
        bool good = c < 0xd800 || (c > 0xdfff && c < 0x110000);
        size_t got = gy_utf8_decode(b, n, &back);
        if (good ? got != n || back != c : got != 0) {
            fail_msg("U+%04X: %zu bytes, U+%04X", c, got, back);
        }
        if (good && n > 1) {
            assert_int_equal(gy_utf8_decode(b, n - 1, &back), 0);
        }
    }
}

static void broken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\x80", "\xc0\x80",         "\xc1\xbf",         "\xe0\x80\x80",
        "\xff", "\xf0\x80\x80\x80", "\xf5\x80\x80\x80", "\xc3(",
        "a\xe4"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_false(gy_utf8_valid(gy_str(texts[i])));
    }
    assert_true(gy_utf8_valid(gy_str("cäche 缓存 🚀")));
    assert_true(gy_utf8_valid((struct gy_slice){NULL, 0}));
}

static void quoting(void **state)
{
    (void)state;
    char q[GY_QUOTE];
    assert_string_equal(gy_utf8_quote(q, gy_str("a b")), "'a b'");
    assert_string_equal(gy_utf8_quote(q, gy_str("\033[2J\xff")), "'\\x1b[2J\\xff'");
    assert_string_equal(gy_utf8_quote(q, gy_str("")), "''");
    char longest[1000];
    memset(longest, 1, sizeof longest);
    gy_utf8_quote(q, (struct gy_slice){(const uint8_t *)longest, sizeof longest});
    assert_int_equal(strlen(q), 1 + 60 * 4 + 4);
    for (size_t i = 0; i < sizeof longest; i += 4) {
        memcpy(longest + i, "\xf0\x9f\x9a\x80", 4);
    }
    gy_utf8_quote(q, (struct gy_slice){(const uint8_t *)longest, sizeof longest});
    assert_true(gy_utf8_valid(gy_str(q)));
    assert_int_equal(strlen(q), 1 + 60 * 4 + 4);
}

/* Bare, and whole however long. */
static void escaping(void **state)
{
    (void)state;
    struct gy_buf out = {0};
    gy_utf8_escape(&out, gy_str("a'b \033[2J\xff\n\xe7\xbc\x93"));
    assert_string_equal(gy_buf_cstr(&out), "a'b \\x1b[2J\\xff\\x0a\xe7\xbc\x93");
    gy_buf_reset(&out);
    char longest[5000];
    memset(longest, 'x', sizeof longest);
    gy_utf8_escape(&out, (struct gy_slice){(const uint8_t *)longest, sizeof longest});
    assert_int_equal(gy_buf_size(&out), sizeof longest);
    gy_buf_fini(&out);
}

static void columns(void **state)
{
    (void)state;
    assert_int_equal(gy_utf8_columns(gy_str("abc")), 3);
    assert_int_equal(gy_utf8_columns(gy_str("缓存")), 4);
    assert_int_equal(gy_utf8_columns(gy_str("e\xcc\x81")), 1);
    assert_int_equal(gy_utf8_columns(gy_str("\xff\xfe")), 2);
    assert_true(gy_utf8_control(0x9b) && gy_utf8_control(0x202e) && !gy_utf8_control('a'));
}

/* The same rule in JSON: no reader of it is misled, and no terminal that it is printed to. */
static void test_json(void **state)
{
    (void)state;
    struct gy_buf out = {0};
    struct gy_json j;
    gy_json_init(&j, &out);
    gy_json_string(&j, "caf\xc3\xa9 \"\\ \x1b\x7f \xc2\x9b"
                       "31m \xe2\x80\xae \xd8\x9c \xff");
    assert_string_equal(gy_buf_cstr(&out), "\"caf\xc3\xa9 \\\"\\\\ \\u001b\\u007f \\u009b31m "
                                           "\\u202e \\u061c \\ufffd\"");
    gy_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point), cmocka_unit_test(broken),  cmocka_unit_test(quoting),
        cmocka_unit_test(escaping),         cmocka_unit_test(columns), cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
