/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - what a study found: tables of typed columns, key figures, notes, and which columns make
 * a chart. It is filled once and then shown as text, JSON or SVG; every renderer reads the same
 * values. Adding may fail for want of memory: then `failed` is set and nothing more is added, so a
 * study checks once, at its end. Threads: one thread an object.
 */
#ifndef GY_STUDY_MODEL_H
#define GY_STUDY_MODEL_H

#include "base/buf.h"

#define GY_RESULT_TABLES 6
#define GY_RESULT_CHARTS 6
#define GY_TAB_COLUMNS   12
#define GY_CHART_LINES   8 /* how many lines a reader can tell apart */

enum gy_kind {
    GY_TEXT,
    GY_COUNT,  /* a whole number */
    GY_NUMBER, /* shown with as many decimals as its column says */
    GY_SHARE,  /* a fraction of 1, shown in percent */
};

struct gy_column {
    const char *id;   /* its name in JSON; NULL ends the list */
    const char *head; /* its name in a table */
    enum gy_kind kind;
    int decimals;
    bool measured; /* by a clock: another machine gives something else */
};

struct gy_value {
    enum gy_kind kind;
    bool none; /* nothing to say: "-", null */
    int decimals;
    bool measured;
    uint64_t count;
    double number;
    char *text;
};

struct gy_tab {
    const char *id, *title;
    const struct gy_column *columns;
    size_t width, cells, room;
    struct gy_value *cell; /* row by row */
    bool failed;
};

struct gy_figure {
    const char *label; /* NULL: of JSON only */
    char *id;
    struct gy_value value;
};

/* A chart is a view of a table: nothing in it is computed twice. */
struct gy_chart {
    const char *title, *table;
    const char *x, *x_label;           /* a column; a text column makes bars */
    const char *y[GY_CHART_LINES + 1]; /* columns, a line or bar each; ends with NULL */
    const char *y_label;
    const char *name[GY_CHART_LINES]; /* of each y in the legend; NULL: its column's head */
    const char *by; /* a text column: a line for each of its values (one y then); or NULL */
    bool log_x, log_y;
};

struct gy_result {
    struct gy_tab tab[GY_RESULT_TABLES];
    const struct gy_chart *chart[GY_RESULT_CHARTS];
    struct gy_figure *figure;
    size_t tabs, charts, figures, figure_room;
    struct gy_buf notes; /* each ended by NUL */
    bool failed;
};

void gy_result_fini(struct gy_result *r);
/* Anything that could not be added for want of memory? */
bool gy_result_failed(const struct gy_result *r);

/* columns and texts are kept as pointers: they are static. */
struct gy_tab *gy_result_table(struct gy_result *r, const char *id, const char *title,
                               const struct gy_column *columns);
void gy_result_chart(struct gy_result *r, const struct gy_chart *chart);
void gy_result_note(struct gy_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Key figures; id is copied. */
void gy_figure_count(struct gy_result *r, const char *id, const char *label, uint64_t v);
void gy_figure_number(struct gy_result *r, const char *id, const char *label, int decimals,
                      double v);
void gy_figure_share(struct gy_result *r, const char *id, const char *label, int decimals,
                     double v);
void gy_figure_text(struct gy_result *r, const char *id, const char *label, const char *text);

/* The next cell; its kind is the column's. */
void gy_tab_text(struct gy_tab *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gy_tab_count(struct gy_tab *t, uint64_t v);
void gy_tab_number(struct gy_tab *t, double v); /* a number or a share; not finite: none */
void gy_tab_none(struct gy_tab *t);

size_t gy_tab_rows(const struct gy_tab *t);
const struct gy_value *gy_tab_at(const struct gy_tab *t, size_t row, size_t column);
/* The column of that id; t->width if there is none. */
size_t gy_tab_column(const struct gy_tab *t, const char *id);
const struct gy_tab *gy_result_find(const struct gy_result *r, const char *id);
/* As a person reads it: "-", "80.00 %", "1234". */
void gy_value_print(struct gy_buf *out, const struct gy_value *v);

#endif
