/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c - what serves now, published to many threads. A read is two stores and two loads, none of
 * them on a line another reader writes: no lock, no loop, no allocation, so it is wait-free.
 *
 * The race every such scheme has to answer. A reader loads the pointer; before it can say that it
 * uses what it points to, the publisher swaps the pointer and frees the old one. So a reader says
 * first "I am reading, since epoch E" in a seat of its own, and loads the pointer then:
 *
 *     reader     R1  e = epoch               publisher  W1  old = exchange(current, new)
 *                R2  seat = e                           W2  tag = ++epoch; old waits with tag
 *                R3  p = current                        W3  look at every seat
 *                ... reads through p ...                    free what waits if each seat is 0
 *                R4  seat = 0                               or >= its tag
 *
 * Claim: when W3 frees something, nobody reads it. Say a reader got p = old from R3, and W3 read
 * this reader's seat.
 *   (1) All of these are sequentially consistent, so they have one order S. R3 got what W1 took
 *       away, so R3 is before W1 in S; with program order R2 < R3 < W1 < W3. So W3 sees the value
 *       of R2, or a later one of that seat.
 *   (2) R1 < R2 < R3 < W1 < W2, so e is a value from before W2: e < tag. Seeing it frees nothing.
 *   (3) A later value comes after R4 in the seat's order. R4 releases and W3 acquires, so all that
 *       was read through p happened before the freeing.
 * What waits from earlier swaps has a smaller tag and its own W1, W2 before this W3: the same
 * holds. A seat is never freed before the view, and one taken later begins at 0, so W3 misses no
 * seat that matters: if its reader sat down after W3 passed, its R3 comes after W1 and gets the new
 * one. models/view.pml has this as a model, with the orders that lose.
 *
 * The rule of reclamation that follows: what was replaced is freed by the first publish or reclaim
 * after the last reader who entered before the swap has left. A reader that never leaves keeps all
 * that was replaced since; it never keeps the publisher waiting.
 *
 * Threads: readers any, one at a time each; publishers any, and one who comes while another is at
 * it is told so.
 */
#include <stdatomic.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/stage.h"

#define LINE 128 /* two cache lines: the prefetcher takes them in pairs */

/* A seat. Never freed before the view, so that a publisher may look at all of them at any time. */
struct gyre_reader {
    atomic_uint_fast64_t since; /* 0: not reading */
    gyre_view_t *view;
    struct gyre_reader *next;
    atomic_bool taken;
    unsigned depth; /* how often it entered; the owner's alone */
    char pad[LINE - 32];
};
_Static_assert(sizeof(struct gyre_reader) == LINE, "a reader writes to no line but its own");

struct published {
    struct gyre_stage stage;
    struct published *next; /* among those that wait */
    uint64_t tag;
};

struct gyre_view {
    _Atomic(struct published *) current;
    atomic_uint_fast64_t epoch; /* from 1 */
    _Atomic(struct gyre_reader *) seats;
    char pad[LINE - 24]; /* what follows is the publishers' */
    atomic_flag publishing;
    struct published *waiting;
};

static int make_published(const struct gyre_stage *s, struct published **out, gyre_error_t *e)
{
    int err = gy_stage_check(s, e);
    *out = NULL;
    if (err) {
        return err;
    }
    struct published *p = gy_mem_alloc(1, sizeof *p);
    if (!p) {
        return gy_fail_nomem(e);
    }
    gy_stage_hold(s);
    *p = (struct published){.stage = *s};
    p->stage.size = sizeof p->stage;
    *out = p;
    return GYRE_OK;
}

static void free_published(struct published *p)
{
    gy_stage_drop(&p->stage);
    gy_mem_free(p);
}

int gyre_view_new(const struct gyre_stage *first, gyre_view_t **out, gyre_error_t *e)
{
    struct published *p;
    *out = NULL;
    int err = make_published(first, &p, e);
    if (err) {
        return err;
    }
    gyre_view_t *v = gy_mem_alloc(1, sizeof *v);
    if (!v) {
        free_published(p);
        return gy_fail_nomem(e);
    }
    atomic_init(&v->current, p);
    atomic_init(&v->epoch, 1);
    atomic_init(&v->seats, NULL);
    atomic_flag_clear_explicit(&v->publishing, memory_order_relaxed); /* nobody else knows it yet */
    v->waiting = NULL;
    *out = v;
    return GYRE_OK;
}

/* Frees what no reader can be looking at. Returns how many still wait. */
static size_t sweep(gyre_view_t *v)
{
    uint64_t oldest = UINT64_MAX;
    for (struct gyre_reader *r = atomic_load(&v->seats); r; r = r->next) {
        uint64_t since = atomic_load(&r->since); /* W3 */
        oldest = since && since < oldest ? since : oldest;
    }
    size_t left = 0;
    struct published **at = &v->waiting;
    while (*at) {
        struct published *p = *at;
        if (oldest < p->tag) {
            at = &p->next;
            left++;
        } else {
            *at = p->next;
            free_published(p);
        }
    }
    return left;
}

