/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_history.h - the JSON of GET /v1/move/history as a table. Pure.
 */
#ifndef GY_CLI_MOVE_HISTORY_H
#define GY_CLI_MOVE_HISTORY_H

#include "base/buf.h"
#include "gyre.h"

/* SYNTAX when it is no such JSON. */
GYRE_NODISCARD int gy_move_history_table(const char *text, size_t len, struct gy_buf *out,
                                         gyre_error_t *e);

#endif
