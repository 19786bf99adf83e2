/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy_server.c - see haproxy_proxy.h. A line is refused for a word that is none, for there it
 * is not known what the rest means. Words of 2.6 and of 3.x. The reasons are those HAProxy gives.
 */
#include "base/utf8.h"
#include "formats/haproxy_proxy.h"

#include <stdio.h>
#include <stdlib.h>

enum { WEIGHT_MAX = 256, SERVERS_MAX = 1 << 20 };

/* ---- words behind the address ---- */

/* Without an argument, and with one. What is not in a list of its own has no say in placement. */
static const char *const FLAGS[] = {
    "agent-check",
    "allow-0rtt",
    "check",
    "check-reuse-pool",
    "check-send-proxy",
    "check-ssl",
    "check-via-socks4",
    "force-sslv3",
    "force-tlsv10",
    "force-tlsv11",
    "force-tlsv12",
    "force-tlsv13",
    "no-agent-check",
    "no-check",
    "no-check-reuse-pool",
    "no-check-send-proxy",
    "no-check-ssl",
    "no-check-via-socks4",
    "no-renegotiate",
    "no-send-proxy",
    "no-send-proxy-v2",
    "no-send-proxy-v2-ssl",
    "no-send-proxy-v2-ssl-cn",
    "no-ssl",
    "no-ssl-reuse",
    "no-sslv3",
    "no-tfo",
    "no-tls-tickets",
    "no-tlsv10",
    "no-tlsv11",
    "no-tlsv12",
    "no-tlsv13",
    "no-verifyhost",
    "non-stick",
    "renegotiate",
    "send-proxy",
    "send-proxy-v2",
    "send-proxy-v2-ssl",
    "send-proxy-v2-ssl-cn",
    "ssl",
    "ssl-reuse",
    "stick",
    "strict-maxconn",
    "strict-sni",
    "tfo",
    "tls-tickets",
};
static const char *const WITH_ARGUMENT[] = {
    "addr",
    "agent-addr",
    "agent-inter",
    "agent-port",
    "agent-send",
    "alpn",
    "ca-file",
    "ca-verify-file",
    "cc",
    "check-alpn",
    "check-pool-conn-name",
    "check-proto",
    "check-sni",
    "ciphers",
    "ciphersuites",
    "client-sigalgs",
    "cookie",
    "crl-file",
    "crt",
    "curves",
    "downinter",
    "ech",
    "error-limit",
    "fall",
    "fastinter",
    "idle-ping",
    "init-addr",
    "init-state",
    "inter",
    "interface",
    "log-bufsize",
    "log-proto",
    "max-reuse",
    "maxconn",
    "maxqueue",
    "minconn",
    "namespace",
    "npn",
    "observe",
    "on-error",
    "on-marked-down",
    "on-marked-up",
    "pool-conn-name",
    "pool-low-conn",
    "pool-max-conn",
    "pool-purge-delay",
    "port",
    "proto",
    "proxy-v2-options",
    "redir",
    "resolve-net",
    "resolve-opts",
    "resolve-prefer",
    "resolvers",
    "rise",
    "shard",
    "sigalgs",
    "slowstart",
    "sni",
    "socks4",
    "source",
    "ssl-max-ver",
    "ssl-min-ver",
    "tcp-md5sig",
    "tcp-ut",
    "tls-ticket-keys",
    "track",
    "usesrc",
    "verify",
    "verifyhost",
    "ws",
};
static const char *const OURS[] = {"weight", "id",        "disabled", "enabled",
                                   "backup", "no-backup", "hash-key", "guid"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static bool is_in(struct gy_slice word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (gy_slice_eq(word, gy_str(list[i]))) {
            return true;
        }
    }
    return false;
}

