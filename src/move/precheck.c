/* SPDX-License-Identifier: Apache-2.0 */
/*
 * precheck.c - everything that forbids a move, asked before anything is durable; each refusal names
 * the server and says what to do. The order is from cheap to costly. Two of them may change a
 * destination, last and only when all else passed: leftovers are removed if that was asked for, and
 * a joining node gets the user's function libraries it lacks. Threads: the admin's.
 */
#include "move/precheck.h"

#include "base/log.h"
#include "lib/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SKEW_MAX_US   100000
#define CLOCK_LOOKS   5
#define SAMPLES       8192 /* made-up keys, for the share of each flow */
#define SIZE_SAMPLES  20
#define MEMORY_FACTOR 1.3

/* ---- one server ---- */

static const char *shown(const struct gy_checks *k, uint32_t i, char out[GY_SHOW])
{
    return gy_show(k->c->view->servers[i].name, out);
}

static uint64_t info_number(struct gy_slice info, const char *field)
{
    char text[24] = "";
    struct gy_slice v = gy_info_field(info, field);
    if (v.n && v.n < sizeof text) {
        memcpy(text, v.p, v.n);
    }
    return strtoull(text, NULL, 10);
}

static bool info_is(struct gy_slice info, const char *field, const char *value)
{
    return gy_slice_eq(gy_info_field(info, field), gy_str(value));
}

static void copy_field(char *out, size_t size, struct gy_slice info, const char *field)
{
    struct gy_slice v = gy_info_field(info, field);
    snprintf(out, size, "%.*s", (int)v.n, v.n ? (const char *)v.p : "");
}

/* "db3:keys=..." for any db but 0. */
static bool other_databases(struct gy_slice info)
{
    char field[16];
    for (int db = 1; db < 1024; db++) {
        snprintf(field, sizeof field, "db%d", db);
        if (gy_info_field(info, field).n) {
            return true;
        }
    }
    return false;
}

static int read_info(struct gy_checks *k, uint32_t i, gyre_error_t *e)
{
    struct gy_node_facts *f = &k->facts[i];
    struct gy_reply *r = NULL;
    int rc = gy_sync_call(f->sync, &r, e, "INFO", NULL);
    if (rc == GYRE_OK) {
        struct gy_slice t = r->text;
        f->master = info_is(t, "role", "master");
        f->loading = info_is(t, "loading", "1");
        f->cluster = info_is(t, "cluster_enabled", "1");
        f->other_dbs = other_databases(t);
        f->used = info_number(t, "used_memory");
        f->max = info_number(t, "maxmemory");
        copy_field(f->policy, sizeof f->policy, t, "maxmemory_policy");
        copy_field(f->replid, sizeof f->replid, t, "master_replid");
        copy_field(f->replid2, sizeof f->replid2, t, "master_replid2");
        f->offset = info_number(t, "master_repl_offset");
        f->offset2 = info_number(t, "second_repl_offset");
        snprintf(f->run_id, sizeof f->run_id, "%s", gy_sync_run_id(f->sync));
    }
    gy_reply_free(r);
    return rc;
}

static int64_t wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t reply_int(const struct gy_reply *r)
{
    char text[24] = "";
    if (r->type == ':') {
        return r->integer;
    }
    memcpy(text, r->text.p, r->text.n < sizeof text ? r->text.n : 0);
    return strtoll(text, NULL, 10);
}

/* Its clock against ours. Of a few looks the quickest counts: one that was delayed on the way says
 * nothing about clocks. */
static int read_clock(struct gy_node_facts *f, gyre_error_t *e)
{
    int rc = GYRE_OK;
    int64_t quickest = INT64_MAX;
    for (int look = 0; look < CLOCK_LOOKS && rc == GYRE_OK; look++) {
        struct gy_reply *r = NULL;
        int64_t sent = wall_us();
        rc = gy_sync_call(f->sync, &r, e, "TIME", NULL);
        int64_t back = wall_us();
        if (rc == GYRE_OK && r->count == 2 && back - sent < quickest) {
            int64_t there = reply_int(&r->item[0]) * 1000000 + reply_int(&r->item[1]);
            quickest = back - sent;
            f->clock = there - (sent + quickest / 2);
        }
        gy_reply_free(r);
    }
    return rc;
}

/* Keys, clock and RDB version. FUNCTION DUMP ends like DUMP: two bytes of RDB version, then a CRC
 * of eight; it needs no key and writes nothing. */
