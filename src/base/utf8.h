/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - just enough Unicode for hostile text: decode strictly, tell control characters, measure
 * columns on a terminal, and quote a name for a message. No locale. Threads: any.
 */
#ifndef GY_BASE_UTF8_H
#define GY_BASE_UTF8_H

#include "base/buf.h"

/* Length of the well-formed sequence at p (RFC 3629: no surrogates, no overlong forms) and its code
 * point; 0 if there is none. n is at least 1. */
size_t gy_utf8_decode(const uint8_t *p, size_t n, uint32_t *cp);
bool gy_utf8_valid(struct gy_slice s);
/* C0, DEL and C1: what may move a cursor or change a colour. Line separators and the marks that
 * turn the direction of writing count too: they make one name look like another. */
bool gy_utf8_control(uint32_t cp);
/* Columns a code point takes on a terminal: 0, 1 or 2. */
unsigned gy_utf8_width(uint32_t cp);
/* Columns of a text; a byte that is not UTF-8 counts as one. */
size_t gy_utf8_columns(struct gy_slice s);
/* s between single quotes, cut at about 60 columns, control and broken bytes as \xNN. Returns out.
 */
#define GY_QUOTE 300
char *gy_utf8_quote(char out[GY_QUOTE], struct gy_slice s);
/* s whole and bare, control and broken bytes as \xNN: for what must not be cut, as a path is. */
void gy_utf8_escape(struct gy_buf *out, struct gy_slice s);
/* For places that take no spaces and no quotes: ASCII letters, digits, '.', '_' and '-' as they
 * are, any other byte as %XX. */
bool gy_utf8_is_plain(uint8_t c);
void gy_utf8_plain(struct gy_buf *out, const char *text);

#endif
