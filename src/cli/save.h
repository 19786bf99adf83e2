/* SPDX-License-Identifier: Apache-2.0 */
/* save.h - a file written whole or not at all. Threads: main only. */
#ifndef GY_CLI_SAVE_H
#define GY_CLI_SAVE_H

#include "base/buf.h"

/* Writes a file beside path, syncs it and renames it over path, or over what path is a link to.
 * What is not a plain file (a pipe), or is another name of a standard stream (/dev/stdout), is
 * written to as it is. GY_EXIT_OK, or GY_EXIT_USAGE after reporting. */
int gy_save_file(const char *path, struct gy_buf *text);
/* The same, but a plain file that is there already, even since a moment, is left as it is. */
int gy_save_new(const char *path, struct gy_buf *text);

#endif
