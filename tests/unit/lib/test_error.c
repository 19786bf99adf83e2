/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_error.c - error names and texts, escaping of hostile names, the nearest word.
 */
#include "fleet.h"
#include "lib/error.h"

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(gyre_err_name(GYRE_OK), "OK");
    assert_string_equal(gyre_err_name(GYRE_NOMEM), "NOMEM");
    assert_string_equal(gyre_err_name(GYRE_TIMEOUT), "TIMEOUT");
    assert_string_equal(gyre_err_name(1), "?");
    assert_string_equal(gyre_err_text(GYRE_NOMEM), "out of memory");
    assert_string_equal(gyre_err_text(-1000), "unknown error");
    assert_string_equal(gyre_version(), "0.1.0");
}

/* The values are part of the ABI. */
static void test_values_are_pinned(void **state)
{
    (void)state;
    const int values[] = {GYRE_OK,          GYRE_NOMEM,    GYRE_INVALID, GYRE_SYNTAX,
                          GYRE_DUPLICATE,   GYRE_UNKNOWN,  GYRE_RANGE,   GYRE_EMPTY,
                          GYRE_UNSUPPORTED, GYRE_MISMATCH, GYRE_IO,      GYRE_CONFLICT,
                          GYRE_REFUSED,     GYRE_TIMEOUT};
    for (int i = 0; i < (int)(sizeof values / sizeof values[0]); i++) {
        assert_int_equal(values[i], -i);
    }
}

static void test_fail(void **state)
{
    (void)state;
    gyre_error_t e = {.line = 7, .column = 7, .file = "x"};
    assert_int_equal(gy_fail(&e, GYRE_RANGE, "%s %u", "weight", 9u), GYRE_RANGE);
    assert_int_equal(e.code, GYRE_RANGE);
    assert_string_equal(e.message, "weight 9");
    assert_int_equal(e.line + e.column, 0);
    assert_string_equal(e.file, "");
    assert_int_equal(gy_fail(NULL, GYRE_RANGE, "nowhere"), GYRE_RANGE);
    char big[2000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assert_int_equal(gy_fail(&e, GYRE_INVALID, "%s", big), GYRE_INVALID);
    assert_int_equal(strlen(e.message), sizeof e.message - 1);
}

static void test_show(void **state)
{
    (void)state;
    char out[GY_SHOW], big[5000];
    assert_string_equal(gy_show("cache-0", out), "cache-0");
    assert_string_equal(gy_show("caf\xc3\xa9", out), "caf\xc3\xa9");
    assert_string_equal(gy_show("a\x1b[31m'\\\n\x7f", out), "a\\x1b[31m\\x27\\x5c\\x0a\\x7f");
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    size_t len = strlen(gy_show(big, out));
    assert_true(len < GY_SHOW);
    assert_string_equal(out + len - 4, "x...");
    memset(big, '\n', sizeof big - 1);
    assert_true(strlen(gy_show(big, out)) < GY_SHOW);
}

static const char *const words[] = {"algorithm", "like", "hash", "points", "replicas", "spread"};

static const char *near(const char *word)
{
    const char *found = gyre_nearest(word, words, sizeof words / sizeof words[0]);
    return found ? found : "-";
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(near("points"), "points");
    assert_string_equal(near("point"), "points");   /* left out */
    assert_string_equal(near("pointts"), "points"); /* put in */
    assert_string_equal(near("poimts"), "points");  /* replaced */
    assert_string_equal(near("piont"), "-");        /* two errors in five letters are too many */
    assert_string_equal(near("pionts"), "points");  /* swapped counts once */
    assert_string_equal(near("algoritm"), "algorithm");
    assert_string_equal(near("POINTS"), "points"); /* case costs nothing */
    assert_string_equal(near("hsh"), "hash");
    assert_string_equal(near("has"), "hash");
    assert_string_equal(near("ha"), "-");
    assert_string_equal(near(""), "-");
    assert_string_equal(near("zone"), "-");
    assert_null(gyre_nearest("hash", words, 0));
}

static void test_nearest_of_long_words(void **state)
{
    (void)state;
    char big[3000];
    memset(big, 'p', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assert_string_equal(near(big), "-");
    const char *known[] = {big, "pppp"};
    assert_string_equal(gyre_nearest("pppp", known, 2), "pppp");
    big[64] = '\0';
    assert_ptr_equal(gyre_nearest(big, known, 1), big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_values_are_pinned),
        cmocka_unit_test(test_fail),    cmocka_unit_test(test_show),
        cmocka_unit_test(test_nearest), cmocka_unit_test(test_nearest_of_long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
