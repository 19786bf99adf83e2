/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_nodes.c - what CLUSTER NODES prints and a node keeps in its nodes.conf, Redis 3 to 7 and
 * Valkey: a line a node,
 *
 *   id host:port@bus[,hostname[,key=value...]] flags primary ping pong epoch link slot...
 *
 * where a slot is a number, a range, [slot->-id] on its way to another node or [slot-<-id] from
 * one. nodes.conf ends with a line `vars`. A node without an address (":0") is never given one.
 * Threads: one an object.
 */
#include "formats/redis_nodes.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/lines.h"
#include "formats/redis_reply.h"
#include "formats/redis_slots.h"

#include <stdlib.h>

#define ID_LENGTH 40

struct flag {
    const char *word;
    enum gy_role role;
    unsigned state;
};

static const struct flag FLAGS[] = {
    {"myself", GY_ROLE_NONE, GY_STATE_SELF},
    {"master", GY_ROLE_PRIMARY, 0},
    {"slave", GY_ROLE_REPLICA, 0},
    {"fail", GY_ROLE_NONE, GY_STATE_DOWN},
    {"fail?", GY_ROLE_NONE, GY_STATE_SUSPECT},
    {"handshake", GY_ROLE_NONE, GY_STATE_HANDSHAKE},
    {"noaddr", GY_ROLE_NONE, GY_STATE_NO_ADDRESS},
    {"nofailover", GY_ROLE_NONE, 0},
    {"noflags", GY_ROLE_NONE, 0},
};

static bool is_id(struct gy_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f'))) {
            return false;
        }
    }
    return s.n == ID_LENGTH;
}

int gy_redis_nodes_sniff(struct gy_slice head)
{
    struct gy_slice id, endpoint;
    if (head.n && head.p[0] == '"') { /* quoted by redis-cli */
        head = (struct gy_slice){head.p + 1, head.n - 1};
    }
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        struct gy_slice rest = l.line;
        if (gy_slice_starts(rest, "txt:")) {
            rest = (struct gy_slice){rest.p + 4, rest.n - 4};
        }
        if (gy_word_next(&rest, &id) && is_id(id)) {
            return gy_word_next(&rest, &endpoint) && memchr(endpoint.p, ':', endpoint.n)
                       ? GY_SURE_YES
                       : GY_SURE_NOT;
        }
    }
    return GY_SURE_NOT;
}

struct line {
    struct gy_lines *l;
    struct gy_slice id, endpoint, flags, primary, ping, pong, epoch, link, slots;
};

/* ---- the fields ---- */

static int take_flags(struct gy_reading *r, const struct line *n, struct gy_server *s)
{
    for (struct gy_slice rest = n->flags, word; rest.n;) {
        word = gy_slice_cut(&rest, ',');
        size_t i = 0;
        while (i < sizeof FLAGS / sizeof FLAGS[0] && !gy_slice_eq(gy_str(FLAGS[i].word), word)) {
            i++;
        }
        if (i == sizeof FLAGS / sizeof FLAGS[0]) {
            const char *words[sizeof FLAGS / sizeof FLAGS[0] + 1] = {NULL};
            for (i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
                words[i] = FLAGS[i].word;
            }
            return gy_read_unknown(r, gy_lines_mark(n->l, word), "flag", word, words);
        }
        s->role = FLAGS[i].role ? FLAGS[i].role : s->role;
        s->states |= FLAGS[i].state;
    }
    return GYRE_OK;
}

/* "host:port@bus,hostname,key=value..." */
static int take_endpoint(struct gy_reading *r, const struct line *n, struct gy_server *s)
{
    struct gy_slice extras = n->endpoint, host = gy_slice_cut(&extras, ',');
    struct gy_slice hostname = gy_slice_cut(&extras, ',');
    struct gy_slice main = gy_slice_cut(&host, '@');
    const uint8_t *colon = main.n ? memrchr(main.p, ':', main.n) : NULL;
    if (!colon) {
        return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(n->l, n->endpoint),
                            "a node's address must be host:port@bus");
    }
    struct gy_slice ip = {main.p, (size_t)(colon - main.p)};
    struct gy_slice port = {colon + 1, main.n - ip.n - 1};
    return gy_redis_endpoint(r, s, gy_lines_mark(n->l, port.n ? port : main), ip, hostname, port);
}

