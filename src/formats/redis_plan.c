/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_plan.c - see redis_plan.h. The first line that says something is "redis-plan 1"; then
 *
 *   master NAME [id=HEX] [address=HOST:PORT] [zone=Z] [weight=W] [slots=0-5,9] [leaves]
 *   replica NAME of=MASTER [id=HEX] [address=HOST:PORT] [zone=Z]
 *   move SLOT[-SLOT] FROM TO [bytes=N]
 *   replicate REPLICA MASTER
 *   end
 *
 * in that order; a file cut short, which would be another plan, has no `end`: masters are known
 * before they are named. Slots are those before the moves. In words a blank, a control character or
 * '%' is %XX. A name is an address unless another is given. Threads: one an object.
 */
#include "formats/redis_plan.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"
#include "formats/redis_slots.h"

#include <stdlib.h>

enum { SERVERS_MAX = 20000 }; /* each name is compared with those before it */
enum flag { LEAVES = 1, REPLICATES = 2 };

struct plan {
    struct gy_reading *r;
    struct gy_pool *p;
    struct gy_lines l;
    struct gy_slot_owners *o; /* as the moves leave them */
    bool *moved;              /* of the slots: each moves once */
    uint8_t *flags;           /* of the servers */
    size_t room;
    uint64_t moves, bytes;
    bool ended;
};

int gy_redis_plan_sniff(struct gy_slice head)
{
    for (struct gy_lines l = gy_lines_of(head); gy_lines_next(&l);) {
        struct gy_slice t = gy_slice_trim(l.line);
        if (t.n && t.p[0] != '#') {
            return gy_slice_starts(t, "redis-plan") ? GY_SURE_YES : GY_SURE_NOT;
        }
    }
    return GY_SURE_NOT;
}

/* ---- words ---- */

static int digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX into bytes. */
static int decode(struct plan *n, struct gy_slice word, struct gy_buf *out)
{
    char q[GY_QUOTE];
    for (size_t i = 0; i < word.n; i++) {
        bool coded = word.p[i] == '%';
        if (coded && (i + 2 >= word.n || digit(word.p[i + 1]) < 0 || digit(word.p[i + 2]) < 0)) {
            return gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, word),
                                "%s: behind a '%%' stand two digits of 0 to 9 and A to F",
                                gy_utf8_quote(q, word));
        }
        gy_buf_putc(out, coded ? (char)(digit(word.p[i + 1]) << 4 | digit(word.p[i + 2]))
                               : (char)word.p[i]);
        i += coded ? 2 : 0;
    }
    return out->failed ? gy_read_nomem(n->r) : GYRE_OK;
}

static int find(struct plan *n, struct gy_slice word, enum gy_role role, uint32_t *out)
{
    struct gy_buf name = {0};
    char q[GY_QUOTE];
    int rc = decode(n, word, &name);
    uint32_t i = 0;
    while (
        !rc && i < n->p->server_count &&
        (n->p->servers[i].role != role || strcmp(n->p->servers[i].name, gy_buf_cstr(&name)) != 0)) {
        i++;
    }
    if (!rc && i == n->p->server_count) {
        rc = gy_read_fail(n->r, GYRE_UNKNOWN, gy_lines_mark(&n->l, word),
                          "there is no line 'replica' or 'master' above for the %s %s",
                          gy_role_name(role), gy_utf8_quote(q, word));
    }
    gy_buf_fini(&name);
    *out = i;
    return rc;
}

static int missing(struct plan *n, const char *form)
{
    return gy_read_fail(n->r, GYRE_SYNTAX, (struct gy_mark){n->l.number, 1}, "such a line is: %s",
                        form);
}

/* ---- a server ---- */

static int take_slots(struct plan *n, struct gy_slice ranges, uint32_t i)
{
    int rc = GYRE_OK;
    char q[GY_QUOTE];
    while (!rc && ranges.n) {
        struct gy_slice range = gy_slice_cut(&ranges, ',');
        uint32_t first, last;
        rc = gy_redis_range(range, &first, &last)
                 ? gy_redis_claim(n->r, n->p, n->o, gy_lines_mark(&n->l, range), first, last, i)
                 : gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, range),
                                "%s is no slot, 0 to %u, and no range of them",
                                gy_utf8_quote(q, range), GY_REDIS_SLOTS - 1);
    }
    return rc;
}

static int take_weight(struct plan *n, struct gy_slice value, double *weight)
{
    uint64_t micros;
    char q[GY_QUOTE];
    if (gy_num_micros(value, &micros)) {
        return gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, value),
                            "the weight %s is no number", gy_utf8_quote(q, value));
    }
    *weight = gy_num_from_micros(micros);
    return GYRE_OK;
}

