/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what request.c and inline.c share; users include resp.h. Threads: one thread an
 * object.
 */
#ifndef GY_WIRE_REQUEST_H
#define GY_WIRE_REQUEST_H

#include "wire/resp.h"

/* Ways out of a parse step. */
enum gy_parse gy_req_more(struct gy_req_parser *p, size_t need);
enum gy_parse gy_req_fail(struct gy_req_parser *p, const char *error);
/* A whole request of `bytes`: its arguments lie at their offsets from base. */
enum gy_parse gy_req_done(struct gy_req_parser *p, const uint8_t *base, size_t bytes,
                          struct gy_request *out);
/* One more argument. False: no memory. */
bool gy_req_push(struct gy_req_parser *p, size_t off, size_t len);
/* An inline command starts at in; n > 0. */
enum gy_parse gy_req_inline(struct gy_req_parser *p, const uint8_t *in, size_t n,
                            struct gy_request *out);

#endif
