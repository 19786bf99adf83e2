/* SPDX-License-Identifier: Apache-2.0 */
/* Replies: their ends found however they are cut, the tree, and that the two agree; hash tags. */
#include "feed.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

struct sample {
    const char *in;
    size_t n;
    const char *out;  /* of the scanner */
    const char *tree; /* NULL: the tree refuses it */
};
#define S(in, out, tree)              \
    {                                 \
        in, sizeof(in) - 1, out, tree \
    }

#define NEST8(x) "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n" x

static const struct sample samples[] = {
    S("+OK\r\n", "+5;", "+OK"),
    S("-ERR no\r\n", "-9;", "-ERR no"),
    S("+a\nb\rc\r\r\n", "+9;", "+a\nb\rc\r"),
    S("+\r\n", "+3;", "+"),
    S(":0\r\n:-12\r\n", ":4;:6;", ":0"),
    S(":9223372036854775807\r\n", ":22;", ":9223372036854775807"),
    S(":-9223372036854775808\r\n", ":23;", ":-9223372036854775808"),
    S(":9223372036854775808\r\n", ":22;", NULL),
    S(":\r\n", ":3;", NULL),
    S("$5\r\nhe\r\no\r\n", "$11;", "$he\r\no"),
    S("$0\r\n\r\n$-1\r\n", "$6;$5;", "$"),
    S("$-1\r\n", "$5;", "_"),
    S("*-1\r\n", "*5;", "_"),
    S("*0\r\n", "*4;", "*[]"),
    S("*2\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n", "*24;+4;", "*[$a *[:1 _]]"),
    S("_\r\n", "_3;", "_"),
    S("#t\r\n", "#4;", ":1"),
    S("#f\r\n", "#4;", ":0"),
    S("#x\r\n", "#4;", NULL),
    S(",1.5\r\n,inf\r\n", ",6;,6;", "+1.5"),
    S("(3492890328409238509324850943850943825024385\r\n", "(46;",
      "+3492890328409238509324850943850943825024385"),
    S("!5\r\nERR x\r\n", "!11;", "-ERR x"),
    S("=6\r\ntxt:ab\r\n", "=12;", "$ab"),
    S("=2\r\nab\r\n", "=8;", NULL),
    S("%1\r\n+k\r\n:1\r\n", "%12;", "*[+k :1]"),
    S("~2\r\n:1\r\n:2\r\n", "~12;", "*[:1 :2]"),
    S(">1\r\n+m\r\n", ">8;", "*[+m]"),
    S("|1\r\n+k\r\n:1\r\n:5\r\n", ":16;", ":5"),
    S("|0\r\n+x\r\n", "+8;", "+x"),
    S("|1\r\n+k\r\n|1\r\n+a\r\n+b\r\n:1\r\n*1\r\n|1\r\n+k\r\n:1\r\n:5\r\n", "*44;", "*[:5]"),
    S("|1\r\n+k\r\n:1\r\n|1\r\n+k\r\n:2\r\n$1\r\nx\r\n", "$31;", "$x"),
    S(NEST8(NEST8(NEST8(NEST8(":1\r\n")))), "*132;",
      "*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[:1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
      "]]"),
    S(NEST8(NEST8(NEST8(NEST8("*1\r\n:1\r\n")))), "!", NULL),
    S(NEST8(NEST8(NEST8(NEST8("*0\r\n")))), "*132;",
      "*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[*[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
      "]]]"),
    S("$5\r\nhell", "...", NULL),
    S("*2\r\n:1\r\n", "...", NULL),
    S("+OK\r", "...", NULL),
    S("*1000000000\r\n:1\r\n", "...", NULL),
    S("$999999999999999999\r\nx", "...", NULL),
    S("$9999999999999999999\r\nx", "!", NULL),
    S("$-2\r\n", "!", NULL),
    S("%-1\r\n", "!", NULL),
    S("$03\r\nabc\r\n", "!", NULL),
    S("$x\r\n", "!", NULL),
    S("*\r\n", "!", NULL),
    S("$1\nx\r\n", "!", NULL),
    S("hello\r\n", "!", NULL),
    S("\r\n", "!", NULL),
    S("*1\r\n?\r\n", "!", NULL),
    S("$11111111111111111111111111111111111111111111111111111111111111111111111111", "!", NULL),
};