static int take_text(struct plan *n, struct gy_slice value, char **at)
{
    struct gy_buf text = {0};
    int rc = decode(n, value, &text);
    rc = rc ? rc : gy_read_text(n->r, at, gy_str(gy_buf_cstr(&text)));
    gy_buf_fini(&text);
    return rc;
}

static int take_address(struct plan *n, struct gy_slice value, struct gy_server *s)
{
    char why[GY_ADDRESS_WHY], q[GY_QUOTE];
    int rc = take_text(n, value, &s->address);
    return rc || gy_address_check(gy_str(s->address), false, why)
               ? rc
               : gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, value), "the address %s %s",
                              gy_utf8_quote(q, value), why);
}

/* Whom a replica follows: the id, as in the files of a cluster; the name where there is none. */
static int take_primary(struct plan *n, struct gy_slice value, struct gy_server *s)
{
    uint32_t m;
    int rc = find(n, value, GY_ROLE_PRIMARY, &m);
    const struct gy_server *primary = rc ? NULL : &n->p->servers[m];
    return rc ? rc
              : gy_read_text(n->r, &s->replica_of,
                             gy_str(primary->id ? primary->id : primary->name));
}

static int take_word(struct plan *n, struct gy_slice word, uint32_t i)
{
    static const char *const words[] = {"id", "address", "zone",   "weight",
                                        "of", "slots",   "leaves", NULL};
    struct gy_server *s = &n->p->servers[i];
    struct gy_slice value = word, key = gy_slice_cut(&value, '=');
    bool primary = s->role == GY_ROLE_PRIMARY;
    if (gy_slice_eq(key, GY_LIT("id"))) {
        return take_text(n, value, &s->id);
    }
    if (gy_slice_eq(key, GY_LIT("address"))) {
        return take_address(n, value, s);
    }
    if (gy_slice_eq(key, GY_LIT("zone"))) {
        return take_text(n, value, &s->zone);
    }
    if (primary && gy_slice_eq(key, GY_LIT("weight"))) {
        return take_weight(n, value, &s->weight);
    }
    if (primary && gy_slice_eq(key, GY_LIT("slots"))) {
        return take_slots(n, value, i);
    }
    if (primary && gy_slice_eq(word, GY_LIT("leaves"))) {
        n->flags[i] |= LEAVES;
        s->states |= GY_STATE_LEAVING;
        return GYRE_OK;
    }
    if (!primary && gy_slice_eq(key, GY_LIT("of"))) {
        return take_primary(n, value, s);
    }
    return gy_read_unknown(n->r, gy_lines_mark(&n->l, word), "word", key, words);
}

static int grow(struct plan *n)
{
    if (n->p->server_count < n->room) {
        return GYRE_OK;
    }
    size_t room = n->room ? n->room * 2 : 16;
    uint8_t *grown = realloc(n->flags, room * sizeof *grown);
    if (!grown) {
        return gy_read_nomem(n->r);
    }
    memset(grown + n->room, 0, (room - n->room) * sizeof *grown);
    n->flags = grown;
    n->room = room;
    return GYRE_OK;
}

/* Before any is read: names are compared pair by pair, as a plan has some hundreds. */
static int check_count(struct plan *n)
{
    size_t count = 0;
    for (struct gy_lines l = gy_lines_of(n->r->text); gy_lines_next(&l);) {
        struct gy_slice rest = l.line, word;
        count += gy_word_next(&rest, &word) &&
                 (gy_slice_eq(word, GY_LIT("master")) || gy_slice_eq(word, GY_LIT("replica")));
        if (count > SERVERS_MAX) {
            return gy_read_fail(n->r, GYRE_RANGE, (struct gy_mark){l.number, 1},
                                "more than %d servers", SERVERS_MAX);
        }
    }
    return GYRE_OK;
}

static int check_name(struct plan *n, struct gy_slice word, const char *name)
{
    char q[GY_QUOTE];
    const struct gy_server *s = gy_pool_find(n->p, name);
    return s ? gy_read_fail(n->r, GYRE_DUPLICATE, gy_lines_mark(&n->l, word),
                            "%s stands twice; first on line %u", gy_utf8_quote(q, word), s->line)
             : GYRE_OK;
}

static int read_server(struct plan *n, struct gy_slice rest, enum gy_role role)
{
    struct gy_buf name = {0};
    struct gy_slice word;
    struct gy_server *s;
    char why[GY_ADDRESS_WHY];
    if (!gy_word_next(&rest, &word)) {
        return missing(n, role == GY_ROLE_PRIMARY ? "master NAME [slots=0-5,9] ..."
                                                  : "replica NAME of=MASTER ...");
    }
    uint32_t i = (uint32_t)n->p->server_count;
    int rc = decode(n, word, &name);
    rc = rc ? rc : check_name(n, word, gy_buf_cstr(&name));
    rc = rc ? rc : grow(n);
    rc =
        rc ? rc
           : gy_read_server(n->r, n->p, gy_lines_mark(&n->l, word), gy_str(gy_buf_cstr(&name)), &s);
    if (!rc) {
        s->role = role;
        rc = gy_address_check(gy_str(s->name), false, why)
                 ? gy_read_text(n->r, &s->address, gy_str(s->name))
                 : GYRE_OK;
    }
    while (!rc && gy_word_next(&rest, &word)) {
        rc = take_word(n, word, i);
    }
    gy_buf_fini(&name);
    return rc;
}

