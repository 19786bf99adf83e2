/* SPDX-License-Identifier: Apache-2.0 */
/* test_num.c - numbers, sizes and durations: every form taken, every form refused, and back. */
#include "base/num.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef int reader(struct gy_slice s, uint64_t *out);

struct row {
    const char *text;
    int rc;
    uint64_t value;
};

static void check(reader *read, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 77;
        int rc = read(gy_str(rows[i].text), &v);
        if (rc != rows[i].rc || v != (rc ? 77 : rows[i].value)) {
            fail_msg("'%s': rc %d, value %llu", rows[i].text, rc, (unsigned long long)v);
        }
    }
}

#define CHECK(read, rows) check(read, rows, sizeof rows / sizeof rows[0])

static void uints(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0", 0, 0},
        {"007", 0, 7},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", GYRE_RANGE, 0},
        {"99999999999999999999999999", GYRE_RANGE, 0},
        {"", GYRE_SYNTAX, 0},
        {"-1", GYRE_SYNTAX, 0},
        {"+1", GYRE_SYNTAX, 0},
        {" 1", GYRE_SYNTAX, 0},
        {"1 ", GYRE_SYNTAX, 0},
        {"0x10", GYRE_SYNTAX, 0},
        {"1.0", GYRE_SYNTAX, 0},
    };
    CHECK(gy_num_uint, rows);
}

static void micros(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"1", 0, 1000000},
        {"+2", 0, 2000000},
        {"0", 0, 0},
        {"-0", 0, 0},
        {"0.25", 0, 250000},
        {".5", 0, 500000},
        {"5.", 0, 5000000},
        {"1e-6", 0, 1},
        {"1E3", 0, 1000000000},
        {"1.50000000000", 0, 1500000},
        {"0e99999999999999999999", 0, 0},
        {"18446744073709.551615", 0, UINT64_MAX},
        {"18446744073709.551616", GYRE_RANGE, 0},
        {"1e-7", GYRE_RANGE, 0},
        {"0.0000001", GYRE_RANGE, 0},
        {"-1", GYRE_RANGE, 0},
        {"1e400", GYRE_RANGE, 0},
        {"1e-400", GYRE_RANGE, 0},
        {"NaN", GYRE_SYNTAX, 0},
        {"inf", GYRE_SYNTAX, 0},
        {"", GYRE_SYNTAX, 0},
        {".", GYRE_SYNTAX, 0},
        {"1e", GYRE_SYNTAX, 0},
        {"1e+", GYRE_SYNTAX, 0},
        {"1.2.3", GYRE_SYNTAX, 0},
        {"1,5", GYRE_SYNTAX, 0},
        {"0x1p3", GYRE_SYNTAX, 0},
        {"1 ", GYRE_SYNTAX, 0},
    };
    CHECK(gy_num_micros, rows);
}

static void sizes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0", 0, 0},
        {"17", 0, 17},
        {"17B", 0, 17},
        {"64MB", 0, 64 << 20},
        {"64 mb", 0, 64 << 20},
        {"1k", 0, 1024},
        {"1KiB", 0, 1024},
        {"3g", 0, UINT64_C(3) << 30},
        {"1TB", 0, UINT64_C(1) << 40},
        {"99999999TB", GYRE_RANGE, 0},
        {"99999999999999999999", GYRE_RANGE, 0},
        {"1.5GB", GYRE_SYNTAX, 0},
        {"MB", GYRE_SYNTAX, 0},
        {"1XB", GYRE_SYNTAX, 0},
        {"1MBs", GYRE_SYNTAX, 0},
        {"-1MB", GYRE_SYNTAX, 0},
        {"1iB", GYRE_SYNTAX, 0},
    };
    CHECK(gy_num_size, rows);
}

static void durations(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"0", 0, 0},
        {"500ms", 0, 500},
        {"1s", 0, 1000},
        {"2 m", 0, 120000},
        {"24h", 0, 86400000},
        {"1", GYRE_SYNTAX, 0},
        {"1d", GYRE_SYNTAX, 0},
        {"ms", GYRE_SYNTAX, 0},
        {"", GYRE_SYNTAX, 0},
        {"1.5s", GYRE_SYNTAX, 0},
        {"99999999999999h", GYRE_RANGE, 0},
    };
    CHECK(gy_num_duration, rows);
}

static void there_and_back(void **state)
{
    (void)state;
    char text[GY_NUM_TEXT];
    uint64_t x = 88172645463325252u; /* xorshift64: the same numbers in every run */
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t v = x >> (x % 64), back;
        assert_int_equal(gy_num_micros(gy_str(gy_num_fmt_micros(text, v)), &back), 0);
        assert_true(back == v);
        assert_int_equal(gy_num_size(gy_str(gy_num_fmt_size(text, v)), &back), 0);
        assert_true(back == v);
        assert_int_equal(gy_num_duration(gy_str(gy_num_fmt_duration(text, v)), &back), 0);
        assert_true(back == v);
        /* Weights: millionths through the library's double and back, as strtod reads them. */
        uint64_t weight = v % 1000000000001u;
        double d = gy_num_from_micros(weight);
        assert_true(gy_num_to_micros(d) == weight);
        assert_true(strtod(gy_num_fmt_micros(text, weight), NULL) == d);
    }
    assert_string_equal(gy_num_fmt_micros(text, 2500000), "2.5");
    assert_string_equal(gy_num_fmt_size(text, 64 << 20), "64MB");
    assert_string_equal(gy_num_fmt_size(text, 1500), "1500B");
    assert_string_equal(gy_num_fmt_duration(text, 90000), "90s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uints),     cmocka_unit_test(micros),         cmocka_unit_test(sizes),
        cmocka_unit_test(durations), cmocka_unit_test(there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
