/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - one value of a known type, from the text of a scalar into its place. Used by the YAML
 * reader and for the defaults, so that a default is read by the very code that reads a file.
 * Threads: any.
 */
#ifndef GY_FORMATS_VALUE_H
#define GY_FORMATS_VALUE_H

#include "formats/schema.h"

#define GY_VALUE_WHY 640

/* Sets the key's field of base. Text replaces (and frees) what stood there; GY_KIND_LISTEN appends.
 * NOMEM, SYNTAX or RANGE with the reason in why. */
GYRE_NODISCARD int gy_value_set(const struct gy_key *k, struct gy_slice text, void *base,
                                char why[GY_VALUE_WHY]);
/* Every default of a section. Only NOMEM can happen. */
GYRE_NODISCARD int gy_value_defaults(enum gy_section section, void *base);
void gy_proxy_conf_fini(struct gy_proxy_conf *p);
void gy_node_draft_fini(struct gy_node_draft *n);

#endif
