/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_carry.c - a task's keys, one after the other, from the server that has them to the one that
 * shall: forward (ensure_moved of docs/migration.md 3.2: gyre_dump at S, gyre_install at D) or back
 * (3.5: gyre_back at D, gyre_unmove at S). Both functions are no-ops for a key that somebody else
 * has carried meanwhile, so workers and the mover may meet on one key; the tasks of a worker take
 * turns (carries.h).
 */
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <inttypes.h>
#include <stdio.h>

static void carry_next(struct gy_task *t);

static const struct gy_unit_names *names(const struct gy_task *t)
{
    return &t->view->move->names[t->route.unit];
}

static uint32_t near_server(const struct gy_task *t)
{
    return t->backward ? t->route.dst : t->route.src;
}

static uint32_t far_server(const struct gy_task *t)
{
    return t->backward ? t->route.src : t->route.dst;
}

static bool begins(struct gy_slice a, const char *text)
{
    size_t n = strlen(text);
    return a.n >= n && memcmp(a.p, text, n) == 0;
}

/* An error of a function. Fenced: the unit was flipped under us (an abort, say), so the rule of its
 * new state is the right one. A library that somebody flushed is loaded again by the mover (0a.15).
 * Anything else, -OOM at the destination say, is told in the node's own words. */
static void refused(struct gy_task *t, struct gy_slice a)
{
    if (begins(a, "-GYREFENCED")) {
        gy_task_restart(t);
    } else if (begins(a, "-ERR Function not found")) {
        gy_task_fail(t, "TRYAGAIN the move of the key's unit is being put right");
    } else {
        gy_task_reply(t, a);
    }
}

/* The far side has answered OK, ALREADY or DONE: all of them mean that the key is there. */
static void put(struct gy_task *t)
{
    gy_task_patience(t, false);
    t->worker->room.gathered -= t->load;
    t->load = 0;
    if (!gy_task_batch_ok(t)) {
        return;
    }
    struct gy_slice a = gy_task_answer(t, 0);
    if (a.n && a.p[0] == '-') {
        refused(t, a);
        return;
    }
    if (t->payload && gy_slice_eq(a, GY_LIT("$2\r\nOK\r\n"))) { /* Lua's strings come as bulk */
        t->worker->stats.moved_keys++;
        t->worker->stats.moved_bytes += t->payload;
    }
    t->mark[t->at] = true;
    if (!t->backward) {
        gy_known_add(t->worker, t->view, &t->route, t->batch.generation, gy_task_key(t, t->at));
    }
    t->taking = false;
    gy_carry_end(t);
    carry_next(t);
}

/* A full destination refuses a key, as it would refuse the command. But one that it would carry out
 * (DEL and LPOP make room, reads take none) shall not fail because of the move: its key comes all
 * the same. */
static struct gy_slice put_function(const struct gy_task *t)
{
    return t->backward ? GY_LIT("gyre_unmove")
           : t->grows  ? GY_LIT("gyre_install")
                       : GY_LIT("gyre_install_full");
}

/* gyre_install rec marks key epoch pexpire kind payload; gyre_unmove rec back key epoch moved
 * pexpire payload */
static void queue_put(struct gy_task *t, struct gy_buf *out, bool moved, int64_t expiry,
                      const struct gy_reply *value)
{
    char epoch[24], pexpire[24];
    bool there = value->type == '$';
    struct gy_slice payload = there ? value->text : GY_LIT("");
    snprintf(epoch, sizeof epoch, "%" PRIu64, t->view->move->epoch);
    snprintf(pexpire, sizeof pexpire, "%" PRId64, expiry > 0 ? expiry : INT64_C(0));
    struct gy_slice kind = there ? GY_LIT("D") : GY_LIT("N"),
                    was_moved = moved ? GY_LIT("1") : GY_LIT("0");
    struct gy_slice argv[] = {GY_LIT("FCALL"),
                              put_function(t),
                              GY_LIT("3"),
                              gy_str(names(t)->rec),
                              gy_str(t->backward ? names(t)->back : names(t)->marks),
                              gy_task_key(t, t->at),
                              gy_str(epoch),
                              t->backward ? was_moved : gy_str(pexpire),
                              t->backward ? gy_str(pexpire) : kind,
                              payload};
    gy_resp_command(out, sizeof argv / sizeof *argv, argv);
    gy_task_add(t);
    t->payload = payload.n;
    gy_task_patience(t, true);
    gy_task_run(t, put);
}

