/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe.h - a compiled key recipe: what recipe.c reads from text and recipe_key.c applies. Nothing
 * of it changes after parsing. Threads: any.
 */
#ifndef GY_LIB_RECIPE_H
#define GY_LIB_RECIPE_H

#include "gyre.h"

#define GY_RECIPE_PARTS 32 /* parts, and names of parameters, of one recipe */
#define GY_RECIPE_TEXT  1024

enum gy_part_kind { GY_PART_HOST, GY_PART_PATH, GY_PART_QUERY, GY_PART_HEADER };

/* A name in the recipe's text: of a header, in lower case; of a parameter, perhaps a prefix. */
struct gy_part_name {
    const char *text;
    size_t len;
    bool prefix; /* it ended in '*' */
};

struct gy_part {
    enum gy_part_kind kind;
    bool port, sort, normal; /* host(port); query(sort); path(normal), query(normal) */
    bool keep;               /* the names are those to keep, not to drop */
    struct gy_part_name header;
    uint32_t first, names; /* of gyre_recipe.name */
};

struct gyre_recipe {
    char text[GY_RECIPE_TEXT];
    struct gy_part part[GY_RECIPE_PARTS];
    uint32_t parts;
    struct gy_part_name name[GY_RECIPE_PARTS];
    uint32_t names;
};

static inline char gy_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

#endif
