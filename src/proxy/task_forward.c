/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_forward.c - reads and writes of a unit that is on its way from S to D
 * (docs/migration.md 3.2). Each function is one arrow of the table there; models/forward.pml and
 * models/pair.pml check the same steps. The order of commands within a batch is part of the rule.
 */
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <inttypes.h>
#include <stdio.h>

static const struct gy_unit_names *names(const struct gy_task *t)
{
    return &t->view->move->names[t->route.unit];
}

/* Is the record's answer [st, run_id] this state, written for the server that answered? (race 15)
 */
bool gy_task_record_is(struct gy_task *t, uint32_t answer, const char *state)
{
    struct gy_slice a = gy_task_answer(t, answer);
    struct gy_reply *r = gy_reply_parse(a.p, a.n);
    bool is = r && r->type == '*' && r->count == 2 && gy_reply_is(&r->item[0], state) &&
              gy_reply_is(&r->item[1], t->batch.backend->greet.run_id);
    gy_reply_free(r);
    return is;
}

void gy_task_add_record(struct gy_task *t, struct gy_buf *out)
{
    gy_resp_cmd(out, "HMGET", names(t)->rec, "st", "run_id", NULL);
    gy_task_add(t);
}

/* ---- PREPARE: [cmd][record] on S; valid if it was still P after the command ---- */

static void prepare_read_checked(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    if (gy_task_record_is(t, 1, "P")) {
        gy_task_reply(t, gy_task_answer(t, 0));
    } else {
        gy_forward_read(t); /* D.rec is M already: that rule is right here too */
    }
}

void gy_forward_prepare_read(struct gy_task *t)
{
    struct gy_buf *out = gy_task_batch(t, t->route.src);
    if (out) {
        gy_task_add_command(t, out);
        gy_task_add_record(t, out);
        gy_task_run(t, prepare_read_checked);
    }
}

/* ---- MIGRATING: a read ---- */

static void recheck_marks(struct gy_task *t);

/* S has answered [cmd][EXISTS]. A missing key may be a frozen copy that expired after the key was
 * renewed at D (race 17). */
static void source_read(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    struct gy_slice exists = gy_task_answer(t, 1);
    char all[24];
    int n = snprintf(all, sizeof all, ":%" PRIu32 "\r\n", t->nkeys);
    if (exists.n == (size_t)n && memcmp(exists.p, all, exists.n) == 0) {
        gy_task_reply(t, gy_task_answer(t, 0));
        return;
    }
    struct gy_slice answer = gy_task_answer(t, 0);
    gy_buf_reset(&t->stash);
    gy_buf_add(&t->stash, answer.p, answer.n);
    struct gy_buf *out = gy_task_batch(t, t->route.dst);
    if (out) {
        gy_task_add_members(t, out, names(t)->marks);
        gy_task_run(t, recheck_marks);
    }
}

static void recheck_marks(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    uint32_t marked = gy_task_members(t, 0);
    if (marked == 0) {
        gy_task_reply(t, (struct gy_slice){gy_buf_head(&t->stash), gy_buf_size(&t->stash)});
    } else if (marked != UINT32_MAX) {
        gy_task_restart(t);
    }
}

void gy_task_source_read(struct gy_task *t)
{
    struct gy_buf *out = gy_task_batch(t, t->route.src);
    if (out) {
        gy_task_add_command(t, out);
        gy_task_add_exists(t, out);
        gy_task_run(t, source_read);
    }
}

static void read_moved(struct gy_task *t)
{
    gy_task_send(t, t->route.dst);
}

/* D has answered [HGET rec st][SISMEMBER a key...][cmd]. */
static void destination_read(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    struct gy_slice st = gy_task_answer(t, 0);
    bool complete = gy_slice_eq(st, GY_LIT("$1\r\nC\r\n"));
    if (!complete && !gy_slice_eq(st, GY_LIT("$1\r\nM\r\n"))) {
        gy_task_fail(
            t, "TRYAGAIN node '%s' has lost its record of the move; it is being written again",
            t->batch.backend->name);
        return;
    }
    uint32_t marked = gy_task_members(t, 1);
    if (marked == UINT32_MAX) {
        return;
    }
    gy_task_note_known(t);
    if (complete || marked == t->nkeys) {
        gy_task_reply(t, gy_task_answer(t, 1 + t->nkeys));
    } else if (marked == 0) {
        gy_task_source_read(t);
    } else {
        /* some here, some there: never S, never key by key (race 22) */
        gy_task_carry(t, false, read_moved);
    }
}

void gy_forward_read(struct gy_task *t)
{
    if (gy_task_all_known(t)) {
        read_moved(t);
        return;
    }
    struct gy_buf *out = gy_task_batch(t, t->route.dst);
    if (out) {
        gy_resp_cmd(out, "HGET", names(t)->rec, "st", NULL);
        gy_task_add(t);
        gy_task_add_members(t, out, names(t)->marks);
        gy_task_add_command(t, out);
        gy_task_run(t, destination_read);
    }
}

/* ---- MIGRATING: a write: every key is moved (ensure_moved), then the command goes to D ---- */

static void write_moved(struct gy_task *t)
{
    /* A connection made since the marks were read may be to a server that lost them (3.8): ask
     * again. */
    const struct gy_backend *d = gy_worker_backend(t->worker, t->route.dst);
    if (d->generation != t->marks_generation) {
        gy_task_restart(t);
        return;
    }
    gy_task_send(t, t->route.dst);
}

static void write_marks(struct gy_task *t)
{
    if (gy_task_batch_ok(t) && gy_task_members(t, 0) != UINT32_MAX) {
        t->marks_generation = t->batch.generation;
        gy_task_note_known(t);
        gy_task_carry(t, false, write_moved);
    }
}

void gy_forward_write(struct gy_task *t)
{
    if (gy_task_all_known(t)) {
        gy_task_send(t, t->route.dst);
        return;
    }
    struct gy_buf *out = gy_task_batch(t, t->route.dst);
    if (out) {
        gy_task_add_members(t, out, names(t)->marks);
        gy_task_run(t, write_marks);
    }
}
