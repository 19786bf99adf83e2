/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.c - see svg.h. Colours stand in two style blocks and nowhere else; the dark ones take over
 * where the reader's system says so. Classes rather than variables: not every viewer knows those.
 */
#include "study/svg.h"
#include "study/svg_axis.h"
#include "study/svg_parts.h"

#include <math.h>

/* A chart's parts, in the units of the document. */
#define WIDTH    860.0
#define LEFT     78.0
#define RIGHT    244.0 /* the legend's */
#define HEAD     46.0
#define PLOT     270.0
#define FOOT     58.0
#define BAR      15.0
#define BAR_GAP  9.0
#define BAR_LEFT 176.0

struct plan {
    const struct gy_chart *chart;
    const struct gy_tab *tab;
    size_t x, by; /* columns; by = tab->width: none */
    size_t y[GY_CHART_LINES];
    size_t lines;
    const char *name[GY_CHART_LINES];
    struct gy_axis ax, ay;
    double top; /* where the chart begins in the document */
    double height;
    bool bars;
};

static double value_of(const struct gy_value *v)
{
    return v->none ? NAN : v->kind == GY_COUNT ? (double)v->count : v->number;
}

/* ---- what is to be drawn ---- */

/* A line for each value of the text column, in the order in which they come. */
static void lines_by(struct plan *p)
{
    for (size_t row = 0; row < gy_tab_rows(p->tab); row++) {
        const char *text = gy_tab_at(p->tab, row, p->by)->text;
        size_t k = 0;
        while (k < p->lines && strcmp(p->name[k], text) != 0) {
            k++;
        }
        if (k == p->lines && k < GY_CHART_LINES) {
            p->y[k] = p->y[0];
            p->name[p->lines++] = text;
        }
    }
}

static bool in_line(const struct plan *p, size_t row, size_t line)
{
    return p->by == p->tab->width ||
           strcmp(gy_tab_at(p->tab, row, p->by)->text, p->name[line]) == 0;
}

static void take_values(struct plan *p)
{
    for (size_t row = 0; row < gy_tab_rows(p->tab); row++) {
        if (!p->bars) {
            gy_axis_take(&p->ax, value_of(gy_tab_at(p->tab, row, p->x)));
        }
        for (size_t k = 0; k < p->lines; k++) {
            if (in_line(p, row, k)) {
                gy_axis_take(&p->ay, value_of(gy_tab_at(p->tab, row, p->y[k])));
            }
        }
    }
    gy_axis_settle(&p->ax);
    gy_axis_settle(&p->ay);
}

/* false: the table is not there, so neither is the chart. */
static bool make_plan(struct plan *p, const struct gy_result *r, const struct gy_chart *c,
                      double top)
{
    *p = (struct plan){.chart = c, .tab = gy_result_find(r, c->table), .top = top};
    if (!p->tab || !gy_tab_rows(p->tab) || p->tab->failed) {
        return false;
    }
    p->x = gy_tab_column(p->tab, c->x);
    p->by = c->by ? gy_tab_column(p->tab, c->by) : p->tab->width;
    p->bars = p->tab->columns[p->x].kind == GY_TEXT;
    p->ax = (struct gy_axis){
        .log = c->log_x, .share = p->tab->columns[p->x].kind == GY_SHARE, .loose = true};
    for (size_t k = 0; c->y[k] && k < GY_CHART_LINES; k++) {
        p->y[k] = gy_tab_column(p->tab, c->y[k]);
        p->name[k] = c->name[k] ? c->name[k] : p->tab->columns[p->y[k]].head;
        p->lines++;
    }
    p->ay = (struct gy_axis){.log = c->log_y, .share = p->tab->columns[p->y[0]].kind == GY_SHARE};
    if (p->by < p->tab->width) {
        p->lines = 0;
        lines_by(p);
    }
    take_values(p);
    p->height = HEAD + FOOT;
    p->height += p->bars ? (double)gy_tab_rows(p->tab) * ((double)p->lines * BAR + BAR_GAP) : PLOT;
    return true;
}

/* ---- a chart of lines ---- */

static double x_of(double at)
{
    return LEFT + at * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct plan *p, double at)
{
    return p->top + HEAD + PLOT * (1 - at);
}

