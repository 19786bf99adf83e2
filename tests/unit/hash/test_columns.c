/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_columns.c - columns FILE...: the hash columns of vector files, whatever else the files say;
 * and of each file a copy in which one digit of one hash is wrong, which must be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#undef fail /* cmocka's; here it is the vector driver's */

#include "vectors/hashes.h"

static char **paths;
static int path_count;

void pass(struct verdict *v)
{
    v->passed++;
}

void fail(struct verdict *v, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(v->why, sizeof v->why, format, ap);
    va_end(ap);
    v->failed++;
}

void refuse(struct verdict *v, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(v->why, sizeof v->why, format, ap);
    va_end(ap);
    v->refused = true;
}

/* A digit of the last hash column of the row in the middle. */
static char *some_digit(const struct vfile *f)
{
    struct hash_input none = {0};
    char out[HASH_CELL], *cell = NULL;
    for (size_t i = 0; i < f->columns; i++) {
        if (hash_cell(f, f->column[i], &none, out) != HASH_NONE) {
            cell = f->row[f->rows / 2].column[i];
        }
    }
    return cell ? cell + strlen(cell) - 1 : NULL;
}

static void test_columns(void **state)
{
    (void)state;
    assert_true(path_count > 0);
    for (int i = 0; i < path_count; i++) {
        struct vfile f;
        struct verdict good = {0}, bad = {0};
        bool read = vf_read(&f, paths[i]);
        if (read) {
            check_hash_columns(&f, &good);
        }
        if (!read || good.refused || good.failed) {
            print_error("%s: %s%s\n", paths[i], f.error, good.why);
        }
        assert_true(read && !good.refused && !good.failed);
        assert_true(f.rows > 0 && good.passed == f.rows);
        char *digit = some_digit(&f);
        assert_non_null(digit);
        *digit = *digit == '1' ? '2' : '1';
        check_hash_columns(&f, &bad);
        assert_int_equal(bad.failed, 1);
        assert_int_equal(bad.passed, f.rows - 1);
        vf_free(&f);
    }
}

int main(int argc, char **argv)
{
    paths = argv + 1;
    path_count = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
