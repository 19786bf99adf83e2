/* SPDX-License-Identifier: Apache-2.0 */
/* checks.c - see checks.h: the table, and findings made of it. */
#include "cli/checks.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMES_SHOWN 3

/* clang-format off */
static const struct gy_check CHECKS[] = {
    {"slots-without-owner", GY_FOUND_ERROR, "slots that nobody owns: their keys cannot be served",
     "give each to a master: redis-cli --cluster fix, or CLUSTER ADDSLOTS where the data is",
     NULL, NULL, NULL, gy_check_gaps},
    {"no-weight", GY_FOUND_ERROR, "every weight is 0: no node can take a key",
     "give at least one node a weight", NULL, NULL, NULL, gy_check_weights},
    {"open-slots", GY_FOUND_ERROR, "moves of slots that began and did not end",
     "if no rebalance is running, end them: redis-cli --cluster fix, which asks both ends",
     NULL, NULL, NULL, gy_check_open},
    {"stray-open-slots", GY_FOUND_ERROR,
     "open slots whose giver is unknown or does not own the slot: the other end does not know",
     "look with CLUSTER COUNTKEYSINSLOT who has keys; keep the slot there; "
     "CLUSTER SETSLOT n STABLE elsewhere",
     NULL, NULL, NULL, gy_check_stray},
    {"views-differ", GY_FOUND_ERROR, "nodes that do not agree who owns what, or who is there and up",
     "wait a minute for gossip, and ask again; if it stays: redis-cli --cluster check, then fix",
     NULL, NULL, NULL, NULL}, /* told by views.c */
    {"not-asked", GY_FOUND_WARNING, "a node that did not tell its view: its open slots are not known",
     "ask it itself: gyre doctor redis://HOST:PORT", NULL, NULL, NULL, NULL},
    {"owner-down", GY_FOUND_ERROR, "a server that is down owns slots or tokens",
     "bring it back or fail over to its replica first", gy_is_owner_down,
     "is down and owns keys", "are down and own keys", NULL},
    {"owner-suspect", GY_FOUND_ERROR, "an owner that the asked node cannot reach (fail?)",
     "wait until it is up or failed, then ask again", gy_is_owner_suspect,
     "is suspected to be down and owns keys", "are suspected to be down and own keys", NULL},
    {"change-under-way", GY_FOUND_ERROR, "servers join, leave or move: one change at a time",
     "wait until that change has ended, then ask again", gy_is_changing,
     "is joining, leaving or moving", "are joining, leaving or moving", NULL},
    {"no-address", GY_FOUND_WARNING, "an owner without an address that clients could dial",
     "set its cluster-announce-ip, or ask another node", gy_is_undialled,
     "owns keys and has no address", "own keys and have no address", NULL},
    {"server-down", GY_FOUND_WARNING, "a server that is down, and owns no slots or tokens",
     "bring it back, or take it out (of a Redis Cluster: CLUSTER FORGET on every node)", gy_is_down,
     "is down, or suspected to be", "are down, or suspected to be", NULL},
    {"forgotten-node", GY_FOUND_WARNING, "an id without an address: a node that is gone",
     "CLUSTER FORGET its id on every node within a minute", gy_is_forgotten,
     "is known by its id only", "are known by their id only", NULL},
    {"disconnected", GY_FOUND_WARNING, "the asked node has no link to it",
     "check the cluster bus (its port is the client's + 10000)", gy_is_disconnected,
     "has no link to the node that was asked", "have no link to the node that was asked", NULL},
    {"loading", GY_FOUND_WARNING, "a replica that is still copying cannot take over",
     "wait until it has copied", gy_is_loading, "is still copying", "are still copying", NULL},
    {"drain-leftover", GY_FOUND_WARNING,
     "a master with under 1 % of a fair share: a drain that was rounded down",
     "move these slots too before it is taken away: gyre plan TOPOLOGY --weight NAME=0", gy_is_leftover,
     "was drained, but not to the end", "were drained, but not to the end", NULL},
    {"uneven-slots", GY_FOUND_WARNING,
     "slots are not even among masters (within 2 % of fair: a note)",
     "gyre plan TOPOLOGY --even writes a plan; redis-cli --cluster rebalance rounds each share",
     NULL, NULL, NULL, gy_check_uneven},
    {"no-replica", GY_FOUND_WARNING, "a master whose keys are lost with it",
     "add a replica that is up", gy_is_single, "has no replica that is up",
     "have no replica that is up", NULL},
    {"replica-without-primary", GY_FOUND_WARNING, "a replica of a server that is not in the list",
     "CLUSTER REPLICATE it to a master that is", gy_is_orphan,
     "copies a primary that is not here", "copy primaries that are not here", NULL},
    {"replica-on-its-host", GY_FOUND_WARNING, "a replica that is lost together with its primary",
     "exchange it with a replica on another host", gy_is_same_host,
     "is on its primary's host", "are on their primary's host", NULL},
    {"replica-on-loopback", GY_FOUND_NOTE, "the same on 127.0.0.1, as in a trial cluster", NULL,
     gy_is_same_loopback, "is on its primary's host, this one",
     "are on their primary's host, this one", NULL},
    {"replica-in-its-zone", GY_FOUND_WARNING, "a replica in the zone of its primary",
     "exchange it with a replica in another zone", gy_is_same_zone,
     "is in its primary's zone", "are in their primary's zone", NULL},
    {"duplicate-endpoint", GY_FOUND_WARNING,
     "servers at one address (of a system without ids: a note)",
     "CLUSTER FORGET the id that is gone on every node", NULL, NULL, NULL, gy_check_endpoints},
    {"few-zones", GY_FOUND_WARNING, "fewer zones than replicas: two copies of a key share one",
     "add a zone, or ask for fewer replicas", NULL, NULL, NULL, gy_check_zones},
    {"shared-host", GY_FOUND_WARNING, "several nodes on one host: copies of a key can share it",
     "name hosts or racks as zones and set spread, so that copies are parted",
     NULL, NULL, NULL, gy_check_hosts},
    {"uneven-spread", GY_FOUND_WARNING, "shares by weight have a CV above 0.20",
     "'gyre balance' has the shares; --points-for what would even them out",
     NULL, NULL, NULL, gy_check_spread},
    {"empty-master", GY_FOUND_NOTE, "a master that owns nothing: new, or drained to zero", NULL,
     gy_is_empty, "is a master without slots", "are masters without slots", NULL},
    {"out-of-service", GY_FOUND_NOTE, "servers that are disabled or draining in the file", NULL,
     gy_is_out, "is disabled or draining", "are disabled or draining", NULL},
};

