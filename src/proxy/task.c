/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - life of a task, its batches, holding; see task.h. The rules: task_forward.c and
 * task_back.c. */
#include "proxy/task.h"

#include "base/alloc.h"
#include "proxy/dispatch.h"
#include "proxy/proxy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A rule starts over when the state changed under it; that often means that something is wrong. */
#define RESTARTS_MAX 32
/* A key of a gigabyte is dumped in less; a node that is frozen at that moment is noticed this late.
 */
#define PATIENT_MS 10000
/* At most so much stands around an argument: "$" its length CR LF ... CR LF. */
#define RESP_LINE 32

/* ---- batches ---- */

static void forget(struct gy_task *t)
{
    t->worker->room.gathered -= t->batch.counted;
    t->batch.counted = 0;
}

static void note_end(struct gy_batch *b)
{
    if (b->got == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 8;
        b->ends = gy_xrealloc(b->ends, b->cap, sizeof *b->ends);
    }
    b->ends[b->got++] = b->data.len;
    if (b->got == b->want) {
        struct gy_task *t = (struct gy_task *)b;
        t->step(t);
    }
}

static void on_chunk(struct gy_sink *s, const uint8_t *p, size_t n, bool last)
{
    struct gy_batch *b = (struct gy_batch *)s;
    struct gy_task *t = (struct gy_task *)s;
    b->came += n;
    if (!b->crowded && gy_room_gather(t->worker, n)) {
        b->counted += n;
        if (t->taking) {
            gy_room_redeem(t->worker, &t->promise, n);
        }
        gy_buf_add(&b->data, p, n);
    } else if (!b->crowded) {
        b->crowded = true;
        forget(t);
        gy_buf_fini(&b->data);
    }
    if (last) {
        note_end(b);
    }
}

static void on_fail(struct gy_sink *s, struct gy_backend *backend, bool sent, const char *why)
{
    (void)backend;
    struct gy_batch *b = (struct gy_batch *)s;
    b->failed = true;
    b->sent |= sent;
    snprintf(b->why, sizeof b->why, "%s", why);
    note_end(b);
}

struct gy_buf *gy_task_batch(struct gy_task *t, uint32_t server)
{
    struct gy_batch *b = &t->batch;
    forget(t);
    gy_buf_reset(&b->data);
    b->crowded = false;
    b->came = 0;
    b->want = b->got = 0;
    b->failed = b->sent = false;
    b->backend = gy_worker_backend(t->worker, server);
    struct gy_buf *out = gy_backend_begin(b->backend);
    b->generation = b->backend->generation;
    if (!out) {
        struct gy_buf text = {0};
        gy_backend_error(&text, b->backend, false, b->backend->why);
        t->worker->stats.errors++;
        gy_task_reply(t, (struct gy_slice){gy_buf_head(&text), gy_buf_size(&text)});
        gy_buf_fini(&text);
    }
    return out;
}

void gy_task_add(struct gy_task *t)
{
    t->batch.want++;
    gy_backend_expect(t->batch.backend, &t->batch.sink);
}

void gy_task_run(struct gy_task *t, void (*step)(struct gy_task *t))
{
    t->step = step;
}

struct gy_slice gy_task_answer(const struct gy_task *t, uint32_t i)
{
    const struct gy_batch *b = &t->batch;
    size_t from = i ? b->ends[i - 1] : 0;
    return (struct gy_slice){b->data.data + from, b->ends[i] - from};
}

bool gy_task_batch_ok(struct gy_task *t)
{
    struct gy_batch *b = &t->batch;
    if (b->crowded && !b->failed) {
        gy_task_fail(t, GY_TASK_NO_ROOM);
        return false;
    }
    if (!b->failed && !gy_buf_failed(&b->data)) {
        return true;
    }
    struct gy_buf text = {0};
    gy_backend_error(&text, b->backend, b->sent && t->write,
                     b->failed ? b->why : "out of memory for its answer");
    t->worker->stats.errors++;
    gy_task_reply(t, (struct gy_slice){gy_buf_head(&text), gy_buf_size(&text)});
    gy_buf_fini(&text);
    return false;
}

void gy_task_patience(struct gy_task *t, bool on)
{
    struct gy_backend *b = t->batch.backend;
    /* Another key given to a node that is at work buys it no time: a frozen one must be noticed
     * though writes keep coming. One that is done does. */
    if (!on || b->patients == 0) {
        b->patient_until = gy_loop_now(t->worker->loop) + PATIENT_MS;
    }
    b->patients = on ? b->patients + 1 : b->patients - 1;
}

/* ---- what batches are made of ---- */

struct gy_slice gy_task_key(const struct gy_task *t, uint32_t i)
{
    return (struct gy_slice){gy_buf_head(&t->cmd) + t->keys[i].off, t->keys[i].len};
}

void gy_task_add_members(struct gy_task *t, struct gy_buf *out, const char *set)
{
    for (uint32_t i = 0; i < t->nkeys; i++) {
        struct gy_slice argv[] = {GY_LIT("SISMEMBER"), gy_str(set), gy_task_key(t, i)};
        gy_resp_command(out, 3, argv);
        gy_task_add(t);
    }
}