static void check(const struct sample *s, feed_cut *cut, void *arg)
{
    struct gy_buf out = {0};
    feed_replies((const uint8_t *)s->in, s->n, cut, arg, &out);
    assert_string_equal(gy_buf_cstr(&out), s->out);
    gy_buf_fini(&out);
}

static void test_scan_every_cut(void **state)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        check(&samples[i], feed_whole, NULL);
        check(&samples[i], feed_bytewise, NULL);
        for (size_t at = 1; at < samples[i].n; at++) {
            size_t first = at;
            check(&samples[i], feed_two, &first);
        }
    }
}

static void show(const struct gy_reply *r, struct gy_buf *out)
{
    gy_buf_putc(out, r->type);
    if (r->type == ':') {
        gy_buf_printf(out, "%lld", (long long)r->integer);
    } else if (r->type == '*') {
        gy_buf_putc(out, '[');
        for (size_t i = 0; i < r->count; i++) {
            gy_buf_puts(out, i ? " " : "");
            show(&r->item[i], out);
        }
        gy_buf_putc(out, ']');
    } else if (r->type != '_') {
        gy_buf_add(out, r->text.p, r->text.n);
    }
}

static void test_tree(void **state)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct gy_reply *r = gy_reply_parse((const uint8_t *)samples[i].in, samples[i].n);
        if (!samples[i].tree) {
            assert_null(r);
            continue;
        }
        struct gy_buf out = {0};
        assert_non_null(r);
        show(r, &out);
        assert_string_equal(gy_buf_cstr(&out), samples[i].tree);
        gy_buf_fini(&out);
        gy_reply_free(r);
    }
}

static void test_tree_wants_all_bytes(void **state)
{
    static const char in[] = "*3\r\n$1\r\na\r\n|1\r\n+k\r\n+v\r\n%1\r\n:1\r\n_\r\n=5\r\ntxt:x\r\n";
    size_t n = sizeof in - 1;
    for (size_t at = 0; at < n; at++) {
        uint8_t *block = malloc(at ? at : 1);
        assert_non_null(block);
        memcpy(block, in, at);
        assert_null(gy_reply_parse(block, at));
        free(block);
    }
    struct gy_reply *r = gy_reply_parse((const uint8_t *)in, n);
    assert_non_null(r);
    assert_int_equal(r->count, 3);
    assert_true(gy_reply_is(&r->item[0], "a"));
    assert_false(gy_reply_is(&r->item[0], "ab"));
    assert_false(gy_reply_is(&r->item[1], ""));
    assert_true(gy_reply_is(&r->item[2], "x"));
    assert_false(gy_reply_is(NULL, "x"));
    gy_reply_free(r);
    /* Bulks must end in CR LF. */
    assert_null(gy_reply_parse((const uint8_t *)"$1\r\nxyz", 7));
}

static void test_hash_tag(void **state)
{
    static const struct {
        const char *key, *tag;
    } tags[] = {
        {"user:1", "user:1"},
        {"{u1}.a", "u1"},
        {"a{u1}", "u1"},
        {"foo{}{bar}", "foo{}{bar}"},
        {"foo{{bar}}z", "{bar"},
        {"foo{bar}{z}", "bar"},
        {"a}b{c", "a}b{c"},
        {"}{x}", "x"},
        {"{", "{"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        assert_true(gy_slice_eq(gy_hash_tag(gy_str(tags[i].key), '{', '}'), gy_str(tags[i].tag)));
    }
    assert_true(gy_slice_eq(gy_hash_tag(GY_LIT("a$b$c"), '$', '$'), GY_LIT("b")));
    assert_true(gy_slice_eq(gy_hash_tag(GY_LIT("a{b}"), 0, 0), GY_LIT("a{b}")));
    assert_int_equal(gy_hash_tag((struct gy_slice){NULL, 0}, '{', '}').n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_every_cut),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_tree_wants_all_bytes),
        cmocka_unit_test(test_hash_tag),
    };
    return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
