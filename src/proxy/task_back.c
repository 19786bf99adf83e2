/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_back.c - reads and writes of a unit that is being taken back from D to S
 * (docs/migration.md 3.5; models/abort.pml). "All" below: the abort began in COMPLETE, so
 * everything of the unit at D is D's, marked or not.
 */
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <inttypes.h>
#include <stdio.h>

static const struct gy_unit_names *names(const struct gy_task *t)
{
    return &t->view->move->names[t->route.unit];
}

static bool all(const struct gy_task *t)
{
    return t->view->from_complete[t->route.unit];
}

/* ---- ABORT_PREPARE: [SISMEMBER a key...][cmd][record] on D; valid if D was not frozen yet after
 * the command ---- */

static void prepare_read_checked(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    if (!gy_task_record_is(t, t->nkeys + 1, all(t) ? "C" : "M")) {
        gy_back_read(t);
        return;
    }
    uint32_t marked = gy_task_members(t, 0);
    if (marked == UINT32_MAX) {
        return;
    }
    if (all(t) || marked == t->nkeys) {
        gy_task_reply(t, gy_task_answer(t, t->nkeys));
    } else if (marked == 0) {
        gy_task_source_read(t);
    } else {
        gy_task_carry(t, false, gy_task_restart);
    }
}

void gy_back_prepare_read(struct gy_task *t)
{
    struct gy_buf *out = gy_task_batch(t, t->route.dst);
    if (out) {
        gy_task_add_members(t, out, names(t)->marks);
        gy_task_add_command(t, out);
        gy_task_add_record(t, out);
        gy_task_run(t, prepare_read_checked);
    }
}

static void to_source(struct gy_task *t)
{
    gy_task_send(t, t->route.src);
}

/* t->mark says which keys are back already; the others follow, then the command goes to S. */
static void bring_back(struct gy_task *t)
{
    gy_task_carry(t, true, to_source);
}

/* ---- ABORTING: a read ---- */

static void keep_stash(struct gy_task *t, uint32_t answer)
{
    struct gy_slice a = gy_task_answer(t, answer);
    gy_buf_reset(&t->stash);
    gy_buf_add(&t->stash, a.p, a.n);
}

static void reply_stash(struct gy_task *t)
{
    gy_task_reply(t, (struct gy_slice){gy_buf_head(&t->stash), gy_buf_size(&t->stash)});
}

/* D missed a key; S has answered [SISMEMBER a key...] once more. */
static void recheck_back(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    uint32_t back = gy_task_members(t, 0);
    if (back == 0) {
        reply_stash(t);
    } else if (back != UINT32_MAX) {
        gy_task_restart(t);
    }
}

/* D has answered [SISMEMBER a key...][cmd][EXISTS]. The stash has S's answer, from when nothing was
 * back there. */
static void destination_read(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    uint32_t moved = gy_task_members(t, 0);
    if (moved == UINT32_MAX) {
        return;
    }
    if (all(t)) {
        moved = t->nkeys;
    }
    if (moved == 0) {
        reply_stash(t);
        return;
    }
    if (moved < t->nkeys) {
        memset(t->mark, 0, t->nkeys * sizeof *t->mark); /* none of them is back yet */
        bring_back(t);
        return;
    }
    struct gy_slice exists = gy_task_answer(t, t->nkeys + 1);
    char every[24];
    int n = snprintf(every, sizeof every, ":%" PRIu32 "\r\n", t->nkeys);
    if (exists.n == (size_t)n && memcmp(exists.p, every, exists.n) == 0) {
        gy_task_reply(t, gy_task_answer(t, t->nkeys));
        return;
    }
    keep_stash(t, t->nkeys);
    struct gy_buf *out = gy_task_batch(t, t->route.src);
    if (out) {
        gy_task_add_members(t, out, names(t)->back);
        gy_task_run(t, recheck_back);
    }
}

/* S has answered [HGET rec st][SISMEMBER a key...][cmd]. */
static void source_read(struct gy_task *t)
{
    if (!gy_task_batch_ok(t)) {
        return;
    }
    struct gy_slice st = gy_task_answer(t, 0);
    bool open = gy_slice_eq(st, GY_LIT("$1\r\nO\r\n"));
    if (!open && !gy_slice_eq(st, GY_LIT("$1\r\nB\r\n"))) {
        gy_task_fail(
            t, "TRYAGAIN node '%s' has lost its record of the move; it is being written again",
            t->batch.backend->name);
        return;
    }
    uint32_t back = gy_task_members(t, 1);
    if (back == UINT32_MAX) {
        return;
    }
    if (open || back == t->nkeys) {
        gy_task_reply(t, gy_task_answer(t, 1 + t->nkeys));
        return;
    }
    if (back) {
        bring_back(t);
        return;
    }
    keep_stash(t, 1 + t->nkeys);
    struct gy_buf *out = gy_task_batch(t, t->route.dst);
    if (out) {
        gy_task_add_members(t, out, names(t)->marks);
        gy_task_add_command(t, out);
        gy_task_add_exists(t, out);
        gy_task_run(t, destination_read);
    }
}

void gy_back_read(struct gy_task *t)
{
    struct gy_buf *out = gy_task_batch(t, t->route.src);
    if (out) {
        gy_resp_cmd(out, "HGET", names(t)->rec, "st", NULL);
        gy_task_add(t);
        gy_task_add_members(t, out, names(t)->back);
        gy_task_add_command(t, out);
        gy_task_run(t, source_read);
    }
}

static void write_marks(struct gy_task *t)
{
    if (gy_task_batch_ok(t) && gy_task_members(t, 0) != UINT32_MAX) {
        bring_back(t);
    }
}

void gy_back_write(struct gy_task *t)
{
    struct gy_buf *out = gy_task_batch(t, t->route.src);
    if (out) {
        gy_task_add_members(t, out, names(t)->back);
        gy_task_run(t, write_marks);
    }
}
