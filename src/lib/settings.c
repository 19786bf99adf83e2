/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - reading and checking the placement settings against their table. A value's check is
 * driven by the table's own `values` text. Threads: any; the table is constant.
 */
#include "lib/settings.h"

#include <stdio.h>
#include <string.h>

#include "lib/error.h"

enum kind { KIND_WORD, KIND_NUMBER, KIND_TAG };

static const struct gyre_setting table[] = {
#define ROW(id, key, fallback, kind, values, help) {key, fallback, values, help},
    GY_SETTINGS(ROW)
#undef ROW
};

static const enum kind kinds[] = {
#define KIND(id, key, fallback, kind, values, help) KIND_##kind,
    GY_SETTINGS(KIND)
#undef KIND
};

const struct gyre_setting *gyre_settings(size_t *count)
{
    if (count) {
        *count = GY_SET_COUNT;
    }
    return table;
}

static size_t find_key(const char *key)
{
    size_t i = 0;
    while (i < GY_SET_COUNT && strcmp(table[i].key, key) != 0) {
        i++;
    }
    return i;
}

static int fail_key(const char *key, gyre_error_t *e)
{
    const char *known[GY_SET_COUNT];
    char shown[GY_SHOW];
    for (size_t i = 0; i < GY_SET_COUNT; i++) {
        known[i] = table[i].key;
    }
    const char *near = gyre_nearest(key, known, GY_SET_COUNT);
    return gy_fail(e, GYRE_UNKNOWN, "unknown placement setting '%s'%s%s%s", gy_show(key, shown),
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

#define WORDS_MAX 32

static int fail_word(size_t id, const char *value, gyre_error_t *e)
{
    char words[WORDS_MAX][GY_SETTING_TEXT];
    const char *known[WORDS_MAX];
    char shown[GY_SHOW];
    size_t n = 0;
    for (const char *p = table[id].values; n < WORDS_MAX; n++) {
        size_t len = strcspn(p, "|");
        snprintf(words[n], sizeof words[n], "%.*s", (int)len, p);
        known[n] = words[n];
        if (!p[len]) {
            n++;
            break;
        }
        p += len + 1;
    }
    const char *near = gyre_nearest(value, known, n);
    return gy_fail(e, GYRE_UNKNOWN, "%s: unknown value '%s'%s%s%s (one of %s)", table[id].key,
                   gy_show(value, shown), near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "", table[id].values);
}

static int set_word(struct gy_settings *s, size_t id, const char *value, gyre_error_t *e)
{
    size_t value_len = strnlen(value, GY_SETTING_TEXT);
    uint64_t index = 0;
    for (const char *p = table[id].values;; index++) {
        size_t len = strcspn(p, "|");
        if (len == value_len && memcmp(p, value, len) == 0) {
            s->value[id] = index;
            memcpy(s->text[id], value, value_len + 1);
            return GYRE_OK;
        }
        if (!p[len]) {
            return fail_word(id, value, e);
        }
        p += len + 1;
    }
}

/* Decimal digits only: no sign, blank or base, whatever the locale. Returns what follows them;
 * *out is UINT64_MAX for what does not fit. */
static const char *read_number(const char *text, uint64_t *out)
{
    uint64_t v = 0;
    bool big = false;
    for (; *text >= '0' && *text <= '9'; text++) {
        unsigned digit = (unsigned)(*text - '0');
        big = big || v > (UINT64_MAX - digit) / 10;
        v = v * 10 + digit;
    }
    *out = big ? UINT64_MAX : v;
    return text;
}

static int set_number(struct gy_settings *s, size_t id, const char *value, gyre_error_t *e)
{
    char shown[GY_SHOW];
    uint64_t least, most, v;
    const char *p = read_number(table[id].values, &least);
    read_number(p + strlen(".."), &most);
    const char *end = read_number(value, &v);
    if (end == value || *end) {
        return gy_fail(e, GYRE_INVALID, "%s: '%s' is not a whole number (%s)", table[id].key,
                       gy_show(value, shown), table[id].values);
    }
    if (v < least || v > most) {
        return gy_fail(e, GYRE_RANGE, "%s: %s is out of range (%s)", table[id].key,
                       gy_show(value, shown), table[id].values);
    }
    s->value[id] = v;
    snprintf(s->text[id], sizeof s->text[id], "%llu", (unsigned long long)v);
    return GYRE_OK;
}

static int set_tag(struct gy_settings *s, size_t id, const char *value, gyre_error_t *e)
{
    char shown[GY_SHOW];
    size_t len = strnlen(value, 3);
    if (len != 0 && len != 2) {
        return gy_fail(e, GYRE_INVALID, "%s: '%s' is not %s", table[id].key, gy_show(value, shown),
                       table[id].values);
    }
    memcpy(s->text[id], value, len + 1);
    return GYRE_OK;
}

static int set_by_id(struct gy_settings *s, size_t id, const char *value, gyre_error_t *e)
{
    switch (kinds[id]) {
    case KIND_WORD:
        return set_word(s, id, value, e);
    case KIND_NUMBER:
        return set_number(s, id, value, e);
    case KIND_TAG:
        break;
    }
    return set_tag(s, id, value, e);
}

void gy_settings_init(struct gy_settings *s)
{
    memset(s, 0, sizeof *s);
    for (size_t id = 0; id < GY_SET_COUNT; id++) {
        (void)set_by_id(s, id, table[id].fallback, NULL); /* a unit test reads every default back */
    }
}

int gy_settings_set(struct gy_settings *s, const char *key, const char *value, gyre_error_t *e)
{
    size_t id = find_key(key);
    if (id == GY_SET_COUNT) {
        return fail_key(key, e);
    }
    int err = set_by_id(s, id, value, e);
    if (err == GYRE_OK) {
        s->chosen[id] = true;
    }
    return err;
}

/* The imitated systems hash the whole key, so with `like` the tag has to be asked for. */
const char *gy_settings_tag(const struct gy_settings *s)
{
    bool whole = s->value[GY_SET_LIKE] != GY_LIKE_NOTHING && !s->chosen[GY_SET_HASH_TAG];
    return whole ? "" : s->text[GY_SET_HASH_TAG];
}

const char *gy_settings_get(const struct gy_settings *s, const char *key)
{
    size_t id = find_key(key);
    if (id == GY_SET_COUNT) {
        return NULL;
    }
    return id == GY_SET_HASH_TAG ? gy_settings_tag(s) : s->text[id];
}
