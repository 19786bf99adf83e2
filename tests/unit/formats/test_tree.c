/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tree.c - YAML, JSON and XML as trees: every value with its place, and every kind of text
 * that grows when it is read (deep, long, with entities, zipped) ends in an error.
 */
#include "formats/gunzip.h"
#include "formats/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

typedef int doc_fn(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e);

static int json(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    return gy_doc_json(d, text, GY_JSON_PLAIN, file, e);
}

static int loose(struct gy_doc *d, struct gy_slice text, const char *file, gyre_error_t *e)
{
    return gy_doc_json(d, text, GY_JSON_LOOSE, file, e);
}

static void check(const struct gy_tree *t, const char *text, unsigned line, unsigned column)
{
    assert_non_null(t);
    assert_string_equal((const char *)t->text.p, text);
    assert_int_equal(t->at.line, line);
    assert_int_equal(t->at.column, column);
}

static void places(void **state)
{
    (void)state;
    static const char yaml[] = "a:\n  b: 1\n  c: [x, \"y\"]\n";
    static const char js[] =
        "{\"a\": {\"b\": 1,\n \"c\": [\"x\", \"\\u0041\\\"\"]}, \"d\": -1.50e2}";
    static const char xml[] = "<r>\n <a k='v'>x&amp;y</a>\n <a/>\n</r>";
    struct gy_doc d;
    gyre_error_t e = {0};
    assert_int_equal(gy_doc_yaml(&d, gy_str(yaml), "f", &e), 0);
    check(gy_tree_get(gy_tree_get(d.root, "a"), "b"), "1", 2, 6);
    const struct gy_tree *c = gy_tree_get(gy_tree_get(d.root, "a"), "c");
    check(c->last, "y", 3, 10);
    assert_true(c->flow && c->first->plain && !c->last->plain && c->count == 2);
    assert_int_equal(c->key_at.line, 3);
    gy_doc_fini(&d);
    assert_int_equal(json(&d, gy_str(js), "f", &e), 0);
    check(gy_tree_get(gy_tree_get(d.root, "a"), "b"), "1", 1, 13);
    check(gy_tree_get(gy_tree_get(d.root, "a"), "c")->last, "A\"", 2, 13);
    check(gy_tree_get(d.root, "d"), "-1.50e2", 2, 32);
    gy_doc_fini(&d);
    assert_int_equal(gy_doc_xml(&d, gy_str(xml), "f", &e), 0);
    check(gy_tree_get(d.root, "a"), "x&y", 2, 2);
    check(gy_tree_get(gy_tree_get(d.root, "a"), "@k"), "v", 2, 2);
    check(d.root->last, "", 3, 2);
    assert_null(gy_tree_get(d.root, "b"));
    gy_doc_fini(&d);
}

static void comments(void **state)
{
    (void)state;
    struct gy_doc d;
    gyre_error_t e = {0};
    static const char text[] = "{ // one\n \"a//b\": /* \" */ [1, 2,], }";
    assert_int_equal(loose(&d, gy_str(text), "f", &e), 0);
    check(gy_tree_get(d.root, "a//b")->last, "2", 2, 22);
    gy_doc_fini(&d);
    assert_int_equal(json(&d, gy_str(text), "f", &e), GYRE_SYNTAX);
    gy_doc_fini(&d);
}

/* `n` times a, b in the middle, `n` times c. */
static char *nest(size_t n, const char *a, const char *b, const char *c)
{
    char *text = calloc(n * (strlen(a) + strlen(c)) + strlen(b) + 1, 1), *w = text;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        w = stpcpy(w, a);
    }
    w = stpcpy(w, b);
    for (size_t i = 0; i < n; i++) {
        w = stpcpy(w, c);
    }
    return text;
}

static void refuses(doc_fn *read, const char *text, size_t n, int rc, const char *says)
{
    struct gy_doc d;
    gyre_error_t e = {0};
    int got = read(&d, (struct gy_slice){(const uint8_t *)text, n}, "f", &e);
    gy_doc_fini(&d);
    if (got != rc || e.code != rc || !strstr(e.message, says)) {
        fail_msg("%.60s: %d %s, not %d %s", text, got, e.message, rc, says);
    }
    assert_int_equal(read(&d, (struct gy_slice){(const uint8_t *)text, n}, "f", NULL), rc);
    gy_doc_fini(&d);
}

