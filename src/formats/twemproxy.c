/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twemproxy.c - nutcracker.yml of twemproxy (nutcracker) 0.5.0: a mapping of pool names to pools.
 * What nutcracker refuses is refused, for the reasons it gives in its log. A server without a name
 * is called by its address as nutcracker calls it: memcached's port 11211 goes unsaid, and a socket
 * ends in a colon. Threads: one an object.
 */
#include "formats/twemproxy.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"
#include "formats/tree.h"

#include <stdlib.h>

#define WEIGHT_MOST 1000000 /* gyre.h */

enum kind { LISTEN, HASH, DISTRIBUTION, TAG, NUMBER, SWITCH, TEXT, SERVERS };

struct key {
    const char *name;
    enum kind kind;
    bool fact; /* worth showing */
};

static const struct key KEYS[] = {
    {"listen", LISTEN, true},
    {"hash", HASH, false},
    {"hash_tag", TAG, false},
    {"distribution", DISTRIBUTION, false},
    {"timeout", NUMBER, false},
    {"backlog", NUMBER, false},
    {"client_connections", NUMBER, false},
    {"tcpkeepalive", SWITCH, false},
    {"redis", SWITCH, true},
    {"redis_auth", TEXT, false},
    {"redis_db", NUMBER, false},
    {"preconnect", SWITCH, false},
    {"auto_eject_hosts", SWITCH, true},
    {"server_connections", NUMBER, false},
    {"server_retry_timeout", NUMBER, false},
    {"server_failure_limit", NUMBER, false},
    {"servers", SERVERS, false},
};

#define KEY_COUNT (sizeof KEYS / sizeof KEYS[0])

static const char *const HASHES[] = {"one_at_a_time", "md5",      "crc16",   "crc32",    "crc32a",
                                     "fnv1_64",       "fnv1a_64", "fnv1_32", "fnv1a_32", "hsieh",
                                     "murmur",        "jenkins",  NULL};
static const char *const DISTRIBUTIONS[] = {"ketama", "modula", "random", NULL};

static const struct key *find_key(struct gy_slice name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (gy_slice_eq(gy_str(KEYS[i].name), name)) {
            return &KEYS[i];
        }
    }
    return NULL;
}

/* "  listen: x" gives the key `listen` and the value `x`; false for a line without a key. */
static bool split_line(struct gy_slice line, struct gy_slice *key, struct gy_slice *value)
{
    struct gy_slice rest = gy_slice_trim(line);
    if (rest.n == 0 || rest.p[0] == '#' || !memchr(rest.p, ':', rest.n)) {
        return false;
    }
    *key = gy_slice_trim(gy_slice_cut(&rest, ':'));
    *value = gy_slice_trim(rest);
    return true;
}

/* Words that only nutcracker.yml has are enough; of its common ones it takes two. */
int gy_twemproxy_sniff(struct gy_slice head)
{
    static const char *const own[] = {"auto_eject_hosts", "server_retry_timeout",
                                      "server_failure_limit", "server_connections"};
    static const char *const common[] = {"servers", "listen", "distribution", "hash", "redis"};
    unsigned found = 0;
    struct gy_slice key, value;
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        if (!split_line(l.line, &key, &value)) {
            continue;
        }
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
            found |= gy_slice_eq(key, gy_str(own[i])) ? 1u << 31 : 0;
        }
        for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
            found |= gy_slice_eq(key, gy_str(common[i])) ? 1u << i : 0;
        }
    }
    bool list = found & 1, more = found & ~1u;
    return found >> 31 ? GY_SURE_YES : list && more ? GY_SURE_LIKELY : GY_SURE_NOT;
}

/* ---- a server: "host:port:weight [name]", or "/path:weight [name]" ---- */

struct server_line {
    struct gy_slice name; /* empty: none given */
    struct gy_slice host, port, weight;
};

/* What stands behind the last c, cut off *s; false without a c. */
static bool cut_last(struct gy_slice *s, char c, struct gy_slice *tail)
{
    const uint8_t *at = s->n ? memrchr(s->p, c, s->n) : NULL;
    if (!at) {
        return false;
    }
    *tail = (struct gy_slice){at + 1, (size_t)(s->p + s->n - at) - 1};
    s->n = (size_t)(at - s->p);
    return true;
}

