/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_oom.c - each study with an allocation failing, one of the first and then ever later ones: a
 * clean "out of memory", and no leak (which the sanitizer's build sees). vasprintf's own
 * allocations are in libc and not wrapped.
 */
#include "study/study.h"
#include "study/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);

static long left = -1; /* allocations until one fails; -1: none does */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
    return fails() ? NULL : __real_reallocarray(p, n, size);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

static uint64_t ticks(void)
{
    static uint64_t t;
    return t += 1000;
}

static int run(const struct gy_study *s, long fail_at, long *used)
{
    struct gy_lab lab = {.seed = 1, .now = ticks};
    struct gy_result r = {0};
    struct gy_buf svg = {0};
    for (size_t i = 0; s->params[i].name; i++) {
        lab.value[i] = s->params[i].min;
    }
    left = fail_at;
    int rc = gy_study_run(s, &lab, &r);
    *used = fail_at - left;
    gy_svg_write(&svg, s, &r); /* what there is of it, with memory or without */
    left = -1;
    gy_buf_fini(&svg);
    gy_result_fini(&r);
    return rc;
}

static void every_study(void **state)
{
    (void)state;
    for (size_t i = 0; gy_studies[i]; i++) {
        long used, all;
        assert_int_equal(run(gy_studies[i], 1000000000, &all), GYRE_OK);
        for (long n = 0; n < all; n += n < 4 ? 1 : n) {
            int rc = run(gy_studies[i], n, &used);
            if (rc != GYRE_NOMEM) {
                fail_msg("%s, allocation %ld of %ld: %s", gy_studies[i]->name, n, all,
                         gyre_err_name(rc));
            }
        }
        assert_int_equal(run(gy_studies[i], all - 1, &used), GYRE_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_study)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
