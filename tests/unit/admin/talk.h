/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.h - speaks to a socket byte by byte: what an HTTP library would not send is what the tests
 * need to send. One thread.
 */
#ifndef TESTS_UNIT_ADMIN_TALK_H
#define TESTS_UNIT_ADMIN_TALK_H

#include "base/buf.h"

/* "unix:/path" or "127.0.0.1:port"; -1 with errno. */
int talk_dial(const char *address);
/* Sends text, reads until the other side closes, closes. The status (0: closed without an answer);
 * the body is in `body`, the whole answer in `all` (either may be NULL). */
int talk(const char *address, const char *text, size_t len, struct gy_buf *all,
         struct gy_buf *body);
/* METHOD PATH with X-Gyre: 1, a Host, Connection: close, and a body unless NULL. */
int talk_http(const char *address, const char *method, const char *path, const char *body,
              struct gy_buf *answer);

#endif