static int unknown(const struct gy_haproxy_line *l, size_t i)
{
    const char *names[COUNT(FLAGS) + COUNT(WITH_ARGUMENT) + COUNT(OURS)];
    char q[GY_QUOTE];
    memcpy(names, OURS, sizeof OURS);
    memcpy(names + COUNT(OURS), FLAGS, sizeof FLAGS);
    memcpy(names + COUNT(OURS) + COUNT(FLAGS), WITH_ARGUMENT, sizeof WITH_ARGUMENT);
    const char *near = gyre_nearest((const char *)gy_haproxy_word(l, i).p, names, COUNT(names));
    return gy_read_fail(l->r, GYRE_UNKNOWN, gy_haproxy_at(l, i), "unknown keyword %s%s%s%s",
                        gy_utf8_quote(q, gy_haproxy_word(l, i)), near ? "; did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
}

static int no_argument(const struct gy_haproxy_line *l, size_t i, const char *wants)
{
    char q[GY_QUOTE];
    return gy_read_fail(l->r, GYRE_SYNTAX, gy_haproxy_at(l, i), "%s expects %s",
                        gy_utf8_quote(q, gy_haproxy_word(l, i)), wants);
}

static int take_weight(const struct gy_haproxy_line *l, size_t i, struct gy_haproxy_options *o)
{
    o->weight = gy_haproxy_number(gy_haproxy_word(l, i + 1));
    return o->weight < 0 || o->weight > WEIGHT_MAX
               ? gy_read_fail(l->r, GYRE_RANGE, gy_haproxy_at(l, i + 1),
                              "weight of server %s is not within 0 and %d (%lld)",
                              (const char *)gy_haproxy_word(l, 1).p, WEIGHT_MAX,
                              (long long)o->weight)
               : GYRE_OK;
}

static int take_id(const struct gy_haproxy_line *l, size_t i, struct gy_haproxy_options *o)
{
    if (gy_haproxy_word(l, i + 1).n == 0) {
        return no_argument(l, i, "an integer argument");
    }
    o->id = gy_haproxy_number(gy_haproxy_word(l, i + 1));
    return o->id <= 0 || o->id > INT32_MAX
               ? gy_read_fail(l->r, GYRE_RANGE, gy_haproxy_at(l, i + 1),
                              "'id': custom id has to be > 0, and below 2147483648")
               : GYRE_OK;
}

static int take_hash_key(const struct gy_haproxy_line *l, size_t i, struct gy_haproxy_options *o)
{
    static const char *const keys[] = {"id", "id32", "addr", "addr-port", "guid", NULL};
    struct gy_slice s = gy_haproxy_word(l, i + 1);
    if (!is_in(s, keys, COUNT(keys) - 1)) {
        return gy_read_unknown(l->r, gy_haproxy_at(l, i + 1), "hash-key", s, keys);
    }
    snprintf(o->hash_key, sizeof o->hash_key, "%s", (const char *)s.p);
    return GYRE_OK;
}

static int take_guid(const struct gy_haproxy_line *l, size_t i, struct gy_haproxy_options *o)
{
    struct gy_slice s = gy_haproxy_word(l, i + 1);
    if (s.n == 0 || s.n >= sizeof o->guid || memchr(s.p, ' ', s.n) || memchr(s.p, ',', s.n)) {
        return no_argument(l, i, "a word of at most 127 bytes");
    }
    snprintf(o->guid, sizeof o->guid, "%s", (const char *)s.p);
    return GYRE_OK;
}

/* A word that matters for placement; *skip: words behind it that are its own. */
static int take_ours(const struct gy_haproxy_line *l, size_t i, bool server,
                     struct gy_haproxy_options *o, size_t *skip)
{
    *skip = 1;
    int rc = gy_haproxy_known(l, i + 1);
    if (rc) {
        return rc;
    }
    if (!server && (gy_haproxy_is(l, i, "id") || gy_haproxy_is(l, i, "guid"))) {
        return gy_read_fail(l->r, GYRE_INVALID, gy_haproxy_at(l, i),
                            "'%s' is not accepted in default-server: it is one server's own",
                            (const char *)gy_haproxy_word(l, i).p);
    }
    if (gy_haproxy_is(l, i, "weight")) {
        return take_weight(l, i, o);
    }
    if (gy_haproxy_is(l, i, "id")) {
        return take_id(l, i, o);
    }
    if (gy_haproxy_is(l, i, "hash-key")) {
        return take_hash_key(l, i, o);
    }
    if (gy_haproxy_is(l, i, "guid")) {
        return take_guid(l, i, o);
    }
    *skip = 0;
    if (gy_haproxy_is(l, i, "disabled") || gy_haproxy_is(l, i, "enabled")) {
        o->disabled = gy_haproxy_is(l, i, "disabled");
    } else {
        o->backup = gy_haproxy_is(l, i, "backup");
    }
    return GYRE_OK;
}

static int take_options(const struct gy_haproxy_line *l, size_t from, bool server,
                        struct gy_haproxy_options *o)
{
    int rc = GYRE_OK;
    for (size_t i = from; !rc && i < l->count; i++) {
        struct gy_slice word = gy_haproxy_word(l, i);
        size_t skip = 0;
        if (is_in(word, OURS, COUNT(OURS))) {
            rc = take_ours(l, i, server, o, &skip);
        } else if (is_in(word, WITH_ARGUMENT, COUNT(WITH_ARGUMENT)) ||
                   gy_slice_starts(word, "set-proxy-v2-tlv-fmt(")) {
            skip = 1;
            rc = i + 1 < l->count ? GYRE_OK : no_argument(l, i, "an argument");
        } else if (!is_in(word, FLAGS, COUNT(FLAGS))) {
            rc = unknown(l, i);
        }
        i += skip;
    }
    return rc;
}

/* ---- the line ---- */

/* Word 1: a server's name, or a template's prefix. */
static int check_name(const struct gy_haproxy_line *l)
{
    struct gy_slice name = gy_haproxy_word(l, 1);
    char q[GY_QUOTE];
    for (size_t i = 0; i < name.n; i++) {
        if (!gy_haproxy_in_name(name.p[i])) {
            return gy_read_fail(l->r, GYRE_SYNTAX, gy_haproxy_at(l, 1),
                                "character %s is not permitted in a server's name",
                                gy_utf8_quote(q, (struct gy_slice){name.p + i, 1}));
        }
    }
    return GYRE_OK;
}

static int add(const struct gy_haproxy_line *l, struct gy_haproxy_proxy *p, struct gy_slice name,
               struct gy_slice address, const struct gy_haproxy_options *o)
{
    if (p->count == p->room) {
        size_t room = p->room ? p->room * 2 : 16;
        struct gy_haproxy_server *grown = realloc(p->servers, room * sizeof *grown);
        if (!grown) {
            return gy_read_nomem(l->r);
        }
        p->servers = grown;
        p->room = room;
    }
    struct gy_haproxy_server *s = &p->servers[p->count++];
    *s = (struct gy_haproxy_server){.at = gy_haproxy_at(l, 0), .o = *o};
    int rc = gy_read_text(l->r, &s->name, name);
    return rc ? rc : gy_read_text(l->r, &s->address, address);
}

static bool whole_number(struct gy_slice s, int64_t *out)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') {
            return false;
        }
    }
    *out = gy_haproxy_number(s);
    return s.n > 0;
}

