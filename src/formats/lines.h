/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - a text as lines, and a line as words parted by blanks, each with its place. For the
 * formats that are tables made for people. Threads: any.
 */
#ifndef GY_FORMATS_LINES_H
#define GY_FORMATS_LINES_H

#include "formats/mark.h"

struct gy_lines {
    struct gy_slice rest;
    struct gy_slice line; /* without its line end, LF or CR LF */
    unsigned number;      /* from 1 */
};

static inline struct gy_lines gy_lines_of(struct gy_slice text)
{
    return (struct gy_lines){.rest = text};
}
bool gy_lines_next(struct gy_lines *l);
/* The next word of *rest, which is moved past it; false at the end. */
bool gy_word_next(struct gy_slice *rest, struct gy_slice *word);
/* The text up to, and without, the first c, which *rest is moved past; all of it without a c. */
struct gy_slice gy_slice_cut(struct gy_slice *rest, char c);
struct gy_slice gy_slice_trim(struct gy_slice s); /* without blanks at both ends */
bool gy_slice_starts(struct gy_slice s, const char *prefix);
/* Is the text somewhere in s? */
bool gy_slice_has(struct gy_slice s, const char *text);

/* Where a part of the current line stands; columns count bytes. */
static inline struct gy_mark gy_lines_mark(const struct gy_lines *l, struct gy_slice part)
{
    return (struct gy_mark){l->number, (unsigned)(part.p - l->line.p) + 1};
}

#endif
