/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carbon.c - the cluster statements of carbon-c-relay 3.x, with what the file includes. Each is a
 * pool; those that do not hash say so. Other statements (match, rewrite, ...) are passed over up to
 * their ';'. Threads: one an object.
 */
#include "formats/carbon.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"

#include <arpa/inet.h>
#include <stdlib.h>

#define CLUSTER_MAX 10000

int gy_carbon_sniff(struct gy_slice head)
{
    int sure = GY_SURE_NOT;
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        struct gy_slice rest = l.line, first, name;
        if (gy_word_next(&rest, &first) && gy_slice_eq(first, GY_LIT("cluster")) &&
            gy_word_next(&rest, &name) && !gy_slice_has(l.line, "{")) {
            sure = gy_slice_has(head, "fnv1a_ch") || gy_slice_has(head, "carbon_ch") ||
                           gy_slice_has(head, "any_of") || gy_slice_has(head, "failover")
                       ? GY_SURE_YES
                   : gy_slice_has(head, "forward") ? GY_SURE_LIKELY
                                                   : sure;
        }
    }
    return sure;
}

/* ---- tokens: words, quoted strings, ';' and '=' ---- */

struct scan {
    struct gy_reading *r;
    size_t i;
    struct gy_mark at;  /* of text.p[i] */
    struct gy_buf text; /* of the token */
    struct gy_mark token_at;
    char kind; /* 'w' for a word or string, ';', '=', '\0' at the end; another byte as it is */
};

static void step(struct scan *s)
{
    s->at.column++;
    if (s->r->text.p[s->i++] == '\n') {
        s->at = (struct gy_mark){s->at.line + 1, 1};
    }
}

static int peek(const struct scan *s)
{
    return s->i < s->r->text.n ? s->r->text.p[s->i] : -1;
}

static bool is_word(int c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c > 0) ||
           (c > 0 && strchr("[]:/._+-", c));
}

static int read_string(struct scan *s)
{
    for (step(s); peek(s) >= 0 && peek(s) != '"' && peek(s) != '\n'; step(s)) {
        if (peek(s) == '\\' && s->i + 1 < s->r->text.n) {
            step(s);
        }
        gy_buf_putc(&s->text, (char)peek(s));
    }
    if (peek(s) != '"') {
        return gy_read_fail(s->r, GYRE_SYNTAX, s->token_at, "unterminated string");
    }
    step(s);
    return gy_buf_size(&s->text) ? GYRE_OK
                                 : gy_read_fail(s->r, GYRE_SYNTAX, s->token_at, "empty string");
}

static int next(struct scan *s)
{
    int rc = GYRE_OK;
    while (peek(s) >= 0 && (peek(s) == '#' || (peek(s) && strchr(" \t\r\n", peek(s))))) {
        bool comment = peek(s) == '#';
        do {
            step(s);
        } while (comment && peek(s) >= 0 && peek(s) != '\n');
    }
    gy_buf_reset(&s->text);
    s->token_at = s->at;
    int c = peek(s);
    s->kind = c < 0 ? '\0' : (char)c;
    if (c == '"') {
        s->kind = 'w';
        rc = read_string(s);
    } else if (is_word(c)) {
        s->kind = 'w';
        for (; is_word(peek(s)); step(s)) {
            gy_buf_putc(&s->text, (char)peek(s));
        }
    } else if (c >= 0) {
        s->kind = c == 0 ? '?' : s->kind;
        step(s);
    }
    return !rc && gy_buf_failed(&s->text) ? gy_read_nomem(s->r) : rc;
}

static bool is(struct scan *s, const char *word)
{
    return s->kind == 'w' && strcmp(gy_buf_cstr(&s->text), word) == 0;
}

static struct gy_slice token(struct scan *s)
{
    return (struct gy_slice){gy_buf_head(&s->text), gy_buf_size(&s->text)};
}

