/* SPDX-License-Identifier: Apache-2.0 */
/* envoy_fields.c - see envoy_fields.h. */
#include "formats/envoy_fields.h"
#include "base/num.h"
#include "base/utf8.h"

#define NAME_MAX_BYTES 64

/* "lb_policy" as "lbPolicy". */
static void camel(const char *snake, char out[NAME_MAX_BYTES])
{
    size_t w = 0;
    for (size_t i = 0; snake[i] && w + 1 < NAME_MAX_BYTES; i++) {
        bool up = snake[i] == '_' && snake[i + 1] >= 'a' && snake[i + 1] <= 'z';
        out[w++] = up ? (char)(snake[++i] - 'a' + 'A') : snake[i];
    }
    out[w] = '\0';
}

const struct gy_tree *gy_envoy_get(const struct gy_tree *map, const char *name)
{
    char other[NAME_MAX_BYTES];
    camel(name, other);
    const struct gy_tree *t = map ? gy_tree_get(map, name) : NULL;
    t = t || !map ? t : gy_tree_get(map, other);
    return t && t->kind == GY_TREE_NULL ? NULL : t;
}

static int wants(struct gy_reading *r, const struct gy_tree *t, const char *what)
{
    char q[GY_QUOTE];
    return gy_read_fail(r, GYRE_SYNTAX, t->at, "%s must be %s, not %s", gy_utf8_quote(q, t->key),
                        what, gy_tree_word(t));
}

int gy_envoy_number(struct gy_reading *r, const struct gy_tree *map, const char *name,
                    uint64_t least, uint64_t most, uint64_t *out)
{
    const struct gy_tree *t = gy_envoy_get(map, name);
    uint64_t v;
    if (!t) {
        return GYRE_OK;
    }
    if (t->kind != GY_TREE_TEXT || gy_num_uint(t->text, &v)) {
        return wants(r, t, "a whole number");
    }
    if (v < least || v > most) {
        return gy_read_fail(r, GYRE_RANGE, t->at, "%s: value must be %s than or equal to %llu",
                            name, v < least ? "greater" : "less",
                            (unsigned long long)(v < least ? least : most));
    }
    *out = v;
    return GYRE_OK;
}

int gy_envoy_bool(struct gy_reading *r, const struct gy_tree *map, const char *name, bool *out)
{
    const struct gy_tree *t = gy_envoy_get(map, name);
    if (t && !gy_tree_is(t, "true") && !gy_tree_is(t, "false")) {
        return wants(r, t, "true or false");
    }
    *out = t ? gy_tree_is(t, "true") : *out;
    return GYRE_OK;
}

int gy_envoy_enum(struct gy_reading *r, const struct gy_tree *map, const char *name,
                  const char *const *words, unsigned *out)
{
    const struct gy_tree *t = gy_envoy_get(map, name);
    uint64_t number = UINT64_MAX;
    if (!t) {
        return GYRE_OK;
    }
    if (t->kind != GY_TREE_TEXT) {
        return wants(r, t, "a word");
    }
    if (gy_num_uint(t->text, &number)) {
        number = UINT64_MAX;
    }
    for (unsigned i = 0; words[i]; i++) {
        if (gy_tree_is(t, words[i]) || number == i) {
            *out = i;
            return GYRE_OK;
        }
    }
    return gy_read_unknown(r, t->at, name, t->text, words);
}

int gy_envoy_map(struct gy_reading *r, const struct gy_tree *map, const char *name,
                 const struct gy_tree **out)
{
    *out = gy_envoy_get(map, name);
    return !*out || (*out)->kind == GY_TREE_MAP ? GYRE_OK : wants(r, *out, "a mapping");
}

int gy_envoy_list(struct gy_reading *r, const struct gy_tree *map, const char *name,
                  const struct gy_tree **out)
{
    *out = gy_envoy_get(map, name);
    return !*out || (*out)->kind == GY_TREE_LIST ? GYRE_OK : wants(r, *out, "a list");
}

int gy_envoy_check(struct gy_reading *r, const struct gy_tree *map, const char *message,
                   const char *const *fields, bool only_near)
{
    char other[NAME_MAX_BYTES], q[GY_QUOTE];
    size_t count = 0;
    while (fields[count]) {
        count++;
    }
    for (const struct gy_tree *t = map->first; t; t = t->next) {
        bool known = gy_slice_eq(t->key, GY_LIT("@type"));
        for (size_t i = 0; i < count && !known; i++) {
            camel(fields[i], other);
            known = gy_slice_eq(t->key, gy_str(fields[i])) || gy_slice_eq(t->key, gy_str(other));
        }
        const char *near = known ? NULL : gyre_nearest((const char *)t->key.p, fields, count);
        if (!known && (near || !only_near)) {
            return gy_read_fail(r, GYRE_UNKNOWN, t->key_at, "no such field: %s of %s%s%s%s",
                                gy_utf8_quote(q, t->key), message, near ? "; did you mean '" : "",
                                near ? near : "", near ? "'?" : "");
        }
    }
    return GYRE_OK;
}
