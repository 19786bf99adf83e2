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
    char header[40];
    snprintf(header, sizeof header, "%d.%d.%d", GYRE_VERSION_MAJOR, GYRE_VERSION_MINOR,
             GYRE_VERSION_PATCH);
    assert_string_equal(gyre_version(), header);
    assert_int_equal(GYRE_VERSION_NUMBER,
                     10000 * GYRE_VERSION_MAJOR + 100 * GYRE_VERSION_MINOR + GYRE_VERSION_PATCH);
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

/* What would write to a terminal as more than a name: C1, and what turns the direction. */
static void test_show_control(void **state)
{
    (void)state;
    static const unsigned hidden[][2] = {
        {0x80, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (unsigned cp = 0x80; cp < 0x3000; cp++) {
        bool plain = true;
        char name[8], out[GY_SHOW];
        size_t n = 0;
        for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
            plain = plain && (cp < hidden[i][0] || cp > hidden[i][1]);
        }
        if (cp >= 0x800) {
            name[n++] = (char)(0xe0 | cp >> 12);
            name[n++] = (char)(0x80 | (cp >> 6 & 0x3f));
        } else {
            name[n++] = (char)(0xc0 | cp >> 6);
        }
        name[n++] = (char)(0x80 | (cp & 0x3f));
        name[n] = '\0';
        gy_show(name, out);
        if (plain) {
            assert_string_equal(out, name);
        } else {
            assert_int_equal(strlen(out), 4 * n);
            assert_true(strspn(out, "\\x0123456789abcdef") == 4 * n);
        }
    }
    char out[GY_SHOW];
    assert_string_equal(gy_show("a\xc2\x9b"
                                "31m",
                                out),
                        "a\\xc2\\x9b31m");
    assert_string_equal(gy_show("a\x9b"
                                "31m\xe2\x80",
                                out),
                        "a\\x9b31m\\xe2\\x80");
}

/* Whatever is cut is cut between characters. */
static void test_cut(void **state)
{
    (void)state;
    char text[2000], out[GY_SHOW];
    gyre_error_t e = {0};
    for (unsigned lead = 0; lead < 8; lead++) {
        size_t n = lead;
        memset(text, 'x', lead);
        while (n + 4 < sizeof text) {
            memcpy(text + n, "\xe2\x82\xac", 3); /* the euro sign */
            n += 3;
        }
        text[n] = '\0';
        gy_fail(&e, GYRE_INVALID, "%s", text);
        size_t len = strlen(e.message);
        assert_true(len + 3 >= sizeof e.message);
        assert_int_equal((len - lead) % 3, 0);
        len = strlen(gy_show(text, out));
        assert_int_equal((len - 3 - lead) % 3, 0);
        assert_string_equal(out + len - 3, "...");
    }
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
        cmocka_unit_test(test_names),        cmocka_unit_test(test_values_are_pinned),
        cmocka_unit_test(test_fail),         cmocka_unit_test(test_show),
        cmocka_unit_test(test_show_control), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_nearest),      cmocka_unit_test(test_nearest_of_long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
