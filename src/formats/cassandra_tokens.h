/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cassandra_tokens.h - the tokens of Cassandra's nodes, a list for each, as cassandra.yaml takes
 * them in `initial_token`: see format.h, and docs/formats.md for the form, which is gyre's own.
 * Threads: one an object.
 */
#ifndef GY_FORMATS_CASSANDRA_TOKENS_H
#define GY_FORMATS_CASSANDRA_TOKENS_H

#include "formats/format.h"

int gy_cassandra_tokens_sniff(struct gy_slice head);
GYRE_NODISCARD int gy_cassandra_tokens_parse(struct gy_reading *r);
GYRE_NODISCARD int gy_cassandra_tokens_write(struct gy_writing *w);

#endif
