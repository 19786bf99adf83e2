/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_move_args.c - the options of `gyre move ...`, and which proxy they mean.
 */
#include "cli/cmd.h"
#include "cli/move_args.h"
#include "cli/move_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS = 20 };

/* words: separated by one space, the subcommand's own name left out. */
static int parse(enum gy_move_sub sub, const char *words, struct gy_move_args *out)
{
    static char text[512];
    char *argv[WORDS + 2] = {NULL}, *rest = text;
    int argc = 1;
    char name[] = "sub";
    argv[0] = name;
    snprintf(text, sizeof text, "%s", words);
    for (char *w; argc < WORDS && (w = strsep(&rest, " ")) != NULL;) {
        if (*w) {
            argv[argc++] = w;
        }
    }
    return gy_move_args_parse(sub, argc, argv, out);
}

static void start_takes_all(void **state)
{
    struct gy_move_args a;
    assert_int_equal(parse(GY_MOVE_START,
                           "--add c=127.0.0.1:3,weight=2 --remove a -y --keys-per-second 5000 "
                           "--bytes-per-second=10MB --chunks 64 --wave 8",
                           &a),
                     GY_GO_ON);
    assert_int_equal(a.changes.count, 2);
    assert_int_equal(a.changes.list[0].kind, GYRE_ADD);
    assert_string_equal(a.changes.list[0].node.name, "c");
    assert_int_equal(a.changes.list[1].kind, GYRE_REMOVE);
    assert_true(a.yes && a.has_keys && a.has_bytes);
    assert_false(a.json || a.detach || a.purge_destination || a.same_data || a.weak_fencing);
    assert_int_equal(a.keys_per_s, 5000);
    assert_int_equal(a.bytes_per_s, 10 << 20);
    assert_int_equal(a.chunks, 64);
    assert_int_equal(a.wave, 8);
    gy_move_args_fini(&a);
    assert_int_equal(
        parse(
            GY_MOVE_START,
            "--replace b=127.0.0.1:9 --same-data --purge-destination --weak-fencing --json --detach "
            "--admin unix:/s",
            &a),
        GY_GO_ON);
    assert_true(a.json && a.detach && a.purge_destination && a.same_data && a.weak_fencing);
    assert_string_equal(a.admin, "unix:/s");
    gy_move_args_fini(&a);
}

