/* SPDX-License-Identifier: Apache-2.0 */
/*
 * haproxy_pool.c - a section's servers as a pool: ids as HAProxy gives them (those written down
 * first, then the lowest free number in the order of the file, backup servers too), names that
 * must differ, and what the method makes of it all. See haproxy_proxy.h.
 */
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/haproxy_proxy.h"

#include <stdlib.h>

void gy_haproxy_proxy_init(struct gy_haproxy_proxy *p)
{
    *p = (struct gy_haproxy_proxy){.lb = {.function = "sdbm"}, .defaults = {.weight = 1}};
}

void gy_haproxy_proxy_fini(struct gy_haproxy_proxy *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->servers[i].name);
        free(p->servers[i].address);
    }
    free(p->servers);
    free(p->name);
    p->servers = NULL;
    p->name = NULL;
    p->count = p->room = 0;
}

/* ---- addresses ---- */

static const char *const PREFIXES[] = {"ipv4@", "ipv6@", "udp@",   "udp4@",  "udp6@",  "tcp@",
                                       "tcp4@", "tcp6@", "quic4@", "quic6@", "stream+"};

struct address {
    bool socket;
    struct gy_slice host, port; /* port.p is NULL without one */
};

static struct address split_address(struct gy_slice s)
{
    struct address a = {.host = s};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++) {
        if (gy_slice_starts(a.host, PREFIXES[i])) {
            size_t n = strlen(PREFIXES[i]);
            a.host = (struct gy_slice){a.host.p + n, a.host.n - n};
        }
    }
    if (gy_slice_starts(a.host, "unix@") || (a.host.n && a.host.p[0] == '/')) {
        size_t n = a.host.p[0] == '/' ? 0 : 5;
        return (struct address){.socket = true, .host = {a.host.p + n, a.host.n - n}};
    }
    const uint8_t *colon = a.host.n ? memrchr(a.host.p, ':', a.host.n) : NULL;
    if (colon && a.host.p[a.host.n - 1] != ']') {
        a.port = (struct gy_slice){colon + 1, (size_t)(a.host.p + a.host.n - colon) - 1};
        a.host.n = (size_t)(colon - a.host.p);
    }
    if (a.host.n > 1 && a.host.p[0] == '[' && a.host.p[a.host.n - 1] == ']') {
        a.host = (struct gy_slice){a.host.p + 1, a.host.n - 2};
    }
    return a;
}

/* "80", "+80" (that of the client's connection and 80 more), or nothing. */
static int check_port(struct gy_reading *r, const struct gy_haproxy_server *s,
                      const struct address *a)
{
    struct gy_slice port = a->port;
    uint64_t v = 0;
    char q[GY_QUOTE];
    bool known = !memchr(s->address, '$', strlen(s->address)) && !strchr(s->address, '@');
    if (a->socket || !known || port.n == 0) {
        return GYRE_OK;
    }
    if (port.p[0] == '+' || port.p[0] == '-') {
        port = (struct gy_slice){port.p + 1, port.n - 1};
    }
    return gy_num_uint(port, &v) || v > 65535
               ? gy_read_fail(r, GYRE_SYNTAX, s->at, "invalid port in the address %s",
                              gy_utf8_quote(q, gy_str(s->address)))
               : GYRE_OK;
}

/* ---- names and ids ---- */

static int by_name(const void *a, const void *b)
{
    const struct gy_haproxy_server *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : *x < *y ? -1 : 1;
}

static int by_id(const void *a, const void *b)
{
    const struct gy_haproxy_server *const *x = a, *const *y = b;
    return (*x)->o.id != (*y)->o.id ? ((*x)->o.id < (*y)->o.id ? -1 : 1) : *x < *y ? -1 : 1;
}

