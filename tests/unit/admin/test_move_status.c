/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_move_status.c - what `gyre move` makes of the proxy's JSON: every field of docs/admin.md,
 * none of them, wrong ones, and text that would like to reach the terminal.
 */
#include "cli/move_history.h"
#include "cli/move_status.h"
#include "cli/term.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char moving[] =
    "{\"state\": \"moving\", \"epoch\": 3, \"from_version\": 7, \"to_version\": 8,"
    " \"units\": {\"total\": 160, \"stable\": 100, \"migrating\": 20, \"complete\": 10, \"cleaning\": 5,"
    " \"moved\": 25}, \"keys\": {\"moved\": 12034, \"on_access\": 310, \"scanned\": 80000,"
    " \"total_estimate\": 40100}, \"bytes\": 54840524, \"rate\": {\"keys_per_s\": 3210.4,"
    " \"bytes_per_s\": 1258291.2, \"keys_limit\": 5000, \"bytes_limit\": 0}, \"eta_s\": 12,"
    " \"elapsed_s\": 14.2, \"bigkeys\": [{\"name\": \"big\\u001b[31m%\", \"size\": 52428800}],"
    " \"moved\": 0.2001, \"minimum\": 0.2001, \"ratio\": 1, \"longest_hold_ms\": 3,"
    " \"warning\": \"'a'\\nwas restarted\", \"last_error\": \"no \\u001b]0;title\\u0007answer\\u0085\"}";

static void line(const char *json, const char *expected)
{
    struct gy_move_status s;
    struct gy_buf out = {0};
    assert_int_equal(gy_move_status_parse(json, strlen(json), &s, NULL), GYRE_OK);
    gy_move_line(&s, &out);
    assert_string_equal(gy_buf_cstr(&out), expected);
    gy_buf_fini(&out);
    gy_move_status_fini(&s);
}

static void the_progress_line(void **state)
{
    line(moving, "moving  40/160 units  12034/40100 keys  52.3 MB  3210 keys/s  1.2 MB/s  ETA 12 s"
                 "  held 3 ms");
    line("{\"state\": \"preparing\"}",
         "preparing  0/0 units  0 keys  0 B  0 keys/s  0 B/s  held 0 ms");
    line("{\"state\": \"moving\", \"eta_s\": null, \"units\": {\"total\": 2, \"moved\": 1}}",
         "moving  1/2 units  0 keys  0 B  0 keys/s  0 B/s  held 0 ms");
}

/* Backwards a unit has arrived when it is at its source again. */
static void units_count_backwards(void **state)
{
    line("{\"state\": \"aborting\", \"units\": {\"total\": 9, \"stable\": 2, \"aborting\": 4,"
         " \"returned\": 3}}",
         "aborting  5/9 units  0 keys  0 B  0 keys/s  0 B/s  held 0 ms");
    line("{\"state\": \"paused\", \"units\": {\"total\": 9, \"moved\": 4, \"purging\": 5}}",
         "paused  0/9 units  0 keys  0 B  0 keys/s  0 B/s  held 0 ms");
}

static void the_table(void **state)
{
    struct gy_move_status s;
    struct gy_buf out = {0};
    assert_int_equal(gy_move_status_parse(moving, strlen(moving), &s, NULL), GYRE_OK);
    gy_move_table(&s, &out);
    assert_string_equal(
        gy_buf_cstr(&out),
        "state         moving\n"
        "versions      7 -> 8 (move 3)\n"
        "plan          20.01 % of the keys; minimum 20.01 %, ratio 1.000\n"
        "units         40 of 160 done: 100 stable, 20 migrating, 10 complete, 5 cleaning, 25 moved\n"
        "keys          12034 moved of about 40100, 310 of them on access; 80000 scanned\n"
        "bytes         52.3 MB\n"
        "rate          3210 keys/s  1.2 MB/s  (limit 5000 keys/s)\n"
        "time          15 s so far, about 12 s to go\n"
        "longest hold  3 ms\n"
        "big keys      big%1B[31m%25  50.0 MB\n"
        "warning       'a'\\x0Awas restarted\n"
        "last error    no \\x1B]0;title\\x07answer\\xC2\\x85\n");
    gy_buf_fini(&out);
    gy_move_status_fini(&s);
}