static void mistakes_are_usage(void **state)
{
    static const struct {
        enum gy_move_sub sub;
        const char *words;
    } cases[] = {
        {GY_MOVE_START, ""},
        {GY_MOVE_START, "--yes"},
        {GY_MOVE_START, "--to f --add c=127.0.0.1:3"},
        {GY_MOVE_START, "--add"},
        {GY_MOVE_START, "--add c"},
        {GY_MOVE_START, "--add c=127.0.0.1:3 word"},
        {GY_MOVE_START, "--add c=127.0.0.1:3 --wave 0"},
        {GY_MOVE_START, "--add c=127.0.0.1:3 --chunks 65537"},
        {GY_MOVE_START, "--add c=127.0.0.1:3 --keys-per-second -1"},
        {GY_MOVE_START, "--add c=127.0.0.1:3 --keys-per-second 9223372036854775808"},
        {GY_MOVE_START, "--add c=127.0.0.1:3 --bytes-per-second 10XB"},
        {GY_MOVE_START, "--weight c=NaN"},
        {GY_MOVE_STATUS, "--add c=127.0.0.1:3"},
        {GY_MOVE_STATUS, "--yes"},
        {GY_MOVE_PAUSE, "--json"},
        {GY_MOVE_RATE, ""},
        {GY_MOVE_RATE, "--keys-per-second"},
        {GY_MOVE_HISTORY, "7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gy_move_args a;
        int rc = parse(cases[i].sub, cases[i].words, &a);
        if (rc != GY_EXIT_USAGE) {
            fail_msg("%s: %d", cases[i].words, rc);
        }
        gy_move_args_fini(&a);
    }
}

static void a_rate_may_be_lifted(void **state)
{
    struct gy_move_args a;
    assert_int_equal(parse(GY_MOVE_RATE, "--bytes-per-second 0", &a), GY_GO_ON);
    assert_true(a.has_bytes);
    assert_false(a.has_keys);
    assert_int_equal(a.bytes_per_s, 0);
    gy_move_args_fini(&a);
}

static void every_command_has_help(void **state)
{
    struct gy_buf all = {0};
    gy_move_overview(&all);
    for (unsigned i = 0; i < GY_MOVE_SUBS; i++) {
        struct gy_move_args a;
        assert_non_null(strstr(gy_buf_cstr(&all), gy_move_sub_name((enum gy_move_sub)i)));
        assert_int_equal(parse((enum gy_move_sub)i, "--help", &a), GY_EXIT_OK);
        gy_move_args_fini(&a);
    }
    gy_buf_fini(&all);
}

static void the_option_wins_over_file_and_environment(void **state)
{
    char path[] = "/tmp/gyre-move-XXXXXX", *address;
    static const char yaml[] = "gyre: 1\nversion: 1\nplacement: {algorithm: ring}\n"
                               "nodes: [{name: a, address: '127.0.0.1:1'}]\n"
                               "proxy: {listen: ['127.0.0.1:2'], admin: 'unix:/of/the/file'}\n";
    gyre_error_t e = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, yaml, strlen(yaml)), (int)strlen(yaml));
    close(fd);
    setenv("GYRE_ADMIN", "unix:/of/the/environment", 1);
    assert_int_equal(gy_client_find("unix:/option", path, &address, &e), GYRE_OK);
    assert_string_equal(address, "unix:/option");
    free(address);
    assert_int_equal(gy_client_find(NULL, path, &address, &e), GYRE_OK);
    assert_string_equal(address, "unix:/of/the/file");
    free(address);
    assert_int_equal(gy_client_find(NULL, NULL, &address, &e), GYRE_OK);
    assert_string_equal(address, "unix:/of/the/environment");
    free(address);
    unsetenv("GYRE_ADMIN");
    assert_int_equal(gy_client_find(NULL, NULL, &address, &e), GYRE_INVALID);
    assert_non_null(strstr(e.message, "GYRE_ADMIN"));
    unlink(path);
    assert_int_equal(gy_client_find(NULL, path, &address, &e), GYRE_IO);
}

static void no_answer_names_the_address(void **state)
{
    struct gy_client c;
    gyre_error_t e = {0};
    assert_int_equal(gy_client_init(&c, strdup("unix:/tmp/gyre-no-such-folder/s"), &e), GYRE_OK);
    int err = gy_client_get(&c, "/v1/move", &e);
    assert_int_equal(err, GYRE_IO);
    assert_false(c.reached);
    assert_int_equal(gy_client_exit(&c, err), GY_EXIT_UNREACHABLE);
    assert_non_null(strstr(e.message, "/tmp/gyre-no-such-folder/s"));
    assert_non_null(strstr(e.message, "--admin"));
    gy_client_fini(&c);
}

static void addresses_that_are_none(void **state)
{
    static const char *const texts[] = {"", "unix:", "http://", "a b:1", "u@h:1", "h:1/x", "h:1#x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct gy_client c;
        gyre_error_t e = {0};
        if (gy_client_init(&c, strdup(texts[i]), &e) != GYRE_INVALID) {
            fail_msg("\"%s\" was taken", texts[i]);
        }
        gy_client_fini(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_takes_all),
        cmocka_unit_test(mistakes_are_usage),
        cmocka_unit_test(a_rate_may_be_lifted),
        cmocka_unit_test(every_command_has_help),
        cmocka_unit_test(the_option_wins_over_file_and_environment),
        cmocka_unit_test(no_answer_names_the_address),
        cmocka_unit_test(addresses_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
