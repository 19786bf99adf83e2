/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the file of a secret: 16 bytes as they are, or 32 hexadecimal digits and a line end.
 * No message says what it holds. Threads: any.
 */
#ifndef GY_FORMATS_SECRET_H
#define GY_FORMATS_SECRET_H

#include "gyre.h"

#define GY_SECRET_WHY 400

/* Gives t the secret of the file at path. IO, SYNTAX, or what the library says, with the reason in
 * why; *exposed: the file is open to every user of the machine. */
GYRE_NODISCARD int gy_secret_load(const char *path, gyre_topology_t *t, bool *exposed,
                                  char why[GY_SECRET_WHY]);

#endif
