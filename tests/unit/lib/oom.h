/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oom.h - memory that runs out when a test says so. The three functions of lib/alloc.h are defined
 * here, so the linker leaves the library's own out; one file of a program includes this.
 */
#ifndef TESTS_UNIT_LIB_OOM_H
#define TESTS_UNIT_LIB_OOM_H

#include "fleet.h"

#include <stdlib.h>

#include "lib/alloc.h"

static size_t until_failure; /* allocations that still succeed */
static size_t held;          /* blocks not yet freed */

static bool failing(void)
{
    if (until_failure == 0) {
        return true;
    }
    until_failure--;
    return false;
}

void *gy_mem_alloc(size_t count, size_t size)
{
    void *p = failing() ? NULL : malloc(count * size + 1);
    held += p != NULL;
    return p;
}

void *gy_mem_grow(void *p, size_t count, size_t size)
{
    void *q = failing() ? NULL : realloc(p, count * size + 1);
    held += q && !p;
    return q;
}

void gy_mem_free(void *p)
{
    held -= p != NULL;
    free(p);
}

/* Runs op with 0, 1, 2, ... allocations allowed until it succeeds. */
static void each_failure(const char *name, int (*op)(gyre_error_t *e))
{
    for (size_t n = 0;; n++) {
        gyre_error_t e = {0};
        size_t before = held;
        until_failure = n;
        int err = op(&e);
        bool ran_out = until_failure == 0;
        until_failure = SIZE_MAX;
        if (held != before) {
            fail_msg("%s leaks %zu blocks when allocation %zu fails", name, held - before, n);
        }
        if (!err) {
            assert_true(n > 0); /* it did allocate, so the loop has tried something */
            return;
        }
        assert_int_equal(err, GYRE_NOMEM);
        assert_true(ran_out);
        assert_string_equal(e.message, e.code ? "out of memory" : "");
    }
}

#endif
