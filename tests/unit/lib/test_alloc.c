/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc.c - the library's own allocation functions, which test_oom.c replaces.
 */
#include "fleet.h"
#include "lib/alloc.h"

static void test_overflow(void **state)
{
    (void)state;
    char *kept = gy_mem_alloc(4, 1);
    assert_non_null(kept);
    memcpy(kept, "abc", 4);
    assert_null(gy_mem_alloc(SIZE_MAX, 2));
    assert_null(gy_mem_alloc(SIZE_MAX / 16 + 1, 16));
    assert_null(gy_mem_grow(kept, SIZE_MAX, 2));
    assert_string_equal(kept, "abc");
    kept = gy_mem_grow(kept, 100, 10);
    assert_non_null(kept);
    assert_string_equal(kept, "abc");
    gy_mem_free(kept);
}

/* NULL always means failure, so nothing of size 0 may answer it. */
static void test_nothing_is_something(void **state)
{
    (void)state;
    void *p = gy_mem_alloc(0, 8), *q = gy_mem_alloc(8, 0);
    assert_non_null(p);
    assert_non_null(q);
    p = gy_mem_grow(p, 0, 8);
    assert_non_null(p);
    gy_mem_free(p);
    gy_mem_free(q);
    gy_mem_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_nothing_is_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