static int read_rest(struct gy_checks *k, uint32_t i, gyre_error_t *e)
{
    struct gy_node_facts *f = &k->facts[i];
    struct gy_reply *r = NULL;
    char name[GY_SHOW];
    int rc = gy_sync_call(f->sync, &r, e, "DBSIZE", NULL);
    f->keys = rc == GYRE_OK ? (uint64_t)r->integer : 0;
    gy_reply_free(r);
    if (rc == GYRE_OK) {
        rc = read_clock(f, e);
    }
    if (rc != GYRE_OK) {
        return rc;
    }
    gyre_error_t why = {0};
    rc = gy_sync_call(f->sync, &r, &why, "FUNCTION", "DUMP", NULL);
    if (rc != GYRE_OK || r->text.n < 10) {
        gy_reply_free(r);
        bool none = strstr(why.message, "unknown command") != NULL;
        return gy_fail(e, rc != GYRE_OK ? rc : GYRE_REFUSED, "%s: FUNCTION DUMP: %s%s",
                       shown(k, i, name), rc != GYRE_OK ? why.message : "no payload",
                       none ? "; moves need Redis 7.0 or later, with FUNCTION neither renamed nor "
                              "disabled"
                            : "");
    }
    const uint8_t *foot = r->text.p + r->text.n - 10;
    f->rdb = (unsigned)foot[0] | (unsigned)foot[1] << 8;
    gy_reply_free(r);
    return GYRE_OK;
}

int gy_check_look(struct gy_checks *k, uint32_t i, gyre_error_t *e)
{
    struct gy_node_facts *f = &k->facts[i];
    if (f->known) {
        return GYRE_OK;
    }
    int rc = gy_links_get(&k->links, i, &k->c->view->servers[i], false, &f->sync, e);
    if (rc == GYRE_OK) {
        rc = read_info(k, i, e);
    }
    if (rc == GYRE_OK) {
        rc = read_rest(k, i, e);
    }
    f->known = rc == GYRE_OK;
    return rc;
}

/* May an earlier process of this proxy be kept from executing what it still has under way there? */
static int check_fence(struct gy_checks *k, uint32_t i, gyre_error_t *e)
{
    char name[GY_SHOW], user[GY_SHOW];
    const char *weak = gy_links_weak(&k->links, i);
    if (!*weak) {
        return GYRE_OK;
    }
    if (k->c->options->weak_fencing) {
        gy_warn("%s: fenced by name only, as was wished: %s", shown(k, i, name), weak);
        return GYRE_OK;
    }
    return gy_fail(e, GYRE_REFUSED,
                   "%s: the proxy may not use ACL there (%s), so an earlier process of it could "
                   "not be fenced off by its user: " GY_FENCE_GRANT
                   ", or give --weak-fencing, which fences by connection name: a process that was "
                   "stopped just before it connects could then still write what it held",
                   shown(k, i, name), weak, gy_show(k->c->m->link_conf.fence.base, user));
}

static bool is_destination(const struct gy_precheck *c, uint32_t server)
{
    for (size_t i = 0; i < c->npairs; i++) {
        if (c->pairs[i].dst == server) {
            return true;
        }
    }
    return false;
}

int gy_check_server(struct gy_checks *k, uint32_t i, gyre_error_t *e)
{
    char name[GY_SHOW];
    struct gy_node_facts *f = &k->facts[i];
    int rc = gy_links_get(&k->links, i, &k->c->view->servers[i], false, &f->sync, e);
    if (rc != GYRE_OK) {
        return gy_rights_advise(k, rc, e);
    }
    rc = check_fence(k, i, e);
    if (rc == GYRE_OK) {
        rc = gy_check_rights(k, i, is_destination(k->c, i), e);
    }
    if (rc == GYRE_OK) {
        rc = gy_check_look(k, i, e);
    }
    const char *why = rc != GYRE_OK ? NULL
                      : f->loading  ? "it is loading its data: try again when it is ready"
                      : f->cluster  ? "it runs in cluster mode: Redis Cluster moves its own slots"
                      : !f->master  ? "it is a replica: every node of a move must be a master"
                                    : NULL;
    if (rc == GYRE_OK && !why &&
        !gy_strays_settled(k->c->m, &k->c->view->servers[i], gy_sync_run_id(f->sync))) {
        why = "it was restarted after a move, and whether it came back with older copies of keys "
              "that had moved away is still being looked at: try again in a moment";
    }
    if (rc == GYRE_OK && !why) {
        rc = gy_stamp_admit(f->sync, k->c->view->servers[i].name, &k->c->known, e);
    }
    return why ? gy_fail(e, GYRE_REFUSED, "%s: %s", shown(k, i, name), why) : rc;
}

/* ---- pairs ---- */