/* "5", or "1-100": prefix1 to prefix100. */
static int add_template(const struct gy_haproxy_line *l, struct gy_haproxy_proxy *p,
                        struct gy_haproxy_options *o)
{
    struct gy_slice rest = gy_haproxy_word(l, 2);
    bool range = rest.n && memchr(rest.p, '-', rest.n);
    int64_t first = 1, last;
    char q[GY_QUOTE];
    struct gy_slice low = range ? gy_slice_cut(&rest, '-') : GY_LIT("1");
    if (!whole_number(low, &first) || !whole_number(rest, &last) || first < 1 || last < first) {
        return gy_read_fail(l->r, GYRE_SYNTAX, gy_haproxy_at(l, 2),
                            "wrong server-template number or range %s",
                            gy_utf8_quote(q, gy_haproxy_word(l, 2)));
    }
    if (last - first >= SERVERS_MAX || p->count + (size_t)(last - first) >= SERVERS_MAX) {
        return gy_read_fail(l->r, GYRE_RANGE, gy_haproxy_at(l, 2), "more than %d servers",
                            SERVERS_MAX);
    }
    int rc = GYRE_OK;
    for (int64_t i = first; !rc && i <= last; i++) {
        struct gy_buf name = {0};
        gy_buf_printf(&name, "%s%lld", (const char *)gy_haproxy_word(l, 1).p, (long long)i);
        rc = name.failed ? gy_read_nomem(l->r)
                         : add(l, p, gy_str(gy_buf_cstr(&name)), gy_haproxy_word(l, 3), o);
        gy_buf_fini(&name);
        o->id = 0; /* an id is the first one's */
    }
    return rc;
}

int gy_haproxy_server_line(const struct gy_haproxy_line *l, struct gy_haproxy_proxy *p)
{
    if (gy_haproxy_is(l, 0, "default-server")) {
        return take_options(l, 1, false, &p->defaults);
    }
    bool template = gy_haproxy_is(l, 0, "server-template");
    size_t address = template ? 3 : 2;
    struct gy_haproxy_options o = p->defaults;
    if (l->count <= address) {
        return gy_read_fail(l->r, GYRE_SYNTAX, gy_haproxy_at(l, 0), "'%s' expects %s",
                            (const char *)gy_haproxy_word(l, 0).p,
                            template ? "<prefix> <number or range> <addr>[:<port>] as arguments"
                                     : "<name> and <addr>[:<port>] as arguments");
    }
    int rc = gy_haproxy_known(l, 1);
    rc = rc ? rc : check_name(l);
    rc = rc || !template ? rc : gy_haproxy_known(l, 2);
    rc = rc ? rc : take_options(l, address + 1, true, &o);
    if (rc) {
        return rc;
    }
    if (template) {
        return add_template(l, p, &o);
    }
    return add(l, p, gy_haproxy_word(l, 1), gy_haproxy_word(l, 2), &o);
}