/* What readers tell that is worse than it looks, or that there is something to do about. */
static const struct lifted {
    const char *code;
    enum gy_severity severity;
    const char *todo;
} LIFTED[] = {
    {"no-map", GY_FOUND_ERROR, "mend the file; nothing can be planned before"},
    {"partitions-without-owner", GY_FOUND_ERROR, "swift-ring-builder FILE rebalance"},
    {"not-rebalanced", GY_FOUND_ERROR, "swift-ring-builder FILE rebalance"},
    {"hash-too-short", GY_FOUND_WARNING, "choose a hash of 32 bits; 'gyre diff' shows what moves"},
    {"mixed-num-tokens", GY_FOUND_WARNING, "replace nodes one by one with the same num_tokens"},
    {"weight-unused", GY_FOUND_WARNING, "take the weights out, or choose a placement with weights"},
};
/* Checks of this table tell it themselves. */
static const char *const COVERED[] = {"slots-without-owner", "open-slots", "owner-down",
                                      "duplicate-endpoint", "shared-address"};
/* clang-format on */

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

const struct gy_check *gy_checks(size_t *count)
{
    *count = COUNT_OF(CHECKS);
    return CHECKS;
}

const char *gy_severity_name(enum gy_severity s)
{
    static const char *const names[GY_SEVERITIES] = {"note", "warning", "error"};
    return names[s];
}

bool gy_server_holds(const struct gy_server *s)
{
    return s->slots || s->tokens;
}

bool gy_server_serves(const struct gy_server *s)
{
    return s->role == GY_ROLE_PRIMARY && !(s->states & (GY_STATE_DOWN | GY_STATE_HANDSHAKE));
}

/* ---- findings ---- */

static struct gy_finding *add(struct gy_findings *out, struct gy_finding f, struct gy_buf *text)
{
    struct gy_finding *grown = realloc(out->list, (out->count + 1) * sizeof *grown);
    if (grown) {
        out->list = grown;
    }
    f.text = grown && !text->failed
                 ? gy_slice_dup((struct gy_slice){gy_buf_head(text), gy_buf_size(text)})
                 : NULL;
    gy_buf_fini(text);
    if (!f.text) {
        out->failed = true;
        return NULL;
    }
    out->list[out->count] = f;
    return &out->list[out->count++];
}

struct gy_finding *gy_found(struct gy_findings *out, const struct gy_check *check,
                            enum gy_severity severity, const char *fmt, ...)
{
    struct gy_buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    gy_buf_vprintf(&text, fmt, ap);
    va_end(ap);
    struct gy_finding f = {.severity = severity, .code = check->code, .todo = check->todo};
    return add(out, f, &text);
}

void gy_found_server(struct gy_findings *out, struct gy_finding *f, const struct gy_pool *p,
                     const struct gy_server *s)
{
    if (!f) {
        return;
    }
    if (!f->servers) { /* rarely more than a few, and never more than there are */
        f->servers = calloc(p->server_count, sizeof *f->servers);
    }
    if (!f->servers) {
        out->failed = true;
        return;
    }
    f->line = f->server_count ? f->line : s->line;
    f->servers[f->server_count++] = (uint32_t)(s - p->servers);
}

