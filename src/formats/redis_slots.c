/* SPDX-License-Identifier: Apache-2.0 */
/* redis_slots.c - see redis_slots.h. */
#include "formats/redis_slots.h"
#include "base/num.h"
#include "base/utf8.h"
#include "formats/address.h"
#include "formats/lines.h"

#include <stdlib.h>

#define SHORT_ID 8

bool gy_redis_range(struct gy_slice text, uint32_t *first, uint32_t *last)
{
    struct gy_slice rest = text, head = gy_slice_cut(&rest, '-');
    uint64_t a, b;
    if (gy_num_uint(head, &a)) {
        return false;
    }
    b = a;
    if (head.n < text.n && gy_num_uint(rest, &b)) {
        return false;
    }
    if (a > b || b >= GY_REDIS_SLOTS) {
        return false;
    }
    *first = (uint32_t)a;
    *last = (uint32_t)b;
    return true;
}

int gy_redis_claim(struct gy_reading *r, struct gy_pool *p, struct gy_slot_owners *o,
                   struct gy_mark at, uint32_t first, uint32_t last, uint32_t i)
{
    for (uint32_t slot = first; slot <= last; slot++) {
        uint32_t owner = o->server[slot];
        if (owner) {
            char a[GY_QUOTE], b[GY_QUOTE];
            return gy_read_fail(r, GYRE_DUPLICATE, at, "slot %u belongs to %s (line %u) and to %s",
                                slot, gy_utf8_quote(a, gy_str(p->servers[owner - 1].name)),
                                p->servers[owner - 1].line,
                                gy_utf8_quote(b, gy_str(p->servers[i].name)));
        }
        o->server[slot] = i + 1;
    }
    p->servers[i].slots += last - first + 1;
    return GYRE_OK;
}

/* ---- names and ids ---- */

int gy_redis_endpoint(struct gy_reading *r, struct gy_server *s, struct gy_mark at,
                      struct gy_slice ip, struct gy_slice hostname, struct gy_slice port)
{
    char why[GY_ADDRESS_WHY], q[GY_QUOTE];
    uint64_t number;
    if (gy_num_uint(port, &number) || number > 65535) {
        return gy_read_fail(r, GYRE_SYNTAX, at, "a node's port is %s; ports are 0 to 65535",
                            gy_utf8_quote(q, port));
    }
    struct gy_slice host = ip.n ? ip : hostname;
    if (host.n && !gy_text_check(host, host.n, why)) {
        return gy_read_fail(r, GYRE_SYNTAX, at, "a node's address %s", why);
    }
    struct gy_buf name = {0};
    bool dialled = gy_address_join(&name, host, port);
    int rc = name.failed ? gy_read_nomem(r) : GYRE_OK;
    if (!rc && dialled) {
        rc = gy_read_text(r, &s->address, gy_str(gy_buf_cstr(&name)));
    } else if (!rc) {
        s->states |= GY_STATE_NO_ADDRESS;
        gy_buf_add(&name, host.p, host.n);
        gy_buf_putc(&name, ':');
        gy_buf_add(&name, port.p, port.n);
    }
    /* A forgotten node has nothing but its id; one that does not know its host still has a port. */
    bool named = dialled || number > 0 || !s->id;
    if (!rc) {
        rc = name.failed ? gy_read_nomem(r)
                         : gy_read_text(r, &s->name, gy_str(named ? gy_buf_cstr(&name) : s->id));
    }
    gy_buf_fini(&name);
    return rc;
}

/* Endpoints first; of equal ones the server that is up, then the one that stands first. */
static int by_endpoint(const void *a, const void *b)
{
    const struct gy_server *const *x = a, *const *y = b;
    unsigned gone = GY_STATE_DOWN | GY_STATE_NO_ADDRESS | GY_STATE_HANDSHAKE;
    int order = strcmp((*x)->name, (*y)->name);
    if (order == 0) {
        order = ((*x)->states & gone ? 1 : 0) - ((*y)->states & gone ? 1 : 0);
    }
    return order ? order : *x < *y ? -1 : 1;
}

static int by_id(const void *a, const void *b)
{
    const struct gy_server *const *x = a, *const *y = b;
    int order = strcmp((*x)->id ? (*x)->id : "", (*y)->id ? (*y)->id : "");
    return order ? order : *x < *y ? -1 : 1;
}