static int unexpected(struct scan *s, const char *wants)
{
    char q[GY_QUOTE];
    char one[2] = {s->kind, '\0'};
    gy_utf8_quote(q, s->kind == 'w' ? token(s) : gy_str(one));
    return gy_read_fail(s->r, GYRE_SYNTAX, s->token_at, "unexpected %s, expecting %s",
                        s->kind ? q : "end of file", wants);
}

static int next_word(struct scan *s, const char *wants)
{
    int rc = next(s);
    return rc || s->kind == 'w' ? rc : unexpected(s, wants);
}

/* ---- servers ---- */

/* "host", "host:port", "[ipv6]:port": host as the relay prints it. */
static int split(struct scan *s, struct gy_slice text, struct gy_buf *host, struct gy_buf *port)
{
    char ip[INET6_ADDRSTRLEN];
    struct in6_addr bits;
    uint64_t v;
    const uint8_t *colon = text.p[text.n - 1] == ']' ? NULL : memrchr(text.p, ':', text.n);
    if (colon) {
        struct gy_slice number = {colon + 1, (size_t)(text.p + text.n - colon) - 1};
        if (gy_num_uint(number, &v) || v == 0 || v > 65535) {
            return gy_read_fail(s->r, GYRE_SYNTAX, s->token_at, "invalid port number");
        }
        gy_buf_printf(port, "%u", (unsigned)v);
        text.n = (size_t)(colon - text.p);
    } else {
        gy_buf_puts(port, "2003");
    }
    if (text.n && text.p[0] == '[') {
        if (text.p[text.n - 1] != ']') {
            return gy_read_fail(s->r, GYRE_SYNTAX, s->token_at, "expected ']'");
        }
        text = (struct gy_slice){text.p + 1, text.n - 2};
    }
    gy_buf_add(host, text.p, text.n);
    if (inet_pton(AF_INET6, gy_buf_cstr(host), &bits) == 1 &&
        inet_ntop(AF_INET6, &bits, ip, sizeof ip)) {
        gy_buf_reset(host);
        gy_buf_puts(host, ip);
    }
    return host->failed || port->failed ? gy_read_nomem(s->r) : GYRE_OK;
}

struct cluster {
    struct scan *s;
    struct gy_pool *pool;
    bool hashes;
    size_t servers;
};

/* "=instance", "proto udp", "type linemode", "transport gzip ssl"; the token behind is read. */
static int read_options(struct cluster *c, struct gy_buf *instance)
{
    static const char *const pairs[] = {"proto", "type", "transport"};
    struct scan *s = c->s;
    int rc = next(s);
    if (!rc && s->kind == '=') {
        rc = next_word(s, "an instance");
        if (!rc && strpbrk(gy_buf_cstr(&s->text), " ,\t")) {
            rc = gy_read_fail(s->r, GYRE_UNSUPPORTED, s->token_at,
                              "gyre has no place for an instance with blanks or commas");
        }
        gy_buf_puts(instance, rc ? "" : gy_buf_cstr(&s->text));
        rc = rc ? rc : next(s);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && !rc; i++) {
        if (is(s, pairs[i])) {
            rc = next_word(s, "a word");
            rc = rc ? rc : next(s);
        }
    }
    bool mutual = !rc && is(s, "mtls");
    for (int i = 0; i < 2 && mutual && !rc; i++) {
        rc = next_word(s, "a certificate and a key");
    }
    return rc || (!mutual && !is(s, "ssl")) ? rc : next(s);
}

