/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: the same answer however the bytes are cut; every bound and error; nothing allocated on
 * the strength of an announcement.
 */
#include "feed.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct gy_req_limits limits = {
    .bulk = 64, .total = 160, .args = 12, .inline_line = 80};

/* A literal with its NULs, and what must come of it. */
struct sample {
    const char *in;
    size_t n;
    const char *out;
};
#define S(in, out)              \
    {                           \
        in, sizeof(in) - 1, out \
    }
#define D16 "0123456789abcdef"
#define D64 D16 D16 D16 D16

static const struct sample samples[] = {
    S("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n", "(3:SET)(1:k)(2:vv)=28;"),
    S("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nping\r\n", "(4:PING)=14;(4:ping)=14;"),
    S("*2\r\n$0\r\n\r\n$4\r\n\r\n\r\n\r\n", "(0:)(4:\r\n\r\n)=20;"),
    S("*0\r\n*-1\r\n*-7\r\n\r\n\n*1\r\n$1\r\nx\r\n", "=4;=5;=5;~=2;~=1;(1:x)=11;"),
    S("*1\r\n$64\r\n" D64 "\r\n", "(64:" D64 ")=75;"),
    S("*12\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n"
      "$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n",
      "(0:)(0:)(0:)(0:)(0:)(0:)(0:)(0:)(0:)(0:)(0:)(0:)=77;"),
    S("*2\r\n$3\r\nGET\r\n", "..."),
    /* the count */
    S("*13\r\n", "!invalid multibulk length"),
    S("*2147483648\r\n", "!invalid multibulk length"),
    S("*99999999999999999999999\r\n", "!invalid multibulk length"),
    S("*abc\r\n", "!invalid multibulk length"),
    S("*\r\n", "!invalid multibulk length"),
    S("*-\r\n", "!invalid multibulk length"),
    S("*+1\r\n", "!invalid multibulk length"),
    S("*01\r\n", "!invalid multibulk length"),
    S("*-0\r\n", "!invalid multibulk length"),
    S("* 1\r\n", "!invalid multibulk length"),
    S("*1\rX$1\r\n", "!invalid multibulk length"),
    S("*1" D64 D16, "!too big mbulk count string"),
    S("*1" D64 D16 "\r\n", "!too big mbulk count string"),
    /* the bulks */
    S("*1\r\n$65\r\n", "!invalid bulk length"),
    S("*1\r\n$1073741824\r\n", "!invalid bulk length"),
    S("*1\r\n$9223372036854775807\r\n", "!invalid bulk length"),
    S("*1\r\n$18446744073709551616\r\n", "!invalid bulk length"),
    S("*1\r\n$-1\r\n", "!invalid bulk length"),
    S("*1\r\n$\r\n", "!invalid bulk length"),
    S("*1\r\n$3x\r\nSET\r\n", "!invalid bulk length"),
    S("*1\r\n$03\r\nSET\r\n", "!invalid bulk length"),
    S("*1\r\n$3\nSET\r\n", "!invalid bulk length"),
    S("*1\r\n$1" D64 D16, "!too big bulk count string"),
    S("*1\r\nSET\r\n", "!expected '$', got 'S'"),
    S("*1\r\n\r\n", "!expected '$', got '?'"),
    S("*1\r\n\0", "!expected '$', got '?'"),
    S("*1\r\n$3\r\nSETxx", "!expected CRLF after an argument"),
    S("*1\r\n$3\r\nSET\r$", "!expected CRLF after an argument"),
    S("*3\r\n$64\r\n" D64 "\r\n$64\r\n" D64 "\r\n$12\r\n", "!too big request"),
    /* the same of a later argument, all there: another way through the parser */
    S("*2\r\n$1\r\na\r\n$64\r\n" D64 "\r\n", "(1:a)(64:" D64 ")=82;"),
    S("*2\r\n$1\r\na\r\n$65\r\n" D64 "x\r\n", "!invalid bulk length"),
    S("*2\r\n$1\r\na\r\n$03\r\nSET\r\n", "!invalid bulk length"),
    S("*2\r\n$1\r\na\r\n$00\r\n\r\n", "!invalid bulk length"),
    S("*2\r\n$1\r\na\r\n$\r\n\r\n", "!invalid bulk length"),
    S("*2\r\n$1\r\na\r\n$-1\r\n\r\n", "!invalid bulk length"),
    S("*2\r\n$1\r\na\r\n$18446744073709551617\r\nb\r\n", "!invalid bulk length"), /* 2^64 + 1 */
    S("*2\r\n$1\r\na\r\n$1\rxb\r\n", "!invalid bulk length"),
    S("*2\r\n$1\r\na\r\n$1\r\nbb\r\n", "!expected CRLF after an argument"),
    S("*2\r\n$1\r\na\r\n+1\r\nb\r\n", "!expected '$', got '+'"),
    S("*4\r\n$1\r\na\r\n$64\r\n" D64 "\r\n$64\r\n" D64 "\r\n$1\r\nb\r\n",
      "(1:a)(64:" D64 ")(64:" D64 ")(1:b)=160;"),
    S("*4\r\n$1\r\na\r\n$64\r\n" D64 "\r\n$64\r\n" D64 "\r\n$2\r\nbb\r\n", "!too big request"),
    /* what came before an error still counts */
    S("*1\r\n$4\r\nPING\r\n*x\r\n", "(4:PING)=14;!invalid multibulk length"),
    /* inline */
    S("PING\r\n", "(4:PING)~=6;"),
    S("PING\n", "(4:PING)~=5;"),
    S("  set \t k\v\fv  \r\n", "(3:set)(4:k\v\fv)~=16;"),
    S("\v\f \t\r\n", "~=6;"),
    S("a \"b c\" 'd e' \"\" ''\r\n", "(1:a)(3:b c)(3:d e)(0:)(0:)~=21;"),
    S("\"\" ''\n", "(0:)(0:)~=6;"),
    S("\"\\x41\\x6a\\n\\r\\t\\b\\a\\q\\\"\\\\\"\r\n", "(10:Aj\n\r\t\b\aq\"\\)~=28;"),
    S("\"\\xZ1\\x4\"\r\n", "(5:xZ1x4)~=11;"),
    S("'it\\'s \\n'\r\n", "(7:it's \\n)~=12;"),
    S("a\"b\"\r\n", "(2:ab)~=6;"),
    S("set k \"v\r\n", "!unbalanced quotes in request"),
    S("set k 'v\r\n", "!unbalanced quotes in request"),
    S("set k \"v\"x\r\n", "!unbalanced quotes in request"),
    S("set k 'v'x\r\n", "!unbalanced quotes in request"),
    S("set k \"v\\\r\n", "!unbalanced quotes in request"),
    S("a b c d e f g h i j k l\r\n",
      "(1:a)(1:b)(1:c)(1:d)(1:e)(1:f)(1:g)(1:h)(1:i)(1:j)(1:k)(1:l)~=25;"),
    S("a b c d e f g h i j k l m\r\n", "!too big inline request"),
    S(D64 D16 "\n", "(80:" D64 D16 ")~=81;"),
    S(D64 D16 "x\n", "!too big inline request"),
    S(D64 D64, "!too big inline request"),
    S("$3\r\n", "(2:$3)~=4;"),
    S("GET k", "..."),
    S("PING\r\n*1\r\n$1\r\nx\r\nPING\r\n", "(4:PING)~=6;(1:x)=11;(4:PING)~=6;"),
};

