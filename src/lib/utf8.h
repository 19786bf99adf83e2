/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - what a name may do to a terminal: UTF-8 decoded strictly, and which characters are not
 * to be shown as they are. The library's messages and the command's output go by this one rule. No
 * locale. Threads: any.
 */
#ifndef GY_LIB_UTF8_H
#define GY_LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at p (RFC 3629: no surrogates, no overlong forms) and its code
 * point; 0 if there is none. n is at least 1. */
size_t gy_utf8_decode(const uint8_t *p, size_t n, uint32_t *cp);
/* C0, DEL and C1: what may move a cursor or change a colour. Line separators and the marks that
 * turn the direction of writing count too: they make one name look like another. */
bool gy_utf8_control(uint32_t cp);

#endif
