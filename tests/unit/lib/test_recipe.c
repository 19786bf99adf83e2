/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recipe.c - key recipes: every rule of docs/recipes.md by example, every mistake with its
 * column, and what no request has refused.
 */
#include "fleet.h"

/* The key of a URL, with "Name: value" lines as headers; '|' for the line feed between parts. */
static void makes(const char *recipe, const char *url, const char *headers, const char *expected)
{
    gyre_error_t e = {0};
    gyre_recipe_t *r = NULL;
    struct gyre_header h[4];
    struct gyre_request q = {.size = sizeof q, .headers = h};
    char key[4096];
    size_t len;
    if (gyre_recipe_parse(recipe, &r, &e)) {
        fail_msg("%s: %s", recipe, e.message);
    }
    assert_int_equal(gyre_request_url(&q, url, strlen(url)), GYRE_OK);
    while (*headers) {
        size_t line = strcspn(headers, "\n"), name = strcspn(headers, ":");
        h[q.header_count++] =
            (struct gyre_header){headers, name, headers + name + 1, line - name - 1};
        headers += line + (headers[line] == '\n');
    }
    assert_int_equal(gyre_recipe_key(r, &q, key, sizeof key - 1, &len), GYRE_OK);
    key[len] = '\0';
    for (char *p = key; (p = strchr(p, '\n')) != NULL;) {
        *p = '|';
    }
    assert_string_equal(key, expected);
    gyre_recipe_free(r);
}