/* Drops the pairs that need no copy: one server under two names, and --same-data. */
static int settle_pairs(struct gy_checks *k, gyre_error_t *e)
{
    struct gy_precheck *c = k->c;
    size_t kept = 0;
    int rc = GYRE_OK;
    for (size_t i = 0; i < c->npairs && rc == GYRE_OK; i++) {
        struct gy_pair p = c->pairs[i];
        bool replace = strcmp(c->view->servers[p.src].name, c->view->servers[p.dst].name) == 0;
        if (replace && c->options->same_data) {
            rc = gy_check_same_data(k, &p, e);
            continue;
        }
        rc = gy_check_server(k, p.src, e);
        if (rc == GYRE_OK) {
            rc = gy_check_server(k, p.dst, e);
        }
        if (rc == GYRE_OK && strcmp(k->facts[p.src].run_id, k->facts[p.dst].run_id) != 0) {
            c->pairs[kept++] = p;
        }
    }
    c->npairs = rc == GYRE_OK ? kept : c->npairs;
    return rc;
}

int gy_check_pair(const char *src, const struct gy_node_facts *s, const char *dst,
                  const struct gy_node_facts *d, gyre_error_t *e)
{
    if (d->rdb < s->rdb) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s: it is older than %s (RDB version %u, not %u) and could not read its "
                       "values: upgrade it first",
                       dst, src, d->rdb, s->rdb);
    }
    if (strncmp(d->policy, "allkeys-", strlen("allkeys-")) == 0) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s: maxmemory-policy %s may evict what the move needs: set noeviction or a "
                       "volatile policy",
                       dst, d->policy);
    }
    int64_t skew = s->clock > d->clock ? s->clock - d->clock : d->clock - s->clock;
    if (skew > SKEW_MAX_US) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s: its clock is %.3f s away from that of %s; keys would expire at the "
                       "wrong time: set the clocks first (at most 0.1 s)",
                       dst, (double)skew / 1e6, src);
    }
    return GYRE_OK;
}

static int check_pair(struct gy_checks *k, const struct gy_pair *p, gyre_error_t *e)
{
    char src[GY_SHOW], dst[GY_SHOW];
    return gy_check_pair(shown(k, p->src, src), &k->facts[p->src], shown(k, p->dst, dst),
                         &k->facts[p->dst], e);
}

/* ---- leaving nodes ---- */

static bool leaves(const struct gy_precheck *c, uint32_t server)
{
    for (uint32_t i = 0; i < gyre_map_count(c->next); i++) {
        if (c->next_server[i] == server && gyre_map_share(c->next, i) > 0) {
            return false;
        }
    }
    return true;
}

static int check_databases(struct gy_checks *k, uint32_t src, gyre_error_t *e)
{
    char name[GY_SHOW];
    if (k->facts[src].other_dbs && leaves(k->c, src)) {
        return gy_fail(e, GYRE_REFUSED,
                       "%s: it leaves, and has keys in databases other than 0, which do not move",
                       shown(k, src, name));
    }
    return GYRE_OK;
}

/* ---- how much ---- */

/* Shares of the flows from made-up keys: works for any two placements, a few percent off. */
static void estimate(struct gy_checks *k)
{
    struct gy_precheck *c = k->c;
    for (unsigned i = 0; i < SAMPLES; i++) {
        char key[24];
        size_t n = (size_t)snprintf(key, sizeof key, "sample:%u", i);
        uint32_t a = gyre_map_locate(c->view->map, key, n), b = gyre_map_locate(c->next, key, n);
        if (a == GYRE_NONE || b == GYRE_NONE) {
            continue;
        }
        uint32_t src = c->view->server[a], dst = c->next_server[b];
        k->facts[src].samples++;
        for (size_t p = 0; p < c->npairs; p++) {
            k->flow[p] += c->pairs[p].src == src && c->pairs[p].dst == dst;
        }
    }
    for (size_t p = 0; p < c->npairs; p++) {
        const struct gy_node_facts *s = &k->facts[c->pairs[p].src];
        k->flow[p] = s->samples ? s->keys * k->flow[p] / s->samples : 0;
        c->estimate += k->flow[p];
        c->largest = k->flow[p] > c->largest ? k->flow[p] : c->largest;
    }
}

