/* SPDX-License-Identifier: Apache-2.0 */
/* test_address.c - addresses taken, and refused with the reason that helps. */
#include "formats/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct row {
    const char *text, *why; /* why NULL: fine */
};

static const struct row ROWS[] = {
    {"127.0.0.1:6379", NULL},
    {"cache-0.example_1.com:1", NULL},
    {"[::1]:6379", NULL},
    {"[fe80::1:2]:65535", NULL},
    {"unix:/run/a b.sock", NULL},
    {"unix:relative", NULL},
    {"", "has no port"},
    {"a", "has no port"},
    {"a:", "bad port ''"},
    {"a:0", "bad port '0'"},
    {"a:65536", "bad port '65536'"},
    {"a:000080", "bad port"},
    {"a:-1", "bad port"},
    {"a:1\n", "bad port"},
    {":1", "no host"},
    {"a b:1", "has the host 'a b'"},
    {"a/b:1", "has the host"},
    {"::1:6379", "write \"[::1]:6379\""},
    {"::1", "write \"[::1]:6379\""},
    {"fe80::a", "write \"[fe80::a]:6379\""},
    {"a:b:1", "more than one ':'"},
    {"[::1]", "has no port; write \"[::1]:6379\""},
    {"[::1", "'[' without ']'"},
    {"[::1]x:1", "has no port"},
    {"[]:1", "no IPv6 address"},
    {"[1.2.3.4]:1", "no IPv6 address"},
    {"[::1%eth0]:1", "no IPv6 address"},
    {"unix:", "has no path"},
    {"unix:/a\tb", "control character"},
};

static void rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char why[GY_ADDRESS_WHY] = "";
        /* On the heap and without NUL: a read past the end is the sanitizer's to see. */
        size_t n = strlen(ROWS[i].text);
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, ROWS[i].text, n);
        bool ok = gy_address_check((struct gy_slice){copy, n}, false, why);
        free(copy);
        if (ok != !ROWS[i].why || (!ok && !strstr(why, ROWS[i].why))) {
            fail_msg("'%s': %d, %s", ROWS[i].text, ok, why);
        }
    }
}

static void lengths(void **state)
{
    (void)state;
    char text[400], why[GY_ADDRESS_WHY];
    memset(text, 'h', sizeof text);
    memcpy(text + 253, ":1", 3);
    assert_true(gy_address_check(gy_str(text), false, why));
    memcpy(text + 253, "h:1", 4);
    assert_false(gy_address_check(gy_str(text), false, why));
    memset(text, 'h', sizeof text);
    memcpy(text, "unix:", 5);
    text[5 + 107] = 0;
    assert_true(gy_address_check(gy_str(text), false, why));
    memcpy(text + 5 + 107, "h", 2);
    assert_false(gy_address_check(gy_str(text), false, why));
    assert_true(gy_address_check(gy_str("a:0"), true, why));
}

static void hosts(void **state)
{
    (void)state;
    assert_true(gy_slice_eq(gy_address_host("a:1"), GY_LIT("a")));
    assert_true(gy_slice_eq(gy_address_host("[::1]:1"), GY_LIT("::1")));
    assert_true(gy_slice_eq(gy_address_host("unix:/x"), GY_LIT("unix")));
    assert_true(gy_slice_eq(gy_address_host("odd"), GY_LIT("odd")));
}

static void parts(void **state)
{
    (void)state;
    static const char *const rows_of[][3] = {
        {"a:1", "a", "1"}, {"[::1]:80", "::1", "80"}, {"unix:/x:1", "/x:1", ""}};
    for (size_t i = 0; i < sizeof rows_of / sizeof rows_of[0]; i++) {
        struct gy_slice host, port;
        gy_address_parts(rows_of[i][0], &host, &port);
        assert_true(gy_slice_eq(host, gy_str(rows_of[i][1])));
        assert_true(gy_slice_eq(port, gy_str(rows_of[i][2])));
    }
}

static void same(void **state)
{
    (void)state;
    assert_true(gy_address_same("a:1", "a:1"));
    assert_false(gy_address_same("a:1", "a:2"));
    assert_false(gy_address_same("a:1", "b:1"));
    assert_true(gy_address_same("[::1]:1", "[0:0::0001]:1"));
    assert_false(gy_address_same("[::1]:1", "[::2]:1"));
    assert_false(gy_address_same("[::1]:1", "[::1]:2"));
    assert_true(gy_address_same("unix:/x", "unix:/x"));
    assert_false(gy_address_same("unix:/x", "unix:/y"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),  cmocka_unit_test(lengths), cmocka_unit_test(hosts),
        cmocka_unit_test(parts), cmocka_unit_test(same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
