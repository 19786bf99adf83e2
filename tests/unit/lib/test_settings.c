/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_settings.c - the table of placement settings, and every way a value can be wrong.
 */
#include "fleet.h"
#include "lib/settings.h"

static void refused(const char *key, const char *value, int code, const char *message)
{
    gyre_topology_t *t = fleet_new("");
    gyre_error_t e = {0};
    assert_int_equal(gyre_topology_set(t, key, value, &e), code);
    assert_int_equal(e.code, code);
    if (!strstr(e.message, message)) {
        fail_msg("'%s' has no '%s'", e.message, message);
    }
    size_t n;
    const struct gyre_setting *s = gyre_settings(&n);
    for (size_t i = 0; i < n; i++) { /* nothing has changed */
        assert_string_equal(gyre_topology_get(t, s[i].key), s[i].fallback);
    }
    assert_int_equal(gyre_topology_set(t, key, value, NULL), code);
    gyre_topology_free(t);
}

/* Every default is valid and canonical, every row has its texts. */
static void test_table(void **state)
{
    (void)state;
    size_t n = 0;
    const struct gyre_setting *s = gyre_settings(&n);
    assert_ptr_equal(gyre_settings(NULL), s);
    assert_int_equal(n, GY_SET_COUNT);
    gyre_topology_t *t = fleet_new("");
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(gyre_topology_get(t, s[i].key), s[i].fallback);
        assert_int_equal(gyre_topology_set(t, s[i].key, s[i].fallback, NULL), GYRE_OK);
        assert_string_equal(gyre_topology_get(t, s[i].key), s[i].fallback);
        assert_non_null(strchr(s[i].help, '.'));
    }
    assert_null(gyre_topology_get(t, "colour"));
    gyre_topology_free(t);
}

static void test_values(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("algorithm modulo spread rack points 00042 mode md5_128");
    assert_string_equal(gyre_topology_get(t, "algorithm"), "modulo");
    assert_string_equal(gyre_topology_get(t, "spread"), "rack");
    assert_string_equal(gyre_topology_get(t, "points"), "42");
    assert_string_equal(gyre_topology_get(t, "mode"), "md5_128");
    assert_int_equal(gyre_topology_set(t, "points", "100000", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "points", "1", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "like", "sample", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "like", "", NULL), GYRE_OK);
    gyre_topology_free(t);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("point", "5", GYRE_UNKNOWN, "did you mean 'points'?");
    refused("", "5", GYRE_UNKNOWN, "unknown placement setting ''");
    refused("zzzzzzzz", "5", GYRE_UNKNOWN, "unknown placement setting 'zzzzzzzz'");
    refused("algorithm", "rign", GYRE_UNKNOWN, "did you mean 'ring'? (one of ring|modulo|");
    refused("algorithm", "", GYRE_UNKNOWN, "algorithm: unknown value ''");
    refused("algorithm", "rin", GYRE_UNKNOWN, "did you mean 'ring'?");
    refused("algorithm", "ring|modulo", GYRE_UNKNOWN, "unknown value");
    refused("algorithm", "a word of more than thirty letters, far too long", GYRE_UNKNOWN,
            "'a word");
    refused("points", "0", GYRE_RANGE, "out of range (1..100000)");
    refused("points", "100001", GYRE_RANGE, "out of range");
    refused("points", "18446744073709551616", GYRE_RANGE, "out of range");
    refused("points", "340282366920938463463374607431768211456", GYRE_RANGE, "out of range");
    refused("points", "", GYRE_INVALID, "not a whole number");
    refused("points", "-1", GYRE_INVALID, "not a whole number");
    refused("points", "+1", GYRE_INVALID, "not a whole number");
    refused("points", " 1", GYRE_INVALID, "not a whole number");
    refused("points", "1e3", GYRE_INVALID, "not a whole number");
    refused("points", "0x10", GYRE_INVALID, "not a whole number");
    refused("points", "1\x1b[2J", GYRE_INVALID, "1\\x1b[2J");
    refused("hash_tag", "{", GYRE_INVALID, "two characters, or empty");
    refused("hash_tag", "{}x", GYRE_INVALID, "two characters, or empty");
}

/* With `like` the tag is off until asked for, and what get answers can be set again. */
static void test_tag_with_like(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("like sample");
    assert_string_equal(gyre_topology_get(t, "hash_tag"), "");
    assert_int_equal(gyre_topology_set(t, "hash_tag", "{}", NULL), GYRE_OK);
    assert_string_equal(gyre_topology_get(t, "hash_tag"), "{}");
    assert_int_equal(gyre_topology_set(t, "hash_tag", "", NULL), GYRE_OK);
    assert_string_equal(gyre_topology_get(t, "hash_tag"), "");
    gyre_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tag_with_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