/* ---- what is to be done ---- */

static int move_slots(struct plan *n, struct gy_slice range, uint32_t from, uint32_t to)
{
    uint32_t first, last;
    char q[GY_QUOTE];
    if (!gy_redis_range(range, &first, &last)) {
        return gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, range),
                            "%s is no slot, 0 to %u, and no range of them", gy_utf8_quote(q, range),
                            GY_REDIS_SLOTS - 1);
    }
    for (uint32_t slot = first; slot <= last; slot++) {
        if (n->o->server[slot] != from + 1) {
            return gy_read_fail(n->r, GYRE_INVALID, gy_lines_mark(&n->l, range),
                                "slot %u does not belong to %s then", slot,
                                gy_utf8_quote(q, gy_str(n->p->servers[from].name)));
        }
        if (n->moved[slot]) {
            return gy_read_fail(n->r, GYRE_INVALID, gy_lines_mark(&n->l, range),
                                "slot %u moves twice", slot);
        }
        n->moved[slot] = true;
        n->o->server[slot] = to + 1;
    }
    n->moves += last - first + 1;
    return GYRE_OK;
}

static int read_move(struct plan *n, struct gy_slice rest)
{
    static const char form[] = "move SLOT[-SLOT] FROM TO [bytes=N]";
    struct gy_slice range, giver, taker, bytes;
    uint32_t from, to;
    uint64_t size = 0;
    if (!gy_word_next(&rest, &range) || !gy_word_next(&rest, &giver) ||
        !gy_word_next(&rest, &taker)) {
        return missing(n, form);
    }
    int rc = find(n, giver, GY_ROLE_PRIMARY, &from);
    rc = rc ? rc : find(n, taker, GY_ROLE_PRIMARY, &to);
    rc = rc ? rc : move_slots(n, range, from, to);
    if (!rc && gy_word_next(&rest, &bytes)) {
        struct gy_slice value = bytes, key = gy_slice_cut(&value, '=');
        rc = !gy_slice_eq(key, GY_LIT("bytes")) || gy_num_uint(value, &size) ||
                     gy_word_next(&rest, &key)
                 ? missing(n, form)
                 : GYRE_OK;
    }
    n->bytes += size;
    return rc;
}

static int read_replicate(struct plan *n, struct gy_slice rest)
{
    struct gy_slice replica, primary, more;
    uint32_t i;
    if (!gy_word_next(&rest, &replica) || !gy_word_next(&rest, &primary) ||
        gy_word_next(&rest, &more)) {
        return missing(n, "replicate REPLICA MASTER");
    }
    int rc = find(n, replica, GY_ROLE_REPLICA, &i);
    if (!rc && n->flags[i] & REPLICATES) {
        rc = gy_read_fail(n->r, GYRE_DUPLICATE, gy_lines_mark(&n->l, replica),
                          "this replica is told twice whom to follow");
    }
    if (!rc) {
        n->flags[i] |= REPLICATES;
        rc = take_primary(n, primary, &n->p->servers[i]);
    }
    return rc;
}

static int read_line(struct plan *n)
{
    static const char *const words[] = {"master", "replica", "move", "replicate", "end", NULL};
    struct gy_slice rest = n->l.line, word;
    if (!gy_word_next(&rest, &word) || word.p[0] == '#') {
        return GYRE_OK;
    }
    if (n->ended) {
        return gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, word),
                            "nothing may stand behind the line 'end'");
    }
    if (gy_slice_eq(word, GY_LIT("end"))) {
        n->ended = true;
        return gy_word_next(&rest, &word) ? missing(n, "end") : GYRE_OK;
    }
    if (gy_slice_eq(word, GY_LIT("master"))) {
        return read_server(n, rest, GY_ROLE_PRIMARY);
    }
    if (gy_slice_eq(word, GY_LIT("replica"))) {
        return read_server(n, rest, GY_ROLE_REPLICA);
    }
    if (gy_slice_eq(word, GY_LIT("move"))) {
        return read_move(n, rest);
    }
    return gy_slice_eq(word, GY_LIT("replicate"))
               ? read_replicate(n, rest)
               : gy_read_unknown(n->r, gy_lines_mark(&n->l, word), "word", word, words);
}