static void test_rules(void **state)
{
    static const char *const rows[][4] = {
        /* host */
        {"host", "https://WWW.Example.COM:443/a", "", "www.example.com"},
        {"host(port)", "https://WWW.Example.COM:443/a", "", "www.example.com:443"},
        {"host(port)", "http://example.com:/", "", "example.com"},
        {"host", "http://me:secret@example.com./", "", "example.com"},
        {"host", "http://[2001:DB8::1]:8080/", "", "[2001:db8::1]"},
        {"host(port)", "http://[2001:db8::1]:8080/", "", "[2001:db8::1]:8080"},
        {"host", "2001:db8::1/", "", "2001:db8::1"},
        {"host", "/a", "", ""},
        {"host", "", "", ""},
        /* path */
        {"path", "http://h/A/b%7E%2f../", "", "/A/b%7E%2f../"},
        {"path(normal)", "http://h/A/b%7E%2f%zz%4", "", "/A/b~%2F%zz%4"},
        {"path", "http://h", "", "/"},
        {"path", "http://h?q", "", "/"},
        {"path", "http://h/p#f?q", "", "/p"},
        {"path", "http://h/http://other/", "", "/http://other/"},
        {"path", "h/a?u=http://x/", "", "/a"},
        /* query */
        {"query", "http://h/?b=1&&a=2&b=0#f", "", "b=1&&a=2&b=0"},
        {"query(sort)", "http://h/?b=1&&a=2&b=0&B", "", "B&a=2&b=1&b=0"},
        {"query(sort)", "http://h/?aa=1&a=2&a-=3&a", "", "a=2&a&a-=3&aa=1"},
        {"query(normal)", "http://h/?a=%7e%3d", "", "a=~%3D"},
        {"query(drop=utm_*,drop=gclid)", "h/?utm_source=x&b&gclid=1&gclids=2&utm=3", "",
         "b&gclids=2&utm=3"},
        {"query(sort, keep=id, keep=page)", "h/?page=2&x=1&id=7&id=6", "", "id=7&id=6&page=2"},
        {"query(keep=*)", "h/?b&a", "", "b&a"},
        {"query(drop=*)", "h/?b&a", "", ""},
        {"query(sort)", "h/?", "", ""},
        /* headers */
        {"header(accept-language)", "h", "Accept-Language: \t de, en \nX: y", "de, en"},
        {"header( X )", "h", "x:1\nX:\nx: 2", "1, , 2"},
        {"header(x)", "h", "y: 1", ""},
        /* together */
        {"host+path+query(sort)+header(accept-language)", "https://CDN.example/v/1.ts?b=2&a=1",
         "accept-language: de", "cdn.example|/v/1.ts|a=1&b=2|de"},
        {" path + host ", "h/p", "", "/p|h"},
        {"query+header(x)+host", "", "", "||"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        makes(rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
    }
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *recipe;
        int code;
        unsigned column;
        const char *message;
    } rows[] = {
        {"host+pth", GYRE_UNKNOWN, 6, "unknown part 'pth'; did you mean 'path'?"},
        {"host+cookie", GYRE_UNKNOWN, 6, "unknown part 'cookie'"},
        {"host+%", GYRE_UNKNOWN, 6, "unknown part '%'"},
        {"", GYRE_SYNTAX, 1, "a part is missing here: host, path, query or header(NAME)"},
        {"host+ ", GYRE_SYNTAX, 7, "a part is missing here: host, path, query or header(NAME)"},
        {"host path", GYRE_SYNTAX, 6, "'+' or the end is expected here"},
        {"header", GYRE_SYNTAX, 7, "write header(NAME)"},
        {"header()", GYRE_SYNTAX, 8, "a name is missing here"},
        {"header(a*)", GYRE_SYNTAX, 9, "the name of a header has no '*'"},
        {"query(srt)", GYRE_UNKNOWN, 7, "unknown option 'srt'; did you mean 'sort'?"},
        {"query()", GYRE_UNKNOWN, 7, "unknown option ''"},
        {"host(normal)", GYRE_UNKNOWN, 6, "unknown option 'normal'"},
        {"query(drop)", GYRE_SYNTAX, 7, "write drop=NAME or keep=NAME"},
        {"query(sort=a)", GYRE_SYNTAX, 7, "this option takes no value"},
        {"query(drop=)", GYRE_SYNTAX, 12, "a name is missing here"},
        {"query(drop=u*m)", GYRE_SYNTAX, 13, "'*' stands at the end of a name only"},
        {"query(drop=a,keep=b)", GYRE_INVALID, 14, "a query either drops names or keeps them"},
        {"query(sort", GYRE_SYNTAX, 11, "')' is missing here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gyre_error_t e = {0};
        gyre_recipe_t *r = (gyre_recipe_t *)&e;
        assert_int_equal(gyre_recipe_parse(rows[i].recipe, &r, &e), rows[i].code);
        assert_null(r);
        assert_string_equal(e.message, rows[i].message);
        assert_int_equal(e.column, rows[i].column);
        assert_int_equal(gyre_recipe_parse(rows[i].recipe, &r, NULL), rows[i].code);
    }
    char many[1200];
    gyre_error_t e;
    gyre_recipe_t *r;
    memset(many, '+', sizeof many);
    many[sizeof many - 1] = '\0';
    assert_int_equal(gyre_recipe_parse(many, &r, &e), GYRE_RANGE);
    assert_string_equal(e.message, "a key recipe has at most 1023 bytes");
    assert_int_equal(e.column, 1024);
    for (size_t i = 0; i < 33; i++) {
        memcpy(many + 5 * i, "+host", 6);
    }
    assert_int_equal(gyre_recipe_parse(many + 1, &r, &e), GYRE_RANGE);
    assert_string_equal(e.message, "more than 32 parts");
    memcpy(many, "query(", 6);
    for (size_t i = 0; i < 33; i++) {
        memcpy(many + 6 + 7 * i, "drop=a,", 8);
    }
    assert_int_equal(gyre_recipe_parse(many, &r, &e), GYRE_RANGE);
    assert_string_equal(e.message, "more than 32 names");
    gyre_recipe_free(NULL);
}

static int key_of(const gyre_recipe_t *r, const struct gyre_request *q, size_t room, size_t *len)
{
    char key[64];
    return gyre_recipe_key(r, q, key, room, len);
}

static void test_hostile(void **state)
{
    gyre_recipe_t *r;
    size_t len = 9;
    struct gyre_request q = {.size = sizeof q, .host = "h", .host_len = 1};
    struct gyre_header h = {"x", 1, "a\nb", 3};
    assert_int_equal(gyre_recipe_parse("host+query(sort)", &r, NULL), GYRE_OK);
    assert_int_equal(key_of(r, &q, 2, &len), GYRE_OK);
    assert_int_equal(len, 2);
    assert_int_equal(key_of(r, &q, 1, &len), GYRE_RANGE);
    assert_int_equal(len, 2);
    assert_int_equal(gyre_recipe_key(r, &q, NULL, 0, &len), GYRE_RANGE);

    static const char *const broken[] = {"a\n", "a\r", "\0a"};
    for (size_t i = 0; i < 3; i++) {
        struct gyre_request bad[4] = {q, q, q, q};
        bad[0].host = bad[1].path = bad[2].query = broken[i];
        bad[0].host_len = bad[1].path_len = bad[2].query_len = 2;
        struct gyre_header b = {"x", 1, broken[i], 2};
        bad[3].headers = &b;
        bad[3].header_count = 1;
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(key_of(r, &bad[k], 64, &len), GYRE_INVALID);
            assert_int_equal(len, 0);
        }
        assert_int_equal(gyre_request_url(&q, broken[i], 2), GYRE_INVALID);
    }
    q.headers = &h;
    q.header_count = 1;
    assert_int_equal(key_of(r, &q, 64, &len), GYRE_INVALID);
    q.header_count = 0;
    q.size = 8;
    assert_int_equal(key_of(r, &q, 64, &len), GYRE_INVALID);
    assert_int_equal(gyre_request_url(&q, "h", 1), GYRE_INVALID);
    q.size = sizeof q;

    /* 256 parameters are sorted, one more is refused; empty ones and those dropped are free. */
    char query[2000];
    for (size_t i = 0; i < 257; i++) {
        memcpy(query + 3 * i, i < 256 ? "&z&" : "a&&", 3);
    }
    q.query = query;
    q.query_len = (size_t)3 * 256;
    assert_int_equal(key_of(r, &q, 64, &len), GYRE_RANGE);
    assert_int_equal(len, 1 + 1 + 2 * 256 - 1);
    q.query_len += 3;
    assert_int_equal(key_of(r, &q, 64, &len), GYRE_RANGE);
    assert_int_equal(len, 0);
    gyre_recipe_free(r);
    assert_int_equal(gyre_recipe_parse("query(keep=a)", &r, NULL), GYRE_OK);
    assert_int_equal(key_of(r, &q, 64, &len), GYRE_OK);
    assert_int_equal(len, 1);
    gyre_recipe_free(r);
}

/* A program hands over the headers that are read, each as often as the recipe has it. */
static void test_headers(void **state)
{
    (void)state;
    static const char *const names[] = {"Accept-Language", "x", "x"};
    gyre_recipe_t *r;
    size_t len;
    assert_int_equal(
        gyre_recipe_parse("header(Accept-Language)+host+header(x)+path+header(x)", &r, NULL),
        GYRE_OK);
    for (size_t i = 0; i < 3; i++) {
        const char *name = gyre_recipe_header(r, i, &len);
        assert_int_equal(len, strlen(names[i]));
        assert_memory_equal(name, names[i], len);
    }
    for (size_t i = 3; i < 6; i++) {
        assert_null(gyre_recipe_header(r, i, &len));
        assert_int_equal(len, 0);
    }
    assert_null(gyre_recipe_header(r, SIZE_MAX, &len));
    gyre_recipe_free(r);
    assert_int_equal(gyre_recipe_parse("host", &r, NULL), GYRE_OK);
    assert_null(gyre_recipe_header(r, 0, &len));
    gyre_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
