/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - an answer of the admin before it becomes HTTP, and how errors become answers. Threads:
 * one thread an object.
 */
#ifndef GY_ADMIN_REPLY_H
#define GY_ADMIN_REPLY_H

#include "base/buf.h"
#include "gyre.h"

struct gy_reply_http {
    unsigned status;
    const char *type;  /* of the body */
    const char *allow; /* methods, for 405; otherwise NULL */
    struct gy_buf body;
};

/* Fills e (if any) and returns code. */
int gy_admin_fail(gyre_error_t *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* {"error": {"code": ..., "message": ..., ...}} with the HTTP status that fits e->code. */
void gy_reply_error(struct gy_reply_http *r, const gyre_error_t *e);
/* The same for what only HTTP knows: a path, a method, a header, a size. */
void gy_reply_problem(struct gy_reply_http *r, unsigned status, const char *code,
                      const char *message);

#endif