static int rename_second(struct gy_reading *r, struct gy_pool *p, struct gy_server *s)
{
    struct gy_buf name = {0};
    gy_buf_printf(&name, "%s/%.*s", s->name, SHORT_ID, s->id ? s->id : "");
    if (name.failed) {
        return gy_read_nomem(r);
    }
    int rc =
        gy_read_note(r, p, GY_LEVEL_WARNING, "duplicate-endpoint", (struct gy_mark){s->line, 0},
                     "two ids at %s: a machine that was set up anew? the other one is still "
                     "remembered; here it is called %s",
                     s->name, gy_buf_cstr(&name));
    if (!rc) {
        rc = gy_read_text(r, &s->name, gy_str(gy_buf_cstr(&name)));
    }
    gy_buf_fini(&name);
    return rc;
}

static int settle_names(struct gy_reading *r, struct gy_pool *p)
{
    struct gy_server **sorted = calloc(p->server_count + 1, sizeof *sorted);
    if (!sorted) {
        return gy_read_nomem(r);
    }
    for (size_t i = 0; i < p->server_count; i++) {
        sorted[i] = &p->servers[i];
    }
    int rc = GYRE_OK;
    qsort(sorted, p->server_count, sizeof *sorted, by_id);
    for (size_t i = 1; i < p->server_count && !rc; i++) {
        if (sorted[i]->id && sorted[i - 1]->id && strcmp(sorted[i]->id, sorted[i - 1]->id) == 0) {
            rc = gy_read_fail(r, GYRE_DUPLICATE, (struct gy_mark){sorted[i]->line, 1},
                              "node %s stands twice; first on line %u: one file holds the view of "
                              "one node",
                              sorted[i]->id, sorted[i - 1]->line);
        }
    }
    qsort(sorted, p->server_count, sizeof *sorted, by_endpoint);
    for (size_t i = 1, first = 0; i < p->server_count && !rc; i++) {
        if (strcmp(sorted[i]->name, sorted[first]->name) == 0) {
            rc = rename_second(r, p, sorted[i]);
        } else {
            first = i;
        }
    }
    free(sorted);
    return rc;
}

/* ---- the topology ---- */

int gy_slot_groups_init(struct gy_slot_groups *g, const struct gy_slot_owners *o, size_t owners)
{
    *g = (struct gy_slot_groups){.slot = calloc(GY_REDIS_SLOTS, sizeof *g->slot),
                                 .start = calloc(owners + 3, sizeof *g->start),
                                 .owners = (uint32_t)owners};
    if (!g->slot || !g->start) {
        return GYRE_NOMEM;
    }
    uint32_t *next = g->start + 1; /* where the owner's next slot goes; in the end where it ends */
    for (uint32_t slot = 0; slot < GY_REDIS_SLOTS; slot++) {
        next[o->server[slot] + 1]++;
    }
    for (size_t i = 1; i <= owners + 1; i++) {
        next[i] += next[i - 1];
    }
    for (uint32_t slot = 0; slot < GY_REDIS_SLOTS; slot++) {
        g->slot[next[o->server[slot]]++] = (uint16_t)slot;
    }
    return GYRE_OK;
}

void gy_slot_groups_fini(struct gy_slot_groups *g)
{
    free(g->slot);
    free(g->start);
}

uint32_t gy_redis_ranges(const struct gy_slot_groups *g, uint32_t owner, struct gy_buf *out)
{
    uint32_t from = g->start[owner], end = g->start[owner + 1];
    for (uint32_t i = from, first = from; i < end; i++) {
        if (i + 1 < end && g->slot[i + 1] == g->slot[i] + 1) {
            continue;
        }
        gy_buf_printf(out, first > from ? ",%u" : "%u", g->slot[first]);
        if (i > first) {
            gy_buf_printf(out, "-%u", g->slot[i]);
        }
        first = i + 1;
    }
    return end - from;
}

static int add_node(struct gy_reading *r, struct gy_pool *p, const char *name, const char *address,
                    const char *ranges, unsigned line)
{
    struct gy_buf options = {0};
    if (*ranges) {
        gy_buf_printf(&options, "slots=%s", ranges);
    }
    struct gyre_node node = {.size = sizeof node,
                             .name = name,
                             .address = address,
                             .weight = 1,
                             .options = *ranges ? gy_buf_cstr(&options) : NULL};
    int rc =
        options.failed ? gy_read_nomem(r) : gy_read_node(r, p, (struct gy_mark){line, 1}, &node);
    gy_buf_fini(&options);
    return rc;
}

