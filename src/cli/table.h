/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - an aligned table: cells are added row by row, widths are known at the end. Text is
 * measured in terminal columns (UTF-8), control bytes are percent-encoded, so no name can break
 * out of its column. Threads: one thread an object.
 */
#ifndef GY_CLI_TABLE_H
#define GY_CLI_TABLE_H

#include "base/buf.h"

#define GY_TABLE_COLUMNS 16

struct gy_table {
    const char *head[GY_TABLE_COLUMNS]; /* a leading '>' aligns the column to the right */
    size_t columns, cells;
    struct gy_buf text; /* every cell, each ended by NUL */
};

/* heads end with NULL. */
void gy_table_init(struct gy_table *t, const char *const *heads);
void gy_table_cell(struct gy_table *t, const char *text); /* NULL: "-" */
void gy_table_format(struct gy_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints and frees. On a terminal that is too narrow names are shortened in the middle, "na..17";
 * in a pipe or file they are always whole. */
void gy_table_end(struct gy_table *t, struct gy_buf *out);
/* The same for so many columns; 0: any number. */
void gy_table_end_within(struct gy_table *t, struct gy_buf *out, size_t room);

#endif
