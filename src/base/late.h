/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.h - functions of a library that few runs of the program need, found when one does. libcurl
 * and libmicrohttpd bring three dozen others with them (TLS, Kerberos, LDAP), and finding and
 * relocating those took seven eighths of the time of a `gyre locate`. Threads: one, before the
 * functions are used.
 */
#ifndef GY_BASE_LATE_H
#define GY_BASE_LATE_H

#include <stdbool.h>
#include <stddef.h>

/* Looks the names up in the library called `soname`, and writes where they are to `functions`, a
 * struct of n pointers to functions in that order. False: why says which is missing, in words. The
 * library stays loaded; to ask again costs little. */
bool gy_late_load(const char *soname, const char *const *names, size_t n, void *functions,
                  char *why, size_t why_size);

#endif
