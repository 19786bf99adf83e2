/* SPDX-License-Identifier: Apache-2.0 */
/* carries.c - see carries.h. A tree, not a hash table: nobody can choose keys that make it slow. */
#include "proxy/carries.h"

#include "base/alloc.h"
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <search.h>
#include <stdlib.h>

/* One key on its way. It has a carrier as long as it exists. */
struct gy_carry {
    uint64_t id[3];       /* epoch; unit and attempt; direction */
    struct gy_slice key;  /* the carrier's */
    struct gy_line after; /* those who wait for it */
};

static int order(const void *a, const void *b)
{
    const struct gy_carry *x = a, *y = b;
    int by = memcmp(x->id, y->id, sizeof x->id);
    if (by == 0) {
        by = (x->key.n > y->key.n) - (x->key.n < y->key.n);
    }
    return by ? by : memcmp(x->key.p, y->key.p, x->key.n);
}

/* ---- lines ---- */

static void join(struct gy_line *l, struct gy_task *t)
{
    if (!l->first) {
        l->tail = &l->first;
    }
    t->line = l;
    t->line_next = NULL;
    t->line_link = l->tail;
    *l->tail = t;
    l->tail = &t->line_next;
}

void gy_carry_leave(struct gy_task *t)
{
    if (!t->line) {
        return;
    }
    *t->line_link = t->line_next;
    if (t->line_next) {
        t->line_next->line_link = t->line_link;
    } else {
        t->line->tail = t->line_link;
    }
    t->line = NULL;
}

static void call(struct gy_task *t)
{
    gy_carry_leave(t);
    join(&t->worker->carries.called, t);
}

static void wait_in(struct gy_line *l, struct gy_task *t)
{
    if (!t->waits_since) {
        t->waits_since = gy_loop_now(t->worker->loop);
        t->worker->stats.waited++;
    }
    t->taking = false;
    gy_task_rest(t);
    join(l, t);
}

bool gy_carry_waits(const struct gy_task *t)
{
    return t->line && t->line != &t->worker->carries.called;
}

/* ---- carries ---- */

/* The key becomes t's to carry, unless it is somebody's: then that carry. */
static struct gy_carry *take_up(struct gy_task *t)
{
    struct gy_carries *all = &t->worker->carries;
    uint32_t unit = t->route.unit;
    struct gy_carry wanted = {
        .id = {t->view->move->epoch, (uint64_t)unit << 32 | t->view->attempt[unit], t->backward},
        .key = gy_task_key(t, t->at),
    };
    struct gy_carry *const *found = tfind(&wanted, &all->keys, order);
    struct gy_carry *c = found ? *found : NULL;
    if (c && c == t->carry) {
        return NULL;
    }
    gy_carry_end(t); /* what it was called for is not what it needs now */
    if (c) {
        return c;
    }
    c = gy_xcalloc(1, sizeof *c);
    *c = wanted;
    if (tsearch(c, &all->keys, order)) {
        t->carry = c;
    } else {
        free(c); /* no memory to note it: it is carried all the same */
    }
    return NULL;
}

bool gy_carry_begin(struct gy_task *t)
{
    struct gy_worker *w = t->worker;
    struct gy_carry *others = take_up(t);
    if (others) {
        wait_in(&others->after, t);
        return false;
    }
    /* A promise is had by who was called out of the line. */
    if (!t->promise && (w->carries.roomless.first || !gy_room_promise(w, t->need, &t->promise))) {
        wait_in(&w->carries.roomless, t);
        return false;
    }
    t->taking = true;
    return true;
}

void gy_carry_await_room(struct gy_task *t, size_t need)
{
    t->need = need;
    wait_in(&t->worker->carries.roomless, t);
}

static void call_all(struct gy_carry *c, struct gy_worker *w)
{
    tdelete(c, &w->carries.keys, order);
    while (c->after.first) {
        call(c->after.first);
    }
    free(c);
}

static void hand_over(struct gy_carry *c)
{
    struct gy_task *next = c->after.first;
    call(next);
    next->carry = c;
    c->key = gy_task_key(next, next->at); /* the same bytes: its place in the tree stays */
}

void gy_carry_end(struct gy_task *t)
{
    struct gy_carry *c = t->carry;
    bool failed = t->taking;
    gy_room_redeem(t->worker, &t->promise, t->promise);
    t->need = 0;
    t->taking = false;
    t->carry = NULL;
    if (c && failed && c->after.first) {
        hand_over(c);
    } else if (c) {
        call_all(c, t->worker);
    }
}

void gy_carries_turn(struct gy_worker *w)
{
    struct gy_carries *all = &w->carries;
    struct gy_task *t;
    while ((t = all->roomless.first) && gy_room_promise(w, t->need, &t->promise)) {
        call(t);
    }
    while ((t = all->called.first)) {
        gy_carry_leave(t);
        gy_task_start(t);
    }
}