void gy_task_add_exists(struct gy_task *t, struct gy_buf *out)
{
    gy_resp_array(out, 1 + (size_t)t->nkeys);
    gy_resp_bulk(out, "EXISTS", 6);
    for (uint32_t i = 0; i < t->nkeys; i++) {
        struct gy_slice key = gy_task_key(t, i);
        gy_resp_bulk(out, key.p, key.n);
    }
    gy_task_add(t);
}

void gy_task_add_command(struct gy_task *t, struct gy_buf *out)
{
    gy_buf_add(out, gy_buf_head(&t->cmd), gy_buf_size(&t->cmd));
    gy_task_add(t);
}

uint32_t gy_task_members(struct gy_task *t, uint32_t first)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < t->nkeys; i++) {
        struct gy_slice a = gy_task_answer(t, first + i);
        if (a.n < 4 || a.p[0] != ':') {
            gy_task_reply(t, a); /* -LOADING, -NOPERM, ...: the node's own words */
            return UINT32_MAX;
        }
        t->mark[i] = a.p[1] == '1';
        members += t->mark[i];
    }
    return members;
}

bool gy_task_all_known(const struct gy_task *t)
{
    for (uint32_t i = 0; i < t->nkeys; i++) {
        if (!gy_known_has(t->worker, t->view, &t->route, gy_task_key(t, i))) {
            return false;
        }
    }
    t->worker->stats.known++;
    return true;
}

void gy_task_note_known(struct gy_task *t)
{
    for (uint32_t i = 0; i < t->nkeys; i++) {
        if (t->mark[i]) {
            gy_known_add(t->worker, t->view, &t->route, t->batch.generation, gy_task_key(t, i));
        }
    }
}

/* ---- life ---- */

struct gy_task *gy_task_new(struct gy_worker *w, const struct gy_command *cmd)
{
    struct gy_task *t = gy_xcalloc(1, sizeof *t);
    t->batch.sink = (struct gy_sink){on_chunk, on_fail};
    t->worker = w;
    t->write = cmd->flags & GY_CMDF_WRITE;
    t->grows = cmd->flags & GY_CMDF_GROWS;
    t->since = gy_loop_now(w->loop);
    t->next = w->tasks;
    t->link = &w->tasks;
    if (t->next) {
        t->next->link = &t->next;
    }
    w->tasks = t;
    return t;
}

void gy_task_command(struct gy_task *t, const struct gy_slice *argv, size_t argc,
                     const uint32_t *keys, uint32_t nkeys)
{
    struct gy_span *spans = gy_xcalloc(argc, sizeof *spans);
    t->keys = gy_xcalloc(nkeys, sizeof *t->keys);
    t->mark = gy_xcalloc(nkeys, sizeof *t->mark);
    t->nkeys = nkeys;
    size_t bytes = RESP_LINE;
    for (size_t i = 0; i < argc; i++) {
        bytes += argv[i].n + RESP_LINE;
    }
    gy_buf_reserve(&t->cmd, bytes); /* once, or copies of a large one would be made as it grows */
    gy_resp_array(&t->cmd, argc);
    for (size_t i = 0; i < argc; i++) {
        gy_resp_bulk(&t->cmd, argv[i].p, argv[i].n);
        spans[i] = (struct gy_span){(uint32_t)(t->cmd.len - argv[i].n - 2), (uint32_t)argv[i].n};
    }
    for (uint32_t k = 0; k < nkeys; k++) {
        t->keys[k] = spans[keys[k]];
    }
    free(spans);
    t->request = gy_buf_size(&t->cmd) + GY_TASK_COST;
    t->worker->input_bytes += t->request;
}

static void free_task(struct gy_task *t)
{
    gy_carry_leave(t);
    gy_carry_end(t);
    *t->link = t->next;
    if (t->next) {
        t->next->link = t->link;
    }
    gy_task_rest(t);
    t->worker->room.gathered -= t->load;
    t->worker->input_bytes -= t->request;
    free(t->batch.ends);
    gy_buf_fini(&t->cmd);
    free(t->keys);
    free(t->mark);
    free(t);
}

void gy_task_rest(struct gy_task *t)
{
    gy_view_unref(t->view);
    t->view = NULL;
    forget(t);
    gy_buf_fini(&t->batch.data);
    gy_buf_fini(&t->stash);
}

static void unhold(struct gy_task *t)
{
    if (t->held) {
        uint64_t ms = gy_loop_now(t->worker->loop) - t->held_since;
        if (ms > t->worker->stats.longest_hold_ms) {
            t->worker->stats.longest_hold_ms = ms;
        }
        if (ms > atomic_load_explicit(&t->worker->hold_ms, memory_order_relaxed)) {
            atomic_store_explicit(&t->worker->hold_ms, ms, memory_order_relaxed);
        }
        t->held = false;
    }
}

void gy_task_reply(struct gy_task *t, struct gy_slice reply)
{
    unhold(t);
    t->done(t->owner, t->tag, reply);
    free_task(t);
}

