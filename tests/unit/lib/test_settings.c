/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_settings.c - the table of placement settings, and every way a value can be wrong.
 */
#include "fleet.h"
#include "lib/like/like.h"

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
    refused("like", "enovy", GYRE_UNKNOWN, "did you mean 'envoy'? (one of sample|");
    refused("algorithm", "rin", GYRE_UNKNOWN, "did you mean 'ring'?");
    refused("algorithm", "ring|modulo", GYRE_UNKNOWN, "unknown value");
    refused("algorithm", "a word of more than thirty letters, far too long", GYRE_UNKNOWN,
            "'a word");
    refused("points", "0", GYRE_RANGE, "out of range (1..100000)");
    refused("points", "100001", GYRE_RANGE, "out of range");
    refused("points", "18446744073709551616", GYRE_RANGE, "out of range");
    refused("points", "340282366920938463463374607431768211456", GYRE_RANGE, "out of range");
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

/* What a system has not is "", and may be set before the system is named: until then it waits, and
 * without a system there is no map. */
static void test_empty_waits(void **state)
{
    (void)state;
    gyre_topology_t *t = fleet_new("");
    gyre_map_t *m;
    gyre_error_t e = {0};
    fleet_many(t, "n", 3);
    assert_int_equal(gyre_topology_set(t, "points", "", NULL), GYRE_OK);
    assert_int_equal(gyre_map_build(t, &m, &e), GYRE_INVALID);
    assert_non_null(strstr(e.message, "points: '' is not a whole number"));
    assert_int_equal(gyre_topology_set(t, "points", "50", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "algorithm", "", NULL), GYRE_OK);
    assert_int_equal(gyre_map_build(t, &m, &e), GYRE_UNKNOWN);
    assert_non_null(strstr(e.message, "algorithm: unknown value ''"));
    assert_int_equal(gyre_topology_set(t, "points", "", NULL), GYRE_OK);
    assert_int_equal(gyre_topology_set(t, "like", "envoy", NULL), GYRE_OK);
    assert_string_equal(gyre_topology_get(t, "algorithm"), "");
    gyre_map_unref(fleet_map(t));
    /* Without the system again, all is as if it had never been. */
    assert_int_equal(gyre_topology_set(t, "like", "", NULL), GYRE_OK);
    assert_string_equal(gyre_topology_get(t, "algorithm"), "ring");
    assert_string_equal(gyre_topology_get(t, "points"), "1000");
    gyre_map_unref(fleet_map(t));
    gyre_topology_free(t);
}

/* As the header says how: settings, secret, nodes, removed slots, version; forwards or backwards.
 */
static gyre_topology_t *saved_and_loaded(const gyre_topology_t *t, const uint8_t *secret,
                                         bool backwards)
{
    size_t n, count;
    const struct gyre_setting *s = gyre_settings(&n);
    gyre_topology_t *u = fleet_new("");
    for (size_t k = 0; k < n; k++) {
        const char *key = s[backwards ? n - 1 - k : k].key, *value = gyre_topology_get(t, key);
        gyre_error_t e = {0};
        if (gyre_topology_set(u, key, value, &e)) {
            fail_msg("like '%s', %s: '%s': %s", gyre_topology_get(t, "like"), key, value,
                     e.message);
        }
    }
    if (*gyre_topology_get(t, "secret_check")) {
        assert_int_equal(gyre_topology_set_secret(u, secret, 16, NULL), GYRE_OK);
    }
    for (size_t i = 0; i < gyre_topology_count(t); i++) {
        assert_int_equal(gyre_topology_add(u, gyre_topology_node(t, i), NULL), GYRE_OK);
    }
    const uint32_t *removed = gyre_topology_removed(t, &count);
    assert_int_equal(gyre_topology_set_removed(u, removed, count, NULL), GYRE_OK);
    gyre_topology_set_version(u, gyre_topology_version(t));
    return u;
}

