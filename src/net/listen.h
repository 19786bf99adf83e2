/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - a bound, listening socket from an address; used by the proxy and by the admin server.
 * A unix path left by a dead process is removed; one that a live process answers on is not.
 * Threads: any.
 */
#ifndef GY_NET_LISTEN_H
#define GY_NET_LISTEN_H

#include "gyre.h"
#include "net/addr.h"

/* Opens n sockets on the same address, one a loop (n > 1: SO_REUSEPORT, after making sure that no
 * other process has the port; for a unix path they are duplicates of one). Errors: IO, saying which
 * address is in use or not allowed; then none is left open. */
GYRE_NODISCARD int gy_listen(const struct gy_addr *a, unsigned n, int *fds, gyre_error_t *e);

/* "unix:/run/gyre/gyre.sock" on a machine just booted: /run/gyre is gone. Makes that one level,
 * open to all; what is wrong with it bind says. */
void gy_listen_make_folder(const char *path);
/* What to do about errno from a socket at path; "" where the error says it. */
#define GY_LISTEN_HINT 600 /* a path of quotes is written in four times its bytes */
const char *gy_listen_hint(const char *path, int error, char out[GY_LISTEN_HINT]);

/* What of gy_listen can be said without a socket, in the same words: a unix path whose folder is
 * missing and cannot be made, or is none, or is closed to us, or that something else than a socket
 * has. IO. */
GYRE_NODISCARD int gy_listen_check(const struct gy_addr *a, gyre_error_t *e);

#endif
