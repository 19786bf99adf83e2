/* SPDX-License-Identifier: Apache-2.0 */
/* test_change.c - --add, --remove, --weight and --replace: every form, and every mistake. */
#include "cli/change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct row {
    enum gyre_change_kind kind;
    const char *text;
    const char *name, *address, *zone; /* or, name NULL: address is the reason */
    double weight;
};

static const struct row ROWS[] = {
    {GYRE_ADD, "c=h:1", "c", "h:1", NULL, 1},
    {GYRE_ADD, "c=h:1,weight=2.5,zone=eu/a", "c", "h:1", "eu/a", 2.5},
    {GYRE_ADD, "c=[::1]:2,zone=a=b", "c", "[::1]:2", "a=b", 1},
    {GYRE_ADD, "c=unix:/run/a=b.sock", "c", "unix:/run/a=b.sock", NULL, 1},
    {GYRE_ADD, "a,b c=h:1,weight=0", "a,b c", "h:1", NULL, 0},
    {GYRE_ADD, "a\\=b\\\\=h:1", "a=b\\", "h:1", NULL, 1},
    {GYRE_REMOVE, "a=b\\c", "a=b\\c", NULL, NULL, 1},
    {GYRE_WEIGHT, "c=0.000001", "c", NULL, NULL, 0.000001},
    {GYRE_REPLACE, "c=h:1", "c", "h:1", NULL, 1},
    {GYRE_ADD, "c", NULL, "there is no '='; write --add NAME=ADDRESS", NULL, 0},
    {GYRE_ADD, "c\\=h:1", NULL, "there is no '='", NULL, 0},
    {GYRE_ADD, "=h:1", NULL, "name must not be empty", NULL, 0},
    {GYRE_ADD, "", NULL, "there is no '='", NULL, 0},
    {GYRE_ADD, "c=", NULL, "address '' has no port", NULL, 0},
    {GYRE_ADD, "c=::1:6379", NULL, "write \"[::1]:6379\"", NULL, 0},
    {GYRE_ADD, "c=h:1,", NULL, "unknown property ''", NULL, 0},
    {GYRE_ADD, "c=h:1,weight", NULL, "unknown property 'weight'; known: weight=W, zone=Z", NULL, 0},
    {GYRE_ADD, "c=h:1,wieght=2", NULL, "unknown property 'wieght=2'", NULL, 0},
    {GYRE_ADD, "c=h:1,weight=1e9", NULL, "weight is '1e9'", NULL, 0},
    {GYRE_ADD, "c=h:1,zone=", NULL, "zone must not be empty", NULL, 0},
    {GYRE_ADD, "a\tb=h:1", NULL, "control character U+0009", NULL, 0},
    {GYRE_ADD, "a\xff=h:1", NULL, "is not UTF-8 at byte 2", NULL, 0},
    {GYRE_REMOVE, "", NULL, "name must not be empty", NULL, 0},
    {GYRE_WEIGHT, "c=-1", NULL, "weight is '-1'", NULL, 0},
    {GYRE_WEIGHT, "c=NaN", NULL, "weight is 'NaN'", NULL, 0},
    {GYRE_WEIGHT, "c=1,zone=x", NULL, "weight is '1,zone=x'", NULL, 0},
    {GYRE_REPLACE, "c=h", NULL, "address 'h' has no port", NULL, 0},
};

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void rows(void **state)
{
    (void)state;
    struct gy_changes c = {0};
    size_t taken = 0;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *r = &ROWS[i];
        gyre_error_t e = {0};
        int rc = gy_changes_add(&c, r->kind, r->text, &e);
        if (!r->name) {
            if (!rc || !strstr(e.message, r->address) || c.count != taken) {
                fail_msg("%s: %d, %s", r->text, rc, e.message);
            }
            continue;
        }
        assert_int_equal(rc, 0);
        assert_int_equal(c.count, ++taken);
        const struct gyre_change *got = &c.list[taken - 1];
        if (got->kind != r->kind || !same(got->node.name, r->name) ||
            !same(got->node.address, r->address) || !same(got->node.zone, r->zone) ||
            got->node.weight < r->weight || got->node.weight > r->weight) {
            fail_msg("%s: %s %s %s %f", r->text, got->node.name, got->node.address, got->node.zone,
                     got->node.weight);
        }
    }
    gy_changes_fini(&c);
    assert_null(c.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