static int check_names(struct gy_reading *r, const struct gy_haproxy_proxy *p,
                       const struct gy_haproxy_server **sorted)
{
    char q[2][GY_QUOTE];
    const struct gy_haproxy_server *first = NULL, *again = NULL;
    qsort(sorted, p->count, sizeof *sorted, by_name);
    for (size_t i = 1; i < p->count; i++) {
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0 && (!again || sorted[i] < again)) {
            first = sorted[i - 1];
            again = sorted[i];
        }
    }
    return again ? gy_read_fail(r, GYRE_DUPLICATE, again->at,
                                "backend %s: another server named %s was already defined at line "
                                "%u; use distinct names",
                                gy_utf8_quote(q[0], gy_str(p->name)),
                                gy_utf8_quote(q[1], gy_str(again->name)), first->at.line)
                 : GYRE_OK;
}

/* Ids of all servers into ids; *written: some stand in the file. */
static int number(struct gy_reading *r, const struct gy_haproxy_proxy *p,
                  const struct gy_haproxy_server **sorted, int64_t *ids, bool *written)
{
    char q[GY_QUOTE];
    size_t k = 0;
    int64_t next = 1;
    qsort(sorted, p->count, sizeof *sorted, by_id);
    for (size_t i = 1; i < p->count; i++) {
        const struct gy_haproxy_server *s = sorted[i], *before = sorted[i - 1];
        if (s->o.id && s->o.id == before->o.id) {
            return gy_read_fail(
                r, GYRE_DUPLICATE, s->at, "custom id %lld already used at line %u (server %s)",
                (long long)s->o.id, before->at.line, gy_utf8_quote(q, gy_str(before->name)));
        }
    }
    while (k < p->count && sorted[k]->o.id == 0) {
        k++;
    }
    *written = k < p->count;
    for (size_t i = 0; i < p->count; i++) {
        ids[i] = p->servers[i].o.id;
        if (ids[i] == 0) {
            for (; k < p->count && sorted[k]->o.id == next; k++) {
                next++;
            }
            ids[i] = next++;
        }
    }
    return GYRE_OK;
}

/* ---- the pool ---- */

struct making {
    struct gy_reading *r;
    const struct gy_haproxy_proxy *p;
    struct gy_pool *pool;
    int64_t *ids;
    bool fixed; /* ids are written with the nodes */
    size_t backups;
};

static void write_options(const struct making *m, size_t i, const char *id, struct gy_buf *out)
{
    const struct gy_haproxy_options *o = &m->p->servers[i].o;
    if (m->fixed) {
        gy_buf_printf(out, "id=%s", id);
    }
    if (*o->guid) {
        gy_buf_printf(out, "%sguid=%s", gy_buf_size(out) ? " " : "", o->guid);
    }
    if (o->disabled) {
        gy_buf_printf(out, "%sdisabled", gy_buf_size(out) ? " " : "");
    }
}

static int put_server(const struct making *m, size_t i, bool placed)
{
    const struct gy_haproxy_server *s = &m->p->servers[i];
    struct address a = split_address(gy_str(s->address));
    struct gy_buf address = {0}, options = {0};
    struct gy_server *out = NULL;
    char id[GY_NUM_TEXT];
    gy_num_fmt_micros(id, (uint64_t)m->ids[i] * 1000000);
    gy_address_join(&address, a.host, a.port.p ? a.port : GY_LIT(""));
    write_options(m, i, id, &options);
    bool dialled = gy_buf_size(&address) > 0;
    struct gyre_node n = {.size = sizeof n,
                          .name = s->name,
                          .address = dialled ? gy_buf_cstr(&address) : NULL,
                          .weight = (double)s->o.weight,
                          .options = gy_buf_size(&options) ? gy_buf_cstr(&options) : NULL};
    int rc = check_port(m->r, s, &a);
    if (!rc && (address.failed || options.failed)) {
        rc = gy_read_nomem(m->r);
    } else if (!rc && placed && !s->o.backup) {
        rc = gy_read_both(m->r, m->pool, s->at, &n, &out);
    } else if (!rc) {
        rc = gy_read_server(m->r, m->pool, s->at, gy_str(s->name), &out);
        rc = rc || !dialled ? rc : gy_read_text(m->r, &out->address, gy_str(n.address));
    }
    if (!rc) {
        out->weight = (double)s->o.weight;
        out->states |=
            (s->o.disabled ? GY_STATE_DISABLED : 0) | (s->o.backup ? GY_STATE_BACKUP : 0);
        rc = gy_read_text(m->r, &out->id, gy_str(id));
    }
    gy_buf_fini(&address);
    gy_buf_fini(&options);
    return rc;
}

