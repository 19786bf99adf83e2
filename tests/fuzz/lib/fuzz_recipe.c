/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_recipe.c - any bytes as a key recipe and a request: the first line is the recipe, the second
 * a URL, each further one a header, NAME: VALUE. A recipe is refused with a column within it or
 * makes keys; a key says its length whatever the room, is what it was when asked again, and has a
 * line feed between its parts and no more; cutting a URL stays within it.
 */
#include <stdlib.h>
#include <string.h>

#include "gyre.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS = 40 };

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

struct text {
    const char *at, *end;
};

/* The next line, without its line feed. */
static struct text take_line(struct text *rest)
{
    const char *stop =
        rest->at < rest->end ? memchr(rest->at, '\n', (size_t)(rest->end - rest->at)) : NULL;
    struct text line = {rest->at, stop ? stop : rest->end};
    rest->at = stop ? stop + 1 : rest->end;
    return line;
}

static size_t length(struct text t)
{
    return (size_t)(t.end - t.at);
}

/* Ends where the text does, so that a sanitizer sees an overrun. */
static char *copy_of(struct text t)
{
    char *s = malloc(length(t) + 1);
    must(s != NULL);
    if (length(t)) {
        memcpy(s, t.at, length(t));
    }
    s[length(t)] = '\0';
    return s;
}

static gyre_recipe_t *parse(struct text line, size_t *parts)
{
    char *recipe = copy_of(line);
    gyre_recipe_t *r = NULL;
    gyre_error_t e = {0};
    int err = gyre_recipe_parse(recipe, &r, &e);
    if (err) {
        must(!r && err < 0 && e.code == err && *e.message);
        must(e.column >= 1 && e.column <= strlen(recipe) + 1);
    }
    *parts = 1;
    for (const char *c = recipe; (c = strchr(c, '+')) != NULL; c++) {
        ++*parts;
    }
    free(recipe);
    return r;
}

static bool within(const void *part, size_t len, struct text whole)
{
    const char *p = part;
    return len == 0 || (p >= whole.at && p + len <= whole.end);
}

static struct gyre_header split_header(struct text line)
{
    const char *colon = length(line) ? memchr(line.at, ':', length(line)) : NULL;
    struct text name = {line.at, colon ? colon : line.end};
    struct text value = {colon ? colon + 1 : line.end, line.end};
    return (struct gyre_header){name.at, length(name), value.at, length(value)};
}

static void check_key(const gyre_recipe_t *r, const struct gyre_request *q, size_t parts)
{
    size_t len = 0, again = 0, feeds = 0;
    int err = gyre_recipe_key(r, q, NULL, 0, &len);
    must(err == GYRE_OK || err == GYRE_RANGE || err == GYRE_INVALID);
    if (err == GYRE_INVALID || (err == GYRE_RANGE && len == 0)) {
        return;
    }
    must((err == GYRE_OK) == (len == 0));
    char *key = malloc(len + 1), *part = malloc(len / 2 + 1);
    must(key && part);
    must(gyre_recipe_key(r, q, key, len, &again) == GYRE_OK && again == len);
    err = gyre_recipe_key(r, q, part, len / 2, &again);
    must(err == (len / 2 < len ? GYRE_RANGE : GYRE_OK) && again == len);
    must(memcmp(part, key, len / 2) == 0);
    for (size_t i = 0; i < len; i++) {
        feeds += key[i] == '\n';
    }
    must(feeds <= parts - 1); /* a name may have a plus sign in it */
    free(key);
    free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text rest = {(const char *)data, (const char *)data + size};
    struct gyre_header headers[HEADERS];
    struct gyre_request q = {.size = sizeof q, .headers = headers};
    size_t parts;
    gyre_recipe_t *r = parse(take_line(&rest), &parts);
    struct text line = take_line(&rest);
    char *url = copy_of(line);
    struct text whole = {url, url + length(line)};
    if (gyre_request_url(&q, url, length(line)) == GYRE_OK) {
        must(within(q.host, q.host_len, whole) && within(q.path, q.path_len, whole));
        must(within(q.query, q.query_len, whole));
    }
    while (rest.at < rest.end && q.header_count < HEADERS) {
        headers[q.header_count++] = split_header(take_line(&rest));
    }
    if (r) {
        check_key(r, &q, parts);
    }
    gyre_recipe_free(r);
    free(url);
    return 0;
}
