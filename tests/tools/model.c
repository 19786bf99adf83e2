/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - the history of each key and the judgement of each read.
 *
 * Versions are kept in the order of the one writer. Version i is a legal answer to a read sent at
 * r0 and answered at r1 if it was invoked by r1 and no later version was settled before r0. The
 * earliest legal match of a read settles that version at r1: no later read may go behind it, which
 * makes reads monotone over all readers. Versions nobody can read any more are dropped when the
 * array is full.
 */
#include "checker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Server clock against ours, and how late an expired key may still be seen. */
#define TTL_EARLY (100 * CHK_MS)
#define TTL_LATE  (1000 * CHK_MS)

int64_t chk_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * CHK_S + t.tv_nsec;
}

/* splitmix64's finaliser. */
uint64_t chk_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint32_t chk_count(const struct chk_state *s)
{
    if (s->n != 0) {
        return s->n;
    }
    uint32_t n = 0;
    for (unsigned i = 0; i < CHK_ELEMS; i++) {
        n += s->e[i] != 0;
    }
    return n;
}

bool chk_missing(const struct chk_state *s)
{
    return chk_count(s) == 0;
}

static pthread_mutex_t *lock_of(struct chk_world *w, const struct chk_key *k)
{
    return &w->locks[k->id % 256];
}

static int64_t oldest_read(struct chk_world *w)
{
    int64_t t = CHK_NEVER;
    for (unsigned i = 0; i < w->conf.clients; i++) {
        int64_t x = atomic_load(&w->inflight[i]);
        t = x < t ? x : t;
    }
    return t;
}

/* Drops what no read under way or to come can legally see. */
static void trim(struct chk_world *w, struct chk_key *k)
{
    int64_t t = oldest_read(w);
    uint32_t keep = 0;
    for (uint32_t i = 1; i < k->nv; i++) {
        if (k->v[i].settled < t) {
            keep = i;
        }
    }
    memmove(k->v, k->v + keep, (k->nv - keep) * sizeof *k->v);
    k->nv -= keep;
}

static bool push(struct chk_world *w, struct chk_key *k, const struct chk_state *s, int64_t invoke,
                 int64_t settled)
{
    if (k->nv == k->cap && k->cap != 0) {
        trim(w, k);
    }
    if (k->nv == k->cap) {
        uint32_t cap = k->cap == 0 ? 4 : k->cap * 2;
        struct chk_version *v = realloc(k->v, cap * sizeof *v);
        if (v == NULL) {
            return false;
        }
        k->v = v;
        k->cap = cap;
    }
    k->v[k->nv++] = (struct chk_version){*s, invoke, settled};
    return true;
}

void chk_reset(struct chk_world *w, struct chk_key *k, int64_t now)
{
    pthread_mutex_lock(lock_of(w, k));
    k->nv = 0;
    memset(&k->cur, 0, sizeof k->cur);
    k->parked = k->pending = k->expires = false;
    if (!push(w, k, &k->cur, 0, now)) {
        abort();
    }
    pthread_mutex_unlock(lock_of(w, k));
}

bool chk_begin(struct chk_world *w, struct chk_key *k, const struct chk_state *s, int64_t now,
               int64_t ttl_ms)
{
    static const struct chk_state gone;
    pthread_mutex_lock(lock_of(w, k));
    bool ok = push(w, k, s, now, CHK_NEVER);
    k->expires = ttl_ms > 0;
    if (ok && ttl_ms > 0) {
        ok = push(w, k, &gone, now + ttl_ms * CHK_MS - TTL_EARLY, CHK_NEVER);
    }
    k->prev = k->cur;
    k->cur = *s;
    k->pending = true;
    pthread_mutex_unlock(lock_of(w, k));
    return ok;
}

void chk_commit(struct chk_world *w, struct chk_key *k, int64_t now, int64_t ttl_ms)
{
    pthread_mutex_lock(lock_of(w, k));
    struct chk_version *v = &k->v[k->nv - 1 - (k->expires ? 1 : 0)];
    v->settled = now < v->settled ? now : v->settled;
    if (k->expires) {
        int64_t hi = now + ttl_ms * CHK_MS + TTL_LATE;
        v[1].settled = hi < v[1].settled ? hi : v[1].settled;
        k->ttl_lo = v[1].invoke;
        k->ttl_hi = hi;
    }
    k->pending = false;
    pthread_mutex_unlock(lock_of(w, k));
}

static void undo(struct chk_key *k)
{
    k->nv -= k->expires ? 2 : 1;
    k->cur = k->prev;
    k->expires = false;
    k->pending = k->parked = false;
}

