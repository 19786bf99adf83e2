/* SPDX-License-Identifier: Apache-2.0 */
/* nginx_server.h - the address and parameters of one `server` of an upstream. Threads: any. */
#ifndef GY_FORMATS_NGINX_SERVER_H
#define GY_FORMATS_NGINX_SERVER_H

#include "formats/nginx_upstream.h"

/* Reads the words behind `server` into *s; s->name stays NULL. */
GYRE_NODISCARD int gy_nginx_server_read(struct gy_nginx_upstream *u, const struct gy_nginx *n,
                                        struct gy_nginx_server *s);
/* Appends what can be dialled; nothing where it is no address gyre knows. */
void gy_nginx_server_address(const struct gy_nginx_upstream *u, struct gy_slice name,
                             struct gy_buf *out);

#endif
