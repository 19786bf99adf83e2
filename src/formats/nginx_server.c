/* SPDX-License-Identifier: Apache-2.0 */
/* nginx_server.c - see nginx_server.h. The reasons are those nginx 1.22 gives. */
#include "formats/nginx_server.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"

#include <arpa/inet.h>

#define SOCKET_PATH_MAX 107

/* ---- the address: "unix:/path", "host[:port]", "[ipv6][:port]" ---- */

/* "unix:" in any case. */
static bool is_socket(struct gy_slice s)
{
    static const char word[] = "unix:";
    for (size_t i = 0; i < 5; i++) {
        if (i >= s.n || (s.p[i] | 0x20) != (word[i] | 0x20)) {
            return false;
        }
    }
    return true;
}

struct parts {
    struct gy_slice host, port; /* port.p is NULL without one */
};

static bool split(struct gy_slice s, struct parts *out)
{
    const uint8_t *from = s.p;
    *out = (struct parts){.host = s};
    if (s.n && s.p[0] == '[') {
        from = memchr(s.p, ']', s.n);
        if (!from || (from + 1 < s.p + s.n && from[1] != ':')) {
            return false;
        }
    }
    const uint8_t *colon = memchr(from, ':', (size_t)(s.p + s.n - from));
    if (colon) {
        out->host.n = (size_t)(colon - s.p);
        out->port = (struct gy_slice){colon + 1, (size_t)(s.p + s.n - colon) - 1};
    }
    return true;
}

static bool is_six(struct gy_slice bracketed)
{
    char text[INET6_ADDRSTRLEN + 1];
    struct in6_addr bits;
    if (bracketed.n < 2 || bracketed.n - 2 >= sizeof text) {
        return false;
    }
    memcpy(text, bracketed.p + 1, bracketed.n - 2);
    text[bracketed.n - 2] = '\0';
    return inet_pton(AF_INET6, text, &bits) == 1;
}

/* What nginx says is wrong; NULL: nothing. */
static const char *wrong_address(const struct gy_nginx_upstream *u, struct gy_slice s)
{
    struct parts p;
    uint64_t port = 1;
    if (is_socket(s)) {
        return s.n == 5                    ? "no path in the unix domain socket"
               : s.n > 5 + SOCKET_PATH_MAX ? "too long path in the unix domain socket"
                                           : NULL;
    }
    if (gy_slice_has(s, "/") || gy_slice_has(s, "?") || !split(s, &p)) {
        return "invalid host";
    }
    if (p.port.p && (gy_num_uint(p.port, &port) || port == 0 || port > 65535)) {
        return "invalid port";
    }
    if (p.host.n == 0) {
        return "no host";
    }
    if (p.host.p[0] == '[' && !is_six(p.host)) {
        return "invalid IPv6 address";
    }
    return u->stream && !p.port.p ? "no port" : NULL;
}

static int check_address(const struct gy_nginx_upstream *u, const struct gy_nginx *n)
{
    struct gy_slice s = gy_nginx_word(n, 1);
    char q[GY_QUOTE];
    gy_utf8_quote(q, s);
    if (memchr(s.p, '$', s.n)) {
        return gy_read_fail(n->r, GYRE_SYNTAX, n->words[1].at,
                            "host not found in upstream %s: variables have no place here, and "
                            "nobody filled this one in",
                            q);
    }
    const char *wrong = wrong_address(u, s);
    return wrong ? gy_read_fail(n->r, GYRE_SYNTAX, n->words[1].at, "%s in upstream %s", wrong, q)
                 : GYRE_OK;
}

void gy_nginx_server_address(const struct gy_nginx_upstream *u, struct gy_slice name,
                             struct gy_buf *out)
{
    struct parts p;
    if (is_socket(name)) {
        gy_address_join(out, (struct gy_slice){name.p + 5, name.n - 5}, GY_LIT(""));
    } else if (split(name, &p)) {
        if (p.host.n > 2 && p.host.p[0] == '[') {
            p.host = (struct gy_slice){p.host.p + 1, p.host.n - 2};
        }
        gy_address_join(out, p.host, p.port.p || u->stream ? p.port : GY_LIT("80"));
    }
}

/* ---- the parameters ---- */

enum kind { WEIGHT, COUNT, TIME, DOWN, BACKUP, PLUS, PLUS_TIME, NEWER };

struct parameter {
    const char *word; /* with its '=' where it takes a value */
    enum kind kind;
};

