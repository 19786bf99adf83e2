/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_keys.c - keys from a pipe that gives them in pieces of every size, with every separator, are
 * the same keys; one longer than any buffer is whole; a malformed escape names its line.
 */
#include "cli/cmd.h"
#include "cli/keys.h"
#include "cli/term.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT 1000

/* Key i of the made-up set: lengths 0 to 40, any byte but the separator. */
static size_t make_key(size_t i, char separator, char *out)
{
    size_t len = i * 7 % 41;
    for (size_t b = 0; b < len; b++) {
        out[b] = (char)(i * 31 + b * 17);
        out[b] = out[b] == separator || out[b] == '\r' ? 'x' : out[b];
    }
    return len;
}

/* Everything into a file, then read from it. */
static char *write_file(char separator, bool last)
{
    static char path[] = "/tmp/gyre-keys-XXXXXX";
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    char key[64];
    for (size_t i = 0; i < COUNT; i++) {
        size_t len = make_key(i, separator, key);
        assert_int_equal(fwrite(key, 1, len, f), len);
        if (i + 1 < COUNT || last) {
            fputc(separator, f);
        }
    }
    fclose(f);
    return path;
}

static void check_file(char separator, bool last)
{
    char *path = write_file(separator, last);
    struct gy_keys_from from = {.lines = separator ? path : NULL, .nul = separator ? NULL : path};
    struct gy_keys k;
    size_t seen = 0;
    char key[64];
    assert_int_equal(gy_keys_open(&k, &from, NULL, 0, false), GY_EXIT_OK);
    while (gy_keys_next(&k) == GY_EXIT_OK && k.count) {
        assert_int_equal(k.number, seen);
        for (size_t i = 0; i < k.count; i++, seen++) {
            size_t len = make_key(seen, separator, key);
            assert_int_equal(k.len[i], len);
            assert_memory_equal(k.key[i], key, len);
        }
    }
    assert_int_equal(seen, COUNT);
    gy_keys_close(&k);
    unlink(path);
}

static void separators(void **state)
{
    (void)state;
    assert_true(make_key(COUNT - 1, 0, (char[64]){0}) > 0); /* else the last key needs its end */
    check_file('\n', true);
    check_file('\n', false);
    check_file('\0', true);
    check_file('\0', false);
}

/* A pipe gives what is there, however little. */
static void pieces(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    struct gy_keys k = {.fd = fds[0], .separator = '\n', .name = "pipe"};
    assert_int_equal(write(fds[1], "ab", 2), 2);
    assert_int_equal(write(fds[1], "c\nd", 3), 3);
    assert_int_equal(gy_keys_next(&k), GY_EXIT_OK);
    assert_int_equal(k.count, 1);
    assert_memory_equal(k.key[0], "abc", 3);
    assert_int_equal(write(fds[1], "e\n\n", 3), 3);
    assert_int_equal(gy_keys_next(&k), GY_EXIT_OK);
    assert_int_equal(k.count, 2);
    assert_memory_equal(k.key[0], "de", 2);
    assert_int_equal(k.len[1], 0);
    close(fds[1]);
    assert_int_equal(gy_keys_next(&k), GY_EXIT_OK);
    assert_int_equal(k.count, 0);
    gy_keys_close(&k);
}

static void one_long_key(void **state)
{
    (void)state;
    char path[] = "/tmp/gyre-keys-XXXXXX";
    int fd = mkstemp(path);
    size_t size = 3 << 20;
    char *long_key = malloc(size);
    assert_true(fd >= 0 && long_key);
    memset(long_key, 'k', size);
    long_key[0] = 'a';
    assert_int_equal(write(fd, "b\n", 2), 2);
    assert_int_equal(write(fd, long_key, size), (ssize_t)size);
    assert_int_equal(write(fd, "\nc", 2), 2);
    struct gy_keys_from from = {.lines = path};
    struct gy_keys k;
    size_t lens[3], n = 0;
    assert_int_equal(gy_keys_open(&k, &from, NULL, 0, false), GY_EXIT_OK);
    while (gy_keys_next(&k) == GY_EXIT_OK && k.count) {
        for (size_t i = 0; i < k.count; i++) {
            lens[n++] = k.len[i];
        }
    }
    assert_int_equal(n, 3);
    assert_int_equal(lens[1], size);
    assert_int_equal(lens[2], 1);
    gy_keys_close(&k);
    close(fd);
    unlink(path);
    free(long_key);
}

static void escapes(void **state)
{
    (void)state;
    static const char *const bad[] = {"%", "a%4", "%zz", "%4z", "%%41", "%-1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[8];
        size_t n = (size_t)snprintf(text, sizeof text, "%s", bad[i]);
        assert_false(gy_term_decode((uint8_t *)text, &n));
    }
    /* Encoding and decoding every byte gives it back. */
    uint8_t all[256];
    struct gy_buf out = {0};
    for (size_t i = 0; i < 256; i++) {
        all[i] = (uint8_t)i;
    }
    gy_term_encode(&out, (struct gy_slice){all, 256});
    size_t n = gy_buf_size(&out);
    assert_true(memchr(gy_buf_head(&out), '\n', n) == NULL);
    assert_true(gy_term_decode(out.data, &n));
    assert_int_equal(n, 256);
    assert_memory_equal(out.data, all, 256);
    gy_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators),
        cmocka_unit_test(pieces),
        cmocka_unit_test(one_long_key),
        cmocka_unit_test(escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