static int settle_server(struct gy_reading *r, struct gy_pool *p, const struct gy_slot_groups *o,
                         uint32_t i)
{
    struct gy_server *s = &p->servers[i];
    struct gy_buf ranges = {0};
    gy_redis_ranges(o, i + 1, &ranges);
    int rc = ranges.failed ? gy_read_nomem(r) : GYRE_OK;
    if (!rc && gy_buf_size(&ranges)) {
        rc = gy_read_text(r, &s->owned,
                          (struct gy_slice){gy_buf_head(&ranges), gy_buf_size(&ranges)});
    }
    if (!rc) {
        s->is_node = true;
        rc = add_node(r, p, s->name, s->address, gy_buf_cstr(&ranges), s->line);
    }
    gy_buf_fini(&ranges);
    return rc;
}

/* "100, 101, 102" */
static void list_open(const struct gy_server *s, struct gy_buf *out)
{
    for (size_t i = 0; i < s->open_count; i++) {
        gy_buf_printf(out, i ? ", %u" : "%u", s->open[i].slot);
    }
}

static int note_server(struct gy_reading *r, struct gy_pool *p, const struct gy_server *s)
{
    int rc = GYRE_OK;
    if (s->open_count) {
        struct gy_buf slots = {0};
        list_open(s, &slots);
        rc = slots.failed
                 ? gy_read_nomem(r)
                 : gy_read_note(r, p, GY_LEVEL_WARNING, "open-slots", (struct gy_mark){s->line, 0},
                                "%s has %zu open slots, moves begun and not ended: %s", s->name,
                                s->open_count, gy_buf_cstr(&slots));
        gy_buf_fini(&slots);
    }
    if (!rc && s->slots && s->states & GY_STATE_DOWN) {
        rc = gy_read_note(r, p, GY_LEVEL_WARNING, "owner-down", (struct gy_mark){s->line, 0},
                          "%s is down and still owns %u slots", s->name, s->slots);
    }
    return rc;
}

static int settle_missing(struct gy_reading *r, struct gy_pool *p, const struct gy_slot_groups *o)
{
    struct gy_buf ranges = {0};
    uint32_t missing = gy_redis_ranges(o, 0, &ranges);
    int rc = ranges.failed ? gy_read_nomem(r) : GYRE_OK;
    if (!rc && missing) {
        rc = add_node(r, p, GY_NO_OWNER, NULL, gy_buf_cstr(&ranges), 0);
    }
    if (!rc && missing) {
        rc = gy_read_note(r, p, GY_LEVEL_WARNING, "slots-without-owner", (struct gy_mark){0, 0},
                          "%u of %u slots have no owner: %s", missing, GY_REDIS_SLOTS,
                          gy_buf_cstr(&ranges));
    }
    if (!rc) {
        rc = gy_read_fact(r, p, "slots_covered", "%u", GY_REDIS_SLOTS - missing);
    }
    if (!rc) {
        rc = gy_read_fact(r, p, "slots_missing", "%s", gy_buf_cstr(&ranges));
    }
    gy_buf_fini(&ranges);
    return rc;
}

static int settle_all(struct gy_reading *r, struct gy_pool *p, const struct gy_slot_groups *o)
{
    int rc = settle_names(r, p);
    for (uint32_t i = 0; i < p->server_count && !rc; i++) {
        if (p->servers[i].role == GY_ROLE_PRIMARY) {
            rc = settle_server(r, p, o, i);
        }
        rc = rc ? rc : note_server(r, p, &p->servers[i]);
    }
    return rc ? rc : settle_missing(r, p, o);
}

int gy_redis_settle(struct gy_reading *r, struct gy_pool *p, const struct gy_slot_owners *o)
{
    struct gy_slot_groups groups;
    int rc = gy_read_set(r, p, (struct gy_mark){1, 1}, "like", "redis-cluster");
    if (gy_slot_groups_init(&groups, o, p->server_count)) {
        rc = gy_read_nomem(r);
    }
    rc = rc ? rc : settle_all(r, p, &groups);
    gy_slot_groups_fini(&groups);
    return rc;
}