static int take_numbers(struct gy_reading *r, const struct line *n)
{
    const struct gy_slice *const all[] = {&n->ping, &n->pong, &n->epoch};
    static const char *const names[] = {"ping time", "pong time", "epoch"};
    for (size_t i = 0; i < 3; i++) {
        uint64_t v;
        if (gy_num_uint(*all[i], &v)) {
            char q[GY_QUOTE];
            return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(n->l, *all[i]),
                                "a node's %s is %s, which is no number", names[i],
                                gy_utf8_quote(q, *all[i]));
        }
    }
    return GYRE_OK;
}

static int take_link(struct gy_reading *r, const struct line *n, struct gy_server *s)
{
    bool connected = gy_slice_eq(n->link, GY_LIT("connected"));
    if (!connected && !gy_slice_eq(n->link, GY_LIT("disconnected"))) {
        char q[GY_QUOTE];
        return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(n->l, n->link),
                            "a node's link is connected or disconnected, not %s",
                            gy_utf8_quote(q, n->link));
    }
    s->states |= connected || s->states & GY_STATE_SELF ? 0 : GY_STATE_DISCONNECTED;
    return GYRE_OK;
}

static int take_primary(struct gy_reading *r, const struct line *n, struct gy_server *s)
{
    if (gy_slice_eq(n->primary, GY_LIT("-"))) {
        return GYRE_OK;
    }
    if (!is_id(n->primary)) {
        char q[GY_QUOTE];
        return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(n->l, n->primary),
                            "a replica's primary is an id of %d hex digits or '-', not %s",
                            ID_LENGTH, gy_utf8_quote(q, n->primary));
    }
    return gy_read_text(r, &s->replica_of, n->primary);
}

/* ---- slots ---- */

static int bad_slot(struct gy_reading *r, const struct line *n, struct gy_slice word)
{
    char q[GY_QUOTE];
    return gy_read_fail(r, GYRE_SYNTAX, gy_lines_mark(n->l, word),
                        "%s is no slot: slots are 0 to 16383, ranges like 0-5460, or [100->-ID] "
                        "and [100-<-ID] on the move",
                        gy_utf8_quote(q, word));
}

/* "[100->-id]" or "[100-<-id]". */
static int take_open(struct gy_reading *r, const struct line *n, struct gy_slice word,
                     struct gy_server *s)
{
    struct gy_slice rest = {word.p + 1, word.n - 2};
    struct gy_slice number = gy_slice_cut(&rest, '-');
    uint32_t slot, same;
    bool importing = gy_slice_starts(rest, "<-");
    if (word.p[word.n - 1] != ']' || !gy_redis_range(number, &slot, &same) ||
        !(importing || gy_slice_starts(rest, ">-")) ||
        !is_id((struct gy_slice){rest.p + 2, rest.n - 2})) {
        return bad_slot(r, n, word);
    }
    return gy_read_open(r, s, slot, importing, (struct gy_slice){rest.p + 2, rest.n - 2});
}

static int take_slots(struct gy_reading *r, const struct line *n, struct gy_pool *p,
                      struct gy_slot_owners *o)
{
    uint32_t i = (uint32_t)p->server_count - 1, first, last;
    int rc = GYRE_OK;
    for (struct gy_slice rest = n->slots, word; !rc && gy_word_next(&rest, &word);) {
        if (word.p[0] == '[' && word.n > 2) {
            rc = take_open(r, n, word, &p->servers[i]);
        } else if (!gy_redis_range(word, &first, &last)) {
            rc = bad_slot(r, n, word);
        } else if (p->servers[i].role != GY_ROLE_PRIMARY) {
            rc = gy_read_fail(r, GYRE_INVALID, gy_lines_mark(n->l, word),
                              "only a master has slots, and this node is none");
        } else {
            rc = gy_redis_claim(r, p, o, gy_lines_mark(n->l, word), first, last, i);
        }
    }
    return rc;
}

