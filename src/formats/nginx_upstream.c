/* SPDX-License-Identifier: Apache-2.0 */
/* nginx_upstream.c - see nginx_upstream.h. The reasons are those nginx 1.22 gives. */
#include "formats/nginx_upstream.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/nginx_server.h"

#include <stdlib.h>

enum { POINTS = 160, POINT_BYTES = 16, POINTS_BIG = 1000000, WEIGHT_MAX = 1000000 };

enum kind { SERVER, METHOD, ELSEWHERE, STICKY, KEEPALIVE, OTHER };

/* Arguments: at least, at most. */
struct directive {
    const char *word;
    enum kind kind;
    unsigned least, most;
};

static const struct directive DIRECTIVES[] = {
    {"server", SERVER, 1, ~0u},
    {"hash", METHOD, 1, 2},
    {"ip_hash", METHOD, 0, 0},
    {"least_conn", METHOD, 0, 0},
    {"random", METHOD, 0, 2},
    {"least_time", METHOD, 1, 2},
    {"state", ELSEWHERE, 1, 1},
    {"sticky", STICKY, 1, ~0u},
    {"zone", OTHER, 1, 2},
    {"keepalive", KEEPALIVE, 1, 2},
    {"keepalive_requests", OTHER, 1, 1},
    {"keepalive_time", OTHER, 1, 1},
    {"keepalive_timeout", OTHER, 1, 1},
    {"ntlm", OTHER, 0, 0},
    {"queue", OTHER, 1, 2},
    {"resolver", OTHER, 1, ~0u},
    {"resolver_timeout", OTHER, 1, 1},
    {"check", OTHER, 1, ~0u},
    {"check_http_send", OTHER, 1, 1},
    {"check_http_expect_alive", OTHER, 1, ~0u},
    {"check_keepalive_requests", OTHER, 1, 1},
};

#define DIRECTIVE_COUNT (sizeof DIRECTIVES / sizeof DIRECTIVES[0])

void gy_nginx_upstream_fini(struct gy_nginx_upstream *u)
{
    for (size_t i = 0; i < u->count; i++) {
        free(u->servers[i].name);
    }
    free(u->servers);
    free(u->key);
}

/* ---- directives ---- */

static int unknown(const struct gy_nginx *n)
{
    const char *names[DIRECTIVE_COUNT];
    char q[GY_QUOTE];
    for (size_t i = 0; i < DIRECTIVE_COUNT; i++) {
        names[i] = DIRECTIVES[i].word;
    }
    const char *near = gyre_nearest((const char *)gy_nginx_word(n, 0).p, names, DIRECTIVE_COUNT);
    return gy_read_fail(n->r, GYRE_UNKNOWN, n->words[0].at, "unknown directive %s%s%s%s",
                        gy_utf8_quote(q, gy_nginx_word(n, 0)), near ? "; did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
}

static int add_server(struct gy_nginx_upstream *u, const struct gy_nginx *n)
{
    if (u->count == u->room) {
        size_t room = u->room ? u->room * 2 : 8;
        struct gy_nginx_server *grown = realloc(u->servers, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(u->r);
        }
        u->servers = grown;
        u->room = room;
    }
    struct gy_nginx_server *s = &u->servers[u->count];
    int rc = gy_nginx_server_read(u, n, s);
    if (!rc) {
        u->count++;
        rc = gy_read_text(u->r, &s->name, gy_nginx_word(n, 1));
    }
    return rc;
}

/* Is each '$' the begin of a variable? */
static int check_key(const struct gy_nginx *n)
{
    struct gy_slice s = gy_nginx_word(n, 1);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '$') {
            continue;
        }
        bool braces = i + 1 < s.n && s.p[i + 1] == '{';
        size_t from = i + 1 + braces, to = from;
        while (to < s.n && (s.p[to] == '_' || (s.p[to] >= '0' && s.p[to] <= '9') ||
                            ((s.p[to] | 0x20) >= 'a' && (s.p[to] | 0x20) <= 'z'))) {
            to++;
        }
        if (braces && (to == s.n || s.p[to] != '}')) {
            return gy_read_fail(n->r, GYRE_SYNTAX, n->words[1].at,
                                "the closing bracket in \"%.*s\" variable is missing",
                                (int)(to - from), s.p + from);
        }
        if (to == from) {
            return gy_read_fail(n->r, GYRE_SYNTAX, n->words[1].at, "invalid variable name");
        }
        i = to - 1 + braces;
    }
    return GYRE_OK;
}

