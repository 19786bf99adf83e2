/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c - reading one value of a setting: a word of a list, a whole number within limits, a hash
 * tag, or any short text. What is permitted is given as the text that help shows. Threads: any.
 */
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/settings.h"

#define WORDS_MAX 64
#define WORD_ROOM 40

static int fail_word(const char *key, const char *values, const char *given, gyre_error_t *e)
{
    char words[WORDS_MAX][WORD_ROOM];
    const char *known[WORDS_MAX];
    char shown[GY_SHOW];
    size_t n = 0;
    for (const char *p = values; n < WORDS_MAX; n++) {
        size_t len = strcspn(p, "|");
        snprintf(words[n], sizeof words[n], "%.*s", (int)len, p);
        known[n] = words[n];
        if (!p[len]) {
            n++;
            break;
        }
        p += len + 1;
    }
    const char *near = gyre_nearest(given, known, n);
    return gy_fail(e, GYRE_UNKNOWN, "%s: unknown value '%s'%s%s%s (one of %s)", key,
                   gy_show(given, shown), near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "", *values == '|' ? values + 1 : values);
}

static int read_word(const char *key, const char *values, const char *given, uint64_t *value,
                     char *text, gyre_error_t *e)
{
    size_t given_len = strnlen(given, GY_SETTING_TEXT);
    uint64_t index = 0;
    for (const char *p = values;; index++) {
        size_t len = strcspn(p, "|");
        if (len == given_len && memcmp(p, given, len) == 0) {
            *value = index;
            memcpy(text, given, given_len + 1);
            return GYRE_OK;
        }
        if (!p[len]) {
            return fail_word(key, values, given, e);
        }
        p += len + 1;
    }
}

/* Decimal digits only: no sign, blank or base, whatever the locale. Returns what follows them;
 * *out is UINT64_MAX for what does not fit. */
static const char *read_digits(const char *text, uint64_t *out)
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

static int read_number(const char *key, const char *values, const char *given, uint64_t *value,
                       char *text, gyre_error_t *e)
{
    char shown[GY_SHOW];
    uint64_t least, most, v;
    const char *p = read_digits(values, &least);
    read_digits(p + strlen(".."), &most);
    const char *end = read_digits(given, &v);
    if (end == given || *end) {
        return gy_fail(e, GYRE_INVALID, "%s: '%s' is not a whole number (%s)", key,
                       gy_show(given, shown), values);
    }
    if (v < least || v > most) {
        return gy_fail(e, GYRE_RANGE, "%s: %s is out of range (%s)", key, gy_show(given, shown),
                       values);
    }
    *value = v;
    snprintf(text, GY_SETTING_TEXT, "%llu", (unsigned long long)v);
    return GYRE_OK;
}

static int read_tag(const char *key, const char *values, const char *given, char *text,
                    gyre_error_t *e)
{
    char shown[GY_SHOW];
    size_t len = strnlen(given, 3);
    if (len != 0 && len != 2) {
        return gy_fail(e, GYRE_INVALID, "%s: '%s' is not %s", key, gy_show(given, shown), values);
    }
    memcpy(text, given, len + 1);
    return GYRE_OK;
}

static int read_text(const char *key, const char *given, char *text, gyre_error_t *e)
{
    size_t len = strnlen(given, GY_SETTING_TEXT);
    if (len == GY_SETTING_TEXT) {
        return gy_fail(e, GYRE_RANGE, "%s: longer than %u bytes", key, GY_SETTING_TEXT - 1);
    }
    memcpy(text, given, len + 1);
    return GYRE_OK;
}

int gy_value_read(const char *key, enum gy_value_kind kind, const char *values, const char *given,
                  uint64_t *value, char text[GY_SETTING_TEXT], gyre_error_t *e)
{
    *value = 0;
    switch (kind) {
    case GY_VALUE_WORD:
        return read_word(key, values, given, value, text, e);
    case GY_VALUE_NUMBER:
        return read_number(key, values, given, value, text, e);
    case GY_VALUE_TAG:
        return read_tag(key, values, given, text, e);
    case GY_VALUE_TEXT:
    case GY_VALUE_LIKE:
        break;
    }
    return read_text(key, given, text, e);
}