static void check(const struct sample *s, feed_cut *cut, void *arg)
{
    struct gy_buf out = {0};
    feed_requests(&limits, (const uint8_t *)s->in, s->n, cut, arg, &out, NULL);
    assert_string_equal(gy_buf_cstr(&out), s->out);
    gy_buf_fini(&out);
}

static void test_whole(void **state)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        check(&samples[i], feed_whole, NULL);
    }
}

static void test_every_cut(void **state)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        check(&samples[i], feed_bytewise, NULL);
        for (size_t at = 1; at < samples[i].n; at++) {
            size_t first = at;
            check(&samples[i], feed_two, &first);
        }
    }
}

/* Who waits for gy_req_need bytes must not wait for more than the request has. */
static void test_need_is_a_lower_bound(void **state)
{
    static const char in[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20\r\n" D16 "abcd\r\n";
    size_t n = sizeof in - 1;
    for (size_t at = 0; at < n; at++) {
        struct gy_req_parser p;
        struct gy_request r;
        gy_req_init(&p, &limits);
        assert_int_equal(gy_req_parse(&p, (const uint8_t *)in, at, &r), GY_PARSE_MORE);
        assert_in_range(gy_req_need(&p), 1, n - at);
        if (at >= 26) { /* inside the last bulk it is exact */
            assert_int_equal(gy_req_need(&p), n - at);
        }
        gy_req_fini(&p);
    }
}

static void test_announcements_cost_nothing(void **state)
{
    static const struct gy_req_limits wide = {
        .bulk = 1 << 29, .total = 1 << 30, .args = 1 << 30, .inline_line = 65536};
    static const char in[] = "*1000000000\r\n$1\r\na\r\n$536870912\r\n";
    struct gy_req_parser p;
    struct gy_request r;
    gy_req_init(&p, &wide);
    assert_int_equal(gy_req_parse(&p, (const uint8_t *)in, 13, &r), GY_PARSE_MORE);
    assert_int_equal(p.cap, 0);
    assert_int_equal(gy_req_parse(&p, (const uint8_t *)in, sizeof in - 1, &r), GY_PARSE_MORE);
    assert_in_range(p.cap, 1, 8);
    assert_int_equal(gy_req_need(&p), 536870914);
    gy_req_fini(&p);
}

/* 200 000 arguments byte by byte: only a parser that starts again at each call would feel it. */
static void test_many_arguments_byte_by_byte(void **state)
{
    enum { ARGS = 200000 };
    static const struct gy_req_limits wide = {
        .bulk = 1 << 20, .total = 1 << 24, .args = ARGS, .inline_line = 65536};
    struct gy_buf in = {0};
    struct gy_req_parser p;
    struct gy_request r;
    gy_resp_array(&in, ARGS);
    for (int i = 0; i < ARGS; i++) {
        gy_resp_bulk_str(&in, "abc");
    }
    gy_req_init(&p, &wide);
    for (size_t n = 1; n < gy_buf_size(&in); n++) {
        assert_int_equal(gy_req_parse(&p, gy_buf_head(&in), n, &r), GY_PARSE_MORE);
    }
    assert_int_equal(gy_req_parse(&p, gy_buf_head(&in), gy_buf_size(&in), &r), GY_PARSE_DONE);
    assert_int_equal(r.argc, ARGS);
    assert_memory_equal(r.argv[ARGS - 1].p, "abc", 3);
    /* The next request gives the room back. */
    assert_int_equal(gy_req_parse(&p, (const uint8_t *)"*0\r\n", 4, &r), GY_PARSE_DONE);
    assert_in_range(p.cap, 0, 1024);
    gy_req_fini(&p);
    gy_buf_fini(&in);
}

/* 64 KB of line come byte by byte, twice what a quadratic search would bear in the test's time. */
static void test_endless_lines_byte_by_byte(void **state)
{
    static const struct gy_req_limits wide = {
        .bulk = 1 << 20, .total = 1 << 24, .args = 100, .inline_line = 1 << 20};
    static const char *const starts[] = {"*", "*1\r\n$", "x"};
    size_t cap = (1 << 20) + 64;
    char *in = malloc(cap);
    assert_non_null(in);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct gy_req_parser p;
        struct gy_request r;
        size_t n = strlen(starts[i]);
        enum gy_parse last = GY_PARSE_MORE;
        memset(in, '1', cap);
        memcpy(in, starts[i], n);
        gy_req_init(&p, &wide);
        while (last == GY_PARSE_MORE && n < cap) {
            last = gy_req_parse(&p, (const uint8_t *)in, n++, &r);
        }
        assert_int_equal(last, GY_PARSE_ERROR);
        /* An error is for good. */
        assert_int_equal(gy_req_parse(&p, (const uint8_t *)"*0\r\n", 4, &r), GY_PARSE_ERROR);
        gy_req_fini(&p);
    }
    free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_need_is_a_lower_bound),
        cmocka_unit_test(test_announcements_cost_nothing),
        cmocka_unit_test(test_many_arguments_byte_by_byte),
        cmocka_unit_test(test_endless_lines_byte_by_byte),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