static void deep(void **state)
{
    (void)state;
    const struct {
        doc_fn *read;
        const char *a, *b, *c;
        size_t fits;
    } forms[] = {{gy_doc_yaml, "[", "1", "]", GY_TREE_DEPTH - 1},
                 {json, "[", "1", "]", GY_TREE_DEPTH - 1},
                 {gy_doc_xml, "<a>", "", "</a>", GY_TREE_DEPTH}};
    for (size_t i = 0; i < 3; i++) {
        struct gy_doc d;
        char *good = nest(forms[i].fits, forms[i].a, forms[i].b, forms[i].c);
        char *bad = nest(forms[i].fits + 1, forms[i].a, forms[i].b, forms[i].c);
        assert_int_equal(forms[i].read(&d, gy_str(good), "f", NULL), 0);
        gy_doc_fini(&d);
        refuses(forms[i].read, bad, strlen(bad), GYRE_RANGE, "nested more than 64 deep");
        free(good);
        free(bad);
    }
    char *far = nest(100000, "{\"a\":", "1", "}");
    refuses(json, far, strlen(far), GYRE_SYNTAX, "not JSON");
    free(far);
}

static void hostile(void **state)
{
    (void)state;
    static const char bomb[] =
        "<!DOCTYPE b [<!ENTITY a \"aaaa\"><!ENTITY c \"&a;&a;\">]><b>&c;</b>";
    static const char aliases[] = "a: &a [x, x]\nb: [*a, *a]\n";
    refuses(gy_doc_xml, bomb, sizeof bomb - 1, GYRE_UNSUPPORTED, "DOCTYPE");
    refuses(gy_doc_xml, "<a>&b;</a>", 10, GYRE_SYNTAX, "undefined entity");
    refuses(gy_doc_xml, "<a><b></a>", 10, GYRE_SYNTAX, "mismatched tag");
    refuses(gy_doc_xml, "", 0, GYRE_SYNTAX, "no element found");
    refuses(gy_doc_yaml, aliases, sizeof aliases - 1, GYRE_UNSUPPORTED, "anchors");
    refuses(gy_doc_yaml, "a: !!b c", 8, GYRE_UNSUPPORTED, "tags");
    refuses(gy_doc_yaml, "a: 1\nb: 2\na: 3\n", 15, GYRE_DUPLICATE, "first on line 1");
    refuses(gy_doc_yaml, "[a]: b", 6, GYRE_SYNTAX, "a key must be a word");
    refuses(json, "{\"a\":1,\"a\":2}", 13, GYRE_SYNTAX, "duplicate");
    refuses(json, "\"a\0b\"", 5, GYRE_SYNTAX, "not JSON");
    refuses(json, "[1] 2", 5, GYRE_SYNTAX, "not JSON");
    refuses(loose, "[1] /*", 6, GYRE_SYNTAX, "a comment without its end");
    char *wide = nest(GY_TREE_MAX + 1, "1,", "", "");
    refuses(json, wide, 2 * GY_TREE_MAX + 2, GYRE_RANGE, "more than");
    free(wide);
}

static void zipped(void **state)
{
    (void)state;
    size_t n = 4 << 20;
    uint8_t *zeros = calloc(n, 1), *out = malloc(n);
    assert_true(zeros && out);
    z_stream z = {
        .next_in = zeros, .avail_in = (unsigned)n, .next_out = out, .avail_out = (unsigned)n};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    struct gy_slice bomb = {out, n - z.avail_out};
    deflateEnd(&z);
    struct gy_buf text = {0};
    gyre_error_t e = {0};
    assert_int_equal(gy_gunzip(bomb, n, &text, "f", &e), 0);
    assert_int_equal(gy_buf_size(&text), n);
    gy_buf_fini(&text);
    assert_int_equal(gy_gunzip(bomb, 1 << 20, &text, "f", &e), GYRE_RANGE);
    assert_string_equal(e.message, "unpacks to more than 1 MB: not a topology");
    assert_true(gy_buf_size(&text) < (size_t)2 << 20);
    gy_buf_fini(&text);
    free(zeros);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),  cmocka_unit_test(comments), cmocka_unit_test(deep),
        cmocka_unit_test(hostile), cmocka_unit_test(zipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