void gy_findings_fini(struct gy_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].text);
        free(f->list[i].servers);
    }
    free(f->list);
    *f = (struct gy_findings){0};
}

/* "a has no replica (5461 slots)", "4 servers have no replica: a, b, c, ..." */
static void sentence(const struct gy_check *c, const struct gy_patient *p, struct gy_findings *out)
{
    const struct gy_pool *pool = p->pool;
    struct gy_buf names = {0};
    size_t count = 0;
    uint64_t slots = 0, tokens = 0;
    for (size_t i = 0; i < pool->server_count; i++) {
        const struct gy_server *s = &pool->servers[i];
        if (!c->is(p, s)) {
            continue;
        }
        if (count++ < NAMES_SHOWN) {
            gy_buf_printf(&names, "%s%s", count > 1 ? ", " : "", s->name);
        }
        slots += s->slots;
        tokens += s->tokens;
    }
    if (count == 0) {
        return;
    }
    char held[64] = "";
    if (slots || tokens) {
        uint64_t n = slots ? slots : tokens;
        snprintf(held, sizeof held, " (%llu %s%s)", (unsigned long long)n, slots ? "slot" : "token",
                 n == 1 ? "" : "s");
    }
    struct gy_finding *f =
        count == 1 ? gy_found(out, c, c->severity, "%s %s%s", gy_buf_cstr(&names), c->one, held)
                   : gy_found(out, c, c->severity, "%zu servers %s%s: %s%s", count, c->many, held,
                              gy_buf_cstr(&names), count > NAMES_SHOWN ? ", ..." : "");
    out->failed |= names.failed;
    gy_buf_fini(&names);
    for (size_t i = 0; i < pool->server_count; i++) {
        if (c->is(p, &pool->servers[i])) {
            gy_found_server(out, f, pool, &pool->servers[i]);
        }
    }
}

/* ---- what the reader noticed ---- */

static bool is_covered(const struct gy_pool *p, const char *code)
{
    for (size_t i = 0; i < COUNT_OF(COVERED); i++) {
        if (strcmp(COVERED[i], code) == 0) {
            return true;
        }
    }
    /* A master without slots has its own word. */
    return strcmp(code, "no-keys") == 0 && gy_pool_fact_of(p, "slots_covered");
}

static void take_note(const struct gy_note *n, struct gy_findings *out)
{
    struct gy_finding f = {.severity =
                               n->level == GY_LEVEL_WARNING ? GY_FOUND_WARNING : GY_FOUND_NOTE,
                           .code = n->code,
                           .line = n->line};
    for (size_t i = 0; i < COUNT_OF(LIFTED); i++) {
        if (strcmp(LIFTED[i].code, n->code) == 0) {
            f.severity = LIFTED[i].severity;
            f.todo = LIFTED[i].todo;
        }
    }
    for (size_t i = 0; i < COUNT_OF(CHECKS); i++) { /* those that are only told by notes */
        if (!CHECKS[i].look && !CHECKS[i].is && strcmp(CHECKS[i].code, n->code) == 0) {
            f.severity = CHECKS[i].severity;
            f.todo = CHECKS[i].todo;
        }
    }
    struct gy_buf text = {0};
    gy_buf_puts(&text, n->text);
    add(out, f, &text);
}

/* The worst first, otherwise as found: few enough for the plainest stable sort. */
static void sort(struct gy_findings *f)
{
    for (size_t i = 1; i < f->count; i++) {
        struct gy_finding one = f->list[i];
        size_t at = i;
        while (at > 0 && f->list[at - 1].severity < one.severity) {
            f->list[at] = f->list[at - 1];
            at--;
        }
        f->list[at] = one;
    }
}

static struct gy_patient patient(const struct gy_pool *pool, const gyre_map_t *map)
{
    struct gy_patient p = {.pool = pool, .map = map};
    for (size_t i = 0; i < pool->server_count; i++) {
        bool counts = gy_server_serves(&pool->servers[i]) && pool->servers[i].slots;
        p.masters += counts;
        p.slots += counts ? pool->servers[i].slots : 0;
    }
    return p;
}

void gy_checks_run(const struct gy_pool *pool, const gyre_map_t *map, struct gy_findings *out)
{
    struct gy_patient p = patient(pool, map);
    for (size_t i = 0; i < COUNT_OF(CHECKS); i++) {
        if (CHECKS[i].look) {
            CHECKS[i].look(&CHECKS[i], &p, out);
        } else if (CHECKS[i].is) {
            sentence(&CHECKS[i], &p, out);
        }
    }
    for (size_t i = 0; i < pool->note_count; i++) {
        if (!is_covered(pool, pool->notes[i].code)) {
            take_note(&pool->notes[i], out);
        }
    }
    sort(out);
}