void gy_task_fail(struct gy_task *t, const char *fmt, ...)
{
    struct gy_buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    gy_resp_verror(&b, fmt, ap);
    va_end(ap);
    t->worker->stats.errors++;
    gy_task_reply(t, (struct gy_slice){gy_buf_head(&b), gy_buf_size(&b)});
    gy_buf_fini(&b);
}

static void answered(struct gy_task *t)
{
    if (gy_task_batch_ok(t)) {
        gy_task_reply(t, gy_task_answer(t, 0));
    }
}

static void take_view(struct gy_task *t)
{
    gy_view_unref(t->view);
    t->view = gy_view_ref(t->worker->view);
}

/* Out of memory for a copy of the command: nothing may be done by half of it. */
static bool lacks_command(struct gy_task *t)
{
    if (gy_buf_failed(&t->cmd)) {
        gy_task_fail(t, "ERR the proxy has no memory left for so large a request");
        return true;
    }
    return false;
}

void gy_task_send(struct gy_task *t, uint32_t server)
{
    if (lacks_command(t)) {
        return;
    }
    if (!t->view) {
        take_view(t);
    }
    gy_carry_end(t);
    struct gy_buf *out = gy_task_batch(t, server);
    if (out) {
        gy_task_add_command(t, out);
        gy_buf_fini(&t->cmd); /* nothing starts over from here: once in memory is enough */
        gy_task_run(t, answered);
    }
}

static void hold(struct gy_task *t)
{
    gy_carry_end(t);
    if (!t->held_since) {
        t->held_since = gy_loop_now(t->worker->loop);
        t->worker->stats.held++;
    }
    t->held = true;
}

/* One row a state: what a read does, what a write does; NULL: the command goes raw
 * (gy_route_settled). */
static const struct {
    void (*read)(struct gy_task *t);
    void (*write)(struct gy_task *t);
} rules[GY_UNIT_STATE_COUNT] = {
    [GY_UNIT_PREPARE] = {gy_forward_prepare_read, hold},
    [GY_UNIT_FLIPPING] = {gy_forward_prepare_read, hold},
    [GY_UNIT_MIGRATING] = {gy_forward_read, gy_forward_write},
    [GY_UNIT_COMPLETING] = {gy_forward_read, gy_forward_write},
    [GY_UNIT_ABORT_PREPARE] = {gy_back_prepare_read, hold},
    [GY_UNIT_ABORT_FLIPPING] = {gy_back_prepare_read, hold},
    [GY_UNIT_ABORTING] = {gy_back_read, gy_back_write},
};

void gy_task_start(struct gy_task *t)
{
    if (lacks_command(t)) {
        return;
    }
    take_view(t);
    struct gy_slice key = gy_task_key(t, 0);
    t->route = gy_view_route(t->view, key.p, key.n);
    uint32_t server;
    if (t->route.src == GYRE_NONE) {
        gy_task_fail(t, "ERR no node takes keys: every weight is 0");
    } else if (gy_route_settled(&t->route, &server)) {
        unhold(t);
        gy_task_send(t, server);
    } else {
        void (*rule)(struct gy_task *) =
            t->write ? rules[t->route.state].write : rules[t->route.state].read;
        if (rule != hold) {
            unhold(t);
        }
        rule(t);
    }
}

void gy_task_restart(struct gy_task *t)
{
    gy_carry_end(t);
    if (++t->restarts > RESTARTS_MAX) {
        gy_task_fail(t, "TRYAGAIN the key is being moved and its state keeps changing");
        return;
    }
    gy_task_start(t);
}

void gy_tasks_review(struct gy_worker *w)
{
    for (struct gy_task *t = w->tasks, *next; t; t = next) {
        next = t->next;
        if (t->held) {
            gy_task_start(t);
        }
    }
}

void gy_tasks_expire(struct gy_worker *w, uint64_t now)
{
    uint64_t most = w->proxy->config->proxy.timeout_ms * 2u;
    for (struct gy_task *t = w->tasks, *next; t; t = next) {
        next = t->next;
        if (t->held && now > t->held_since + most) {
            gy_task_fail(
                t,
                "TRYAGAIN the key is being moved and its node does not answer; the command was not executed");
        } else if (gy_carry_waits(t) && now > t->waits_since + most + PATIENT_MS) {
            gy_task_fail(
                t,
                "TRYAGAIN the key is being moved and that takes long; the command was not executed");
        }
    }
}

bool gy_tasks_older(const struct gy_worker *w, uint64_t seq)
{
    for (const struct gy_task *t = w->tasks; t; t = t->next) {
        if (!t->held && !t->line && t->view->seq < seq) {
            return true;
        }
    }
    return false;
}

void gy_tasks_free(struct gy_worker *w)
{
    while (w->tasks) {
        struct gy_task *t = w->tasks;
        t->held = false; /* the loop and its clock are gone */
        gy_task_reply(t, (struct gy_slice){(const uint8_t *)"", 0}); /* its owner frees itself */
    }
}
