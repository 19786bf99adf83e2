/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h. */
#include "cli/table.h"
#include "base/utf8.h"
#include "cli/term.h"

#include <stdarg.h>

void gy_table_init(struct gy_table *t, const char *const *heads)
{
    *t = (struct gy_table){0};
    while (heads[t->columns] && t->columns < GY_TABLE_COLUMNS) {
        t->head[t->columns] = heads[t->columns];
        t->columns++;
    }
}

void gy_table_cell(struct gy_table *t, const char *text)
{
    gy_term_encode(&t->text, gy_str(text && *text ? text : "-"));
    gy_buf_putc(&t->text, '\0');
    t->cells++;
}

void gy_table_format(struct gy_table *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    gy_buf_vprintf(&t->text, fmt, ap);
    va_end(ap);
    gy_buf_putc(&t->text, '\0');
    t->cells++;
}

static bool is_right(const struct gy_table *t, size_t column)
{
    return t->head[column][0] == '>';
}

static const char *head_text(const struct gy_table *t, size_t column)
{
    return t->head[column] + is_right(t, column);
}

static void spaces(struct gy_buf *out, size_t n)
{
    gy_buf_printf(out, "%*s", (int)n, "");
}

/* One cell; the last column is not padded, so that lines have no trailing blanks. */
static void cell(struct gy_buf *out, const struct gy_table *t, size_t column, const char *text,
                 size_t width, bool bold)
{
    size_t columns = gy_utf8_columns(gy_str(text));
    size_t pad = width > columns ? width - columns : 0;
    if (is_right(t, column)) {
        spaces(out, pad);
    }
    if (bold) {
        gy_term_tint(out, GY_TINT_BOLD, text);
    } else {
        gy_buf_puts(out, text);
    }
    if (column + 1 == t->columns) {
        gy_buf_putc(out, '\n');
        return;
    }
    spaces(out, (is_right(t, column) ? 0 : pad) + 2);
}

void gy_table_end(struct gy_table *t, struct gy_buf *out)
{
    size_t width[GY_TABLE_COLUMNS];
    out->failed = out->failed || t->text.failed;
    for (size_t c = 0; c < t->columns; c++) {
        width[c] = gy_utf8_columns(gy_str(head_text(t, c)));
    }
    const char *text = gy_buf_cstr(&t->text);
    size_t cells = gy_buf_failed(&t->text) ? 0 : t->cells;
    const char *p = text;
    for (size_t i = 0; i < cells; i++, p += strlen(p) + 1) {
        size_t columns = gy_utf8_columns(gy_str(p));
        width[i % t->columns] = columns > width[i % t->columns] ? columns : width[i % t->columns];
    }
    for (size_t c = 0; c < t->columns; c++) {
        cell(out, t, c, head_text(t, c), width[c], true);
    }
    p = text;
    for (size_t i = 0; i < cells; i++, p += strlen(p) + 1) {
        cell(out, t, i % t->columns, p, width[i % t->columns], false);
    }
    gy_buf_fini(&t->text);
}