/* From the end, as nutcracker reads it. */
static bool split_server(struct gy_slice s, struct server_line *out)
{
    *out = (struct server_line){0};
    bool socket = s.n && s.p[0] == '/';
    cut_last(&s, ' ', &out->name);
    if (!cut_last(&s, ':', &out->weight) || (!socket && !cut_last(&s, ':', &out->port))) {
        return false;
    }
    out->host = s;
    return !socket || !memchr(s.p, ':', s.n);
}

static int bad_server(struct gy_reading *r, const struct gy_tree *t)
{
    char q[GY_QUOTE];
    return gy_read_fail(r, GYRE_SYNTAX, t->at,
                        "server %s is not host:port:weight [name], nor /path:weight [name]%s",
                        gy_utf8_quote(q, t->text),
                        gy_slice_has(t->text, "$") ? "; the '$' is a variable nobody filled in"
                                                   : "");
}

static bool is_digits(struct gy_slice s)
{
    size_t i = 0;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9') {
        i++;
    }
    return s.n > 0 && i == s.n;
}

static int check_server(struct gy_reading *r, const struct gy_tree *t, const struct server_line *s,
                        uint64_t *weight)
{
    char q[GY_QUOTE], whole[GY_QUOTE];
    uint64_t port = 1;
    gy_utf8_quote(whole, t->text);
    if (gy_num_uint(s->weight, weight)) {
        *weight = INT64_MAX; /* digits beyond all bounds are told as such later */
    }
    if (!is_digits(s->weight)) {
        return gy_read_fail(r, GYRE_SYNTAX, t->at,
                            "server %s has the weight %s, which is no number", whole,
                            gy_utf8_quote(q, s->weight));
    }
    if (*weight == 0) {
        return gy_read_fail(r, GYRE_RANGE, t->at,
                            "server %s has the weight 0; nutcracker refuses it", whole);
    }
    if (s->port.p && (gy_num_uint(s->port, &port) || port == 0 || port > 65535)) {
        return gy_read_fail(r, GYRE_RANGE, t->at, "server %s has the port %s; ports are 1 to 65535",
                            whole, gy_utf8_quote(q, s->port));
    }
    return GYRE_OK;
}

void gy_twemproxy_point_name(struct gy_slice host, struct gy_slice port, struct gy_buf *out)
{
    gy_buf_add(out, host.p, host.n);
    if (!gy_slice_eq(port, GY_LIT("11211"))) {
        gy_buf_putc(out, ':');
        gy_buf_add(out, port.p, port.n);
    }
}

static int add_server(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t,
                      const struct server_line *s, uint64_t weight)
{
    struct gy_buf name = {0}, address = {0};
    struct gy_server *server;
    if (s->name.n) {
        gy_buf_add(&name, s->name.p, s->name.n);
    } else {
        gy_twemproxy_point_name(s->host, s->port, &name);
    }
    bool dialled = gy_address_join(&address, s->host, s->port);
    struct gyre_node node = {.size = sizeof node,
                             .name = gy_buf_cstr(&name),
                             .address = dialled ? gy_buf_cstr(&address) : NULL,
                             .weight = (double)(weight > WEIGHT_MOST ? WEIGHT_MOST : weight)};
    int rc;
    if (name.failed || address.failed) {
        rc = gy_read_nomem(r);
    } else {
        rc = gy_read_both(r, p, t->at, &node, &server);
    }
    if (!rc) {
        server->weight = (double)weight;
    }
    gy_buf_fini(&name);
    gy_buf_fini(&address);
    return rc;
}