/* Why its keys have no place; NULL: they have. */
static const char *why_unplaced(const struct gy_haproxy_proxy *p, bool piece)
{
    switch (p->lb.method) {
    case GY_HAPROXY_ROUNDROBIN:
        return "servers take turns (roundrobin); 'balance uri', 'hdr(NAME)' or 'hash EXPRESSION' "
               "would place keys";
    case GY_HAPROXY_OTHER:
        return "which server is chosen does not depend on a key";
    case GY_HAPROXY_SOURCE:
        return "balance source hashes the four or sixteen bytes of the client's address in a way "
               "of its own, for which gyre has no keys; 'balance hash src' does it by hash-type";
    case GY_HAPROXY_URI:
    case GY_HAPROXY_URL_PARAM:
    case GY_HAPROXY_HDR:
        if (p->mode == GY_HAPROXY_MODE_TCP || (p->mode == GY_HAPROXY_MODE_NONE && !piece)) {
            return "Layer 7 hash not possible, it needs 'mode http': HAProxy falls back to round "
                   "robin";
        }
        break;
    case GY_HAPROXY_RDP_COOKIE:
    case GY_HAPROXY_HASH:
        break;
    }
    return strcmp(p->lb.function, "none") == 0 ? "hash function 'none' takes the key as it is; "
                                                 "gyre does not have it"
                                               : NULL;
}

/* One hash-key for all: gyre has no other. */
static int set_hash_key(const struct making *m)
{
    const struct gy_haproxy_server *one = NULL;
    for (size_t i = 0; i < m->p->count; i++) {
        const struct gy_haproxy_server *s = &m->p->servers[i];
        const char *key = *s->o.hash_key ? s->o.hash_key : "id";
        if (s->o.backup) {
            continue;
        }
        if (one && strcmp(key, *one->o.hash_key ? one->o.hash_key : "id") != 0) {
            return gy_read_fail(m->r, GYRE_UNSUPPORTED, s->at,
                                "hash-key %s beside another one (line %u): gyre takes one for all "
                                "servers; put it into default-server",
                                key, one->at.line);
        }
        one = one ? one : s;
    }
    if (!one || !*one->o.hash_key || strcmp(one->o.hash_key, "id") == 0) {
        return GYRE_OK;
    }
    int rc = gy_read_set(m->r, m->pool, one->at, "hash_key", one->o.hash_key);
    return rc ? rc
              : gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "newer-haproxy", one->at,
                             "hash-key is there since HAProxy 3.0; 2.6 does not know it");
}

static int set_placement(const struct making *m)
{
    static const char *const keys[] = {
        [GY_HAPROXY_URI] = "uri",   [GY_HAPROXY_URL_PARAM] = "url_param",
        [GY_HAPROXY_HDR] = "hdr",   [GY_HAPROXY_RDP_COOKIE] = "fhdr",
        [GY_HAPROXY_HASH] = "fhdr", [GY_HAPROXY_SOURCE] = "fhdr",
    };
    const struct gy_haproxy_lb *lb = &m->p->lb;
    bool uri_whole = lb->method == GY_HAPROXY_URI && lb->whole;
    int rc = gy_read_set(m->r, m->pool, m->p->at, "like", "haproxy");
    rc = rc ? rc
            : gy_read_set(m->r, m->pool, lb->at, "hash_type",
                          lb->consistent ? "consistent" : "map-based");
    rc = rc ? rc : gy_read_set(m->r, m->pool, lb->at, "hash", lb->function);
    rc = rc ? rc : gy_read_set(m->r, m->pool, lb->at, "avalanche", lb->avalanche ? "1" : "0");
    rc = rc ? rc
            : gy_read_set(m->r, m->pool, lb->at, "balance",
                          uri_whole ? "uri_whole" : keys[lb->method]);
    return rc || !lb->consistent ? rc : set_hash_key(m);
}