/* Those not tried yet, those that failed; what a peer sent steers no terminal, and what is of the
 * wrong type is shown as not told. */
static void who_leaves(void **state)
{
    static const char text[] =
        "{\"state\": \"idle\", \"version\": 3, \"leaving\": ["
        "{\"name\": \"a\", \"address\": \"h:1\", \"users\": \"gyre-main-1-*\", \"since\": 1,"
        " \"tries\": 0, \"error\": null},"
        "{\"name\": \"b\\u001b[2J\", \"address\": \"h:2\", \"users\": \"u*\", \"since\": 9999999999,"
        " \"tries\": 2, \"error\": \"no\\u0007answer\"}, {\"name\": 7, \"since\": \"x\"}, 8]}";
    struct gy_move_status s;
    struct gy_buf out = {0};
    assert_int_equal(gy_move_status_parse(text, strlen(text), &s, NULL), GYRE_OK);
    gy_move_table(&s, &out);
    assert_string_equal(
        gy_buf_cstr(&out),
        "state         idle\n"
        "version       3 serves\n"
        "leaving       a at h:1: the proxy's users gyre-main-1-* are to be deleted there, for very "
        "long\n"
        "              b\\x1B[2J at h:2: the proxy's users u* are to be deleted there, for 0 s now: "
        "no\\x07answer; if it is gone for good: gyre move forget h:2\n"
        "              ? at ?: the proxy's users ? are to be deleted there, for very long\n"
        "              ? at ?: the proxy's users ? are to be deleted there, for very long\n");
    gy_buf_fini(&out);
    gy_move_status_fini(&s);
}

static void what_is_no_status(void **state)
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"state\": 1}",
        "{\"state\": \"idle\"",
        "{\"state\": \"moving\", \"epoch\": -1}",
        "{\"state\": \"moving\", \"epoch\": 1.5}",
        "{\"state\": \"moving\", \"keys\": {\"moved\": \"1\"}}",
        "{\"state\": \"moving\", \"units\": {\"total\": true}}",
        "{\"state\": \"moving\", \"eta_s\": \"soon\"}",
        "{\"state\": \"moving\", \"last_error\": 7}",
        "{\"state\": \"moving\", \"warning\": false}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct gy_move_status s;
        gyre_error_t e = {0};
        int err = gy_move_status_parse(texts[i], strlen(texts[i]), &s, &e);
        if (err != GYRE_SYNTAX) {
            fail_msg("%s: %d", texts[i], err);
        }
        assert_int_equal(e.code, GYRE_SYNTAX);
        assert_null(s.root);
    }
}

static void sizes_and_times(void **state)
{
    static const struct {
        double v;
        const char *bytes, *seconds;
    } cases[] = {
        {0, "0 B", "0 s"},
        {0.4, "0 B", "1 s"},
        {59.2, "59 B", "1 min 0 s"},
        {1023, "1023 B", "17 min 3 s"},
        {1024, "1.0 KB", "17 min 4 s"},
        {7800, "7.6 KB", "2 h 10 min"},
        {1e9, "954 MB", "very long"},
        {1e30, NULL, "very long"},
        {-5, NULL, "0 s"},
    };
    struct gy_buf out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].bytes) {
            gy_buf_reset(&out);
            gy_move_put_bytes(&out, cases[i].v);
            assert_string_equal(gy_buf_cstr(&out), cases[i].bytes);
        }
        gy_buf_reset(&out);
        gy_term_seconds(&out, cases[i].v);
        assert_string_equal(gy_buf_cstr(&out), cases[i].seconds);
    }
    gy_buf_fini(&out);
}

static const char history[] =
    "{\"moves\": [{\"epoch\": 4, \"from_version\": 7, \"to_version\": 8, \"result\": \"moved\","
    " \"started_at\": 1764484000, \"ended_at\": 1764484075, \"keys\": 20012, \"bytes\": 63963136,"
    " \"ratio\": 1, \"longest_hold_ms\": 4}, {\"epoch\": 3, \"from_version\": 7, \"to_version\": 8,"
    " \"result\": \"aborted\", \"started_at\": 0, \"ended_at\": 0, \"keys\": 5, \"bytes\": 9},"
    " {\"epoch\": 1, \"from_version\": 6, \"to_version\": 7, \"result\": \"aborted\"}]}";

