/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_late.c - libraries found when they are needed: functions that work, and what is said of a
 * library or a function that is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/late.h"

#define SONAME "libz.so.1"

static struct {
    const char *(*version)(void);
    unsigned long (*sum)(unsigned long, const unsigned char *, unsigned);
} zlib;

static void test_finds(void **state)
{
    (void)state;
    static const char *const names[] = {"zlibVersion", "adler32"};
    char why[128];
    assert_true(gy_late_load(SONAME, names, 2, &zlib, why, sizeof why));
    assert_int_equal(zlib.version()[0], '1');
    assert_int_equal(zlib.sum(1, (const unsigned char *)"Wikipedia", 9), 0x11e60398); /* RFC 1950 */
    assert_true(gy_late_load(SONAME, names, 2, &zlib, why, sizeof why));              /* again */
}

static void test_says_what_is_missing(void **state)
{
    (void)state;
    static const char *const names[] = {"zlibVersion", "no_such_function"};
    char why[128];
    assert_false(gy_late_load("libnowhere.so.3", names, 1, &zlib, why, sizeof why));
    assert_non_null(strstr(why, "libnowhere.so.3"));
    assert_false(gy_late_load(SONAME, names, 2, &zlib, why, sizeof why));
    assert_string_equal(why, SONAME " has no no_such_function");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds),
        cmocka_unit_test(test_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
