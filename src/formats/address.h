/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - is this text an address? "host:port", "[ipv6]:port" or "unix:/path". Nothing is
 * resolved; a name may still not exist. An IPv6 address without brackets is refused, because
 * "::1:6379" is itself an address and nobody can tell where the port begins. Threads: any.
 */
#ifndef GY_FORMATS_ADDRESS_H
#define GY_FORMATS_ADDRESS_H

#include "base/buf.h"

#define GY_ADDRESS_WHY 400

/* False, with the reason in why. any_port: port 0 ("choose one") is allowed. */
bool gy_address_check(struct gy_slice text, bool any_port, char why[GY_ADDRESS_WHY]);
/* The host part, brackets off; for "unix:/path" the word "unix". */
struct gy_slice gy_address_host(const char *address);

/* Host (brackets off; a socket's path) and port (empty for a socket) of what gy_address_check
 * takes.
 */
void gy_address_parts(const char *address, struct gy_slice *host, struct gy_slice *port);

/* Is it one address? IPv6 may be spelt in several ways. Both are what gy_address_check takes. */
bool gy_address_same(const char *a, const char *b);

/* Appends host and port as one address: IPv6 gets its brackets, a host that begins with '/' is a
 * socket. False, with nothing appended, where that is no address. */
bool gy_address_join(struct gy_buf *out, struct gy_slice host, struct gy_slice port);

/* Fit to be a name, zone, path: well-formed UTF-8, no control characters, 1 to max bytes, and no
 * NUL. False, with the reason in why. */
bool gy_text_check(struct gy_slice text, size_t max, char why[GY_ADDRESS_WHY]);

#endif
