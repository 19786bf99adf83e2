/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - bytes fed to the parsers in pieces, as a socket would, and what came out written as
 * text: two ways of cutting one input must give one text. For the unit tests and the fuzzer.
 *
 * Each piece lies in a block of its own of exactly its size, so that a sanitizer sees a read too
 * far, and a slice into bytes that were moved.
 */
#ifndef GY_TEST_FEED_H
#define GY_TEST_FEED_H

#include "wire/resp.h"

/* How many of the `left` bytes come next: 1..left. */
typedef size_t feed_cut(void *arg, size_t left);

size_t feed_whole(void *arg, size_t left);
size_t feed_bytewise(void *arg, size_t left);
/* arg: size_t *; one cut at that offset, the rest at once (the value is used up). */
size_t feed_two(void *arg, size_t left);

/* "(3:SET)(1:k)=17;" a request with its arguments and size, '~' before '=' when inline; then
 * "!error" or "..." when bytes are left over. `see`, if given, gets each request. */
void feed_requests(const struct gy_req_limits *limits, const uint8_t *in, size_t n, feed_cut *cut,
                   void *arg, struct gy_buf *out, void (*see)(const struct gy_request *r));
/* "$11;" first byte and size of each reply; then "!" or "...". */
void feed_replies(const uint8_t *in, size_t n, feed_cut *cut, void *arg, struct gy_buf *out);

#endif
