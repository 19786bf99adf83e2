/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfile.c - reading of vector files; strict, because a setting read wrongly would make a comparison
 * that proves nothing. Threads: one.
 */
#include "vectors/vfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
    if (!p) {
        fputs("vectors: out of memory\n", stderr);
        exit(3);
    }
    return p;
}

static bool slurp(struct vfile *f, const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        return false;
    }
    size_t len = 0, room = 0;
    do {
        room = room ? room * 2 : 65536;
        f->text = must(realloc(f->text, room + 1));
        len += fread(f->text + len, 1, room - len, in);
    } while (len == room);
    bool good = !ferror(in) && !memchr(f->text, '\0', len);
    f->text[len] = '\0';
    fclose(in);
    return good;
}

static bool bad(struct vfile *f, const char *why, const char *what)
{
    if (!f->error[0]) {
        snprintf(f->error, sizeof f->error, "%s '%.200s'", why, what);
    }
    return false;
}

/* Cuts text at each `by`, in place. False if there are more than max pieces. */
static bool split(char *text, char by, char **out, size_t max, size_t *count)
{
    for (*count = 0; *count < max;) {
        out[(*count)++] = text;
        char *next = strchr(text, by);
        if (!next) {
            return true;
        }
        *next = '\0';
        text = next + 1;
    }
    return false;
}

static bool read_header(struct vfile *f, char *line)
{
    char *piece[VF_FIELDS];
    size_t n;
    if (strncmp(line, "# ", 2) != 0 || !split(line + 2, ' ', piece, VF_FIELDS, &n)) {
        return bad(f, "line 1 is no header", line);
    }
    for (size_t i = 0; i < n; i++) {
        char *equals = strchr(piece[i], '=');
        if (!equals || equals == piece[i]) {
            return bad(f, "header field is not key=value", piece[i]);
        }
        *equals = '\0';
        if (vf_get(f, piece[i])) {
            return bad(f, "header field given twice", piece[i]);
        }
        f->field[f->fields++] = (struct vf_field){piece[i], equals + 1};
    }
    return true;
}

static bool read_columns(struct vfile *f)
{
    static char key[] = "key", node[] = "node";
    for (size_t i = 0; i < f->fields; i++) {
        if (strcmp(f->field[i].key, "columns") == 0) {
            char *copy = must(strdup(f->field[i].value)); /* the header's own copy stays whole */
            f->field[i].value = copy;
            bool good = split(copy, ',', f->column, VF_COLUMNS, &f->columns);
            return good ? good : bad(f, "too many columns", copy);
        }
    }
    f->column[0] = key;
    f->column[1] = node;
    f->columns = 2;
    return true;
}

static bool read_rows(struct vfile *f, char *text)
{
    bool good = true;
    size_t room = 0;
    for (unsigned line = 2; *text; line++) {
        char *end = strchr(text, '\n');
        if (!end) {
            good = bad(f, "last line does not end", text);
            end = text + strlen(text);
        }
        char *next = *end ? end + 1 : end;
        *end = '\0';
        if (f->rows == room) {
            room = room ? room * 2 : 256;
            f->row = must(realloc(f->row, room * sizeof *f->row));
        }
        struct vf_row *r = &f->row[f->rows++];
        r->line = line;
        if (!split(text, '\t', r->column, VF_COLUMNS, &r->columns) || r->columns != f->columns) {
            good = bad(f, "a line has not as many columns as the header", text);
        }
        text = next;
    }
    return good;
}

bool vf_read(struct vfile *f, const char *path)
{
    memset(f, 0, sizeof *f);
    f->path = must(strdup(path));
    if (!slurp(f, path)) {
        return bad(f, "cannot read, or a NUL in it:", path);
    }
    char *rest = strchr(f->text, '\n');
    if (!rest) {
        return bad(f, "no lines in", path);
    }
    if (rest > f->text && rest[-1] == '\r') {
        return bad(f, "lines end in CR LF, and should in LF:", path);
    }
    *rest++ = '\0';
    bool good = read_header(f, f->text);
    good = read_columns(f) && good;
    good = read_rows(f, rest) && good;
    return f->rows ? good : bad(f, "no vectors in", path);
}

void vf_free(struct vfile *f)
{
    for (size_t i = 0; i < f->fields; i++) {
        if (strcmp(f->field[i].key, "columns") == 0) {
            free(f->field[i].value);
        }
    }
    free(f->path);
    free(f->text);
    free(f->row);
}

const char *vf_get(const struct vfile *f, const char *key)
{
    for (size_t i = 0; i < f->fields; i++) {
        if (strcmp(f->field[i].key, key) == 0) {
            return f->field[i].value;
        }
    }
    return NULL;
}

static bool listed(const char *word, const char *const *known)
{
    while (*known && strcmp(*known, word) != 0) {
        known++;
    }
    return *known != NULL;
}

const char *vf_strange_field(const struct vfile *f, const char *const *known)
{
    for (size_t i = 0; i < f->fields; i++) {
        if (!listed(f->field[i].key, known)) {
            return f->field[i].key;
        }
    }
    return NULL;
}

const char *vf_strange_column(const struct vfile *f, const char *const *known)
{
    for (size_t i = 0; i < f->columns; i++) {
        if (!listed(f->column[i], known)) {
            return f->column[i];
        }
    }
    return NULL;
}

int vf_column(const struct vfile *f, const char *name)
{
    for (size_t i = 0; i < f->columns; i++) {
        if (strcmp(f->column[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int hex(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

char *vf_decode(const char *text, size_t text_len, size_t *len)
{
    char *out = must(malloc(text_len + 1));
    *len = 0;
    for (size_t i = 0; i < text_len; i++) {
        char c = text[i];
        if (c == '%') {
            bool whole = text_len - i > 2;
            int high = whole ? hex(text[i + 1]) : -1, low = whole ? hex(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                free(out);
                return NULL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        out[(*len)++] = c;
    }
    out[*len] = '\0';
    return out;
}

char *vf_decode_text(const char *text, size_t text_len)
{
    size_t len;
    char *out = vf_decode(text, text_len, &len);
    if (out && memchr(out, '\0', len)) {
        free(out);
        return NULL;
    }
    return out;
}

bool vf_number(const char *text, uint64_t *out)
{
    *out = 0;
    if (!*text) {
        return false;
    }
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || *out > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *out = *out * 10 + digit;
    }
    return true;
}
