/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_reply.h - a Redis reply as a tree, in whichever form it was kept: as redis-cli prints it
 * ("1) (integer) 0", RESP3's "1# key => value" too), as its --json, or as it went over the wire.
 * Not redis-cli's --raw, which has no structure. Threads: one an object.
 */
#ifndef GY_FORMATS_REDIS_REPLY_H
#define GY_FORMATS_REDIS_REPLY_H

#include "formats/tree.h"

/* The form of a text, by its first characters. */
enum gy_reply_form { GY_REPLY_NONE, GY_REPLY_CLI, GY_REPLY_JSON, GY_REPLY_WIRE };
enum gy_reply_form gy_reply_form(struct gy_slice text);

/* Arrays are lists, maps are maps, everything else a text; an error reply is an error here. Fini in
 * every case. */
GYRE_NODISCARD int gy_doc_reply(struct gy_doc *d, struct gy_slice text, const char *file,
                                gyre_error_t *e);

/* A text as redis-cli quotes it, quotes included, without its escapes; false if it is not one. */
bool gy_redis_unquote(struct gy_slice quoted, struct gy_buf *out);

#endif
