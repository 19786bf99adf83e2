/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - columns stand under one another whatever the names hold. */
#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void alignment(void **state)
{
    (void)state;
    static const char *const heads[] = {"NAME", ">N", "LAST", NULL};
    struct gy_table t;
    struct gy_buf out = {0};
    gy_table_init(&t, heads);
    gy_table_cell(&t, "缓存");
    gy_table_format(&t, "%d", 5);
    gy_table_cell(&t, "x");
    gy_table_cell(&t, "e\xcc\x81");
    gy_table_format(&t, "%d", 1234);
    gy_table_cell(&t, "");
    gy_table_cell(&t, "a\033\n%");
    gy_table_cell(&t, NULL);
    gy_table_cell(&t, "\xff");
    gy_table_end(&t, &out);
    assert_string_equal(gy_buf_cstr(&out), "NAME           N  LAST\n"
                                           "缓存           5  x\n"
                                           "e\xcc\x81           1234  -\n"
                                           "a%1B%0A%25     -  %FF\n");
    gy_buf_fini(&out);
}

static void no_rows(void **state)
{
    (void)state;
    static const char *const heads[] = {">A", NULL};
    struct gy_table t;
    struct gy_buf out = {0};
    gy_table_init(&t, heads);
    gy_table_end(&t, &out);
    assert_string_equal(gy_buf_cstr(&out), "A\n");
    gy_buf_fini(&out);
}

/* One row of that many columns' room. */
static const char *narrow(struct gy_buf *out, size_t room, const char *name)
{
    static const char *const heads[] = {"NAME", ">SHARE", "ZONE", NULL};
    struct gy_table t;
    gy_buf_reset(out);
    gy_table_init(&t, heads);
    gy_table_cell(&t, name);
    gy_table_format(&t, "12345678901234567890");
    gy_table_cell(&t, "eu/frankfurt/r1");
    gy_table_end_within(&t, out, room);
    return strchr(gy_buf_cstr(out), '\n') + 1;
}

/* Names give way, figures do not; both ends of a name stay. */
static void narrow_terminals(void **state)
{
    (void)state;
    struct gy_buf out = {0};
    static const char *const whole =
        "cache-in-the-cellar-17  12345678901234567890  eu/frankfurt/r1\n";
    assert_string_equal(narrow(&out, 0, "cache-in-the-cellar-17"), whole);
    assert_string_equal(narrow(&out, 61, "cache-in-the-cellar-17"), whole);
    assert_string_equal(narrow(&out, 60, "cache-in-the-cellar-17"),
                        "cache-in-t..cellar-17  12345678901234567890  eu/frankfurt/r1\n");
    assert_string_equal(narrow(&out, 48, "cache-in-the-cellar-17"),
                        "cache..ar-17  12345678901234567890  eu/fr..rt/r1\n");
    /* Nothing would help: better read than cut. */
    assert_string_equal(narrow(&out, 47, "cache-in-the-cellar-17"), whole);
    assert_string_equal(narrow(&out, 50, "\xff缓存缓存缓存缓存缓存"),
                        "%FF缓..存缓存  12345678901234567890  eu/fra..rt/r1\n");
    gy_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alignment), cmocka_unit_test(no_rows),
                                       cmocka_unit_test(narrow_terminals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