static void the_newest_of_a_version_counts(void **state)
{
    struct gy_move_end end;
    gyre_error_t e = {0};
    size_t n = strlen(history);
    assert_int_equal(gy_move_history_end(history, n, 8, &end, &e), GYRE_OK);
    assert_true(end.moved);
    assert_int_equal(end.keys, 20012);
    assert_int_equal(end.bytes, 63963136);
    assert_int_equal(end.longest_hold_ms, 4);
    assert_int_equal((int)end.seconds, 75);
    assert_int_equal(end.serves, 8);
    assert_int_equal(gy_move_history_end(history, n, 7, &end, &e), GYRE_OK);
    assert_false(end.moved);
    assert_int_equal(end.serves, 6);
    assert_int_equal(gy_move_history_end(history, n, 9, &end, &e), GYRE_UNKNOWN);
    assert_int_equal(gy_move_history_end("{}", 2, 8, &end, &e), GYRE_SYNTAX);
    assert_int_equal(gy_move_history_end("{\"moves\": [7]}", 14, 8, &end, &e), GYRE_UNKNOWN);
}

static void the_final_json_has_the_end(void **state)
{
    struct gy_buf status = {0}, past = {0};
    gy_buf_puts(&status, "{\"state\": \"idle\", \"version\": 8}");
    gy_buf_puts(&past, history);
    gy_move_history_join(&status, &past, 9);
    assert_string_equal(gy_buf_cstr(&status), "{\"state\": \"idle\", \"version\": 8}");
    gy_move_history_join(&status, &past, 7);
    assert_string_equal(gy_buf_cstr(&status),
                        "{\"state\": \"idle\", \"version\": 8,\"last\":{\"epoch\":1,"
                        "\"from_version\":6,\"to_version\":7,\"result\":\"aborted\"}}");
    gy_buf_reset(&past);
    gy_move_history_join(&status, &past, 7);
    assert_true(gy_buf_size(&status) > 0);
    gy_buf_fini(&status);
    gy_buf_fini(&past);
}

/* `last` is the entry, member by member, whatever kinds these are. */
static void the_end_is_the_entry(void **state)
{
    static const char entry[] =
        "{\"epoch\":7,\"result\":\"moved\",\"weak_fencing\":false,\"same_data\":true,\"ratio\":0.2,"
        "\"to_version\":7,\"ended_at\":null,\"least\":-9007199254740993}";
    struct gy_buf status = {0}, past = {0}, wished = {0};
    gy_buf_puts(&status, "{\"state\":\"idle\"}");
    gy_buf_printf(&past, "{\"moves\":[%s]}", entry);
    gy_buf_printf(&wished, "{\"state\":\"idle\",\"last\":%s}", entry);
    gy_move_history_join(&status, &past, 7);
    assert_string_equal(gy_buf_cstr(&status), gy_buf_cstr(&wished));
    gy_buf_fini(&status);
    gy_buf_fini(&past);
    gy_buf_fini(&wished);
}

static void the_history_table(void **state)
{
    struct gy_buf out = {0};
    gyre_error_t e = {0};
    assert_int_equal(gy_move_history_table(history, strlen(history), &out, &e), GYRE_OK);
    const char *text = gy_buf_cstr(&out);
    assert_non_null(strstr(text, "2025-11-30 06:26:40Z"));
    assert_non_null(strstr(text, "61.0 MB"));
    assert_non_null(strstr(text, "1 min 15 s"));
    assert_non_null(strstr(text, "aborted"));
    gy_buf_reset(&out);
    assert_int_equal(gy_move_history_table("{\"moves\": []}", 13, &out, &e), GYRE_OK);
    assert_string_equal(gy_buf_cstr(&out), "nothing has been moved yet\n");
    assert_int_equal(gy_move_history_table("[]", 2, &out, &e), GYRE_SYNTAX);
    gy_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_progress_line),
        cmocka_unit_test(units_count_backwards),
        cmocka_unit_test(the_table),
        cmocka_unit_test(who_leaves),
        cmocka_unit_test(what_is_no_status),
        cmocka_unit_test(sizes_and_times),
        cmocka_unit_test(the_newest_of_a_version_counts),
        cmocka_unit_test(the_final_json_has_the_end),
        cmocka_unit_test(the_end_is_the_entry),
        cmocka_unit_test(the_history_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
