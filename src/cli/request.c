/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - see request.h. */
#include "cli/request.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <strings.h>

#define ROOM 256 /* most keys fit at once */

static bool cut_header(struct gy_slice line, struct gyre_header *out)
{
    const uint8_t *colon = line.n ? memchr(line.p, ':', line.n) : NULL;
    if (!colon || colon == line.p) {
        return false;
    }
    size_t name = (size_t)(colon - line.p);
    *out = (struct gyre_header){line.p, name, colon + 1, line.n - name - 1};
    return true;
}

int gy_request_header(void *into, const char *value)
{
    struct gy_request_from *from = into;
    struct gyre_header h;
    if (!cut_header(gy_str(value), &h)) {
        gy_complain("--header: '%s' is not 'Name: value'", value);
        return GY_EXIT_USAGE;
    }
    if (from->headers == GY_REQUEST_HEADERS) {
        gy_complain("--header: more than %u", GY_REQUEST_HEADERS);
        return GY_EXIT_USAGE;
    }
    from->header[from->headers++] = value;
    return GY_EXIT_OK;
}

int gy_requests_init(struct gy_requests *r, const struct gy_request_from *from)
{
    *r = (struct gy_requests){.from = from};
    gyre_error_t e = {0};
    if (!from->recipe && from->headers) {
        gy_complain("--header is for keys made by --key");
        return GY_EXIT_USAGE;
    }
    if (from->recipe && gyre_recipe_parse(from->recipe, &r->recipe, &e)) {
        gy_complain("--key: column %u: %s", e.column, e.message);
        return GY_EXIT_USAGE;
    }
    return GY_EXIT_OK;
}

/* By design an empty part (docs/recipes.md); of every request, hardly what was meant. */
static void warn_of_headers(const struct gy_requests *r)
{
    const char *name;
    size_t len;
    for (size_t i = 0; r->made && (name = gyre_recipe_header(r->recipe, i, &len)); i++) {
        char q[GY_QUOTE];
        if (!(r->met & (uint32_t)1 << i)) {
            gy_complain("warning: no request has the header %s, so its part of the key is empty; "
                        "give it with -H, or after a tab on the line",
                        gy_utf8_quote(q, (struct gy_slice){(const uint8_t *)name, len}));
        }
    }
}

void gy_requests_fini(struct gy_requests *r)
{
    if (r->recipe) {
        warn_of_headers(r);
    }
    gyre_recipe_free(r->recipe);
    r->recipe = NULL;
}

static bool named(const struct gyre_header *list, size_t n, const struct gyre_header *h)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].name_len == h->name_len &&
            strncasecmp(list[i].name, h->name, h->name_len) == 0) {
            return true;
        }
    }
    return false;
}

static void meet(struct gy_requests *r, const struct gyre_header *list, size_t n)
{
    struct gyre_header h = {.name = NULL};
    for (size_t i = 0; (h.name = gyre_recipe_header(r->recipe, i, &h.name_len)); i++) {
        r->met |= (uint32_t)named(list, n, &h) << i;
    }
}

/* The line's own headers, then those of -H it has none of. */
static const char *headers(const struct gy_requests *r, struct gy_slice rest,
                           struct gyre_header *out, size_t *count)
{
    size_t n = 0;
    while (rest.n) {
        const uint8_t *tab = memchr(rest.p, '\t', rest.n);
        struct gy_slice one = {rest.p, tab ? (size_t)(tab - rest.p) : rest.n};
        size_t used = one.n + (tab != NULL);
        if (n == GY_REQUEST_HEADERS) {
            return "more than 16 headers";
        }
        if (!cut_header(one, &out[n++])) {
            return "what follows a tab is a header, 'Name: value'";
        }
        rest = (struct gy_slice){rest.p + used, rest.n - used};
    }
    size_t own = n;
    for (unsigned i = 0; i < r->from->headers; i++) {
        struct gyre_header h;
        if (cut_header(gy_str(r->from->header[i]), &h) && !named(out, own, &h)) {
            out[n++] = h;
        }
    }
    *count = n;
    return NULL;
}

static const char *make(struct gy_requests *r, struct gy_slice line, struct gy_buf *to,
                        struct gy_slice *url)
{
    static const char *const no_url = "a URL holds no CR, LF or NUL (do lines end in CR LF?)";
    struct gyre_header list[2 * GY_REQUEST_HEADERS];
    struct gyre_request q = {.size = sizeof q, .headers = list};
    const uint8_t *tab = line.n ? memchr(line.p, '\t', line.n) : NULL;
    *url = (struct gy_slice){line.p, tab ? (size_t)(tab - line.p) : line.n};
    struct gy_slice rest = {tab ? tab + 1 : line.p, tab ? line.n - url->n - 1 : 0};
    const char *wrong = headers(r, rest, list, &q.header_count);
    if (wrong) {
        return wrong;
    }
    if (gyre_request_url(&q, url->p, url->n)) {
        return no_url;
    }
    for (size_t room = ROOM, len;; room = len) {
        if (!gy_buf_reserve(to, room)) {
            return NULL;
        }
        int err = gyre_recipe_key(r->recipe, &q, to->data + to->len, room, &len);
        if (!err) {
            to->len += len;
            meet(r, list, q.header_count);
            return NULL;
        }
        if (err != GYRE_RANGE || len <= room) {
            return err == GYRE_RANGE ? "more than 256 query parameters" : no_url;
        }
    }
}

const char *gy_request_key(struct gy_requests *r, struct gy_slice line, struct gy_buf *to,
                           struct gy_slice *url)
{
    const char *wrong = make(r, line, to, url);
    r->made = !wrong;
    return wrong;
}
