/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greeting.h - the hand-shake on a new connection to a node, in two rounds: AUTH, CLIENT SETNAME,
 * CLIENT ID, INFO server, CLIENT LIST; then CLIENT KILL ID for every connection that must not
 * execute anything any more. Threads: the worker's.
 */
#ifndef GY_PROXY_GREETING_H
#define GY_PROXY_GREETING_H

#include "proxy/backend.h"

enum gy_greeting { GY_GREETING_MORE, GY_GREETING_DONE, GY_GREETING_FAILED /* b->why says it */ };

void gy_greeting_begin(struct gy_backend *b);
enum gy_greeting gy_greeting_data(struct gy_backend *b, const uint8_t *p, size_t n);

#endif
