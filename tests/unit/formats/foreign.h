/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h - a table of refusals, and its driver: what is refused, where, and for which reason. */
#ifndef GY_TEST_FOREIGN_H
#define GY_TEST_FOREIGN_H

#include "formats/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct refusal {
    const char *format; /* NULL: recognised */
    const char *text;
    unsigned line, column;
    const char *says;
};

/* Reads the text and picks its only pool, as a command does. */
static int refuse_one(struct gy_slice text, const char *format, struct gy_pools **out,
                      gyre_error_t *e)
{
    struct gy_source from = {.file = "f", .format = format};
    struct gy_pool *pool;
    int rc = gy_pools_parse(text, &from, out, e);
    return rc ? rc : gy_pools_pick(*out, NULL, "f", &pool, e);
}

static void refuse_all(const struct refusal *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct refusal *r = &rows[i];
        struct gy_pools *f = NULL;
        gyre_error_t e = {0};
        int rc = refuse_one(gy_str(r->text), r->format, &f, &e);
        gy_pools_free(f);
        if (!rc || !strstr(e.message, r->says) || e.line != r->line || e.column != r->column) {
            fail_msg("%s\ngives %d %u:%u: %s\nnot %u:%u: %s", r->text, rc, e.line, e.column,
                     e.message, r->line, r->column, r->says);
        }
        assert_int_equal(e.code, rc);
        f = NULL;
        assert_int_equal(refuse_one(gy_str(r->text), r->format, &f, NULL), rc);
        gy_pools_free(f);
    }
}

#endif