enum chk_fault chk_refuse(struct chk_world *w, struct chk_key *k)
{
    pthread_mutex_lock(lock_of(w, k));
    struct chk_version *v = &k->v[k->nv - 1 - (k->expires ? 1 : 0)];
    enum chk_fault f = v->settled != CHK_NEVER ? CHK_WRONG : CHK_FINE;
    undo(k);
    pthread_mutex_unlock(lock_of(w, k));
    return f;
}

void chk_doubt(struct chk_world *w, struct chk_key *k, int64_t now)
{
    pthread_mutex_lock(lock_of(w, k));
    k->parked = true;
    k->pending = false;
    k->parked_at = now;
    pthread_mutex_unlock(lock_of(w, k));
}

bool chk_free(struct chk_world *w, struct chk_key *k)
{
    if (k->pending) {
        return false;
    }
    if (!k->parked) {
        return true;
    }
    pthread_mutex_lock(lock_of(w, k));
    /* An expiring value that was seen still has to go at an unknown time: chk_settle waits. */
    if (!k->expires && k->v[k->nv - 1].settled != CHK_NEVER) {
        k->parked = false;
    }
    pthread_mutex_unlock(lock_of(w, k));
    return !k->parked;
}

void chk_settle(struct chk_world *w, struct chk_key *k, const struct chk_obs *o, int64_t r0,
                int64_t r1)
{
    pthread_mutex_lock(lock_of(w, k));
    int64_t wait = (int64_t)w->conf.settle_ms * CHK_MS;
    if (k->parked && k->expires && chk_missing(&o->s) && r0 > k->parked_at + wait &&
        r0 > k->v[k->nv - 1].invoke + TTL_LATE) {
        k->v[k->nv - 1].settled = r1;
        k->parked = false;
    } else if (k->parked && !k->expires && r0 > k->parked_at + wait &&
               k->v[k->nv - 1].settled == CHK_NEVER && memcmp(&o->s, &k->prev, sizeof o->s) == 0) {
        undo(k);
    }
    pthread_mutex_unlock(lock_of(w, k));
}

static bool match(const struct chk_world *w, const struct chk_key *k, const struct chk_state *s,
                  const struct chk_obs *o)
{
    switch (o->kind) {
    case CHK_SEE_ALL:
        return memcmp(s, &o->s, sizeof *s) == 0;
    case CHK_SEE_ELEM:
        return s->e[o->index] == o->number;
    case CHK_SEE_COUNT:
        return chk_count(s) == o->number;
    case CHK_SEE_EXISTS:
        return !chk_missing(s) == (o->number != 0);
    case CHK_SEE_LENGTH:
        return (int64_t)chk_length(w, k, s) == o->number;
    }
    return false;
}

/* A name for what is wrong: something missing that should be there, something old, or nonsense. */
static enum chk_fault classify(const struct chk_key *k, const struct chk_obs *o)
{
    const struct chk_state *now = &k->v[k->nv - 1].s;
    bool empty = o->kind == CHK_SEE_ALL ? chk_missing(&o->s) : o->number == 0;
    if (o->garbage) {
        return CHK_WRONG;
    }
    if (empty) {
        return CHK_LOST;
    }
    if (chk_missing(now)) {
        return CHK_RESURRECTED;
    }
    int32_t newest = o->kind == CHK_SEE_ELEM ? (int32_t)o->number : 0;
    for (unsigned i = 0; o->kind == CHK_SEE_ALL && i < CHK_ELEMS; i++) {
        newest = o->s.e[i] > newest ? o->s.e[i] : newest;
    }
    return k->type != CHK_CTR && newest > k->gen ? CHK_WRONG : CHK_STALE;
}

enum chk_fault chk_observe(struct chk_world *w, struct chk_key *k, const struct chk_obs *o,
                           int64_t r0, int64_t r1)
{
    enum chk_fault f = CHK_FINE;
    pthread_mutex_lock(lock_of(w, k));
    uint32_t found = UINT32_MAX;
    for (uint32_t i = k->nv; !o->garbage && i-- > 0;) {
        if (k->v[i].invoke <= r1 && match(w, k, &k->v[i].s, o)) {
            found = i;
        }
        if (k->v[i].settled < r0) {
            break;
        }
    }
    if (found == UINT32_MAX) {
        f = classify(k, o);
    } else if (r1 < k->v[found].settled) {
        k->v[found].settled = r1;
    }
    pthread_mutex_unlock(lock_of(w, k));
    return f;
}
