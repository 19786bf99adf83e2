/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - YAML scalars and nodes written so that reading them gives the same bytes. Threads: any.
 */
#ifndef GY_FORMATS_DUMP_H
#define GY_FORMATS_DUMP_H

#include "formats/schema.h"

/* Plain where YAML reads it back as itself, otherwise double-quoted with escapes. */
void gy_dump_scalar(struct gy_buf *out, const char *text);
/* A placement setting: the same, but a number needs no quotes. */
void gy_dump_setting(struct gy_buf *out, const char *value);
/* A key's value in base, as the file would have it; false when it is not set. */
bool gy_dump_value(struct gy_buf *out, const struct gy_key *k, const void *base);

#endif
