/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - the steps that change records on the servers, as a table: side, the states it may
 * come from ('-': none), the state it goes to. In a step that changes both sides the order of the
 * rows is the order of the protocol, and a unit whose first row failed does not reach its second.
 * Threads: the mover's.
 */
#include "lib/error.h"
#include "move/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum side { SRC, DST };

struct op {
    enum gy_step step;
    enum side side;
    const char *from, *to; /* to NULL: drop the record in one of these states, and its marks */
    enum gy_failpoint before;
};

#define OP(step, side, from, to, point)                        \
    {                                                          \
        GY_STEP_##step, side, from, to, GY_FAIL_before_##point \
    }

static const struct op ops[] = {
    OP(ARM, DST, "-", "M", rec_arm_dst),
    OP(ARM, SRC, "-", "P", rec_arm_src),
    /* The intent is in the store: forward, whatever a restarted source remembers (3.8). */
    OP(FLIP, SRC, "P-", "M", rec_flip),
    OP(REARM_RECORDS, DST, "-", "M", rec_rearm_dst),
    OP(REARM_RECORDS, SRC, "P-", "M", rec_rearm_src),
    OP(FINISH, DST, "M", "C", rec_complete),
    OP(CLEAN, SRC, "P-", "M", rec_clean),
    OP(DROP, DST, "C", NULL, drop_dst),
    OP(DROP, SRC, "M", NULL, drop_src),
    OP(CLOSE_DROP, DST, "M", NULL, drop_dst),
    OP(CLOSE_DROP, SRC, "P", NULL, drop_src),
    OP(ABORT_FLIP, SRC, "PM-", "B", rec_back),
    OP(ABORT_FLIP, DST, "MC-", "A", rec_freeze),
    OP(REFREEZE, SRC, "PM-", "B", rec_back),
    OP(REFREEZE, DST, "MC-", "A", rec_freeze),
    OP(OPEN, SRC, "B", "O", rec_open),
    OP(PURGE, DST, "MC-", "A", rec_purge),
    OP(ABORT_DROP, DST, "A", NULL, drop_dst),
    OP(ABORT_DROP, SRC, "BO", NULL, drop_src),
};

static uint32_t server_of(const struct gy_job *j, uint32_t unit, enum side side)
{
    return side == SRC ? j->mig->units[unit].src : j->mig->units[unit].dst;
}

static void queue_rec(struct gy_sync *c, const struct gy_job *j, uint32_t unit, const struct op *op)
{
    char epoch[24];
    const struct gy_unit_names *n = &j->mig->names[unit];
    snprintf(epoch, sizeof epoch, "%" PRIu64, j->epoch);
    if (op->to) {
        gy_sync_cmd(c, "FCALL", "gyre_rec", "2", n->rec, op->side == DST ? n->marks : n->back,
                    epoch, op->from, op->to, gy_sync_run_id(c), NULL);
    } else {
        gy_sync_cmd(c, "FCALL", "gyre_drop", "3", n->rec, n->marks, n->back, epoch, op->from, NULL);
    }
}

bool gy_reply_fenced(const struct gy_reply *r)
{
    static const char word[] = "GYREFENCED";
    return r->type == '-' && r->text.n >= sizeof word - 1 &&
           memcmp(r->text.p, word, sizeof word - 1) == 0;
}

/* Every error reply of a server comes by here. A function that is not there any more (somebody did
 * FUNCTION FLUSH) is one to try again, with the library loaded anew (0a.15). */
void gy_mover_complain_reply(struct gy_mover *m, uint32_t server, const struct gy_reply *r)
{
    static const char flushed[] = "ERR Function not found";
    if (r->type == '-' && r->text.n >= sizeof flushed - 1 &&
        memcmp(r->text.p, flushed, sizeof flushed - 1) == 0) {
        gy_links_unload(&m->links, server);
    }
    gyre_error_t e;
    char name[GY_SHOW];
    (void)gy_fail(&e, GYRE_REFUSED, "%s: %.*s", gy_show(m->servers[server].name, name),
                  (int)(r->text.n > 300 ? 300 : r->text.n), (const char *)r->text.p);
    gy_mover_complain(m, &e);
}

/* One pipeline to each server of the side: queue(i) for each unit still OK, then answer(i). A
 * server that fails fails its units. */
