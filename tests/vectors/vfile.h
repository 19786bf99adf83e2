/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfile.h - a vector file as README.md beside this defines it: a header of key=value fields and
 * rows of columns. Everything is kept as written; decode where a value is used. Threads: one.
 */
#ifndef VECTORS_VFILE_H
#define VECTORS_VFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VF_FIELDS = 64, VF_COLUMNS = 64 };

struct vf_field {
    char *key, *value;
};

struct vf_row {
    unsigned line;
    char *column[VF_COLUMNS];
    size_t columns;
};

struct vfile {
    char *path, *text;
    struct vf_field field[VF_FIELDS];
    size_t fields;
    char *column[VF_COLUMNS]; /* names; key and node when the header has no columns= */
    size_t columns;
    struct vf_row *row;
    size_t rows;
    char error[512]; /* why it is no vector file; "" = it is one */
};

/* Reads and cuts up; false and f->error for what is malformed. rows is right even then, if the file
 * could be read. */
bool vf_read(struct vfile *f, const char *path);
void vf_free(struct vfile *f);

/* NULL if the header has no such field. */
const char *vf_get(const struct vfile *f, const char *key);
/* The first field, or the first column, that is not in the list; NULL if all are known. */
const char *vf_strange_field(const struct vfile *f, const char *const *known);
const char *vf_strange_column(const struct vfile *f, const char *const *known);
/* Index of a column, -1 if there is none. */
int vf_column(const struct vfile *f, const char *name);

/* %XX to bytes; the result is NUL-terminated besides. NULL for a malformed escape. free() it. */
char *vf_decode(const char *text, size_t text_len, size_t *len);
/* As vf_decode for what becomes a C string: NULL for an encoded NUL too. */
char *vf_decode_text(const char *text, size_t text_len);
/* Decimal digits only. */
bool vf_number(const char *text, uint64_t *out);

#endif