static int put_server(struct cluster *c, struct gy_mark at, struct gy_buf *host,
                      struct gy_buf *port, struct gy_buf *instance)
{
    struct gy_buf address = {0}, options = {0};
    struct gy_server *out = NULL;
    struct gy_reading *r = c->s->r;
    struct gy_slice h = {gy_buf_head(host), gy_buf_size(host)};
    bool six = memchr(h.p, ':', h.n) != NULL;
    struct gy_buf name = {0};
    gy_buf_printf(&name, six ? "[%.*s]:%s" : "%.*s:%s", (int)h.n, h.p, gy_buf_cstr(port));
    bool dialled = gy_address_join(&address, h, gy_str(gy_buf_cstr(port)));
    bool kept = gy_buf_size(instance) > 0;
    gy_buf_printf(&options, "instance=%s", gy_buf_cstr(instance));
    struct gyre_node n = {.size = sizeof n,
                          .name = gy_buf_cstr(&name),
                          .address = dialled ? gy_buf_cstr(&address) : NULL,
                          .weight = 1,
                          .options = kept ? gy_buf_cstr(&options) : NULL};
    int rc;
    if (name.failed || address.failed || options.failed || instance->failed) {
        rc = gy_read_nomem(r);
    } else if (c->hashes) {
        rc = gy_read_both(r, c->pool, at, &n, &out);
    } else {
        rc = gy_read_server(r, c->pool, at, gy_str(n.name), &out);
        rc = rc || !dialled ? rc : gy_read_text(r, &out->address, gy_str(n.address));
    }
    if (!rc && kept) {
        rc = gy_read_text(r, &out->id, gy_str(gy_buf_cstr(instance)));
    }
    gy_buf_fini(&name);
    gy_buf_fini(&address);
    gy_buf_fini(&options);
    return rc;
}

/* The current token is the server's. */
static int read_server(struct cluster *c)
{
    struct gy_buf host = {0}, port = {0}, instance = {0};
    struct gy_mark at = c->s->token_at;
    int rc = split(c->s, token(c->s), &host, &port);
    rc = rc ? rc : read_options(c, &instance);
    rc = rc ? rc : put_server(c, at, &host, &port, &instance);
    c->servers++;
    gy_buf_fini(&host);
    gy_buf_fini(&port);
    gy_buf_fini(&instance);
    return rc;
}

/* ---- clusters ---- */

static const char *const TYPES[] = {"carbon_ch", "fnv1a_ch", "jump_fnv1a_ch", "forward",
                                    "any_of",    "failover", "file",          NULL};

static int read_replication(struct cluster *c)
{
    struct scan *s = c->s;
    uint64_t copies = 0;
    int rc = next_word(s, "a replication count");
    if (rc) {
        return rc;
    }
    if (gy_num_uint(token(s), &copies) || copies < 1 || copies > 255) {
        return gy_read_fail(s->r, GYRE_RANGE, s->token_at,
                            "replication count must be between 1 and 255");
    }
    rc = gy_read_fact(s->r, c->pool, "replication", "%s", gy_buf_cstr(&s->text));
    rc = rc ? rc : gy_read_set(s->r, c->pool, s->token_at, "replicas", gy_buf_cstr(&s->text));
    return rc ? rc : next(s);
}

/* Type, and what belongs to it; the token behind is read. */
static int read_type(struct cluster *c, const char **type)
{
    struct scan *s = c->s;
    size_t i = 0;
    int rc = next_word(s, "the cluster's type");
    while (!rc && TYPES[i] && !is(s, TYPES[i])) {
        i++;
    }
    if (rc || !TYPES[i]) {
        return rc ? rc : gy_read_unknown(s->r, s->token_at, "cluster type", token(s), TYPES);
    }
    *type = TYPES[i];
    c->hashes = i < 3;
    if (c->hashes) {
        rc = gy_read_set(s->r, c->pool, s->token_at, "like", "carbon-c-relay");
        rc = rc ? rc : gy_read_set(s->r, c->pool, s->token_at, "distribution", *type);
    }
    rc = rc ? rc : gy_read_fact(s->r, c->pool, "type", "%s", *type);
    rc = rc ? rc : next(s);
    if (!rc && c->hashes && is(s, "replication")) {
        rc = read_replication(c);
    }
    if (!rc && (is(s, "useall") || is(s, "ip") || is(s, "dynamic"))) {
        rc = next(s);
    }
    return !rc && is(s, "dynamic") ? next(s) : rc;
}

