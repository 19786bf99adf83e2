/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - see model.h. */
#include "study/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void gy_result_fini(struct gy_result *r)
{
    for (size_t i = 0; i < r->tabs; i++) {
        for (size_t c = 0; c < r->tab[i].cells; c++) {
            free(r->tab[i].cell[c].text);
        }
        free(r->tab[i].cell);
    }
    for (size_t i = 0; i < r->figures; i++) {
        free(r->figure[i].id);
        free(r->figure[i].value.text);
    }
    free(r->figure);
    gy_buf_fini(&r->notes);
    *r = (struct gy_result){0};
}

bool gy_result_failed(const struct gy_result *r)
{
    bool failed = r->failed || gy_buf_failed(&r->notes);
    for (size_t i = 0; i < r->tabs; i++) {
        failed = failed || r->tab[i].failed;
    }
    return failed;
}

struct gy_tab *gy_result_table(struct gy_result *r, const char *id, const char *title,
                               const struct gy_column *columns)
{
    struct gy_tab *t = &r->tab[r->tabs < GY_RESULT_TABLES ? r->tabs++ : GY_RESULT_TABLES - 1];
    *t = (struct gy_tab){.id = id, .title = title, .columns = columns};
    while (t->width < GY_TAB_COLUMNS && columns[t->width].id) {
        t->width++;
    }
    return t;
}

void gy_result_chart(struct gy_result *r, const struct gy_chart *chart)
{
    if (r->charts < GY_RESULT_CHARTS) {
        r->chart[r->charts++] = chart;
    }
}

void gy_result_note(struct gy_result *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_buf_vprintf(&r->notes, fmt, ap);
    va_end(ap);
    gy_buf_putc(&r->notes, '\0');
}

/* Room for one more of size bytes; false when there is none. */
static bool grow(void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return true;
    }
    size_t more = *room ? 2 * *room : 32;
    void *p = reallocarray(*array, more, size);
    if (p) {
        *array = p;
        *room = more;
    }
    return p != NULL;
}

/* ---- figures ---- */

static void figure(struct gy_result *r, const char *id, const char *label, struct gy_value v)
{
    void *at = r->figure;
    bool ok = grow(&at, r->figures, &r->figure_room, sizeof *r->figure);
    r->figure = at;
    char *name = ok ? strdup(id) : NULL;
    if (!name || (v.kind == GY_TEXT && !v.text)) {
        free(name);
        free(v.text);
        r->failed = true;
        return;
    }
    r->figure[r->figures++] = (struct gy_figure){.label = label, .id = name, .value = v};
}

void gy_figure_count(struct gy_result *r, const char *id, const char *label, uint64_t v)
{
    figure(r, id, label, (struct gy_value){.kind = GY_COUNT, .count = v});
}

void gy_figure_number(struct gy_result *r, const char *id, const char *label, int decimals,
                      double v)
{
    struct gy_value value = {.kind = GY_NUMBER, .decimals = decimals, .number = v};
    figure(r, id, label, value);
}

void gy_figure_share(struct gy_result *r, const char *id, const char *label, int decimals, double v)
{
    struct gy_value value = {.kind = GY_SHARE, .decimals = decimals, .number = v};
    figure(r, id, label, value);
}

void gy_figure_text(struct gy_result *r, const char *id, const char *label, const char *text)
{
    figure(r, id, label, (struct gy_value){.kind = GY_TEXT, .text = strdup(text)});
}

/* ---- cells ---- */

static struct gy_value *next(struct gy_tab *t)
{
    static struct gy_value spill; /* what is written after a failure is read by nobody */
    void *at = t->cell;
    bool ok = !t->failed && grow(&at, t->cells, &t->room, sizeof *t->cell);
    t->cell = at;
    t->failed = !ok;
    const struct gy_column *c = &t->columns[t->width ? t->cells % t->width : 0];
    struct gy_value *v = ok ? &t->cell[t->cells++] : &spill;
    *v = (struct gy_value){.kind = c->kind, .decimals = c->decimals, .measured = c->measured};
    return v;
}

void gy_tab_text(struct gy_tab *t, const char *fmt, ...)
{
    va_list ap;
    char *text;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        t->failed = true;
        return;
    }
    next(t)->text = text;
    if (t->failed) {
        free(text);
    }
}

void gy_tab_count(struct gy_tab *t, uint64_t v)
{
    next(t)->count = v;
}

void gy_tab_number(struct gy_tab *t, double v)
{
    struct gy_value *cell = next(t);
    cell->number = v;
    cell->none = !isfinite(v);
}

void gy_tab_none(struct gy_tab *t)
{
    next(t)->none = true;
}

/* ---- reading ---- */

size_t gy_tab_rows(const struct gy_tab *t)
{
    return t->width ? t->cells / t->width : 0;
}

const struct gy_value *gy_tab_at(const struct gy_tab *t, size_t row, size_t column)
{
    return &t->cell[row * t->width + column];
}

size_t gy_tab_column(const struct gy_tab *t, const char *id)
{
    size_t c = 0;
    while (c < t->width && strcmp(t->columns[c].id, id) != 0) {
        c++;
    }
    return c;
}

const struct gy_tab *gy_result_find(const struct gy_result *r, const char *id)
{
    for (size_t i = 0; i < r->tabs; i++) {
        if (strcmp(r->tab[i].id, id) == 0) {
            return &r->tab[i];
        }
    }
    return NULL;
}

void gy_value_print(struct gy_buf *out, const struct gy_value *v)
{
    if (v->none) {
        gy_buf_putc(out, '-');
        return;
    }
    switch (v->kind) {
    case GY_TEXT:
        gy_buf_puts(out, v->text ? v->text : "-");
        return;
    case GY_COUNT:
        gy_buf_printf(out, "%llu", (unsigned long long)v->count);
        return;
    case GY_NUMBER:
        gy_buf_printf(out, "%.*f", v->decimals, v->number);
        return;
    case GY_SHARE:
        gy_buf_printf(out, "%.*f %%", v->decimals, 100 * v->number);
        return;
    }
}