static int read_head(struct plan *n)
{
    while (gy_lines_next(&n->l)) {
        struct gy_slice rest = n->l.line, word, version;
        if (!gy_word_next(&rest, &word) || word.p[0] == '#') {
            continue;
        }
        return gy_slice_eq(word, GY_LIT("redis-plan")) && gy_word_next(&rest, &version) &&
                       gy_slice_eq(version, GY_LIT("1")) && !gy_word_next(&rest, &word)
                   ? GYRE_OK
                   : gy_read_fail(n->r, GYRE_SYNTAX, gy_lines_mark(&n->l, word),
                                  "a plan begins with the line 'redis-plan 1'");
    }
    return gy_read_fail(n->r, GYRE_EMPTY, (struct gy_mark){1, 1}, "there is no plan in it");
}

/* ---- what comes of it ---- */

static int settle_master(struct plan *n, const struct gy_slot_groups *g, uint32_t i)
{
    struct gy_server *s = &n->p->servers[i];
    struct gy_buf options = {0};
    char q[GY_QUOTE];
    gy_buf_puts(&options, "slots=");
    s->slots = gy_redis_ranges(g, i + 1, &options);
    int rc = options.failed ? gy_read_nomem(n->r) : GYRE_OK;
    if (!rc && s->slots && (n->flags[i] & LEAVES || s->weight == 0)) {
        rc = gy_read_fail(n->r, GYRE_INVALID, (struct gy_mark){s->line, 1},
                          "%s %s, but %u slots stay with it", gy_utf8_quote(q, gy_str(s->name)),
                          n->flags[i] & LEAVES ? "leaves" : "has weight 0", s->slots);
    }
    if (!rc && s->slots) {
        rc = gy_read_text(n->r, &s->owned, gy_str(gy_buf_cstr(&options) + 6));
    }
    struct gyre_node node = {.size = sizeof node,
                             .name = s->name,
                             .address = s->address,
                             .zone = s->zone,
                             .weight = s->weight,
                             .options = s->slots ? gy_buf_cstr(&options) : NULL};
    s->is_node = !(n->flags[i] & LEAVES);
    if (!rc && s->is_node) {
        rc = gy_read_node(n->r, n->p, (struct gy_mark){s->line, 1}, &node);
    }
    gy_buf_fini(&options);
    return rc;
}

static int settle(struct plan *n)
{
    struct gy_slot_groups g = {NULL, NULL, 0};
    int rc = gy_read_set(n->r, n->p, (struct gy_mark){1, 1}, "like", "redis-cluster");
    for (uint32_t slot = 0; !rc && slot < GY_REDIS_SLOTS; slot++) {
        if (!n->o->server[slot]) {
            rc = gy_read_fail(n->r, GYRE_INVALID, (struct gy_mark){n->l.number, 1},
                              "slot %u belongs to no master", slot);
        }
    }
    if (!rc && gy_slot_groups_init(&g, n->o, n->p->server_count)) {
        rc = gy_read_nomem(n->r);
    }
    for (uint32_t i = 0; !rc && i < n->p->server_count; i++) {
        rc = n->p->servers[i].role == GY_ROLE_PRIMARY ? settle_master(n, &g, i) : GYRE_OK;
    }
    gy_slot_groups_fini(&g);
    if (!rc && !n->ended) {
        rc = gy_read_fail(n->r, GYRE_SYNTAX, (struct gy_mark){n->l.number, 1},
                          "the line 'end' is missing: the plan was cut short here");
    }
    rc = rc ? rc : gy_read_fact(n->r, n->p, "slots_covered", "%u", GY_REDIS_SLOTS);
    rc = rc ? rc : gy_read_fact(n->r, n->p, "slots_missing", "%s", "");
    rc = rc ? rc : gy_read_fact(n->r, n->p, "moves", "%llu", (unsigned long long)n->moves);
    return rc || !n->bytes
               ? rc
               : gy_read_fact(n->r, n->p, "bytes", "%llu", (unsigned long long)n->bytes);
}

int gy_redis_plan_parse(struct gy_reading *r)
{
    struct plan n = {.r = r, .l = gy_lines_of(r->text), .o = calloc(1, sizeof *n.o)};
    n.moved = calloc(GY_REDIS_SLOTS, sizeof *n.moved);
    int rc = n.o && n.moved ? gy_read_pool(r, GY_LIT(""), (struct gy_mark){1, 1}, &n.p)
                            : gy_read_nomem(r);
    rc = rc ? rc : read_head(&n);
    rc = rc ? rc : check_count(&n);
    while (!rc && gy_lines_next(&n.l)) {
        rc = read_line(&n);
    }
    rc = rc ? rc : settle(&n);
    free(n.flags);
    free(n.moved);
    free(n.o);
    return rc;
}
