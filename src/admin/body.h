/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h - reads the JSON bodies of the admin's POSTs into the mover's words. Strict: an unknown,
 * repeated or ill-typed field is an error, because a misspelt "purge_destination" must not pass for
 * a false one. Pure; any thread.
 */
#ifndef GY_ADMIN_BODY_H
#define GY_ADMIN_BODY_H

#include "move/mover.h"

/* {"to": YAML, ...options}. Errors: SYNTAX (not JSON, not YAML), INVALID, UNKNOWN, RANGE; those of
 * the topology carry its line and column. *next is the caller's. */
GYRE_NODISCARD int gy_body_move(const void *body, size_t len, gyre_topology_t **next,
                                struct gy_move_options *options, gyre_error_t *e);
/* {"keys_per_s": N, "bytes_per_s": N}: both must be there, so that neither is lifted by silence; 0
 * is unlimited. */
GYRE_NODISCARD int gy_body_rate(const void *body, size_t len, uint64_t *keys_per_s,
                                uint64_t *bytes_per_s, gyre_error_t *e);
/* {"address": TEXT}; *address is malloc'ed. */
GYRE_NODISCARD int gy_body_address(const void *body, size_t len, char **address, gyre_error_t *e);

#endif
