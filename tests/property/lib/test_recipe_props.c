/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recipe_props.c - what holds of key recipes whatever they and the requests are: any text is
 * read or refused at a column within it; a key says its length whatever the room; it has a line
 * feed between its parts and no other; the order of parameters does not matter where they are
 * sorted.
 */
#include "lib/prop.h"

#include <string.h>

#include "gyre.h"

enum { TEXT = 200, ROOM = 1024 };

/* Pieces that make sense now and then, and any byte. */
static size_t gen_text(struct prop *p, const char *const *pieces, size_t count, char out[TEXT])
{
    size_t len = 0, n = prop_below(p, 12);
    for (size_t i = 0; i < n && len + 24 < TEXT; i++) {
        uint64_t which = prop_below(p, count + 1);
        if (which == count) {
            out[len++] = (char)(1 + prop_below(p, 255));
        } else {
            size_t piece = strlen(pieces[which]);
            memcpy(out + len, pieces[which], piece);
            len += piece;
        }
    }
    out[len] = '\0';
    return len;
}

static void gen_recipe(struct prop *p, char out[TEXT])
{
    static const char *const pieces[] = {
        "host",   "+", "path", "+query(", "sort", "header(", "accept)", "keep=",   "drop=", ",",
        "normal", ")", "port", "a",       "*",    "+",       "host",    "(port)+", " "};
    (void)gen_text(p, pieces, sizeof pieces / sizeof pieces[0], out);
}

static size_t gen_url(struct prop *p, char out[TEXT])
{
    static const char *const pieces[] = {"http://", "Host", ":80", "/", "?", "a=1", "&",    "b",
                                         "%7e",     "%2",   "#",   "@", "[", "]",   "a*=2", "."};
    return gen_text(p, pieces, sizeof pieces / sizeof pieces[0], out);
}

static bool any_recipe_and_request(struct prop *p)
{
    char recipe[TEXT], url[TEXT];
    uint8_t key[ROOM], part[ROOM];
    gyre_error_t e = {0};
    gyre_recipe_t *r;
    gen_recipe(p, recipe);
    size_t url_len = gen_url(p, url), len, again, parts = 1;
    int err = gyre_recipe_parse(recipe, &r, &e);
    if (err) {
        PROP(!r && err == e.code && e.message[0]);
        PROP(e.column >= 1 && e.column <= strlen(recipe) + 1);
        PROP(gyre_recipe_parse("host+path+query(sort)+header(accept)", &r, NULL) == GYRE_OK);
        memcpy(recipe, "+++", 4); /* as many parts */
    }
    for (const char *c = recipe; (c = strchr(c, '+')) != NULL; c++) {
        parts++;
    }
    struct gyre_header h = {"ACCEPT", 6, url, url_len};
    struct gyre_request q = {.size = sizeof q, .headers = &h, .header_count = 1};
    bool whole = !strpbrk(url, "\r\n");
    PROP((gyre_request_url(&q, url, url_len) == GYRE_OK) == whole);
    PROP((gyre_recipe_key(r, &q, key, ROOM, &len) == GYRE_OK) == whole);
    if (whole) {
        size_t feeds = 0, room = prop_below(p, len + 1);
        for (size_t i = 0; i < len; i++) {
            feeds += key[i] == '\n';
        }
        PROP(len < ROOM && feeds <= parts - 1);
        PROP(gyre_recipe_key(r, &q, part, room, &again) == (room < len ? GYRE_RANGE : GYRE_OK));
        PROP(again == len && memcmp(part, key, room) == 0);
    }
    gyre_recipe_free(r);
    return true;
}

/* Names are told apart by the digits; two of each, to be kept in their order. */
static bool sorted_whatever_the_order(struct prop *p)
{
    unsigned order[20], n = 1 + (unsigned)prop_below(p, 20);
    uint8_t key[2][ROOM];
    size_t len[2];
    gyre_recipe_t *r;
    PROP(gyre_recipe_parse("query(sort,drop=p3,drop=p1*)", &r, NULL) == GYRE_OK);
    for (unsigned i = 0; i < n; i++) {
        order[i] = i;
    }
    for (unsigned round = 0; round < 2; round++) {
        char query[ROOM];
        size_t at = 0;
        for (unsigned i = 0; i < n; i++) {
            at += (size_t)snprintf(query + at, ROOM - at, "%sp%u=x&p%u=%u", i ? "&" : "", order[i],
                                   order[i], order[i] * 7 % 5);
        }
        struct gyre_request q = {.size = sizeof q, .query = query, .query_len = at};
        PROP(gyre_recipe_key(r, &q, key[round], ROOM, &len[round]) == GYRE_OK);
        for (unsigned i = n - 1; i > 0; i--) {
            unsigned j = (unsigned)prop_below(p, i + 1), spare = order[i];
            order[i] = order[j];
            order[j] = spare;
        }
    }
    PROP(len[0] == len[1] && memcmp(key[0], key[1], len[0]) == 0);
    gyre_recipe_free(r);
    return true;
}

int main(void)
{
    int failed = prop_run("any_recipe_and_request", any_recipe_and_request, 20000);
    failed += prop_run("sorted_whatever_the_order", sorted_whatever_the_order, 2000);
    return failed != 0;
}