static int read_servers(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *list)
{
    char q[GY_QUOTE];
    int rc = GYRE_OK;
    gy_utf8_quote(q, gy_str(p->name));
    if (list->kind == GY_TREE_NULL || (list->kind == GY_TREE_LIST && list->count == 0)) {
        return gy_read_fail(r, GYRE_EMPTY, list->key_at, "pool %s has no servers", q);
    }
    if (list->kind != GY_TREE_LIST) {
        return gy_read_fail(r, GYRE_SYNTAX, list->at, "servers of pool %s must be a list, not %s",
                            q, gy_tree_word(list));
    }
    for (const struct gy_tree *t = list->first; t && !rc; t = t->next) {
        struct server_line s;
        uint64_t weight;
        if (t->kind != GY_TREE_TEXT) {
            rc = gy_read_fail(r, GYRE_SYNTAX, t->at, "a server must be one line, not %s",
                              gy_tree_word(t));
        } else if (!split_server(t->text, &s)) {
            rc = bad_server(r, t);
        } else {
            rc = check_server(r, t, &s, &weight);
            rc = rc ? rc : add_server(r, p, t, &s, weight);
        }
    }
    return rc;
}

/* ---- the other keys ---- */

static int bad_value(struct gy_reading *r, const struct gy_tree *t, const char *wants)
{
    char key[GY_QUOTE], value[GY_QUOTE];
    return gy_read_fail(r, GYRE_SYNTAX, t->at, "%s is %s; it must be %s",
                        gy_utf8_quote(key, t->key), gy_utf8_quote(value, t->text), wants);
}

/* "host:port", or "/path" with the socket's mode behind it. What cannot be resolved is refused too,
 * but that is not to be seen here. */
static int check_listen(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t)
{
    struct gy_slice s = t->text, tail;
    struct gy_buf address = {0};
    uint64_t port;
    if (s.n && s.p[0] == '/') {
        bool mode = cut_last(&s, ' ', &tail);
        return !mode || (tail.n && tail.p[0] >= '0' && tail.p[0] <= '7')
                   ? GYRE_OK
                   : gy_read_note(r, p, GY_LEVEL_NOTE, "socket-mode", t->at,
                                  "the socket's mode is not octal, so nutcracker takes 0");
    }
    if (!cut_last(&s, ':', &tail)) {
        return bad_value(r, t, "host:port, or /path of a socket");
    }
    if (gy_num_uint(tail, &port) || port == 0 || port > 65535) {
        return bad_value(r, t, "host:port with a port of 1 to 65535");
    }
    bool good = s.n && s.p[0] != '[' && gy_address_join(&address, s, tail);
    int rc = address.failed ? gy_read_nomem(r)
             : good         ? GYRE_OK
                            : bad_value(r, t,
                                        "host:port; nutcracker wants a host, and IPv6 without "
                                                "brackets");
    gy_buf_fini(&address);
    return rc;
}

static int take_word(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t,
                     const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        if (gy_tree_is(t, words[i])) {
            /* random is no placement: told once the whole pool has been read. */
            return strcmp(words[i], "random") == 0
                       ? GYRE_OK
                       : gy_read_set(r, p, t->at, (const char *)t->key.p, words[i]);
        }
    }
    return gy_read_unknown(r, t->at, (const char *)t->key.p, t->text, words);
}

static int take_value(struct gy_reading *r, struct gy_pool *p, const struct key *k,
                      const struct gy_tree *t)
{
    switch (k->kind) {
    case LISTEN:
        return check_listen(r, p, t);
    case HASH:
        return take_word(r, p, t, HASHES);
    case DISTRIBUTION:
        return take_word(r, p, t, DISTRIBUTIONS);
    case TAG:
        return t->text.n == 2 && !memchr(t->text.p, 0, 2)
                   ? gy_read_set(r, p, t->at, "hash_tag", (const char *)t->text.p)
                   : bad_value(r, t, "two characters");
    case NUMBER:
        return is_digits(t->text) ? GYRE_OK : bad_value(r, t, "a number");
    case SWITCH:
        return gy_tree_is(t, "true") || gy_tree_is(t, "false") ? GYRE_OK
                                                               : bad_value(r, t, "true or false");
    case TEXT:
    case SERVERS:
        break;
    }
    return GYRE_OK;
}

