/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_secret.c - secret_file: both forms, what is no secret, files that are none; errors stand at
 * the setting and never show what the file holds.
 */
#include "formats/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEX   "000102030405060708090A0b0c0d0e0f"
#define CHECK "acbedd6fb1151c20" /* of that secret */

static char dir[] = "/tmp/gyre-secret-XXXXXX", path[64];

static int set_up(void **state)
{
    (void)state;
    bool made = mkdtemp(dir) != NULL;
    snprintf(path, sizeof path, "%s/secret", dir);
    return made ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void write_secret(const void *bytes, size_t n, mode_t mode)
{
    unlink(path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static int parse(const char *more, struct gy_config **c, gyre_error_t *e)
{
    char text[400];
    snprintf(text, sizeof text,
             "gyre: 1\nplacement:\n  hash: siphash\n  secret_file: %s\n%snodes: [{name: a}]\n",
             path, more);
    *e = (gyre_error_t){0};
    return gy_config_parse(text, strlen(text), "f.yaml", c, e);
}

static void accepted(const char *more)
{
    struct gy_config *c;
    gyre_error_t e;
    struct gy_buf out = {0};
    if (parse(more, &c, &e)) {
        fail_msg("%s", e.message);
    }
    assert_string_equal(gyre_topology_get(c->topology, "secret_check"), CHECK);
    gy_config_dump(c->topology, NULL, &out);
    assert_non_null(strstr(gy_buf_cstr(&out), "secret_check: " CHECK "\n"));
    assert_null(strstr(gy_buf_cstr(&out), "0a0b0c"));
    assert_null(strstr(gy_buf_cstr(&out), "0A0b0c"));
    gy_buf_fini(&out);
    gy_config_free(c);
}

static void refused(const char *more, const char *word)
{
    struct gy_config *c;
    gyre_error_t e;
    assert_true(parse(more, &c, &e) < 0);
    assert_null(c);
    assert_int_equal(e.line, 4);
    assert_int_equal(e.column, 16);
    if (!strstr(e.message, word)) {
        fail_msg("'%s' is not in: %s", word, e.message);
    }
    assert_null(strstr(e.message, "0a0b"));
}

static void both_forms(void **state)
{
    (void)state;
    static const unsigned char raw[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    write_secret(raw, sizeof raw, 0600);
    accepted("");
    write_secret(HEX, 32, 0600);
    accepted("");
    write_secret(HEX "\n", 33, 0600);
    accepted("  secret_check: " CHECK "\n");
    write_secret(HEX "\r\n", 34, 0600);
    accepted("");
}

static void no_secrets(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "short", HEX "0", HEX "\n\n", HEX " ", HEX "\r", "000102030405060708090a0b0c0d0e0g"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_secret(bad[i], strlen(bad[i]), 0600);
        refused("", "neither 16 bytes nor 32 hexadecimal digits");
    }
    write_secret("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 0600);
    refused("", "all zeros");
    write_secret(HEX, 32, 0600);
    refused("  secret_check: acbedd6fb1151c21\n", "another secret");
}

static void no_files(void **state)
{
    (void)state;
    unlink(path);
    refused("", "No such file");
    assert_int_equal(mkfifo(path, 0600), 0); /* would block its reader */
    refused("", "not a plain file");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    refused("", "not a plain file");
    rmdir(path);
    assert_int_equal(symlink("/dev/zero", path), 0); /* has no end */
    refused("", "not a plain file");
}

static void open_to_all(void **state)
{
    (void)state;
    static const struct {
        mode_t mode;
        bool exposed;
    } rows[] = {{0600, false}, {0640, false}, {0604, true}, {0602, true}, {0666, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gy_config *c;
        gyre_error_t e;
        write_secret(HEX, 32, rows[i].mode);
        assert_int_equal(parse("", &c, &e), GYRE_OK);
        assert_int_equal(c->secret_exposed, rows[i].exposed);
        gy_config_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms),
        cmocka_unit_test(no_secrets),
        cmocka_unit_test(no_files),
        cmocka_unit_test(open_to_all),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
