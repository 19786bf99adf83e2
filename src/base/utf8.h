/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - just enough Unicode for hostile text: measure columns on a terminal, and quote a name
 * for a message. (Decoding, and what is a control character: lib/utf8.h.) No locale. Threads: any.
 */
#ifndef GY_BASE_UTF8_H
#define GY_BASE_UTF8_H

#include "base/buf.h"
#include "lib/utf8.h"

bool gy_utf8_valid(struct gy_slice s);
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
/* One word that a POSIX shell reads back as text: bare where that is so, else between quotes. */
void gy_utf8_shell(struct gy_buf *out, const char *text);

#endif
