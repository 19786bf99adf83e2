/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h. */
#include "cli/table.h"
#include "base/utf8.h"
#include "cli/term.h"

#include <stdarg.h>
#include <unistd.h>

#define NAME_MIN 12 /* columns: a name is not made shorter */

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

static size_t head_columns(const struct gy_table *t, size_t column)
{
    return gy_utf8_columns(gy_str(head_text(t, column)));
}

static void spaces(struct gy_buf *out, size_t n)
{
    gy_buf_printf(out, "%*s", (int)n, "");
}

/* The first character of p's n bytes, and its columns; a byte that is no UTF-8 is one. */
static size_t first(const char *p, size_t n, size_t *columns)
{
    uint32_t cp;
    size_t len = gy_utf8_decode((const uint8_t *)p, n, &cp);
    len = len ? len : 1;
    *columns = gy_utf8_columns((struct gy_slice){(const uint8_t *)p, len});
    return len;
}

/* "very-lo..e-17": both ends tell names apart. */
static void shorten(struct gy_buf *out, const char *text, size_t width)
{
    size_t n = strlen(text), head = 0, used = 0, wide;
    for (size_t len; len = first(text + head, n - head, &wide), used + wide <= (width - 1) / 2;) {
        head += len;
        used += wide;
    }
    size_t tail = head, left = gy_utf8_columns(gy_str(text + tail));
    while (used + 2 + left > width) {
        tail += first(text + tail, n - tail, &wide);
        left -= wide;
    }
    gy_buf_add(out, text, head);
    gy_buf_puts(out, "..");
    gy_buf_puts(out, text + tail);
}

/* One cell; the last column is not padded, so that lines have no trailing blanks. */
static void cell(struct gy_buf *out, const struct gy_table *t, size_t column, const char *text,
                 size_t width, bool bold)
{
    size_t columns = gy_utf8_columns(gy_str(text));
    struct gy_buf shorter = {0};
    if (columns > width) {
        shorten(&shorter, text, width);
        out->failed = out->failed || shorter.failed;
        text = gy_buf_cstr(&shorter);
        columns = gy_utf8_columns(gy_str(text));
    }
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
    } else {
        spaces(out, (is_right(t, column) ? 0 : pad) + 2);
    }
    gy_buf_fini(&shorter);
}

/* Names give way, the widest first, until the rows fit; figures never do. Rows that would not fit
 * even so are left for the terminal to wrap, with names that can be read. */
static void fit(const struct gy_table *t, size_t *width, size_t room)
{
    size_t all = 2 * (t->columns - 1), given[GY_TABLE_COLUMNS];
    memcpy(given, width, t->columns * sizeof *width);
    for (size_t c = 0; c < t->columns; c++) {
        all += width[c];
    }
    while (all > room) {
        size_t widest = t->columns;
        for (size_t c = 0; c < t->columns; c++) {
            bool gives = !is_right(t, c) && width[c] > NAME_MIN && width[c] > head_columns(t, c);
            widest = gives && (widest == t->columns || width[c] > width[widest]) ? c : widest;
        }
        if (widest == t->columns) {
            memcpy(width, given, t->columns * sizeof *width);
            return;
        }
        width[widest]--;
        all--;
    }
}

void gy_table_end(struct gy_table *t, struct gy_buf *out)
{
    gy_table_end_within(t, out, gy_term_columns(STDOUT_FILENO));
}

void gy_table_end_within(struct gy_table *t, struct gy_buf *out, size_t room)
{
    size_t width[GY_TABLE_COLUMNS];
    out->failed = out->failed || t->text.failed;
    for (size_t c = 0; c < t->columns; c++) {
        width[c] = head_columns(t, c);
    }
    const char *text = gy_buf_cstr(&t->text);
    size_t cells = gy_buf_failed(&t->text) ? 0 : t->cells;
    const char *p = text;
    for (size_t i = 0; i < cells; i++, p += strlen(p) + 1) {
        size_t columns = gy_utf8_columns(gy_str(p));
        width[i % t->columns] = columns > width[i % t->columns] ? columns : width[i % t->columns];
    }
    if (room) {
        fit(t, width, room);
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
