/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - names and texts of the error codes, filling of gyre_error_t, and the nearest known word
 * for a mistyped one. Threads: any; nothing is kept.
 */
#include "lib/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/utf8.h"

#define WORD_MAX \
    64 /* longer words have no neighbour worth naming, and the table stays on the stack */

struct err_text {
    int value;
    const char *name, *text;
};

static const struct err_text texts[] = {
#define ERR_ROW(name, value, text) {value, #name, text},
    GYRE_ERRORS(ERR_ROW)
#undef ERR_ROW
};

static const struct err_text *find_err(int err)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].value == err) {
            return &texts[i];
        }
    }
    return NULL;
}

const char *gyre_err_name(int err)
{
    const struct err_text *t = find_err(err);
    return t ? t->name : "?";
}

const char *gyre_err_text(int err)
{
    const struct err_text *t = find_err(err);
    return t ? t->text : "unknown error";
}

const char *gyre_version(void)
{
    return GYRE_VERSION;
}

/* A message that fills its room may have been cut within a character: off with what is left. */
static void cut_clean(char *message, size_t room)
{
    size_t len = strlen(message), from = len;
    uint32_t cp;
    if (len + 1 < room) {
        return;
    }
    while (len - from < 4 && from > 0) {
        uint8_t byte = (uint8_t)message[--from];
        if ((byte & 0xc0) != 0x80) {
            break;
        }
    }
    if (!gy_utf8_decode((const uint8_t *)message + from, len - from, &cp)) {
        message[from] = '\0';
    }
}

int gy_fail(gyre_error_t *e, int code, const char *format, ...)
{
    if (e) {
        e->code = code;
        e->line = e->column = 0;
        e->file[0] = '\0';
        va_list ap;
        va_start(ap, format);
        vsnprintf(e->message, sizeof e->message, format, ap);
        va_end(ap);
        cut_clean(e->message, sizeof e->message);
    }
    return code;
}

int gy_fail_nomem(gyre_error_t *e)
{
    return gy_fail(e, GYRE_NOMEM, "%s", gyre_err_text(GYRE_NOMEM));
}

const char *gy_show(const char *name, char out[GY_SHOW])
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *p = (const uint8_t *)name;
    /* No more than fits is looked at, and the end of a sequence that begins in it. */
    size_t n = 0, len = strnlen(name, GY_SHOW + 4);
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t bytes = gy_utf8_decode(p + i, len - i, &cp);
        bool plain = bytes && !gy_utf8_control(cp) && cp != '\'' && cp != '\\';
        if (n + (plain ? bytes : 4) + sizeof "..." > GY_SHOW) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        if (plain) {
            memcpy(out + n, p + i, bytes);
            n += bytes;
            i += bytes;
        } else {
            out[n++] = '\\';
            out[n++] = 'x';
            out[n++] = hex[p[i] >> 4];
            out[n++] = hex[p[i++] & 15];
        }
    }
    out[n] = '\0';
    return out;
}

/* ASCII only, whatever the locale. */
static unsigned char fold(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * Damerau-Levenshtein in its restricted form (optimal string alignment): insert, delete, replace
 * and swapped neighbours cost 1 each, letter case nothing. Three rows are all the recurrence looks
 * at.
 */
static unsigned distance(const char *a, size_t la, const char *b, size_t lb)
{
    unsigned rows[3][WORD_MAX + 1];
    unsigned *two = rows[0], *one = rows[1], *now = rows[2];
    for (size_t j = 0; j <= lb; j++) {
        two[j] = one[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= la; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            bool differ = fold(a[i - 1]) != fold(b[j - 1]);
            unsigned d = least(least(one[j], now[j - 1]) + 1, one[j - 1] + differ);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1])) {
                d = least(d, two[j - 2] + 1);
            }
            now[j] = d;
        }
        unsigned *spare = two;
        two = one;
        one = now;
        now = spare;
    }
    return one[lb];
}

const char *gyre_nearest(const char *word, const char *const *known, size_t n)
{
    const char *best = NULL;
    size_t len = strnlen(word, WORD_MAX + 1);
    unsigned best_distance = UINT32_MAX;
    if (len > WORD_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        size_t known_len = strnlen(known[i], WORD_MAX + 1);
        if (known_len > WORD_MAX) {
            continue;
        }
        unsigned d = distance(word, len, known[i], known_len);
        if (d <= len / 3 && d < best_distance) {
            best = known[i];
            best_distance = d;
        }
    }
    return best;
}
