/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy_words.h - a line of haproxy.cfg as words: quotes, escapes and comments as HAProxy reads
 * them. Variables of the environment (in double quotes) are not known here: a word with one is
 * marked. Threads: one an object.
 */
#ifndef GY_FORMATS_HAPROXY_WORDS_H
#define GY_FORMATS_HAPROXY_WORDS_H

#include "formats/format.h"
#include "formats/lines.h"

struct gy_haproxy_word {
    size_t from, n; /* in chars */
    struct gy_mark at;
    bool variable;
};

struct gy_haproxy_line {
    struct gy_reading *r;
    struct gy_lines lines;
    struct gy_buf chars; /* the words, each with a NUL behind it */
    struct gy_haproxy_word *words;
    size_t count, room;
};

void gy_haproxy_line_init(struct gy_haproxy_line *l, struct gy_reading *r);
void gy_haproxy_line_fini(struct gy_haproxy_line *l);
/* The next line that has words; *more is false at the end of the text. */
GYRE_NODISCARD int gy_haproxy_line_next(struct gy_haproxy_line *l, bool *more);

/* Word i, NUL-terminated behind, good until the next line; "" beyond the last, as in HAProxy. */
struct gy_slice gy_haproxy_word(const struct gy_haproxy_line *l, size_t i);
static inline bool gy_haproxy_is(const struct gy_haproxy_line *l, size_t i, const char *word)
{
    return gy_slice_eq(gy_haproxy_word(l, i), gy_str(word));
}
/* Where word i stands; beyond the last: where the last one does. */
struct gy_mark gy_haproxy_at(const struct gy_haproxy_line *l, size_t i);
/* UNSUPPORTED for a word with a variable in it. */
GYRE_NODISCARD int gy_haproxy_known(const struct gy_haproxy_line *l, size_t i);
/* May it stand in the name of a section or a server? */
static inline bool gy_haproxy_in_name(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr(".:_-", c));
}
/* A number as C's atol reads it: what follows the digits does not count. */
int64_t gy_haproxy_number(struct gy_slice s);

#endif
