/* SPDX-License-Identifier: Apache-2.0 */
/* test_model.c - what a study found is kept and shown as it was put in; charts have true axes. */
#include "study/study.h"
#include "study/svg.h"
#include "study/svg_axis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

static const struct gy_column COLUMNS[] = {
    {"name", "NAME", GY_TEXT, 0, false},  {"part", "PART", GY_SHARE, 1, false},
    {"size", "SIZE", GY_NUMBER, 2, true}, {"n", "N", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static const char *shown(const struct gy_value *v, struct gy_buf *out)
{
    gy_buf_reset(out);
    gy_value_print(out, v);
    return gy_buf_cstr(out);
}

static void cells(void **state)
{
    (void)state;
    struct gy_result r = {0};
    struct gy_buf out = {0};
    struct gy_tab *t = gy_result_table(&r, "t", "title", COLUMNS);
    for (int i = 0; i < 100; i++) {
        gy_tab_text(t, "n%d", i);
        gy_tab_number(t, 0.125);
        gy_tab_number(t, i == 7 ? (double)NAN : 2.5);
        gy_tab_count(t, (uint64_t)i);
    }
    gy_tab_none(t);
    assert_int_equal(gy_tab_rows(t), 100); /* the 101st is not whole */
    assert_string_equal(shown(gy_tab_at(t, 99, 0), &out), "n99");
    assert_string_equal(shown(gy_tab_at(t, 99, 1), &out), "12.5 %");
    assert_string_equal(shown(gy_tab_at(t, 8, 2), &out), "2.50");
    assert_string_equal(shown(gy_tab_at(t, 7, 2), &out), "-");
    assert_string_equal(shown(gy_tab_at(t, 42, 3), &out), "42");
    assert_string_equal(shown(&t->cell[400], &out), "-");
    assert_true(gy_tab_at(t, 8, 2)->measured && !gy_tab_at(t, 8, 1)->measured);
    assert_int_equal(gy_tab_column(t, "size"), 2);
    assert_int_equal(gy_tab_column(t, "nothing"), t->width);
    assert_ptr_equal(gy_result_find(&r, "t"), t);
    assert_null(gy_result_find(&r, "u"));
    assert_false(gy_result_failed(&r));
    gy_buf_fini(&out);
    gy_result_fini(&r);
}

static void figures(void **state)
{
    (void)state;
    struct gy_result r = {0};
    struct gy_buf out = {0};
    for (int i = 0; i < 50; i++) {
        gy_figure_share(&r, "x", "an x", 2, 0.8);
    }
    gy_figure_text(&r, "y", NULL, "text");
    assert_int_equal(r.figures, 51);
    assert_string_equal(shown(&r.figure[49].value, &out), "80.00 %");
    assert_string_equal(shown(&r.figure[50].value, &out), "text");
    gy_buf_fini(&out);
    gy_result_fini(&r);
}

static void ticks_of(struct gy_axis *a, const char *expected)
{
    double tick[GY_AXIS_TICKS];
    struct gy_buf out = {0};
    gy_axis_settle(a);
    size_t n = gy_axis_ticks(a, tick);
    for (size_t i = 0; i < n; i++) {
        double at;
        assert_true(gy_axis_place(a, tick[i], &at));
        assert_true(at > -1e-9 && at < 1 + 1e-9);
        gy_buf_puts(&out, i ? " " : "");
        gy_axis_print(&out, tick[i], a->share);
    }
    assert_string_equal(gy_buf_cstr(&out), expected);
    gy_buf_fini(&out);
}

static void axes(void **state)
{
    (void)state;
    struct gy_axis linear = {0}, log = {.log = true}, share = {.share = true}, none = {.log = true};
    gy_axis_take(&linear, 3);
    gy_axis_take(&linear, 57);
    gy_axis_take(&linear, NAN);
    ticks_of(&linear, "0 10 20 30 40 50 60");
    gy_axis_take(&log, 30);
    gy_axis_take(&log, 1400);
    gy_axis_take(&log, 0); /* has no logarithm */
    gy_axis_take(&log, -5);
    ticks_of(&log, "20 50 100 200 500 1000 2000");
    double at;
    assert_false(gy_axis_place(&log, 0, &at));
    assert_true(gy_axis_place(&log, 200, &at) && fabs(at - 0.5) < 1e-12);
    gy_axis_take(&share, 0.25);
    ticks_of(&share, "0 % 5 % 10 % 15 % 20 % 25 %");
    ticks_of(&none, "1 2 5 10");
    struct gy_axis loose = {.loose = true};
    gy_axis_take(&loose, 100);
    gy_axis_take(&loose, 200);
    ticks_of(&loose, "100 120 140 160 180 200");
    struct gy_axis wide = {.log = true};
    gy_axis_take(&wide, 1);
    gy_axis_take(&wide, 3e6);
    ticks_of(&wide, "1 10 100 1000 10k 100k 1M");
}

static const struct gy_chart LINES = {
    .title = "a < b & \"c\"",
    .table = "t",
    .x = "n",
    .x_label = "n",
    .y = {"size", "part"},
    .name = {"the size", NULL},
    .y_label = "y",
};
static const struct gy_chart BARS = {
    .title = "bars", .table = "t", .x = "name", .x_label = "x", .y = {"part"}, .y_label = "y"};
static const struct gy_chart LOST = {
    .title = "lost", .table = "u", .x = "name", .x_label = "x", .y = {"part"}, .y_label = "y"};

static size_t times(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++) {
        n++;
    }
    return n;
}

static void charts(void **state)
{
    (void)state;
    static const struct gy_study study = {.name = "s", .question = "why <so>?"};
    struct gy_result r = {0};
    struct gy_buf out = {0};
    struct gy_tab *t = gy_result_table(&r, "t", NULL, COLUMNS);
    for (int i = 0; i < 3; i++) {
        gy_tab_text(t, "<n%d>", i);
        gy_tab_number(t, i);
        gy_tab_number(t, i == 1 ? (double)NAN : i);
        gy_tab_count(t, (uint64_t)i);
    }
    gy_result_chart(&r, &LINES);
    gy_result_chart(&r, &BARS);
    gy_result_chart(&r, &LOST);
    gy_svg_write(&out, &study, &r);
    const char *svg = gy_buf_cstr(&out);
    assert_int_equal(times(svg, "a &lt; b &amp; &quot;c&quot;"), 1);
    assert_int_equal(times(svg, "&lt;n1&gt;"), 1);
    assert_int_equal(times(svg, "<n1>"), 0);
    assert_int_equal(times(svg, ">the size<"), 1);
    assert_int_equal(times(svg, ">PART<"), 1);
    assert_int_equal(times(svg, "prefers-color-scheme:dark"), 1);
    assert_int_equal(times(svg, ">lost<"), 0);
    /* two of three points of the first line, three of the second, and a sample of each */
    assert_int_equal(times(svg, "<use href=\"#m0\""), 3);
    assert_int_equal(times(svg, "<use href=\"#m1\""), 4);
    assert_int_equal(times(svg, "<rect class=\"f0\""), 3);
    gy_buf_fini(&out);
    gy_result_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells), cmocka_unit_test(figures),
                                       cmocka_unit_test(axes), cmocka_unit_test(charts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
