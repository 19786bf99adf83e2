/* SPDX-License-Identifier: Apache-2.0 */
/* Writing RESP; and each allocation of the room failing in turn (malloc and friends are wrapped).
 */
#include "feed.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static int fail_in; /* the call that fails, counted down; 0: none */

static bool fails(void)
{
    return fail_in > 0 && --fail_in == 0;
}

/* The names are the linker's (--wrap). */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
    return fails() ? NULL : __real_reallocarray(p, n, size);
}

static void test_bytes(void **state)
{
    struct gy_buf b = {0};
    struct gy_slice argv[] = {GY_LIT("SET"), GY_LIT(""), GY_LIT("a\0\r\n")};
    gy_resp_command(&b, 3, argv);
    gy_resp_cmd(&b, "GET", "k", NULL);
    gy_resp_nil(&b);
    gy_resp_int(&b, 0);
    gy_resp_int(&b, INT64_MAX);
    gy_resp_int(&b, INT64_MIN);
    gy_resp_simple(&b, "OK");
    gy_resp_simple(&b, "a\r\n+b");
    gy_resp_error(&b, "ERR no '%s'", "x\r\n+OK\r\n\t\x7f");
    gy_resp_error(&b, "%s", "");
    static const char want[] = "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\0\r\n\r\n"
                               "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"
                               "$-1\r\n:0\r\n:9223372036854775807\r\n:-9223372036854775808\r\n"
                               "+OK\r\n+a  +b\r\n-ERR no 'x  +OK    '\r\n-\r\n";
    assert_int_equal(gy_buf_size(&b), sizeof want - 1);
    assert_memory_equal(gy_buf_head(&b), want, sizeof want - 1);
    gy_buf_fini(&b);
}

/* A buffer whose front is dead slides when it needs room: the blanking must not look at old places.
 */
static void test_error_after_a_slide(void **state)
{
    struct gy_buf b = {0};
    for (int i = 0; i < 400; i++) {
        gy_buf_add(&b, "0123456789", 10);
        gy_buf_consume(&b, 9);
        gy_resp_error(&b, "ERR %d\r\n", i);
        size_t n = gy_buf_size(&b);
        assert_memory_equal(gy_buf_head(&b) + n - 4, "  \r\n", 4);
        gy_buf_consume(&b, n - 20 > n ? 0 : n - 1);
    }
    gy_buf_fini(&b);
}

static void test_no_memory_to_write(void **state)
{
    for (int i = 1; i < 4; i++) {
        struct gy_buf b = {0};
        fail_in = i;
        for (int j = 0; j < 40; j++) {
            gy_resp_cmd(&b, "SET", "key", "value", NULL);
            gy_resp_error(&b, "ERR %s", "x");
            gy_resp_simple(&b, "OK");
        }
        fail_in = 0;
        assert_true(gy_buf_failed(&b));
        gy_buf_fini(&b);
    }
    struct gy_buf b = {0};
    gy_resp_bulk(&b, "", SIZE_MAX - 8);
    assert_true(gy_buf_failed(&b));
    gy_buf_fini(&b);
}

/* Parses until no call fails; what failed must say so and leak nothing. */
static void no_memory_for(const char *in, int at_least)
{
    static const struct gy_req_limits limits = {
        .bulk = 64, .total = 4096, .args = 64, .inline_line = 4096};
    int failures = 0;
    for (int i = 1;; i++) {
        struct gy_req_parser p;
        struct gy_request r;
        gy_req_init(&p, &limits);
        fail_in = i;
        enum gy_parse last = gy_req_parse(&p, (const uint8_t *)in, strlen(in), &r);
        bool failed = fail_in == 0;
        fail_in = 0;
        if (failed) {
            assert_int_equal(last, GY_PARSE_ERROR);
            assert_string_equal(p.error, "out of memory");
            failures++;
        } else {
            assert_int_equal(last, GY_PARSE_DONE);
        }
        gy_req_fini(&p);
        if (!failed) {
            break;
        }
    }
    assert_true(failures >= at_least);
}

static void test_no_memory_to_parse(void **state)
{
    no_memory_for("*9\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n"
                  "$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n",
                  4);
    no_memory_for("a b c d e f g h i j k\r\n", 5);
    fail_in = 1;
    assert_null(gy_reply_parse((const uint8_t *)"*1\r\n:1\r\n", 8));
    fail_in = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_error_after_a_slide),
        cmocka_unit_test(test_no_memory_to_write),
        cmocka_unit_test(test_no_memory_to_parse),
    };
    return cmocka_run_group_tests_name("write", tests, NULL, NULL);
}