static int take_key(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t)
{
    const struct key *k = find_key(t->key);
    if (!k) {
        const char *names[KEY_COUNT + 1] = {NULL};
        for (size_t i = 0; i < KEY_COUNT; i++) {
            names[i] = KEYS[i].name;
        }
        return gy_read_unknown(r, t->key_at, "key", t->key, names);
    }
    if (k->kind == SERVERS) {
        return GYRE_OK; /* once the name of the distribution is known */
    }
    if (t->kind == GY_TREE_NULL) {
        return gy_read_fail(r, GYRE_SYNTAX, t->key_at, "'%s' has no value", k->name);
    }
    if (t->kind != GY_TREE_TEXT) {
        return gy_read_fail(r, GYRE_SYNTAX, t->at, "'%s' must be a single value, not %s", k->name,
                            gy_tree_word(t));
    }
    int rc = take_value(r, p, k, t);
    return rc || !k->fact ? rc : gy_read_fact(r, p, k->name, "%.*s", (int)t->text.n, t->text.p);
}

/* ---- a pool, and the file ---- */

static int check_pool(struct gy_reading *r, struct gy_pool *p, const struct gy_tree *t)
{
    char q[GY_QUOTE];
    const struct gy_tree *connections = gy_tree_get(t, "server_connections");
    const struct gy_tree *auth = gy_tree_get(t, "redis_auth");
    gy_utf8_quote(q, t->key);
    if (!gy_tree_get(t, "listen")) {
        return gy_read_fail(r, GYRE_SYNTAX, t->key_at, "pool %s has no 'listen'", q);
    }
    if (!gy_tree_get(t, "servers")) {
        return gy_read_fail(r, GYRE_EMPTY, t->key_at, "pool %s has no 'servers'", q);
    }
    if (connections && gy_tree_is(connections, "0")) {
        return gy_read_fail(r, GYRE_RANGE, connections->at, "server_connections cannot be 0");
    }
    if (auth && !gy_tree_is(gy_tree_get(t, "redis"), "true")) {
        return gy_read_fail(r, GYRE_INVALID, auth->key_at,
                            "redis_auth is only for a pool with redis: true");
    }
    const struct gy_tree *hash = gy_tree_get(t, "hash"), *d = gy_tree_get(t, "distribution");
    if (gy_tree_is(hash, "crc32") && (!d || gy_tree_is(d, "ketama"))) {
        return gy_read_note(r, p, GY_LEVEL_WARNING, "hash-too-short", hash->at,
                            "hash crc32 has 15 bits, the ketama ring 32: nearly all keys fall on "
                            "one server; crc32a is the whole CRC");
    }
    return GYRE_OK;
}

static int read_pool(struct gy_reading *r, const struct gy_tree *t)
{
    char q[GY_QUOTE];
    struct gy_pool *p;
    if (t->kind != GY_TREE_MAP) {
        return gy_read_fail(r, GYRE_SYNTAX, t->key_at, "pool %s must be a mapping, not %s",
                            gy_utf8_quote(q, t->key), gy_tree_word(t));
    }
    if (t->key.n == 0) {
        return gy_read_fail(r, GYRE_SYNTAX, t->key_at, "a pool without a name");
    }
    int rc = gy_read_pool(r, t->key, t->key_at, &p);
    if (!rc) {
        rc = gy_read_set(r, p, t->key_at, "like", "twemproxy");
    }
    for (const struct gy_tree *k = t->first; k && !rc; k = k->next) {
        rc = take_key(r, p, k);
    }
    if (!rc) {
        rc = check_pool(r, p, t);
    }
    if (!rc) {
        rc = read_servers(r, p, gy_tree_get(t, "servers"));
    }
    if (!rc) {
        rc = gy_read_shared(r, p);
    }
    for (size_t i = 0; !rc && p->config && i < p->server_count; i++) {
        if (p->servers[i].weight > WEIGHT_MOST) {
            rc = gy_read_unplaced(r, p, (struct gy_mark){p->servers[i].line, 0},
                                  "gyre places weights up to %d", WEIGHT_MOST);
        }
    }
    const struct gy_tree *d = gy_tree_get(t, "distribution");
    if (!rc && gy_tree_is(d, "random")) {
        rc = gy_read_unplaced(r, p, d->at,
                              "pool %s has distribution: random, so its keys have no place",
                              gy_utf8_quote(q, t->key));
    }
    return rc;
}

