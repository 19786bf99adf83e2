/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_body.c - the JSON bodies of the admin's POSTs: every option arrives where it belongs, and
 * nothing misspelt or ill-typed is taken for a default.
 */
#include "admin/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TO                                                                      \
    "\"to\": \"gyre: 1\\nversion: 8\\nplacement: {algorithm: ring}\\nnodes:\\n" \
    "  - {name: a, address: '127.0.0.1:1'}\\n  - {name: b, address: '127.0.0.1:2'}\\n\""

static void every_option_arrives(void **state)
{
    static const char body[] =
        "{" TO
        ", \"purge_destination\": true, \"same_data\": true, \"weak_fencing\": true, \"keys_per_s\": 5000,"
        " \"bytes_per_s\": 10485760, \"chunks\": 64, \"wave\": 8}";
    gyre_topology_t *next;
    struct gy_move_options o;
    gyre_error_t e = {0};
    assert_int_equal(gy_body_move(body, strlen(body), &next, &o, &e), GYRE_OK);
    assert_int_equal(gyre_topology_version(next), 8);
    assert_int_equal(gyre_topology_count(next), 2);
    assert_true(o.purge_destination && o.same_data && o.weak_fencing);
    assert_int_equal(o.keys_per_s, 5000);
    assert_int_equal(o.bytes_per_s, 10485760);
    assert_int_equal(o.chunks, 64);
    assert_int_equal(o.wave, 8);
    gyre_topology_free(next);
}

static void absent_is_the_default(void **state)
{
    static const char body[] = "{" TO "}";
    gyre_topology_t *next;
    struct gy_move_options o;
    assert_int_equal(gy_body_move(body, strlen(body), &next, &o, NULL), GYRE_OK);
    assert_false(o.purge_destination || o.same_data || o.weak_fencing);
    assert_int_equal(o.keys_per_s + o.bytes_per_s + o.chunks + o.wave, 0);
    gyre_topology_free(next);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *body;
        int code;
        const char *says;
    } cases[] = {
        {"", GYRE_SYNTAX, "not JSON"},
        {"{", GYRE_SYNTAX, "not JSON"},
        {"[]", GYRE_INVALID, "not a JSON object"},
        {"{}", GYRE_INVALID, "\"to\""},
        {"{\"to\": 1}", GYRE_INVALID, "\"to\""},
        {"{" TO "} x", GYRE_SYNTAX, "not JSON"},
        {"{" TO ", " TO "}", GYRE_SYNTAX, "not JSON"},
        {"{" TO ", \"purge_destinaton\": true}", GYRE_UNKNOWN, "purge_destination"},
        {"{" TO ", \"whatever\": true}", GYRE_UNKNOWN, "whatever"},
        {"{" TO ", \"same_data\": 1}", GYRE_INVALID, "same_data"},
        {"{" TO ", \"same_data\": \"true\"}", GYRE_INVALID, "same_data"},
        {"{" TO ", \"keys_per_s\": -1}", GYRE_RANGE, "keys_per_s"},
        {"{" TO ", \"keys_per_s\": 1.5}", GYRE_INVALID, "keys_per_s"},
        {"{" TO ", \"keys_per_s\": 99999999999999999999}", GYRE_SYNTAX, "not JSON"},
        {"{" TO ", \"chunks\": 65537}", GYRE_RANGE, "chunks"},
        {"{" TO ", \"wave\": 4294967296}", GYRE_RANGE, "wave"},
        {"{\"to\": \"a\\u0000b\"}", GYRE_SYNTAX, "not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gyre_topology_t *next;
        struct gy_move_options o;
        gyre_error_t e = {0};
        int err = gy_body_move(cases[i].body, strlen(cases[i].body), &next, &o, &e);
        if (err != cases[i].code || !strstr(e.message, cases[i].says)) {
            fail_msg("%s: %d %s", cases[i].body, err, e.message);
        }
        assert_null(next);
    }
}

static void a_bad_topology_has_line_and_column(void **state)
{
    static const char body[] = "{\"to\": \"gyre: 1\\nversion: 8\\nnoeds: []\\n\"}";
    gyre_topology_t *next;
    struct gy_move_options o;
    gyre_error_t e = {0};
    assert_int_not_equal(gy_body_move(body, strlen(body), &next, &o, &e), GYRE_OK);
    assert_int_equal(e.line, 3);
    assert_non_null(strstr(e.message, "nodes"));
}

static void a_rate_needs_both(void **state)
{
    static const struct {
        const char *body;
        int code;
    } cases[] = {
        {"{\"keys_per_s\": 7, \"bytes_per_s\": 9}", GYRE_OK},
        {"{\"keys_per_s\": 7}", GYRE_INVALID},
        {"{\"bytes_per_s\": 7}", GYRE_INVALID},
        {"{\"keys_per_s\": 7, \"bytes_per_s\": 9, \"bytes\": 1}", GYRE_UNKNOWN},
        {"{\"keys_per_s\": null, \"bytes_per_s\": 9}", GYRE_INVALID},
        {"null", GYRE_SYNTAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t keys = 0, bytes = 0;
        gyre_error_t e = {0};
        int err = gy_body_rate(cases[i].body, strlen(cases[i].body), &keys, &bytes, &e);
        if (err != cases[i].code) {
            fail_msg("%s: %d %s", cases[i].body, err, e.message);
        }
        if (err == GYRE_OK) {
            assert_int_equal(keys, 7);
            assert_int_equal(bytes, 9);
        }
    }
}

static void whom_to_forget(void **state)
{
    static const struct {
        const char *body;
        int code;
    } cases[] = {
        {"{\"address\": \"h:1\"}", GYRE_OK},
        {"{}", GYRE_INVALID},
        {"{\"address\": 7}", GYRE_INVALID},
        {"{\"address\": null}", GYRE_INVALID},
        {"{\"adress\": \"h:1\"}", GYRE_UNKNOWN},
        {"{\"address\": \"h:1\", \"name\": \"a\"}", GYRE_UNKNOWN},
        {"{\"address\": \"h:1\\u0000x\"}", GYRE_SYNTAX},
        {"[\"h:1\"]", GYRE_INVALID},
        {"", GYRE_SYNTAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *address;
        gyre_error_t e = {0};
        int err = gy_body_address(cases[i].body, strlen(cases[i].body), &address, &e);
        if (err != cases[i].code) {
            fail_msg("%s: %d %s", cases[i].body, err, e.message);
        }
        assert_int_equal(address != NULL, err == GYRE_OK);
        if (address) {
            assert_string_equal(address, "h:1");
        }
        free(address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_arrives),
        cmocka_unit_test(absent_is_the_default),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(a_bad_topology_has_line_and_column),
        cmocka_unit_test(a_rate_needs_both),
        cmocka_unit_test(whom_to_forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
