/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - redis://HOST:PORT where a file could stand: the server is asked what it knows, and its
 * answer is read as the file of it would be. Threads: main only.
 */
#ifndef GY_CLI_LIVE_H
#define GY_CLI_LIVE_H

#include "net/sync.h"

bool gy_live_is(const char *path);
/* The server's answer, and the format to read it as. IO, TIMEOUT (it could not be reached or
 * asked), INVALID (no such address), REFUSED (it answered with an error). */
GYRE_NODISCARD int gy_live_read(const char *url, struct gy_buf *text, const char **format,
                                gyre_error_t *e);
/* CLUSTER NODES of another server of the same fleet, asked as the same user. Errors as above. Any
 * thread. */
GYRE_NODISCARD int gy_live_nodes(const char *url, const char *address, struct gy_buf *text,
                                 gyre_error_t *e);
/* Another server of the same fleet, asked as the same user: a connection to `address`; NULL: to the
 * one that the URL names. most: bytes of one answer. */
GYRE_NODISCARD int gy_live_connect(const char *url, const char *address, size_t most,
                                   struct gy_sync **out, gyre_error_t *e);
/* The address alone, for messages: a password must not get there. */
void gy_live_name(const char *url, char *out, size_t size);

#endif
