/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_key.c - makes a key of a request as a recipe says. The parts stand in the recipe's order,
 * parted by a line feed: no part of a request may hold one (RFC 9112 2.2, RFC 9110 5.5), and one
 * that does is refused, so two requests that differ in a part never give one key. Nothing is
 * allocated; what is asked of a hostile query is bounded. Threads: any.
 */
#include <string.h>

#include "lib/recipe.h"

#define PARAMETERS_MAX 256

struct out {
    uint8_t *to;
    size_t room, len; /* len counts what did not fit as well */
};

static void put(struct out *o, char c)
{
    if (o->len < o->room) {
        o->to[o->len] = (uint8_t)c;
    }
    o->len++;
}

static void put_all(struct out *o, const char *text, size_t len)
{
    size_t left = o->len < o->room ? o->room - o->len : 0;
    if (left && len) {
        memcpy(o->to + o->len, text, len < left ? len : left);
    }
    o->len += len;
}

static int hex_digit(char c)
{
    char low = gy_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static bool unreserved(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/* RFC 3986 6.2.2: %7e is '~', %2f is %2F; a '%' that begins no triplet stays. */
static void put_normal(struct out *o, const char *text, size_t len)
{
    static const char upper[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && len - i > 2 ? hex_digit(text[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        if (low < 0) {
            put(o, text[i]);
        } else if (unreserved(high * 16 + low)) {
            put(o, (char)(high * 16 + low));
            i += 2;
        } else {
            put(o, '%');
            put(o, upper[high]);
            put(o, upper[low]);
            i += 2;
        }
    }
}

static void put_text(struct out *o, const char *text, size_t len, bool normal)
{
    if (normal) {
        put_normal(o, text, len);
    } else {
        put_all(o, text, len);
    }
}

/* ---- host ---- */

/* Where the port begins, with its colon: after the name, or after the ']' of an IPv6 address. */
static size_t name_length(const char *host, size_t len)
{
    size_t at = len;
    while (at && host[at - 1] >= '0' && host[at - 1] <= '9') {
        at--;
    }
    if (!at || host[at - 1] != ':') {
        return len;
    }
    at--;
    bool other_colon = at && memchr(host, ':', at);
    return other_colon && host[at - 1] != ']' ? len : at;
}

static void put_host(struct out *o, const struct gy_part *p, const char *host, size_t len)
{
    size_t name = len ? name_length(host, len) : 0;
    size_t shown = name && host[name - 1] == '.' ? name - 1 : name;
    for (size_t i = 0; i < shown; i++) {
        put(o, gy_lower(host[i]));
    }
    if (p->port && name + 1 < len) { /* a colon alone is no port */
        put_all(o, host + name, len - name);
    }
}

/* ---- query ---- */

struct parameter {
    const char *text;
    size_t len, name; /* name: bytes before the first '=' */
};

static bool named(const gyre_recipe_t *r, const struct gy_part *p, const struct parameter *q)
{
    for (uint32_t i = 0; i < p->names; i++) {
        const struct gy_part_name *n = &r->name[p->first + i];
        bool long_enough = n->prefix ? q->name >= n->len : q->name == n->len;
        if (long_enough && memcmp(n->text, q->text, n->len) == 0) {
            return true;
        }
    }
    return false;
}

/* By name alone: parameters of one name stay in their order, which means something to many. */
static bool before(const struct parameter *a, const struct parameter *b)
{
    int order = memcmp(a->text, b->text, a->name < b->name ? a->name : b->name);
    return order ? order < 0 : a->name < b->name;
}

/* Insertion is stable, and in the sorted queries of real clients has nothing to move. */
static void sort(struct parameter *q, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct parameter moving = q[i];
        size_t at = i;
        for (; at && before(&moving, &q[at - 1]); at--) {
            q[at] = q[at - 1];
        }
        q[at] = moving;
    }
}

/* Cuts at '&'; empty pieces ("a&&b") are left out. */
static int cut(const gyre_recipe_t *r, const struct gy_part *p, const char *text, size_t len,
               struct parameter *out, size_t *count)
{
    *count = 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '&', len - at);
        struct parameter q = {.text = text + at};
        q.len = end ? (size_t)(end - q.text) : len - at;
        at += q.len + 1;
        if (!q.len) {
            continue;
        }
        const char *equals = memchr(q.text, '=', q.len);
        q.name = equals ? (size_t)(equals - q.text) : q.len;
        if (p->names && named(r, p, &q) != p->keep) {
            continue;
        }
        if (*count == PARAMETERS_MAX) {
            return GYRE_RANGE;
        }
        out[(*count)++] = q;
    }
    return GYRE_OK;
}

static int put_query(struct out *o, const gyre_recipe_t *r, const struct gy_part *p,
                     const char *text, size_t len)
{
    struct parameter q[PARAMETERS_MAX];
    size_t n;
    if (!len) {
        return GYRE_OK;
    }
    if (!p->sort && !p->names) {
        put_text(o, text, len, p->normal);
        return GYRE_OK;
    }
    int err = cut(r, p, text, len, q, &n);
    if (err) {
        return err;
    }
    if (p->sort) {
        sort(q, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (i) {
            put(o, '&');
        }
        put_text(o, q[i].text, q[i].len, p->normal);
    }
    return GYRE_OK;
}

/* ---- headers ---- */

static bool is_header(const struct gyre_header *h, const struct gy_part_name *n)
{
    const char *name = h->name;
    size_t i = 0;
    if (h->name_len != n->len) {
        return false;
    }
    while (i < n->len && gy_lower(name[i]) == gy_lower(n->text[i])) {
        i++;
    }
    return i == n->len;
}

/* Values of several lines are joined by ", " as RFC 9110 5.3 permits; of each, the blanks around it
 * do not count. */
static void put_header(struct out *o, const struct gy_part *p, const struct gyre_request *q)
{
    bool more = false;
    for (size_t i = 0; i < q->header_count; i++) {
        const struct gyre_header *h = &q->headers[i];
        if (!is_header(h, &p->header)) {
            continue;
        }
        const char *value = h->value;
        size_t from = 0, to = h->value_len;
        while (from < to && (value[from] == ' ' || value[from] == '\t')) {
            from++;
        }
        while (to > from && (value[to - 1] == ' ' || value[to - 1] == '\t')) {
            to--;
        }
        if (more) {
            put_all(o, ", ", 2);
        }
        if (to > from) {
            put_all(o, value + from, to - from);
        }
        more = true;
    }
}

/* ---- the key ---- */

static bool breaks_line(const void *text, size_t len)
{
    return len && (memchr(text, '\n', len) || memchr(text, '\r', len) || memchr(text, '\0', len));
}

static bool is_request(const struct gyre_request *q)
{
    bool good = q->size >= sizeof *q && !breaks_line(q->host, q->host_len) &&
                !breaks_line(q->path, q->path_len) && !breaks_line(q->query, q->query_len);
    for (size_t i = 0; good && i < q->header_count; i++) {
        good = !breaks_line(q->headers[i].value, q->headers[i].value_len);
    }
    return good;
}

int gyre_recipe_key(const gyre_recipe_t *r, const struct gyre_request *q, void *key, size_t room,
                    size_t *len)
{
    struct out o = {.to = key, .room = room};
    *len = 0;
    if (!is_request(q)) {
        return GYRE_INVALID;
    }
    for (uint32_t i = 0; i < r->parts; i++) {
        const struct gy_part *p = &r->part[i];
        int err = GYRE_OK;
        if (i) {
            put(&o, '\n');
        }
        switch (p->kind) {
        case GY_PART_HOST:
            put_host(&o, p, q->host, q->host_len);
            break;
        case GY_PART_PATH:
            put_text(&o, q->path_len ? q->path : "/", q->path_len ? q->path_len : 1, p->normal);
            break;
        case GY_PART_QUERY:
            err = put_query(&o, r, p, q->query, q->query_len);
            break;
        case GY_PART_HEADER:
            put_header(&o, p, q);
            break;
        }
        if (err) {
            return err;
        }
    }
    *len = o.len;
    return o.len > room ? GYRE_RANGE : GYRE_OK;
}

int gyre_request_url(struct gyre_request *q, const void *url, size_t len)
{
    const char *at = url, *end;
    if (q->size < sizeof *q || breaks_line(url, len)) {
        return GYRE_INVALID;
    }
    q->host = q->path = q->query = NULL;
    q->host_len = q->path_len = q->query_len = 0;
    if (!len) {
        return GYRE_OK;
    }
    end = memchr(at, '#', len);
    end = end ? end : at + len;
    const char *mark = memchr(at, '?', (size_t)(end - at));
    const char *stop = mark ? mark : end;
    const char *scheme = memmem(at, (size_t)(stop - at), "://", 3);
    const char *slash = memchr(at, '/', (size_t)(stop - at));
    bool has_scheme = scheme && slash == scheme + 1;
    if (has_scheme) {
        at = scheme + 3;
        slash = memchr(at, '/', (size_t)(stop - at));
    }
    const char *path = slash ? slash : stop;
    const char *user = memrchr(at, '@', (size_t)(path - at));
    at = user ? user + 1 : at;
    q->host = at;
    q->host_len = (size_t)(path - at);
    q->path = path;
    q->path_len = (size_t)(stop - path);
    if (mark) {
        q->query = mark + 1;
        q->query_len = (size_t)(end - mark - 1);
    }
    return GYRE_OK;
}
