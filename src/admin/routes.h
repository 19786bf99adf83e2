/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.h - what each path of the admin answers; knows the mover, not HTTP's wire. The table is
 * in routes.c. Threads: the admin thread.
 */
#ifndef GY_ADMIN_ROUTES_H
#define GY_ADMIN_ROUTES_H

#include "admin/admin.h"
#include "admin/reply.h"

struct gy_route_http;

#define GY_ADMIN_BODY_MAX (16u << 20) /* a topology of some 100 000 nodes */

/* NULL: the reply says why (404, 405). */
const struct gy_route_http *gy_admin_route(const char *method, const char *path,
                                           struct gy_reply_http *r);
/* How many bytes of body it takes; 0: none. */
size_t gy_admin_route_body(const struct gy_route_http *route);
/* Does it change anything, so that a web page elsewhere must not be able to send it? */
bool gy_admin_route_changes(const struct gy_route_http *route);
void gy_admin_answer(const struct gy_route_http *route, const struct gy_admin_ops *ops,
                     const void *body, size_t len, struct gy_reply_http *r);

#endif