/* ---- the file ---- */

static int read_line(struct gy_reading *r, struct gy_pool *p, struct line *n,
                     struct gy_slot_owners *o)
{
    struct gy_slice *const fields[] = {&n->id,   &n->endpoint, &n->flags, &n->primary,
                                       &n->ping, &n->pong,     &n->epoch, &n->link};
    struct gy_server *s;
    n->slots = n->l->line;
    for (size_t i = 0; i < 8; i++) {
        if (!gy_word_next(&n->slots, fields[i])) {
            return gy_read_fail(r, GYRE_SYNTAX, (struct gy_mark){n->l->number, 1},
                                "a node's line has 8 fields and its slots (id host:port@bus flags "
                                "primary ping pong epoch link); here are %zu",
                                i);
        }
    }
    struct gy_mark at = gy_lines_mark(n->l, n->id);
    if (!is_id(n->id)) {
        char q[GY_QUOTE];
        return gy_read_fail(r, GYRE_SYNTAX, at, "a node's id is %d hex digits, not %s", ID_LENGTH,
                            gy_utf8_quote(q, n->id));
    }
    int rc = gy_read_server(r, p, at, n->id, &s);
    rc = rc ? rc : gy_read_text(r, &s->id, n->id);
    rc = rc ? rc : take_flags(r, n, s);
    rc = rc ? rc : take_endpoint(r, n, s);
    rc = rc ? rc : take_numbers(r, n);
    rc = rc ? rc : take_link(r, n, s);
    rc = rc ? rc : take_primary(r, n, s);
    return rc ? rc : take_slots(r, n, p, o);
}

static bool is_skipped(struct gy_slice line)
{
    struct gy_slice t = gy_slice_trim(line);
    return t.n == 0 || t.p[0] == '#' || gy_slice_starts(t, "vars ");
}

static int parse(struct gy_reading *r)
{
    struct gy_pool *p;
    struct gy_slot_owners *o = calloc(1, sizeof *o);
    int rc = o ? gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &p) : gy_read_nomem(r);
    struct gy_lines l = gy_lines_of(r->text);
    while (!rc && gy_lines_next(&l)) {
        struct line n = {.l = &l};
        rc = is_skipped(l.line) ? GYRE_OK : read_line(r, p, &n, o);
    }
    if (!rc && p->server_count == 0) {
        rc = gy_read_fail(r, GYRE_EMPTY, (struct gy_mark){1, 1}, "there is no node in it");
    }
    rc = rc ? rc : gy_redis_settle(r, p, o);
    free(o);
    return rc;
}

/* The reply of a server as it went over the wire, or as redis-cli quotes it: the text in it. */
int gy_redis_nodes_parse(struct gy_reading *r)
{
    struct gy_slice whole = r->text, t = r->text;
    struct gy_buf plain = {0};
    while (t.n && memchr(" \t\r\n", t.p[t.n - 1], 4)) {
        t.n--;
    }
    if (gy_redis_unquote(t, &plain)) {
        r->text = (struct gy_slice){gy_buf_head(&plain), gy_buf_size(&plain)};
    } else if (t.n && (t.p[0] == '$' || t.p[0] == '=')) {
        gy_slice_cut(&r->text, '\n');
        if (gy_slice_starts(r->text, "txt:")) {
            r->text = (struct gy_slice){r->text.p + 4, r->text.n - 4};
        }
    }
    int rc = plain.failed ? gy_read_nomem(r) : parse(r);
    gy_buf_fini(&plain);
    r->text = whole;
    return rc;
}
