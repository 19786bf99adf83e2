/* SPDX-License-Identifier: Apache-2.0 */
/* study_show.c - see study_show.h. */
#include "cli/study_show.h"
#include "base/json.h"
#include "cli/table.h"
#include "cli/term.h"

#include <stdio.h>

/* ---- as text ---- */

static void text_table(struct gy_buf *out, const struct gy_tab *tab)
{
    char heads[GY_TAB_COLUMNS][48];
    const char *list[GY_TAB_COLUMNS + 1] = {NULL};
    struct gy_table t;
    for (size_t c = 0; c < tab->width; c++) {
        const struct gy_column *col = &tab->columns[c];
        snprintf(heads[c], sizeof heads[c], "%s%s", col->kind == GY_TEXT ? "" : ">", col->head);
        list[c] = heads[c];
    }
    gy_table_init(&t, list);
    struct gy_buf cell = {0};
    for (size_t i = 0; i < tab->cells; i++) {
        gy_buf_reset(&cell);
        gy_value_print(&cell, &tab->cell[i]);
        gy_table_format(&t, "%s", gy_buf_cstr(&cell));
    }
    out->failed = out->failed || gy_buf_failed(&cell);
    gy_buf_fini(&cell);
    gy_table_end(&t, out);
}

static void text_figures(struct gy_buf *out, const struct gy_result *r)
{
    int width = 0;
    for (size_t i = 0; i < r->figures; i++) {
        const char *label = r->figure[i].label;
        int len = label ? (int)strlen(label) : 0;
        width = len > width ? len : width;
    }
    gy_buf_puts(out, width ? "\n" : "");
    for (size_t i = 0; i < r->figures; i++) {
        const struct gy_figure *f = &r->figure[i];
        if (f->label) {
            gy_buf_printf(out, "%-*s  ", width, f->label);
            gy_value_print(out, &f->value);
            gy_buf_putc(out, '\n');
        }
    }
}

static void text_notes(struct gy_buf *out, const struct gy_result *r)
{
    const char *p = (const char *)gy_buf_head(&r->notes), *end = p + gy_buf_size(&r->notes);
    gy_buf_puts(out, p < end ? "\n" : "");
    for (; p < end; p += strlen(p) + 1) {
        gy_buf_printf(out, "- %s\n", p);
    }
}

void gy_study_text(struct gy_buf *out, const struct gy_study *s, const struct gy_result *r)
{
    gy_buf_printf(out, "%s: %s\n", s->name, s->question);
    for (size_t i = 0; i < r->tabs; i++) {
        gy_buf_putc(out, '\n');
        if (r->tab[i].title) {
            gy_term_tint(out, GY_TINT_BOLD, r->tab[i].title);
            gy_buf_putc(out, '\n');
        }
        text_table(out, &r->tab[i]);
    }
    text_figures(out, r);
    text_notes(out, r);
}

/* ---- as JSON ---- */

static void json_value(struct gy_json *j, const struct gy_value *v)
{
    if (v->none) {
        gy_json_null(j);
        return;
    }
    switch (v->kind) {
    case GY_TEXT:
        gy_json_string(j, v->text);
        return;
    case GY_COUNT:
        gy_json_uint(j, v->count);
        return;
    case GY_NUMBER:
    case GY_SHARE:
        gy_json_double(j, v->number);
        return;
    }
}

static void json_figures(struct gy_json *j, const struct gy_result *r)
{
    gy_json_object(j);
    for (size_t i = 0; i < r->figures; i++) {
        gy_json_key(j, r->figure[i].id);
        json_value(j, &r->figure[i].value);
    }
    gy_json_object_end(j);
}

static void json_columns(struct gy_json *j, const struct gy_tab *t)
{
    static const char *const kinds[] = {
        [GY_TEXT] = "text", [GY_COUNT] = "count", [GY_NUMBER] = "number", [GY_SHARE] = "share"};
    gy_json_key(j, "columns");
    gy_json_array(j);
    for (size_t c = 0; c < t->width; c++) {
        gy_json_object(j);
        gy_json_kstring(j, "name", t->columns[c].id);
        gy_json_kstring(j, "kind", kinds[t->columns[c].kind]);
        gy_json_kbool(j, "measured", t->columns[c].measured);
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
}

static void json_table(struct gy_json *j, const struct gy_tab *t)
{
    gy_json_object(j);
    gy_json_kstring(j, "name", t->id);
    gy_json_kstring(j, "title", t->title);
    json_columns(j, t);
    gy_json_key(j, "rows");
    gy_json_array(j);
    for (size_t row = 0; row < gy_tab_rows(t); row++) {
        gy_json_object(j);
        for (size_t c = 0; c < t->width; c++) {
            gy_json_key(j, t->columns[c].id);
            json_value(j, gy_tab_at(t, row, c));
        }
        gy_json_object_end(j);
    }
    gy_json_array_end(j);
    gy_json_object_end(j);
}

static void json_notes(struct gy_json *j, const struct gy_result *r)
{
    const char *p = (const char *)gy_buf_head(&r->notes), *end = p + gy_buf_size(&r->notes);
    gy_json_key(j, "notes");
    gy_json_array(j);
    for (; p < end; p += strlen(p) + 1) {
        gy_json_string(j, p);
    }
    gy_json_array_end(j);
}

static void json_whole(struct gy_json *j, const struct gy_study *s, const struct gy_lab *lab,
                       const struct gy_result *r)
{
    gy_json_object(j);
    gy_json_kstring(j, "study", s->name);
    gy_json_kstring(j, "question", s->question);
    gy_json_kuint(j, "seed", lab->seed);
    gy_json_key(j, "parameters");
    gy_json_object(j);
    for (size_t i = 0; s->params[i].name; i++) {
        gy_json_kuint(j, s->params[i].name, lab->value[i]);
    }
    gy_json_object_end(j);
    gy_json_key(j, "figures");
    json_figures(j, r);
    gy_json_key(j, "tables");
    gy_json_array(j);
    for (size_t i = 0; i < r->tabs; i++) {
        json_table(j, &r->tab[i]);
    }
    gy_json_array_end(j);
    json_notes(j, r);
    gy_json_object_end(j);
}

void gy_study_json(struct gy_buf *out, const struct gy_study *s, const struct gy_lab *lab,
                   const struct gy_result *r)
{
    struct gy_json j;
    gy_json_init(&j, out);
    if (s->flat) {
        json_figures(&j, r);
    } else {
        json_whole(&j, s, lab, r);
    }
    gy_buf_putc(out, '\n');
}