static const struct parameter PARAMETERS[] = {
    {"weight=", WEIGHT}, {"max_conns=", COUNT}, {"max_fails=", COUNT},      {"fail_timeout=", TIME},
    {"down", DOWN},      {"backup", BACKUP},    {"slow_start=", PLUS_TIME}, {"route=", PLUS},
    {"drain", PLUS},     {"id=", PLUS},         {"resolve", NEWER},         {"service=", NEWER},
};

#define PARAMETER_COUNT (sizeof PARAMETERS / sizeof PARAMETERS[0])

static const struct parameter *find(struct gy_slice word, struct gy_slice *value)
{
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        size_t len = strlen(PARAMETERS[i].word);
        bool takes = PARAMETERS[i].word[len - 1] == '=';
        if (takes ? gy_slice_starts(word, PARAMETERS[i].word)
                  : gy_slice_eq(word, gy_str(PARAMETERS[i].word))) {
            *value = (struct gy_slice){word.p + len, word.n - len};
            return &PARAMETERS[i];
        }
    }
    return NULL;
}

/* "10", "10s", "1m30s": units in falling order. */
static bool is_time(struct gy_slice s)
{
    static const char units[] = "yMwdhms";
    const char *next = units;
    size_t i = 0;
    while (i < s.n) {
        size_t from = i;
        while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9') {
            i++;
        }
        if (i == from) {
            return false;
        }
        if (i == s.n) {
            return true;
        }
        const char *unit = s.p[i] ? strchr(next, s.p[i]) : NULL;
        if (!unit) {
            return false;
        }
        next = unit + 1;
        i++;
        while (i < s.n && s.p[i] == ' ') {
            i++;
        }
    }
    return s.n > 0;
}

static int invalid(const struct gy_nginx *n, size_t i, const char *more)
{
    char q[GY_QUOTE];
    return gy_read_fail(n->r, GYRE_SYNTAX, n->words[i].at, "invalid parameter %s%s",
                        gy_utf8_quote(q, gy_nginx_word(n, i)), more);
}

/* Methods for which a server can be no backup. */
static bool takes_backup(const struct gy_nginx_upstream *u)
{
    return !u->method || (strcmp(u->method, "hash") != 0 && strcmp(u->method, "ip_hash") != 0 &&
                          strcmp(u->method, "random") != 0);
}

static int refuse_parameter(const struct gy_nginx *n, size_t i, const char *word)
{
    return gy_read_fail(n->r, GYRE_INVALID, n->words[i].at,
                        "balancing method does not support parameter \"%.*s\"; take it out, or the "
                        "method",
                        (int)strcspn(word, "="), word);
}

static int take(struct gy_nginx_upstream *u, const struct gy_nginx *n, size_t i,
                struct gy_nginx_server *s)
{
    struct gy_slice value;
    uint64_t v;
    const struct parameter *p = find(gy_nginx_word(n, i), &value);
    if (!p) {
        return invalid(n, i, "");
    }
    switch (p->kind) {
    case WEIGHT:
        return gy_num_uint(value, &s->weight) || s->weight == 0 || s->weight > INT64_MAX
                   ? invalid(n, i, "; a weight is a whole number from 1 on")
                   : GYRE_OK;
    case COUNT:
        return gy_num_uint(value, &v) ? invalid(n, i, "") : GYRE_OK;
    case TIME:
        return is_time(value) ? GYRE_OK : invalid(n, i, "");
    case DOWN:
        s->down = true;
        return GYRE_OK;
    case BACKUP:
        s->backup = true;
        return takes_backup(u) ? GYRE_OK : refuse_parameter(n, i, p->word);
    case PLUS_TIME:
        if (!is_time(value)) {
            return invalid(n, i, "");
        }
        if (!takes_backup(u)) {
            return refuse_parameter(n, i, p->word);
        }
        break;
    case PLUS:
    case NEWER:
        break;
    }
    return gy_read_note(n->r, u->pool, GY_LEVEL_NOTE, "newer-nginx", n->words[i].at,
                        "'%.*s' is unknown to nginx 1.22; %s", (int)strcspn(p->word, "="), p->word,
                        p->kind == NEWER ? "it is there since 1.27.3" : "NGINX Plus has it");
}

int gy_nginx_server_read(struct gy_nginx_upstream *u, const struct gy_nginx *n,
                         struct gy_nginx_server *s)
{
    *s = (struct gy_nginx_server){.at = n->words[0].at, .weight = 1};
    int rc = GYRE_OK;
    for (size_t i = 2; !rc && i < n->count; i++) {
        rc = take(u, n, i, s);
    }
    return rc ? rc : check_address(u, n);
}
