/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - a streaming JSON writer into a gy_buf. The caller opens and closes; commas and escapes
 * are ours. Bytes that are not valid UTF-8 are written as U+FFFD so that the output is always JSON;
 * shares are written with %.17g's shortest round-trip form. Threads: one thread an object.
 */
#ifndef GY_BASE_JSON_H
#define GY_BASE_JSON_H

#include "base/buf.h"

struct gy_json {
    struct gy_buf *out;
    unsigned depth;
    uint64_t filled; /* bit d: something already stands at depth d, so a comma is due */
    bool keyed;      /* a key was just written: its value follows without comma */
};

void gy_json_init(struct gy_json *j, struct gy_buf *out);
void gy_json_object(struct gy_json *j);
void gy_json_object_end(struct gy_json *j);
void gy_json_array(struct gy_json *j);
void gy_json_array_end(struct gy_json *j);
void gy_json_key(struct gy_json *j, const char *key);
void gy_json_string(struct gy_json *j, const char *s); /* NULL writes null */
void gy_json_bytes(struct gy_json *j, const void *p, size_t n);
void gy_json_int(struct gy_json *j, int64_t v);
void gy_json_uint(struct gy_json *j, uint64_t v);
void gy_json_double(struct gy_json *j, double v); /* not finite: null */
void gy_json_bool(struct gy_json *j, bool v);
void gy_json_null(struct gy_json *j);

/* key + value in one call */
void gy_json_kstring(struct gy_json *j, const char *key, const char *s);
void gy_json_kuint(struct gy_json *j, const char *key, uint64_t v);
void gy_json_kint(struct gy_json *j, const char *key, int64_t v);
void gy_json_kdouble(struct gy_json *j, const char *key, double v);
void gy_json_kbool(struct gy_json *j, const char *key, bool v);

#endif