static int by_text(const void *a, const void *b)
{
    const struct gy_tree *const *x = a, *const *y = b;
    int order = strcmp((const char *)(*x)->text.p, (const char *)(*y)->text.p);
    return order ? order : (*x)->at.line < (*y)->at.line ? -1 : 1;
}

static int check_listens(struct gy_reading *r, const struct gy_tree *root)
{
    size_t n = 0;
    const struct gy_tree **sorted = calloc(root->count + 1, sizeof *sorted);
    if (!sorted) {
        return gy_read_nomem(r);
    }
    for (const struct gy_tree *p = root->first; p; p = p->next) {
        sorted[n++] = gy_tree_get(p, "listen");
    }
    qsort(sorted, n, sizeof *sorted, by_text);
    int rc = GYRE_OK;
    for (size_t i = 1; i < n && !rc; i++) {
        if (gy_slice_eq(sorted[i - 1]->text, sorted[i]->text)) {
            rc = gy_read_fail(r, GYRE_DUPLICATE, sorted[i]->at,
                              "two pools listen at one address; the first on line %u",
                              sorted[i - 1]->at.line);
        }
    }
    free(sorted);
    return rc;
}

static int refuse_flow(struct gy_reading *r, const struct gy_tree *t)
{
    int rc = t->flow ? gy_read_fail(r, GYRE_SYNTAX, t->at,
                                    "nutcracker takes no lists or mappings in brackets: write one "
                                    "line for each")
                     : GYRE_OK;
    for (const struct gy_tree *c = t->first; c && !rc; c = c->next) {
        rc = refuse_flow(r, c);
    }
    return rc;
}

static int refuse_markers(struct gy_reading *r)
{
    for (struct gy_lines l = gy_lines_of(r->text); gy_lines_next(&l);) {
        if (gy_slice_starts(l.line, "---") || gy_slice_starts(l.line, "...") ||
            gy_slice_starts(l.line, "%")) {
            return gy_read_fail(r, GYRE_SYNTAX, (struct gy_mark){l.number, 1},
                                "nutcracker takes no marks of YAML documents: leave the line out");
        }
    }
    return GYRE_OK;
}

/* The mistake people make most: settings without a pool's name above them, which YAML may not even
 * get to, or takes for pools. */
static int check_first_key(struct gy_reading *r)
{
    struct gy_slice key, value;
    for (struct gy_lines l = gy_lines_of(r->text); gy_lines_next(&l);) {
        struct gy_slice t = gy_slice_trim(l.line);
        if (t.n == 0 || t.p[0] == '#' || gy_slice_starts(t, "---") || gy_slice_starts(t, "%")) {
            continue;
        }
        if (split_line(l.line, &key, &value) && find_key(key) && value.n && value.p[0] != '#' &&
            value.p[0] != '{') {
            return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(&l, key),
                                "'%.*s' stands where a pool's name belongs: write a name and a "
                                "colon above it, and indent the rest below that",
                                (int)key.n, key.p);
        }
        break;
    }
    return GYRE_OK;
}

int gy_twemproxy_parse(struct gy_reading *r)
{
    struct gy_doc doc;
    int rc = refuse_markers(r);
    rc = rc ? rc : check_first_key(r);
    if (rc) {
        return rc;
    }
    rc = gy_doc_yaml(&doc, r->text, r->file, r->e);
    if (!rc && doc.root->kind != GY_TREE_MAP) {
        rc = gy_read_fail(r, GYRE_SYNTAX, doc.root->at,
                          "nutcracker.yml must be a mapping of pool names to pools, not %s",
                          gy_tree_word(doc.root));
    }
    rc = rc ? rc : refuse_flow(r, doc.root);
    for (const struct gy_tree *t = rc ? NULL : doc.root->first; t && !rc; t = t->next) {
        rc = read_pool(r, t);
    }
    if (!rc) {
        rc = check_listens(r, doc.root);
    }
    gy_doc_fini(&doc);
    return rc;
}
