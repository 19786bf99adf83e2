/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c - gy_config_sample: an annotated topology made from the schema and the library's
 * settings. It is a file that works as it stands; what has no default, and is not needed, stands
 * commented out with an example.
 */
#include "formats/dump.h"

#include <stdio.h>

#define COLUMNS 96

/* How much of text, which is longer, goes on a line: to a blank, else past a bar of a list. */
static size_t fold(const char *text, size_t room)
{
    for (size_t n = room; n; n--) {
        if (text[n] == ' ') {
            return n;
        }
    }
    for (size_t n = room; n; n--) {
        if (text[n - 1] == '|') {
            return n;
        }
    }
    return room;
}

/* "# text" folded under one indent. */
static void comment(struct gy_buf *out, size_t indent, const char *text)
{
    size_t room = COLUMNS - 2 - indent;
    for (size_t left = strlen(text); left;) {
        size_t n = left > room ? fold(text, room) : left;
        gy_buf_printf(out, "%*s# %.*s\n", (int)indent, "", (int)n, text);
        while (n < left && text[n] == ' ') {
            n++;
        }
        text += n;
        left -= n;
    }
}

static void placement(struct gy_buf *out)
{
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    for (size_t i = 0; i < n; i++) {
        char text[600];
        const char *values = all[i].values;
        bool empty = *values == '|'; /* the empty word is a choice too */
        snprintf(text, sizeof text, "%s (%s%s)", all[i].help, empty ? "empty, or " : "",
                 values + empty);
        comment(out, 2, text);
        /* One live line keeps the mapping a mapping; the rest are the defaults anyway. */
        bool live = strcmp(all[i].key, "algorithm") == 0;
        gy_buf_printf(out, "  %s%s: ", live ? "" : "# ", all[i].key);
        gy_dump_setting(out, all[i].fallback ? all[i].fallback : "");
        gy_buf_putc(out, '\n');
    }
}

static void text_or_number(struct gy_buf *out, const struct gy_key *k, const char *value)
{
    if (k->kind == GY_KIND_TEXT || k->kind == GY_KIND_ADDRESS || k->kind == GY_KIND_LISTEN) {
        gy_dump_scalar(out, value);
    } else {
        gy_buf_puts(out, value);
    }
}

/* Commented out: what only some need, shown by an example. */
static bool optional(const struct gy_key *k)
{
    return !k->fallback && (k->section == GY_SEC_BACKEND || strcmp(k->name, "removed") == 0);
}

static void section(struct gy_buf *out, enum gy_section which, size_t indent);

static void nodes(struct gy_buf *out)
{
    size_t n;
    const struct gy_key *keys = gy_schema(&n);
    for (size_t i = 0; i < n; i++) {
        char wants[200], text[500];
        if (keys[i].section == GY_SEC_NODE) {
            snprintf(text, sizeof text, "%s: %s (%s)", keys[i].name, keys[i].help,
                     gy_key_wants(&keys[i], wants, sizeof wants));
            comment(out, 2, text);
        }
    }
    for (unsigned node = 0; node < 3; node++) {
        gy_buf_printf(out,
                      "  - {name: cache-%u, address: \"10.0.0.%u:6379\", weight: 1, "
                      "zone: eu/a/r%u}\n",
                      node, node + 1, node + 1);
    }
}

static void key(struct gy_buf *out, const struct gy_key *k, size_t indent)
{
    char wants[200], text[500];
    bool group =
        k->kind == GY_KIND_SECTION || k->kind == GY_KIND_PLACEMENT || k->kind == GY_KIND_NODES;
    snprintf(text, sizeof text, group ? "%s" : "%s (%s)", k->help,
             gy_key_wants(k, wants, sizeof wants));
    if (group) {
        gy_buf_putc(out, '\n');
    }
    comment(out, indent, text);
    gy_buf_printf(out, "%*s%s%s:", (int)indent, "", optional(k) ? "# " : "", k->name);
    if (!group) {
        gy_buf_putc(out, ' ');
        text_or_number(out, k, k->fallback ? k->fallback : k->example);
    }
    gy_buf_putc(out, '\n');
    if (k->kind == GY_KIND_PLACEMENT) {
        placement(out);
    } else if (k->kind == GY_KIND_NODES) {
        nodes(out);
    } else if (k->kind == GY_KIND_SECTION) {
        section(out, k->sub, indent + 2);
    }
}

static void section(struct gy_buf *out, enum gy_section which, size_t indent)
{
    size_t n;
    const struct gy_key *keys = gy_schema(&n);
    for (size_t i = 0; i < n; i++) {
        if (keys[i].section == which) {
            key(out, &keys[i], indent);
        }
    }
}

void gy_config_sample(struct gy_buf *out)
{
    gy_buf_puts(out,
                "# A gyre topology. Every key is shown with what it means, what it may be and, "
                "where there is\n# one, its default.\n");
    section(out, GY_SEC_ROOT, 0);
}