static void each_server(struct gy_mover *m, struct gy_job *j, enum side side, struct gy_set *s,
                        void (*queue)(void *ctx, struct gy_sync *c, uint32_t unit),
                        enum gy_event (*answer)(void *ctx, struct gy_sync *c, uint32_t server,
                                                uint32_t unit),
                        void *ctx)
{
    for (uint32_t server = 0; server < m->nservers; server++) {
        struct gy_sync *c = NULL;
        gyre_error_t e;
        int rc = GYRE_UNKNOWN; /* not needed so far */
        for (size_t i = 0; i < s->n; i++) {
            if (server_of(j, s->units[i], side) != server || s->ev[i] != GY_EVENT_OK) {
                continue;
            }
            if (rc == GYRE_UNKNOWN) {
                rc = gy_links_get(&m->links, server, &m->servers[server], true, &c, &e);
                if (rc != GYRE_OK) {
                    gy_mover_complain_down(m, server, &e);
                }
            }
            if (rc == GYRE_OK) {
                queue(ctx, c, s->units[i]);
            }
        }
        for (size_t i = 0; i < s->n && rc != GYRE_UNKNOWN; i++) {
            if (server_of(j, s->units[i], side) == server && s->ev[i] == GY_EVENT_OK) {
                s->ev[i] = rc == GYRE_OK && !gy_sync_broken(c) ? answer(ctx, c, server, s->units[i])
                                                               : GY_EVENT_AGAIN;
            }
        }
        gy_links_check(&m->links, server);
    }
}

struct run {
    struct gy_mover *m;
    struct gy_job *j;
    const struct op *op;
    int rc;
};

static enum gy_event read_failed(struct run *r, const gyre_error_t *e)
{
    r->rc = e->code;
    gy_mover_complain(r->m, e);
    return GY_EVENT_AGAIN;
}

static void op_queue(void *ctx, struct gy_sync *c, uint32_t unit)
{
    struct run *r = ctx;
    queue_rec(c, r->j, unit, r->op);
}

/* Arming meets a foreign record only where another state began a move of the same servers. */
static void complain(const struct run *r, uint32_t server, const struct gy_reply *reply)
{
    gyre_error_t e;
    char name[GY_SHOW];
    if (r->op->step != GY_STEP_ARM || !gy_reply_fenced(reply)) {
        gy_mover_complain_reply(r->m, server, reply);
        return;
    }
    (void)gy_fail(&e, GYRE_REFUSED,
                  "%s: %.*s, met by move %" PRIu64 ": " GY_LOST_STATE
                  " (`gyre move abort` takes this move back first)",
                  gy_show(r->m->servers[server].name, name),
                  (int)(reply->text.n > 200 ? 200 : reply->text.n), (const char *)reply->text.p,
                  r->j->epoch);
    gy_mover_complain(r->m, &e);
}

/* Closing a unit that was never frozen meets only its own P, or what another state's move left:
 * that is not ours to drop, and must not keep this move from being taken back. */
static bool is_others(const struct run *r, const struct gy_reply *reply)
{
    return r->op->step == GY_STEP_CLOSE_DROP && gy_reply_fenced(reply);
}

static enum gy_event op_answer(void *ctx, struct gy_sync *c, uint32_t server, uint32_t unit)
{
    struct run *r = ctx;
    struct gy_reply *reply;
    gyre_error_t e;
    enum gy_event ev = GY_EVENT_OK;
    (void)unit;
    if (gy_sync_read(c, &reply, &e) != GYRE_OK) {
        return read_failed(r, &e);
    }
    if (reply->type == '-' && !is_others(r, reply)) {
        complain(r, server, reply);
        ev = gy_reply_fenced(reply) ? GY_EVENT_LOST : GY_EVENT_AGAIN;
    }
    gy_reply_free(reply);
    return ev;
}

void gy_records_step(struct gy_mover *m, struct gy_job *j, enum gy_step step, struct gy_set *s)
{
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        struct run r = {.m = m, .j = j, .op = &ops[k]};
        if (ops[k].step != step) {
            continue;
        }
        bool fail = gy_failpoint(ops[k].before);
        if (!fail) {
            each_server(m, j, ops[k].side, s, op_queue, op_answer, &r);
            fail = gy_failpoint(ops[k].before + 1);
        }
        for (size_t i = 0; fail && i < s->n; i++) {
            gy_set_fail(s, i, GY_EVENT_AGAIN);
        }
    }
    /* Only some steps have a way to go on from a foreign record; for the others it is a failure. */
    for (size_t i = 0; i < s->n; i++) {
        bool known = step == GY_STEP_FINISH || step == GY_STEP_OPEN;
        if (s->ev[i] == GY_EVENT_LOST && !known) {
            s->ev[i] = GY_EVENT_AGAIN;
        }
    }
}

/* ---- looking at the destination's records ---- */