static int take_hash(struct gy_nginx_upstream *u, const struct gy_nginx *n)
{
    char q[GY_QUOTE];
    int rc = check_key(n);
    u->consistent = n->count == 3;
    if (!rc && u->consistent && !gy_slice_eq(gy_nginx_word(n, 2), GY_LIT("consistent"))) {
        rc =
            gy_read_fail(n->r, GYRE_SYNTAX, n->words[2].at,
                         "invalid parameter %s; behind the key of hash only 'consistent' may stand",
                         gy_utf8_quote(q, gy_nginx_word(n, 2)));
    }
    return rc ? rc : gy_read_text(u->r, &u->key, gy_nginx_word(n, 1));
}

/* random [two [least_conn | least_time=...]] */
static int check_random(const struct gy_nginx *n)
{
    for (size_t i = 1; i < n->count; i++) {
        struct gy_slice s = gy_nginx_word(n, i);
        char q[GY_QUOTE];
        if (i == 1 ? !gy_slice_eq(s, GY_LIT("two")) : !gy_slice_starts(s, "least_")) {
            return gy_read_fail(n->r, GYRE_SYNTAX, n->words[i].at, "invalid parameter %s",
                                gy_utf8_quote(q, s));
        }
    }
    return GYRE_OK;
}

static int check_keepalive(const struct gy_nginx *n)
{
    uint64_t v;
    char q[GY_QUOTE];
    return gy_num_uint(gy_nginx_word(n, 1), &v) || v == 0
               ? gy_read_fail(n->r, GYRE_SYNTAX, n->words[1].at,
                              "invalid value %s in \"keepalive\" directive",
                              gy_utf8_quote(q, gy_nginx_word(n, 1)))
               : GYRE_OK;
}

static int take_method(struct gy_nginx_upstream *u, const struct directive *d,
                       const struct gy_nginx *n)
{
    int rc = GYRE_OK;
    if (u->method) {
        rc = gy_read_note(u->r, u->pool, GY_LEVEL_WARNING, "method-redefined", n->words[0].at,
                          "load balancing method redefined: %s takes the place of %s", d->word,
                          u->method);
    }
    u->method = d->word;
    u->method_at = n->words[0].at;
    if (!rc && strcmp(d->word, "random") == 0) {
        rc = check_random(n);
    }
    return rc || strcmp(d->word, "hash") != 0 ? rc : take_hash(u, n);
}

int gy_nginx_directive(struct gy_nginx_upstream *u, const struct gy_nginx *n)
{
    const struct directive *d = DIRECTIVES, *end = d + DIRECTIVE_COUNT;
    while (d < end && !gy_slice_eq(gy_nginx_word(n, 0), gy_str(d->word))) {
        d++;
    }
    if (d == end) {
        return unknown(n);
    }
    if (n->end != GY_NGINX_SEMICOLON) {
        return gy_read_fail(n->r, GYRE_SYNTAX, n->end_at,
                            "directive \"%s\" is not terminated by \";\"", d->word);
    }
    if (n->count - 1 < d->least || n->count - 1 > d->most) {
        return gy_read_fail(n->r, GYRE_SYNTAX, n->words[0].at,
                            "invalid number of arguments in \"%s\" directive", d->word);
    }
    switch (d->kind) {
    case SERVER:
        return add_server(u, n);
    case METHOD:
        return take_method(u, d, n);
    case STICKY:
        u->method = u->method ? u->method : d->word;
        u->method_at = n->words[0].at;
        break;
    case ELSEWHERE:
        u->elsewhere = true;
        break;
    case KEEPALIVE:
        return check_keepalive(n);
    case OTHER:
        break;
    }
    return GYRE_OK;
}

/* ---- the pool ---- */

static int by_name(const void *a, const void *b)
{
    const struct gy_nginx_server *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : *x < *y ? -1 : 1;
}