static int check_name(struct scan *s)
{
    char q[GY_QUOTE];
    const struct gy_pools *f = s->r->into;
    if (is(s, "blackhole")) {
        return gy_read_fail(s->r, GYRE_INVALID, s->token_at,
                            "cluster cannot use reserved name 'blackhole'");
    }
    for (size_t i = 0; i < f->count; i++) {
        if (gy_slice_eq(gy_str(f->list[i]->name), token(s))) {
            return gy_read_fail(s->r, GYRE_DUPLICATE, s->token_at,
                                "cluster %s already defined, on line %u",
                                gy_utf8_quote(q, token(s)), f->list[i]->line);
        }
    }
    return f->count < CLUSTER_MAX
               ? GYRE_OK
               : gy_read_fail(s->r, GYRE_RANGE, s->token_at, "more than %d clusters", CLUSTER_MAX);
}

static int read_cluster(struct scan *s)
{
    struct cluster c = {.s = s};
    const char *type = NULL;
    char q[GY_QUOTE];
    struct gy_mark at = s->token_at;
    int rc = next_word(s, "the cluster's name");
    rc = rc ? rc : check_name(s);
    rc = rc ? rc : gy_read_pool(s->r, token(s), at, &c.pool);
    rc = rc ? rc : read_type(&c, &type);
    bool files = !rc && strcmp(type, "file") == 0;
    while (!rc && s->kind == 'w') {
        c.servers += files;
        rc = files ? next(s) : read_server(&c);
    }
    if (!rc && s->kind != ';') {
        rc = unexpected(s, "a server or ';'");
    }
    if (!rc && c.servers == 0) {
        rc = unexpected(s, files ? "a path" : "a server");
    }
    if (!rc && c.hashes) {
        return gy_read_shared(s->r, c.pool);
    }
    return rc ? rc
              : gy_read_unplaced(s->r, c.pool, at, "cluster %s: %s does not go by a hash ring",
                                 gy_utf8_quote(q, gy_str(c.pool->name)), type);
}

/* ---- the file ---- */

static int read_file(struct gy_reading *r, void *arg);

static int read_include(struct scan *s)
{
    char *pattern = NULL;
    struct gy_mark at;
    int rc = next_word(s, "a file");
    at = s->token_at;
    rc = rc ? rc : gy_read_text(s->r, &pattern, token(s));
    rc = rc ? rc : next(s);
    if (!rc && s->kind != ';') {
        rc = unexpected(s, "';'");
    }
    rc = rc ? rc : gy_read_include(s->r, at, pattern, read_file, NULL);
    free(pattern);
    return rc;
}

/* Up to the ';', whatever stands before it. */
static int skip(struct scan *s)
{
    int rc = GYRE_OK;
    while (!rc && s->kind != ';' && s->kind) {
        rc = next(s);
    }
    return rc || s->kind ? rc : unexpected(s, "';'");
}

static int read_file(struct gy_reading *r, void *arg)
{
    static const char *const others[] = {"match",      "rewrite", "aggregate", "send", "listen",
                                         "statistics", "cluster", "include",   NULL};
    (void)arg;
    struct scan s = {.r = r, .at = {1, 1}};
    int rc = next(&s);
    while (!rc && s.kind) {
        size_t i = 0;
        while (others[i] && !is(&s, others[i])) {
            i++;
        }
        if (!others[i]) {
            rc = s.kind == 'w' ? gy_read_unknown(r, s.token_at, "statement", token(&s), others)
                               : unexpected(&s, "a statement");
        } else if (is(&s, "cluster")) {
            rc = read_cluster(&s);
        } else {
            rc = is(&s, "include") ? read_include(&s) : skip(&s);
        }
        rc = rc ? rc : next(&s);
    }
    gy_buf_fini(&s.text);
    return rc;
}

int gy_carbon_parse(struct gy_reading *r)
{
    return read_file(r, NULL);
}
