/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h - what may be sent to a terminal: colour only where it is wanted, and never a control byte
 * that came from a key or a name. Threads: main only.
 */
#ifndef GY_CLI_TERM_H
#define GY_CLI_TERM_H

#include "base/buf.h"

bool gy_term_is(int fd);          /* a terminal */
bool gy_term_cursor(int fd);      /* ... and TERM is not "dumb": a line can be rewritten */
unsigned gy_term_columns(int fd); /* its width; 0: no terminal, or one that does not say */
bool gy_term_colour(int fd);      /* ... and NO_COLOR is empty, and TERM is not "dumb" */

enum gy_tint { GY_TINT_BOLD, GY_TINT_DIM, GY_TINT_GOOD, GY_TINT_BAD };
/* text between the codes of a tint, when stdout takes colour. */
void gy_term_tint(struct gy_buf *out, enum gy_tint tint, const char *text);

/* "12 s", "3 min 5 s" */
void gy_term_seconds(struct gy_buf *out, double seconds);

/* Percent-encodes '%', control bytes and what is not UTF-8: readable, and one line. */
void gy_term_encode(struct gy_buf *out, struct gy_slice text);
/* As the bytes are, unless stdout is a terminal: then control bytes and broken UTF-8 are
 * percent-encoded. */
void gy_term_text(struct gy_buf *out, struct gy_slice text);
/* Takes percent-encoding off in place: false when a '%' is not followed by two hex digits. */
bool gy_term_decode(uint8_t *text, size_t *len);

#endif
