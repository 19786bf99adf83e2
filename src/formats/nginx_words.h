/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nginx_words.h - nginx's configuration language, one statement at a time: words (quotes, escapes
 * and comments as nginx reads them) up to a ';', a '{' or a '}'. What nginx says of a text that is
 * not in its language is said here too. Threads: one an object.
 */
#ifndef GY_FORMATS_NGINX_WORDS_H
#define GY_FORMATS_NGINX_WORDS_H

#include "formats/format.h"

enum gy_nginx_end {
    GY_NGINX_SEMICOLON,
    GY_NGINX_OPEN,
    GY_NGINX_CLOSE, /* without words */
    GY_NGINX_EOF,   /* without words */
};

struct gy_nginx_word {
    size_t from, n; /* in chars */
    struct gy_mark at;
};

struct gy_nginx {
    struct gy_reading *r;
    struct gy_slice text; /* of the file that is read now */
    size_t i;
    struct gy_mark at; /* of text.p[i] */
    /* the statement */
    struct gy_buf chars; /* its words, each with a NUL behind it */
    struct gy_nginx_word *words;
    size_t count, room;
    enum gy_nginx_end end;
    struct gy_mark end_at;
};

/* Begins with r's text; fini in every case. */
void gy_nginx_init(struct gy_nginx *n, struct gy_reading *r);
void gy_nginx_fini(struct gy_nginx *n);
GYRE_NODISCARD int gy_nginx_next(struct gy_nginx *n);
/* Behind the '{' of a block of Lua: goes behind its '}'. */
GYRE_NODISCARD int gy_nginx_skip_lua(struct gy_nginx *n);

/* A word of the statement, NUL-terminated behind, good until the next one. */
static inline struct gy_slice gy_nginx_word(const struct gy_nginx *n, size_t i)
{
    return (struct gy_slice){n->chars.data + n->chars.off + n->words[i].from, n->words[i].n};
}

#endif
