/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - what a command says: answers to stdout through a buffer, complaints to stderr. A write
 * that fails is reported once and makes the exit status 2; a reader that went away (EPIPE) is not
 * worth a word. Threads: main only.
 */
#ifndef GY_CLI_OUT_H
#define GY_CLI_OUT_H

#include "base/buf.h"
#include "gyre.h"

#define GY_OUT_FULL ((size_t)128 << 10) /* a streaming command flushes above this */

/* Writes the buffer out and empties it. GY_EXIT_OK or GY_EXIT_USAGE; after a failure nothing more
 * is written. */
int gy_out_flush(struct gy_buf *out);
/* The same, then frees the buffer: the last thing a command does. */
int gy_out_end(struct gy_buf *out);
/* One line of text: the answer; aside: stdout is for JSON alone, so it goes to stderr. */
int gy_out_line(bool aside, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "gyre: ..." on stderr; control bytes but \n and \t as \xNN, whoever chose them. */
void gy_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* gyre_error_t keeps the first 255 bytes of a file's name; this is the whole of the one in work. */
void gy_complain_about(const char *path);
/* "gyre: file:line:column: message"; always GY_EXIT_USAGE. */
int gy_complain_error(const gyre_error_t *e);
int gy_complain_memory(void);
/* Warns of a secret_file that is open to every user. */
struct gy_config;
void gy_complain_secret(const struct gy_config *c);

#endif