static int add_notes(const struct making *m)
{
    const struct gy_haproxy_lb *lb = &m->p->lb;
    int rc = GYRE_OK;
    bool layer7 = lb->method == GY_HAPROXY_URI || lb->method == GY_HAPROXY_URL_PARAM ||
                  lb->method == GY_HAPROXY_HDR;
    if (layer7 && m->p->mode == GY_HAPROXY_MODE_NONE) {
        rc =
            gy_read_note(m->r, m->pool, GY_LEVEL_WARNING, "mode-assumed", lb->at,
                         "no mode stands here, so 'mode http' is assumed; without it HAProxy falls "
                         "back to round robin");
    }
    if (!rc && lb->cut) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_WARNING, "key-part", lb->at,
                          "'balance %s' hashes a part of the key only: give locate just that part",
                          lb->argument);
    }
    if (!rc && lb->consistent && lb->factor) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "bounded-load", lb->factor_at,
                          "a server with more than %lld %% of the average load passes requests on; "
                          "the places here are those without load",
                          (long long)lb->factor);
    }
    if (!rc && !m->fixed && lb->consistent && m->p->count > 1) {
        rc = gy_read_note(m->r, m->pool, GY_LEVEL_NOTE, "ids-by-position", m->p->at,
                          "ids are counted, so a server taken out renumbers those behind it and "
                          "moves their keys; write 'id N' on each");
    }
    return rc ? rc : gy_read_shared(m->r, m->pool);
}

static int add_facts(const struct making *m)
{
    const struct gy_haproxy_lb *lb = &m->p->lb;
    int rc =
        gy_read_fact(m->r, m->pool, "balance", "%s", *lb->argument ? lb->argument : "roundrobin");
    return rc || !lb->factor
               ? rc
               : gy_read_fact(m->r, m->pool, "hash_balance_factor", "%lld", (long long)lb->factor);
}

static int make(struct making *m, bool piece)
{
    const struct gy_haproxy_proxy *p = m->p;
    const char *why = why_unplaced(p, piece);
    char q[GY_QUOTE];
    int rc = add_facts(m);
    rc = rc || why ? rc : set_placement(m);
    for (size_t i = 0; !rc && i < p->count; i++) {
        rc = put_server(m, i, !why);
    }
    rc = rc || why ? rc : add_notes(m);
    if (!rc && why) {
        rc = gy_read_unplaced(m->r, m->pool, p->lb.at.line ? p->lb.at : p->at, "backend %s: %s",
                              gy_utf8_quote(q, gy_str(p->name)), why);
    }
    return rc;
}

int gy_haproxy_pool(struct gy_reading *r, struct gy_haproxy_proxy *p, bool piece)
{
    if (p->count == 0) {
        return GYRE_OK;
    }
    struct making m = {.r = r, .p = p, .ids = calloc(p->count, sizeof *m.ids)};
    const struct gy_haproxy_server **sorted = calloc(p->count, sizeof *sorted);
    int rc = m.ids && sorted ? GYRE_OK : gy_read_nomem(r);
    for (size_t i = 0; !rc && i < p->count; i++) {
        sorted[i] = &p->servers[i];
        m.backups += p->servers[i].o.backup;
    }
    rc = rc ? rc : check_names(r, p, sorted);
    rc = rc ? rc : number(r, p, sorted, m.ids, &m.fixed);
    m.fixed = m.fixed || m.backups; /* a backup server takes a number, but is no node */
    rc = rc ? rc : gy_read_pool(r, gy_str(p->name), p->at, &m.pool);
    rc = rc ? rc : make(&m, piece);
    free(m.ids);
    free(sorted);
    return rc;
}