/* Servers of one name: nginx takes them. Their points are the same, so with `consistent` they are
 * one of the greatest weight, whose addresses take turns. */
static int find_same(struct gy_nginx_upstream *u, size_t *same)
{
    struct gy_nginx_server **sorted = calloc(u->count + 1, sizeof *sorted);
    if (!sorted) {
        return gy_read_nomem(u->r);
    }
    for (size_t i = 0; i < u->count; i++) {
        sorted[i] = &u->servers[i];
    }
    qsort(sorted, u->count, sizeof *sorted, by_name);
    *same = 0;
    for (size_t i = 0; i < u->count; i++) {
        bool again = i && strcmp(sorted[i]->name, sorted[i - 1]->name) == 0;
        sorted[i]->same = again ? sorted[i - 1]->same : (size_t)(sorted[i] - u->servers);
        *same += again;
    }
    free(sorted);
    return GYRE_OK;
}

static void merge_same(struct gy_nginx_upstream *u)
{
    for (size_t i = 0; i < u->count; i++) {
        struct gy_nginx_server *s = &u->servers[i], *first = &u->servers[s->same];
        first->weight = s->weight > first->weight ? s->weight : first->weight;
        first->down = first->down && s->down;
        first->backup = first->backup && s->backup;
    }
}

static int put_server(struct gy_nginx_upstream *u, const struct gy_nginx_server *s, bool node)
{
    struct gy_buf name = {0}, address = {0};
    struct gy_server *out = NULL;
    gy_buf_puts(&name, s->name);
    if (s != &u->servers[s->same]) {
        gy_buf_printf(&name, "@%u", s->at.line);
    }
    gy_nginx_server_address(u, gy_str(s->name), &address);
    bool dialled = gy_buf_size(&address) > 0;
    struct gyre_node n = {.size = sizeof n,
                          .name = gy_buf_cstr(&name),
                          .address = dialled ? gy_buf_cstr(&address) : NULL,
                          .weight = (double)s->weight,
                          .options = s->down ? "down" : NULL};
    int rc;
    if (name.failed || address.failed) {
        rc = gy_read_nomem(u->r);
    } else if (node) {
        rc = gy_read_both(u->r, u->pool, s->at, &n, &out);
    } else {
        rc = gy_read_server(u->r, u->pool, s->at, gy_str(n.name), &out);
        if (!rc && n.address) {
            rc = gy_read_text(u->r, &out->address, gy_str(n.address));
        }
    }
    if (!rc) {
        out->weight = (double)s->weight;
        out->states |= (s->down ? GY_STATE_DOWN : 0) | (s->backup ? GY_STATE_BACKUP : 0);
    }
    gy_buf_fini(&name);
    gy_buf_fini(&address);
    return rc;
}

static int put_servers(struct gy_nginx_upstream *u, bool placed)
{
    int rc = GYRE_OK;
    for (size_t i = 0; !rc && i < u->count; i++) {
        const struct gy_nginx_server *s = &u->servers[i];
        if (u->consistent && s != &u->servers[s->same]) {
            continue;
        }
        rc = put_server(u, s, placed && !s->backup);
    }
    return rc;
}

/* What nginx itself pays for weights, and what is worth saying of the rest. */
static int judge(struct gy_nginx_upstream *u, size_t same, size_t backups, double weights)
{
    double points = POINTS * weights;
    int rc = GYRE_OK;
    if (u->consistent && points > POINTS_BIG) {
        rc = gy_read_note(u->r, u->pool, GY_LEVEL_WARNING, "huge-weight", u->at,
                          "the weights ask for %.0f points, %d for each unit: about %.0f MB in "
                          "nginx, again in every process that reads the file; only their ratio "
                          "counts, so scale them down",
                          points, POINTS, points * POINT_BYTES / 1048576);
    }
    if (!rc && backups) {
        rc = gy_read_note(u->r, u->pool, GY_LEVEL_WARNING, "backup-with-hash", u->at,
                          "%zu backup servers: nginx refuses them behind the line with hash, and "
                          "before it takes them unseen; they get no key while one other is up",
                          backups);
    }
    if (!rc && same) {
        rc = gy_read_note(u->r, u->pool, GY_LEVEL_WARNING, "same-server", u->at, "%s",
                          u->consistent
                              ? "a server stands here more than once: it counts once, with the "
                                "greatest of its weights, for equal names have equal points"
                              : "a server stands here more than once");
    }
    if (!rc && !strchr(u->key, '$')) {
        rc = gy_read_note(u->r, u->pool, GY_LEVEL_WARNING, "constant-key", u->method_at,
                          "the key has no variable: every request goes to one server");
    }
    return rc;
}