static void grid(struct gy_buf *out, const struct plan *p)
{
    double tick[GY_AXIS_TICKS], at = 0;
    size_t n = gy_axis_ticks(&p->ay, tick);
    for (size_t i = 0; i < n; i++) {
        if (gy_axis_place(&p->ay, tick[i], &at)) {
            gy_svg_line(out, "grid", LEFT, y_of(p, at), x_of(1), y_of(p, at));
            gy_svg_open_text(out, "dim", "end", LEFT - 8, y_of(p, at) + 4);
            gy_axis_print(out, tick[i], p->ay.share);
            gy_svg_close_text(out);
        }
    }
    n = gy_axis_ticks(&p->ax, tick);
    for (size_t i = 0; i < n; i++) {
        if (gy_axis_place(&p->ax, tick[i], &at)) {
            gy_svg_line(out, "axis", x_of(at), y_of(p, 0), x_of(at), y_of(p, 0) + 5);
            gy_svg_open_text(out, "dim", "middle", x_of(at), y_of(p, 0) + 19);
            gy_axis_print(out, tick[i], p->ax.share);
            gy_svg_close_text(out);
        }
    }
    gy_svg_line(out, "axis", LEFT, y_of(p, 0), x_of(1), y_of(p, 0));
    gy_svg_line(out, "axis", LEFT, y_of(p, 0), LEFT, y_of(p, 1));
    gy_svg_text(out, "ink", "middle", x_of(0.5), y_of(p, 0) + 40, p->chart->x_label);
    gy_svg_text_up(out, "ink", 20, y_of(p, 0.5), p->chart->y_label);
}

/* The next point of a line from row on that has a place; false at the end. */
static bool next_point(const struct plan *p, size_t line, size_t *row, double *x, double *y)
{
    for (; *row < gy_tab_rows(p->tab); (*row)++) {
        double ax, ay;
        if (in_line(p, *row, line) &&
            gy_axis_place(&p->ax, value_of(gy_tab_at(p->tab, *row, p->x)), &ax) &&
            gy_axis_place(&p->ay, value_of(gy_tab_at(p->tab, *row, p->y[line])), &ay)) {
            *x = x_of(ax);
            *y = y_of(p, ay);
            (*row)++;
            return true;
        }
    }
    return false;
}

static void line(struct gy_buf *out, const struct plan *p, size_t k)
{
    double x, y;
    size_t points = 0;
    gy_svg_open_path(out, k);
    for (size_t row = 0; next_point(p, k, &row, &x, &y); points++) {
        gy_buf_printf(out, "%s%.1f %.1f", points ? " L" : "M", x, y);
    }
    gy_svg_close_path(out);
    size_t every = points / 24 + 1, i = 0; /* markers that touch say nothing */
    for (size_t row = 0; next_point(p, k, &row, &x, &y); i++) {
        if (i % every == 0) {
            gy_svg_marker(out, k, x, y);
        }
    }
}

static void legend(struct gy_buf *out, const struct plan *p)
{
    for (size_t k = 0; k < p->lines; k++) {
        double x = x_of(1) + 18, y = p->top + HEAD + 10 + (double)k * 24;
        gy_svg_sample(out, k, p->bars, x, y);
        gy_svg_text(out, "ink", "start", x + 42, y + 4, p->name[k]);
    }
}

/* ---- a chart of bars ---- */

static void bars(struct gy_buf *out, const struct plan *p)
{
    double wide = WIDTH - RIGHT - BAR_LEFT - 60, zero = p->top + HEAD;
    double group = (double)p->lines * BAR + BAR_GAP;
    for (size_t row = 0; row < gy_tab_rows(p->tab); row++) {
        double y = zero + (double)row * group;
        gy_svg_text(out, "ink", "end", BAR_LEFT - 8, y + group / 2 + 4,
                    gy_tab_at(p->tab, row, p->x)->text);
        for (size_t k = 0; k < p->lines; k++) {
            double v = value_of(gy_tab_at(p->tab, row, p->y[k])), at;
            if (!gy_axis_place(&p->ay, v, &at)) {
                continue;
            }
            double top = y + BAR_GAP / 2 + (double)k * BAR;
            gy_svg_bar(out, k, BAR_LEFT, top, at * wide, BAR - 1);
            gy_svg_open_text(out, "dim", "start", BAR_LEFT + at * wide + 6, top + BAR - 3);
            gy_axis_print(out, v, p->ay.share);
            gy_svg_close_text(out);
        }
    }
    double end = zero + (double)gy_tab_rows(p->tab) * group;
    gy_svg_line(out, "axis", BAR_LEFT, zero, BAR_LEFT, end);
    gy_svg_text(out, "ink", "start", BAR_LEFT, end + 22, p->chart->y_label);
}

static void chart(struct gy_buf *out, const struct plan *p)
{
    gy_svg_text(out, "title", "start", 20, p->top + 24, p->chart->title);
    if (p->bars) {
        bars(out, p);
    } else {
        grid(out, p);
        for (size_t k = 0; k < p->lines; k++) {
            line(out, p, k);
        }
    }
    if (p->lines > 1) {
        legend(out, p);
    }
}

void gy_svg_write(struct gy_buf *out, const struct gy_study *s, const struct gy_result *r)
{
    struct plan p[GY_RESULT_CHARTS];
    size_t n = 0;
    double height = 48;
    for (size_t i = 0; i < r->charts; i++) {
        if (make_plan(&p[n], r, r->chart[i], height)) {
            height += p[n++].height;
        }
    }
    gy_svg_begin(out, WIDTH, height, s->name, s->question);
    for (size_t i = 0; i < n; i++) {
        chart(out, &p[i]);
    }
    gy_svg_end(out);
}
