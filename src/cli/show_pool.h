/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_pool.h - one pool of a file as text and as JSON: settings, servers with their roles, states
 * and slots, and notes. Threads: main only.
 */
#ifndef GY_CLI_SHOW_POOL_H
#define GY_CLI_SHOW_POOL_H

#include "base/json.h"
#include "formats/pools.h"

void gy_show_pool_text(const struct gy_pool *p, struct gy_buf *out);
void gy_show_pool_json(const struct gy_pool *p, struct gy_json *j);

#endif
