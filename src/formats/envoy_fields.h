/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envoy_fields.h - fields of protobuf messages as Envoy reads them from YAML and JSON: names in
 * snake_case or lowerCamelCase, enums as words or numbers. Threads: any.
 */
#ifndef GY_FORMATS_ENVOY_FIELDS_H
#define GY_FORMATS_ENVOY_FIELDS_H

#include "formats/format.h"
#include "formats/tree.h"

/* The field of that name (in snake_case); NULL: not there, or null. */
const struct gy_tree *gy_envoy_get(const struct gy_tree *map, const char *name);

/* The readers below leave *out where the field is not there. */
GYRE_NODISCARD int gy_envoy_number(struct gy_reading *r, const struct gy_tree *map,
                                   const char *name, uint64_t least, uint64_t most, uint64_t *out);
GYRE_NODISCARD int gy_envoy_bool(struct gy_reading *r, const struct gy_tree *map, const char *name,
                                 bool *out);
/* words ends with NULL; *out is the word's place, which is its number. */
GYRE_NODISCARD int gy_envoy_enum(struct gy_reading *r, const struct gy_tree *map, const char *name,
                                 const char *const *words, unsigned *out);
/* SYNTAX unless the field is a map or a list; *out NULL where it is not there. */
GYRE_NODISCARD int gy_envoy_map(struct gy_reading *r, const struct gy_tree *map, const char *name,
                                const struct gy_tree **out);
GYRE_NODISCARD int gy_envoy_list(struct gy_reading *r, const struct gy_tree *map, const char *name,
                                 const struct gy_tree **out);
/* UNKNOWN for a field that is none of those (NULL ends them); with `only_near`, for one that looks
 * like one of those. "@type" may always stand. */
GYRE_NODISCARD int gy_envoy_check(struct gy_reading *r, const struct gy_tree *map,
                                  const char *message, const char *const *fields, bool only_near);

#endif