static void rec_queue(void *ctx, struct gy_sync *c, uint32_t unit)
{
    struct run *r = ctx;
    gy_sync_cmd(c, "HMGET", r->j->mig->names[unit].rec, "epoch", "st", "run_id", NULL);
}

static bool text_is(const struct gy_reply *r, const char *text)
{
    return r->type == '$' && gy_slice_eq(r->text, gy_str(text));
}

static uint64_t number_in(const struct gy_reply *r)
{
    char text[24] = "";
    size_t n = r->type == '$' && r->text.n < sizeof text ? r->text.n : 0;
    memcpy(text, n ? (const char *)r->text.p : "", n);
    return strtoull(text, NULL, 10);
}

static bool rec_is(const struct gy_job *j, const struct gy_reply *r, const char *st)
{
    char epoch[24];
    snprintf(epoch, sizeof epoch, "%" PRIu64, j->epoch);
    return r->type == '*' && r->count == 3 && text_is(&r->item[0], epoch) &&
           text_is(&r->item[1], st);
}

static enum gy_event armed_answer(void *ctx, struct gy_sync *c, uint32_t server, uint32_t unit)
{
    struct run *r = ctx;
    struct gy_reply *reply;
    gyre_error_t e;
    (void)server;
    (void)unit;
    if (gy_sync_read(c, &reply, &e) != GYRE_OK) {
        return read_failed(r, &e);
    }
    bool good = rec_is(r->j, reply, "M") && text_is(&reply->item[2], gy_sync_run_id(c));
    gy_reply_free(reply);
    return good ? GY_EVENT_OK : GY_EVENT_LOST;
}

void gy_records_check(struct gy_mover *m, struct gy_job *j, struct gy_set *s)
{
    struct run r = {.m = m, .j = j};
    each_server(m, j, DST, s, rec_queue, armed_answer, &r);
}

static void count_queue(void *ctx, struct gy_sync *c, uint32_t unit)
{
    struct run *r = ctx;
    gy_sync_cmd(c, "HMGET", r->j->mig->names[unit].rec, "lasting", "expiring", "bytes", NULL);
}

/* What had to be moved (0a.17). A key that lasts is at its frozen source until the end, so the
 * verification counted them all, whoever moved them and in how many attempts. One with an expiry
 * had to be moved if it was, or if it is still there; when it expires before anybody meets it, it
 * need not be. */
static uint64_t minimum_of(const struct gy_census *found, uint64_t moved_expiring)
{
    return found->lasting + (found->expiring > moved_expiring ? found->expiring : moved_expiring);
}

static enum gy_event count_answer(void *ctx, struct gy_sync *c, uint32_t server, uint32_t unit)
{
    struct run *r = ctx;
    struct gy_reply *reply;
    gyre_error_t e;
    (void)server;
    if (gy_sync_read(c, &reply, &e) != GYRE_OK) {
        return read_failed(r, &e);
    }
    bool good = reply->type == '*' && reply->count == 3;
    if (good) {
        uint64_t lasting = number_in(&reply->item[0]), expiring = number_in(&reply->item[1]);
        r->j->counted[unit] = (struct gy_totals){
            .keys = lasting + expiring,
            .bytes = number_in(&reply->item[2]),
            .minimum =
                r->j->phase == GY_PHASE_ABORT ? 0 : minimum_of(&r->j->census[unit], expiring),
        };
    }
    gy_reply_free(reply);
    return good ? GY_EVENT_OK : GY_EVENT_AGAIN;
}

/* each_server over a set of its own, because the caller's events are not ours to change. */
static int look(struct gy_mover *m, struct gy_job *j, const struct gy_set *s, struct run *r,
                void (*queue)(void *, struct gy_sync *, uint32_t),
                enum gy_event (*answer)(void *, struct gy_sync *, uint32_t, uint32_t),
                gyre_error_t *e)
{
    struct gy_set own = {
        .units = s->units, .n = s->n, .ev = calloc(s->n ? s->n : 1, sizeof *s->ev)};
    int rc = own.ev ? GYRE_OK : gy_fail_nomem(e);
    for (size_t i = 0; rc == GYRE_OK && i < own.n; i++) {
        own.ev[i] = GY_EVENT_OK;
    }
    if (rc == GYRE_OK) {
        each_server(m, j, DST, &own, queue, answer, r);
    }
    for (size_t i = 0; rc == GYRE_OK && i < own.n; i++) {
        uint32_t unit = own.units[i];
        if (own.ev[i] != GY_EVENT_OK) {
            char name[GY_SHOW];
            rc =
                gy_fail(e, own.ev[i] == GY_EVENT_LOST ? GYRE_REFUSED : GYRE_IO,
                        own.ev[i] == GY_EVENT_LOST
                            ? "%s: it has lost what was moved to it (restarted without its data?); "
                              "nothing is removed at the source: `gyre move abort` takes it back"
                            : "%s: cannot read the records of the move",
                        gy_show(m->servers[j->mig->units[unit].dst].name, name));
        }
    }
    free(own.ev);
    return rc;
}