/* All reads alike, and the map is the same or refused for the same reason. Was there one? */
static bool survives(const gyre_topology_t *t, const uint8_t *secret)
{
    size_t n;
    gyre_map_t *m = NULL, *same = NULL;
    gyre_error_t e = {0}, again = {0};
    const struct gyre_setting *s = gyre_settings(&n);
    int err = gyre_map_build(t, &m, &e);
    for (int backwards = 0; backwards < 2; backwards++) {
        gyre_topology_t *u = saved_and_loaded(t, secret, backwards);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(gyre_topology_get(u, s[i].key), gyre_topology_get(t, s[i].key));
        }
        assert_int_equal(gyre_map_build(u, &same, &again), err);
        assert_string_equal(again.message, e.message);
        assert_true(err || gyre_map_same(m, same));
        gyre_map_unref(same);
        gyre_topology_free(u);
    }
    gyre_map_unref(m);
    return !err;
}

/* The last of the words, or a number that is no default. */
static const char *other_value(const struct gy_like_setting *row, const char *values)
{
    const char *word = strrchr(row ? row->values : values, '|');
    return word ? word + 1 : "7";
}

/* With the defaults, and with each setting that there is by itself at another value. Returns how
 * many maps there were. */
static unsigned each_setting(enum gy_like_id id, const char *like, const char *algorithm)
{
    static const uint8_t secret[17] = "not very secret!";
    const struct gy_like *system = gy_like_of(id);
    size_t n;
    unsigned maps = 0;
    const struct gyre_setting *s = gyre_settings(&n);
    for (size_t i = 0; i <= n; i++) {
        gyre_topology_t *t = fleet_new(system ? "" : "points 40 table 251");
        bool fits = i == n; /* n: none of them */
        assert_int_equal(gyre_topology_set(t, "like", like, NULL), GYRE_OK);
        if (!system) {
            assert_int_equal(gyre_topology_set(t, "algorithm", algorithm, NULL), GYRE_OK);
        }
        if (i < n && i != GY_SET_LIKE && i != GY_SET_ALGORITHM) {
            const struct gy_like_setting *row =
                system ? gy_like_setting(system, (enum gy_setting)i) : NULL;
            const char *value = other_value(row, s[i].values);
            fits = gyre_topology_set(t, s[i].key, value, NULL) == GYRE_OK;
        }
        if (fits) {
            fleet_many(t, "n", 6);
            if (!system) {
                assert_int_equal(gyre_topology_number(t, NULL), GYRE_OK);
            }
            if (strcmp(algorithm, "memento") == 0 || strcmp(algorithm, "dx") == 0) {
                assert_int_equal(gyre_topology_remove(t, "n2", NULL), GYRE_OK);
            }
            if (i == GY_SET_HASH && !system) {
                assert_int_equal(gyre_topology_set_secret(t, secret, 16, NULL), GYRE_OK);
            }
            gyre_topology_set_version(t, 7);
            maps += survives(t, secret);
        }
        gyre_topology_free(t);
    }
    return maps;
}

/* "Setting what was got gives the same map": every system, every algorithm, every setting. */
static void test_round_trip(void **state)
{
    (void)state;
    const struct gyre_setting *s = gyre_settings(NULL);
    char words[2][2048];
    for (int i = 0; i < 2; i++) {
        snprintf(words[i], sizeof words[i], "%s", s[i ? GY_SET_LIKE : GY_SET_ALGORITHM].values);
    }
    for (char *next = words[0], *word; (word = strsep(&next, "|"));) {
        assert_true(each_setting(GY_LIKE_NOTHING, "", word) >= 8);
    }
    char *next = words[1], *word = strsep(&next, "|");
    assert_string_equal(word, ""); /* none: that was above */
    for (unsigned id = GY_LIKE_NOTHING + 1; (word = strsep(&next, "|")); id++) {
        assert_true(each_setting((enum gy_like_id)id, word, "") >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),       cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_tag_with_like),
        cmocka_unit_test(test_empty_waits), cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
