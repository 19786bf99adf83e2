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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alignment), cmocka_unit_test(no_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