/* ---- taking a move up again ---- */

static void own_queue(void *ctx, struct gy_sync *c, uint32_t unit)
{
    struct run *r = ctx;
    gy_sync_cmd(c, "HGET", r->j->mig->names[unit].rec, "run_id", NULL);
}

static enum gy_event own_answer(void *ctx, struct gy_sync *c, uint32_t server, uint32_t unit)
{
    struct run *r = ctx;
    struct gy_reply *reply;
    gyre_error_t e;
    (void)unit;
    if (gy_sync_read(c, &reply, &e) != GYRE_OK) {
        return read_failed(r, &e);
    }
    if (!text_is(reply, gy_sync_run_id(c))) {
        gy_mover_warn_restart(r->m, server, gy_sync_run_id(c));
    }
    gy_reply_free(reply);
    return GY_EVENT_OK;
}

static void all_ok(struct gy_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->ev[i] = GY_EVENT_OK;
    }
}

/* Has it records on both sides, and marks that no total counts yet? */
static bool unsettled(const struct gy_machine *u)
{
    enum gy_unit_state s = gy_machine_state(u);
    bool back = s == GY_UNIT_ABORT_PREPARE || s == GY_UNIT_ABORT_FLIPPING || s == GY_UNIT_ABORTING;
    return s == GY_UNIT_MIGRATING || (back && !u->from_complete);
}

void gy_records_take_up(struct gy_mover *m, struct gy_job *j)
{
    struct run r = {.m = m, .j = j};
    size_t n = j->mig->nunits ? j->mig->nunits : 1;
    uint32_t *units = calloc(n, sizeof *units);
    enum gy_event *ev = calloc(n, sizeof *ev);
    struct gy_set s = {.units = units, .ev = ev};
    for (uint32_t i = 0; units && ev && i < j->mig->nunits; i++) {
        if (unsettled(&j->unit[i])) {
            units[s.n++] = i;
        }
    }
    if (s.n) {
        all_ok(&s);
        each_server(m, j, DST, &s, own_queue, own_answer, &r);
        each_server(m, j, DST, &s, count_queue, count_answer, &r);
        pthread_mutex_lock(&m->lock);
        for (size_t i = 0; i < s.n; i++) {
            j->live_keys += j->counted[units[i]].keys;
            j->live_bytes += j->counted[units[i]].bytes;
        }
        m->host->on_access(m->host->ctx, &j->access_base_keys, &j->access_base_bytes);
        pthread_mutex_unlock(&m->lock);
        all_ok(&s);
        each_server(m, j, SRC, &s, own_queue, own_answer, &r);
    }
    free(units);
    free(ev);
}

int gy_records_count(struct gy_mover *m, struct gy_job *j, const struct gy_set *s, gyre_error_t *e)
{
    struct run r = {.m = m, .j = j};
    return look(m, j, s, &r, count_queue, count_answer, e);
}

static enum gy_event complete_answer(void *ctx, struct gy_sync *c, uint32_t server, uint32_t unit)
{
    struct run *r = ctx;
    struct gy_reply *reply;
    gyre_error_t e;
    (void)server;
    (void)unit;
    if (gy_sync_read(c, &reply, &e) != GYRE_OK) {
        return read_failed(r, &e);
    }
    bool good = rec_is(r->j, reply, "C");
    gy_reply_free(reply);
    return good ? GY_EVENT_OK : GY_EVENT_LOST;
}

int gy_records_settled(struct gy_mover *m, struct gy_job *j, gyre_error_t *e)
{
    struct run r = {.m = m, .j = j};
    uint32_t n = j->mig->nunits;
    uint32_t *units = calloc(n ? n : 1, sizeof *units);
    if (!units) {
        return gy_fail_nomem(e);
    }
    for (uint32_t i = 0; i < n; i++) {
        units[i] = i;
    }
    struct gy_set all = {.units = units, .n = n};
    int rc = look(m, j, &all, &r, rec_queue, complete_answer, e);
    free(units);
    for (uint32_t i = 0; i < m->nservers && rc == GYRE_OK; i++) {
        bool dst = false;
        for (size_t k = 0; k < j->npairs; k++) {
            dst |= j->pairs[k].dst == i;
        }
        rc = dst ? gy_persist_wait(m, i, e) : GYRE_OK;
    }
    return rc;
}
