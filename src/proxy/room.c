/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - see room.h. */
#include "proxy/room.h"

#include "proxy/client.h"
#include "proxy/worker.h"

/* Less than this left unread is a client that reads: what one turn brought is not flushed yet. */
#define IN_PASSING (256u * 1024)
/* How long nodes may be kept waiting again and again, though everybody reads a little; and how long
 * after that until the next one is closed. */
#define SHORT_MAX_MS   1000
#define SHORT_AGAIN_MS 250
/* Who comes right after one that was closed has the rest of the patience, not a new one. */
#define CALM_AFTER_MS 5000
/* As many values may be on their way before it is known how large they are. */
#define FIRST_VALUES 4
/* Closed at most in one tick, the largest first. */
#define EVICTED_A_TICK 64

void gy_room_init(struct gy_room *r, size_t memory)
{
    r->budget = memory / 2;
    r->value_peak = r->budget / 2 / FIRST_VALUES;
}

static size_t held(const struct gy_room *r)
{
    return r->unread + r->gathered;
}

static void count(struct gy_worker *w)
{
    w->room.unread = 0;
    for (const struct gy_client *c = w->clients; c; c = c->next) {
        w->room.unread += c->conn.closing ? 0 : gy_client_unread(c);
    }
    w->room.counted = gy_loop_now(w->loop);
}

/* Is more than `limit` held? What was read since the last count does not count, so count before
 * saying yes, but not more than once a millisecond. */
static bool exceeds(struct gy_worker *w, size_t more, size_t limit)
{
    if (held(&w->room) + more <= limit) {
        return false;
    }
    if (w->room.counted != gy_loop_now(w->loop)) {
        count(w);
    }
    return held(&w->room) + more > limit;
}

bool gy_room_for_command(struct gy_client *c)
{
    struct gy_worker *w = c->worker;
    struct gy_room *r = &w->room;
    if (!exceeds(w, r->expected, r->budget)) {
        return true;
    }
    r->refused = true;
    /* One answer at a time, only to those that read; and large ones not at all for now. */
    return c->inflight == 0 && gy_client_unread(c) == 0 && c->reply_peak < r->budget / 64;
}

void gy_room_answer(struct gy_client *c, size_t n)
{
    struct gy_worker *w = c->worker;
    w->room.unread += n;
    if (exceeds(w, 0, w->room.budget) && gy_client_unread(c) > IN_PASSING) {
        w->room.pressed = true;
    }
}

void gy_room_pause(struct gy_backend *b)
{
    struct gy_room *r = &b->worker->room;
    r->pressed = false;
    if (b->paused || b->conn.closing) {
        return;
    }
    b->paused = true;
    gy_conn_read(&b->conn, false);
    r->paused++;
    r->calm_until = gy_loop_now(b->worker->loop) + CALM_AFTER_MS;
    if (!r->short_since) {
        r->short_since = gy_loop_now(b->worker->loop);
    }
}

void gy_room_unpause(struct gy_backend *b)
{
    if (b->paused) {
        b->paused = false;
        b->worker->room.paused--;
        gy_conn_read(&b->conn, true);
    }
}

bool gy_room_gather(struct gy_worker *w, size_t n)
{
    if (w->room.gathered + n > gy_room_most(w)) {
        return false;
    }
    w->room.gathered += n;
    return true;
}

size_t gy_room_most(const struct gy_worker *w)
{
    return w->room.budget / 2;
}

bool gy_room_promise(struct gy_worker *w, size_t need, size_t *promise)
{
    struct gy_room *r = &w->room;
    size_t most = gy_room_most(w), want = need ? need : r->value_peak;
    want = want < most ? want : most;
    if (r->gathered + r->promised + want > most) {
        return false;
    }
    *promise = want;
    r->promised += want;
    return true;
}

void gy_room_redeem(struct gy_worker *w, size_t *promise, size_t n)
{
    n = n < *promise ? n : *promise;
    *promise -= n;
    w->room.promised -= n;
}

/* One that is larger counts at once, a peak is forgotten slowly: as with answers to clients. */
void gy_room_learn(struct gy_worker *w, size_t size)
{
    struct gy_room *r = &w->room;
    if (size > r->value_peak) {
        r->value_peak = size;
    } else {
        r->value_peak -= (r->value_peak - size) / 16;
    }
}

void gy_room_turn(struct gy_worker *w)
{
    if (w->room.paused == 0) {
        return;
    }
    count(w);
    if (held(&w->room) <= w->room.budget - w->room.budget / 8) {
        for (uint32_t i = 0; i < w->nbackends; i++) {
            gy_room_unpause(w->backends[i]);
        }
    }
}

/* The client that holds most; of those that take nothing only, unless anybody will do. */
static struct gy_client *heaviest(const struct gy_worker *w, uint64_t now, bool anybody)
{
    struct gy_client *most = NULL;
    for (struct gy_client *c = w->clients; c; c = c->next) {
        if (!c->conn.closing && gy_client_unread(c) > (most ? gy_client_unread(most) : 0) &&
            (anybody || gy_client_idles(c, now))) {
            most = c;
        }
    }
    return most;
}

static void evict(struct gy_worker *w, uint64_t now)
{
    struct gy_room *r = &w->room;
    bool anybody = r->short_since && now - r->short_since > SHORT_MAX_MS;
    for (unsigned i = 0; i < EVICTED_A_TICK && held(r) > r->budget / 2; i++) {
        struct gy_client *c = heaviest(w, now, anybody);
        if (!c) {
            break;
        }
        gy_client_evict(c);
        count(w);
        if (anybody) { /* see what that has changed before the next one */
            r->short_since = now - SHORT_MAX_MS + SHORT_AGAIN_MS;
            anybody = false;
        }
    }
}

void gy_room_tick(struct gy_worker *w, uint64_t now)
{
    struct gy_room *r = &w->room;
    if (r->short_since || r->refused) {
        r->refused = false;
        count(w);
        evict(w, now);
        gy_room_turn(w);
        if (held(r) <= r->budget / 2 && now > r->calm_until) {
            r->short_since = 0;
        }
    }
    if (r->starving) {
        r->starving = false;
        for (struct gy_client *c = w->clients, *next; c; c = next) {
            next = c->next; /* none is freed in here: closing ends in a later turn */
            gy_client_resume(c);
        }
    }
}