/* Acquire, and release in publish_end: what waits is handed from publisher to publisher. */
static int publish_begin(gyre_view_t *v, gyre_error_t *e)
{
    return atomic_flag_test_and_set_explicit(&v->publishing, memory_order_acquire)
               ? gy_fail(e, GYRE_CONFLICT, "another thread is publishing to this view")
               : GYRE_OK;
}

static void publish_end(gyre_view_t *v)
{
    atomic_flag_clear_explicit(&v->publishing, memory_order_release);
}

/* A message that comes late must not bring an old fleet back. */
static int check_version(const gyre_view_t *v, const struct gyre_stage *s, gyre_error_t *e)
{
    /* Relaxed: only publishers change it, and they take turns. */
    const struct published *now = atomic_load_explicit(&v->current, memory_order_relaxed);
    uint64_t have = gy_stage_version(&now->stage), comes = gy_stage_version(s);
    return comes < have ? gy_stage_stale(comes, have, e) : GYRE_OK;
}

int gyre_view_publish(gyre_view_t *v, const struct gyre_stage *s, gyre_error_t *e)
{
    struct published *p;
    int err = make_published(s, &p, e);
    if (err) {
        return err;
    }
    err = publish_begin(v, e);
    if (err) {
        free_published(p);
        return err;
    }
    err = check_version(v, s, e);
    if (!err) {
        struct published *old = atomic_exchange(&v->current, p); /* W1 */
        old->tag = atomic_fetch_add(&v->epoch, 1) + 1;           /* W2 */
        old->next = v->waiting;
        v->waiting = old;
        sweep(v);
    }
    publish_end(v);
    if (err) {
        free_published(p);
    }
    return err;
}

int gyre_view_reclaim(gyre_view_t *v, size_t *left, gyre_error_t *e)
{
    int err = publish_begin(v, e);
    if (err) {
        return err;
    }
    size_t waits = sweep(v);
    publish_end(v);
    if (left) {
        *left = waits;
    }
    return GYRE_OK;
}

void gyre_view_free(gyre_view_t *v)
{
    if (!v) {
        return;
    }
    free_published(atomic_load(&v->current));
    for (struct published *p = v->waiting, *next; p; p = next) {
        next = p->next;
        free_published(p);
    }
    for (struct gyre_reader *r = atomic_load(&v->seats), *next; r; r = next) {
        next = r->next;
        gy_mem_free(r);
    }
    gy_mem_free(v);
}

/* A seat somebody left, or NULL. Acquire: its last owner is done with its members. */
static struct gyre_reader *take_seat(gyre_view_t *v)
{
    for (struct gyre_reader *r = atomic_load(&v->seats); r; r = r->next) {
        bool free_seat = false;
        if (atomic_compare_exchange_strong_explicit(&r->taken, &free_seat, true,
                                                    memory_order_acquire, memory_order_relaxed)) {
            return r;
        }
    }
    return NULL;
}

int gyre_reader_new(gyre_view_t *v, gyre_reader_t **out, gyre_error_t *e)
{
    *out = take_seat(v);
    if (*out) {
        return GYRE_OK;
    }
    struct gyre_reader *r = gy_mem_alloc(1, sizeof *r);
    if (!r) {
        return gy_fail_nomem(e);
    }
    atomic_init(&r->since, 0);
    atomic_init(&r->taken, true);
    r->view = v;
    r->depth = 0;
    r->next = atomic_load(&v->seats);
    while (!atomic_compare_exchange_weak(&v->seats, &r->next, r)) {
    }
    *out = r;
    return GYRE_OK;
}

void gyre_reader_free(gyre_reader_t *r)
{
    if (r) {
        r->depth = 0;
        atomic_store(&r->since, 0);
        /* Release: the next owner comes after all this one did. */
        atomic_store_explicit(&r->taken, false, memory_order_release);
    }
}

const struct gyre_stage *gyre_reader_enter(gyre_reader_t *r)
{
    /* Entered twice, the older epoch stays: it protects what came since as well. */
    if (r->depth++ == 0) {
        atomic_store(&r->since, atomic_load(&r->view->epoch)); /* R1, R2 */
    }
    return &atomic_load(&r->view->current)->stage; /* R3 */
}

void gyre_reader_leave(gyre_reader_t *r)
{
    if (r->depth && --r->depth == 0) {
        /* R4; release is all that (3) asks for. */
        atomic_store_explicit(&r->since, 0, memory_order_release);
    }
}
