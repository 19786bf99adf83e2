/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr.h - addresses as text: "host:port", "[v6]:port", "v6:port" is refused with the bracketed
 * form, "unix:/path". Threads: any.
 */
#ifndef GY_NET_ADDR_H
#define GY_NET_ADDR_H

#include "gyre.h"

#include <sys/socket.h>

struct gy_addr {
    bool is_unix;
    char host[256]; /* or the path */
    uint16_t port;
};

/* default_port 0: a port must be given. INVALID with the reason. */
GYRE_NODISCARD int gy_addr_parse(const char *text, uint16_t default_port, struct gy_addr *out,
                                 gyre_error_t *e);
/* The same of literal addresses and localhost only, asking no name server; false for other names.
 */
bool gy_addr_literal(const struct gy_addr *a, struct sockaddr_storage *out);
/* Resolves (blocking; names only) to one socket address. */
GYRE_NODISCARD int gy_addr_resolve(const struct gy_addr *a, struct sockaddr_storage *out,
                                   socklen_t *len, gyre_error_t *e);

#endif