static int put_hash(struct gy_nginx_upstream *u)
{
    size_t same = 0, backups = 0;
    double weights = 0, heaviest = 0;
    char q[GY_QUOTE];
    int rc = gy_read_set(u->r, u->pool, u->at, "like", "nginx");
    rc = rc ? rc
            : gy_read_set(u->r, u->pool, u->method_at, "distribution",
                          u->consistent ? "consistent" : "plain");
    rc = rc ? rc : find_same(u, &same);
    if (!rc && u->consistent) {
        merge_same(u);
    }
    for (size_t i = 0; !rc && i < u->count; i++) {
        const struct gy_nginx_server *s = &u->servers[i];
        bool counts = !s->backup && !(u->consistent && s != &u->servers[s->same]);
        backups += s->backup;
        weights += counts ? (double)s->weight : 0;
        heaviest = counts && (double)s->weight > heaviest ? (double)s->weight : heaviest;
    }
    rc = rc ? rc : judge(u, same, backups, weights);
    rc = rc ? rc : put_servers(u, heaviest <= WEIGHT_MAX);
    rc = rc ? rc : gy_read_shared(u->r, u->pool);
    if (!rc && heaviest > WEIGHT_MAX) {
        rc = gy_read_unplaced(u->r, u->pool, u->at,
                              "upstream %s has a weight of %.0f; gyre takes at most %d: only the "
                              "ratio of weights counts, so scale them down",
                              gy_utf8_quote(q, gy_str(u->pool->name)), heaviest, WEIGHT_MAX);
    }
    return rc;
}

static const char *method_reason(const char *method)
{
    static const struct {
        const char *method, *why;
    } reasons[] = {
        {"ip_hash", "ip_hash goes by the first bytes of the client's address, and by whom it "
                    "skips; use hash $remote_addr consistent"},
        {"least_conn", "least_conn goes by open connections"},
        {"least_time", "least_time goes by how long servers take"},
        {"random", "random goes by chance"},
        {"sticky", "sticky goes by where a session was before"},
    };
    for (size_t i = 0; method && i < sizeof reasons / sizeof reasons[0]; i++) {
        if (strcmp(reasons[i].method, method) == 0) {
            return reasons[i].why;
        }
    }
    return "servers take turns; 'hash KEY consistent' would place keys";
}

int gy_nginx_upstream_end(struct gy_nginx_upstream *u)
{
    char q[GY_QUOTE];
    size_t primaries = 0;
    gy_utf8_quote(q, gy_str(u->pool->name));
    for (size_t i = 0; i < u->count; i++) {
        primaries += !u->servers[i].backup;
    }
    if (!u->elsewhere && primaries == 0) {
        return gy_read_fail(u->r, GYRE_EMPTY, u->at, "%s upstream %s",
                            u->count ? "only backup servers are in" : "no servers are inside", q);
    }
    int rc = gy_read_fact(u->r, u->pool, "method", "%s", u->method ? u->method : "round robin");
    if (!rc && u->key) {
        rc = gy_read_fact(u->r, u->pool, "key", "%s", u->key);
    }
    if (!rc && !u->elsewhere && u->method && strcmp(u->method, "hash") == 0) {
        return put_hash(u);
    }
    size_t same;
    u->consistent = false;
    rc = rc ? rc : find_same(u, &same);
    rc = rc ? rc : put_servers(u, false);
    if (!rc) {
        rc = gy_read_unplaced(u->r, u->pool, u->method ? u->method_at : u->at, "upstream %s: %s", q,
                              u->elsewhere ? "its servers stand in a state file that NGINX Plus "
                                             "writes"
                                           : method_reason(u->method));
    }
    return rc;
}