static int average_size(struct gy_checks *k, uint32_t i, double *out, gyre_error_t *e)
{
    struct gy_node_facts *f = &k->facts[i];
    uint64_t sum = 0, n = 0;
    for (int s = 0; s < SIZE_SAMPLES; s++) {
        struct gy_reply *key = NULL, *size = NULL;
        int rc = gy_sync_call(f->sync, &key, e, "RANDOMKEY", NULL);
        if (rc == GYRE_OK && key->type == '$') {
            struct gy_slice argv[] = {GY_LIT("MEMORY"), GY_LIT("USAGE"), key->text};
            gy_sync_add(f->sync, 3, argv);
            rc = gy_sync_read(f->sync, &size, e);
            if (rc == GYRE_OK && size->type == '-') {
                rc = gy_fail(e, GYRE_REFUSED, "MEMORY USAGE: %.*s", (int)size->text.n,
                             (const char *)size->text.p);
            } else if (rc == GYRE_OK && size->type == ':') {
                sum += (uint64_t)size->integer;
                n++;
            }
        }
        gy_reply_free(key);
        gy_reply_free(size);
        if (rc != GYRE_OK) {
            return rc;
        }
    }
    *out = n ? (double)sum / (double)n : 0;
    return GYRE_OK;
}

static int check_memory(struct gy_checks *k, uint32_t dst, gyre_error_t *e)
{
    const struct gy_precheck *c = k->c;
    const struct gy_node_facts *d = &k->facts[dst];
    double need = 0;
    char name[GY_SHOW];
    for (size_t p = 0; d->max && p < c->npairs; p++) {
        double each;
        if (c->pairs[p].dst != dst) {
            continue;
        }
        int rc = average_size(k, c->pairs[p].src, &each, e);
        if (rc != GYRE_OK) {
            return rc;
        }
        need += each * (double)k->flow[p] * MEMORY_FACTOR;
    }
    if (d->max && (double)d->used + need > (double)d->max) {
        return gy_fail(
            e, GYRE_REFUSED,
            "%s: about %.0f MB would come to it, and of its maxmemory of %.0f MB %.0f MB "
            "are used",
            shown(k, dst, name), need / 1048576, (double)d->max / 1048576,
            (double)d->used / 1048576);
    }
    return GYRE_OK;
}

/* ---- all of it ---- */

/* The pairs are sorted by source. */
static int each_source(struct gy_checks *k, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (size_t i = 0; i < k->c->npairs && rc == GYRE_OK; i++) {
        uint32_t src = k->c->pairs[i].src;
        rc = check_pair(k, &k->c->pairs[i], e);
        if (rc == GYRE_OK) {
            rc = check_databases(k, src, e);
        }
        if (rc == GYRE_OK && (i == 0 || k->c->pairs[i - 1].src != src)) {
            rc = gy_check_key_rights(k, src, e);
        }
    }
    return rc;
}

static int each_destination(struct gy_checks *k, gyre_error_t *e)
{
    int rc = GYRE_OK;
    for (uint32_t i = 0; i < k->c->view->nservers && rc == GYRE_OK; i++) {
        if (is_destination(k->c, i)) {
            rc = check_memory(k, i, e);
        }
        if (rc == GYRE_OK && is_destination(k->c, i)) {
            rc = gy_check_records(k, i, e);
        }
    }
    for (uint32_t i = 0; i < k->c->view->nservers && rc == GYRE_OK; i++) {
        if (is_destination(k->c, i)) {
            rc = gy_check_leftovers(k, i, e);
        }
    }
    for (uint32_t i = 0; i < k->c->view->nservers && rc == GYRE_OK; i++) {
        if (is_destination(k->c, i)) {
            rc = gy_check_functions(k, i, e);
        }
    }
    return rc;
}

int gy_precheck_run(struct gy_precheck *c, gyre_error_t *e)
{
    struct gy_checks k = {.c = c};
    gy_links_init(&k.links, &c->m->link_conf);
    k.links.weak_ok = true; /* told with the other reasons */
    k.facts = calloc(c->view->nservers ? c->view->nservers : 1, sizeof *k.facts);
    k.flow = calloc(c->npairs ? c->npairs : 1, sizeof *k.flow);
    int rc = k.facts && k.flow ? gy_check_members(&k, e) : gy_fail_nomem(e);
    if (rc == GYRE_OK) {
        rc = gy_check_alone(&k, e);
    }
    if (rc == GYRE_OK) {
        rc = settle_pairs(&k, e);
    }
    if (rc == GYRE_OK) {
        rc = each_source(&k, e);
    }
    if (rc == GYRE_OK) {
        estimate(&k);
        rc = each_destination(&k, e);
    }
    for (uint32_t i = 0; i < c->view->nservers; i++) {
        if (gy_links_made(&k.links, i)) {
            gy_leave_met(c->m, c->view->servers[i].address);
        }
    }
    free(k.facts);
    free(k.flow);
    gy_links_fini(&k.links);
    /* To the one who asked, a server that does not answer is a reason like any other. */
    if (rc == GYRE_IO || rc == GYRE_TIMEOUT) {
        rc = GYRE_REFUSED;
        if (e) {
            e->code = rc;
        }
    }
    return rc;
}