/* The value is larger than was foreseen. It was only read, from where it stays: it is read again
 * once there is room for all of it. */
static void crowded(struct gy_task *t)
{
    size_t most = gy_room_most(t->worker);
    gy_room_learn(t->worker, t->batch.came);
    if (t->batch.came > most) {
        gy_task_fail(t,
                     "TRYAGAIN the key is being moved and its value takes %zu bytes, more than the "
                     "%zu that limits.max_memory allows for one; the command was not executed: "
                     "send it again once the key has moved, or raise the limit",
                     t->batch.came, most);
    } else {
        gy_carry_await_room(t, t->batch.came);
    }
}

/* The near side has answered: [payload or nil, expiry], backward with [moved] before them. */
static void taken(struct gy_task *t)
{
    gy_task_patience(t, false);
    gy_room_redeem(t->worker, &t->promise, t->promise);
    if (t->batch.crowded && !t->batch.failed) {
        crowded(t);
        return;
    }
    if (!gy_task_batch_ok(t)) {
        return;
    }
    struct gy_slice a = gy_task_answer(t, 0);
    struct gy_reply *r = gy_reply_parse(a.p, a.n);
    size_t shift = t->backward ? 1 : 0;
    if (!r || r->type != '*' || r->count != 2 + shift) {
        refused(t, a);
        gy_reply_free(r);
        return;
    }
    gy_room_learn(t->worker, t->batch.came);
    /* The payload points into the answer, which the next batch overwrites: take it over. It counts
     * until it is put: first it waits in the far side's output. */
    struct gy_buf answer = t->batch.data;
    t->batch.data = (struct gy_buf){0};
    t->load = t->batch.counted;
    t->batch.counted = 0;
    struct gy_buf *out = gy_task_batch(t, far_server(t));
    if (out) {
        queue_put(t, out, shift && r->item[0].integer != 0, r->item[shift + 1].integer,
                  &r->item[shift]);
    }
    gy_reply_free(r);
    gy_buf_fini(&answer);
}

static void take(struct gy_task *t)
{
    struct gy_buf *out = gy_task_batch(t, near_server(t));
    if (!out) {
        return;
    }
    struct gy_slice key = gy_task_key(t, t->at);
    if (t->backward) {
        bool all = t->view->from_complete[t->route.unit];
        struct gy_slice argv[] = {GY_LIT("FCALL_RO"),
                                  GY_LIT("gyre_back"),
                                  GY_LIT("3"),
                                  gy_str(names(t)->rec),
                                  gy_str(names(t)->marks),
                                  key,
                                  all ? GY_LIT("1") : GY_LIT("0")};
        gy_resp_command(out, sizeof argv / sizeof *argv, argv);
    } else {
        struct gy_slice argv[] = {GY_LIT("FCALL_RO"), GY_LIT("gyre_dump"), GY_LIT("1"), key};
        gy_resp_command(out, sizeof argv / sizeof *argv, argv);
    }
    gy_task_add(t);
    gy_task_patience(t, true);
    gy_task_run(t, taken);
}

static void carry_next(struct gy_task *t)
{
    while (t->at < t->nkeys && t->mark[t->at]) {
        t->at++;
    }
    if (t->at == t->nkeys) {
        t->carried(t);
    } else if (gy_carry_begin(t)) {
        take(t);
    }
}

void gy_task_carry(struct gy_task *t, bool backward, void (*carried)(struct gy_task *t))
{
    t->at = 0;
    t->backward = backward;
    t->carried = carried;
    carry_next(t);
}
