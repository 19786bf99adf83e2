/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greeting.h - the hand-shake (net/greet.h) on a worker's new connection to a node: it collects
 * each answer and hands it on. Threads: the worker's.
 */
#ifndef GY_PROXY_GREETING_H
#define GY_PROXY_GREETING_H

#include "proxy/backend.h"

void gy_greeting_begin(struct gy_backend *b);
/* FAILED: b->greet.why says it. */
enum gy_greeting gy_greeting_data(struct gy_backend *b, const uint8_t *p, size_t n);

#endif
