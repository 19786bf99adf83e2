/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_place.h - where a store lives, before SQLite sees it: the directory and the file, made
 * where they are missing, and refused with the reason where they are something else. A file that is
 * there is never opened here: to close it again would give back the locks that this process has on
 * it by another connection (sqlite.org/howtocorrupt.html, 2.2). Threads: any.
 */
#ifndef GY_CONTROL_STORE_PLACE_H
#define GY_CONTROL_STORE_PLACE_H

#include "gyre.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Made with mode 0700. IO. */
GYRE_NODISCARD int gy_store_place_dir(const char *dir, gyre_error_t *e);
/* The data base at path, made with mode 0600 if make; *st is what stat says of it. UNKNOWN: it is
 * not there, and was not to be made. IO: no regular file, or closed to us. */
GYRE_NODISCARD int gy_store_place_file(const char *path, bool make, struct stat *st,
                                       gyre_error_t *e);
/* IO, with what errno says about path. */
int gy_store_place_fail(gyre_error_t *e, const char *path, const char *what);

#endif
