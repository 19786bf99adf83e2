/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - see known.h: a direct-mapped table, so that it is bounded without any bookkeeping. */
#include "proxy/known.h"

#include "base/alloc.h"
#include "proxy/worker.h"

#include <stdlib.h>

/* 65536 keys: 4 MB with keys of 30 bytes, 20 MB at most; a wave of the mover is a few such. */
#define SLOTS   65536u
#define KEY_MAX 256u

struct gy_known_key {
    uint64_t generation;
    uint32_t unit, attempt, len;
    uint8_t key[];
};

static struct gy_known_key **slot(const struct gy_known *k, struct gy_slice key)
{
    return &k->slots[gyre_hash_xxh3(key.p, key.n) & (SLOTS - 1)];
}

void gy_known_fini(struct gy_worker *w)
{
    for (uint32_t i = 0; w->known.slots && i < SLOTS; i++) {
        free(w->known.slots[i]);
    }
    free(w->known.slots);
    w->known.slots = NULL;
}

void gy_known_review(struct gy_worker *w, const struct gy_view *v)
{
    if (w->known.slots && (!v->move || v->move->epoch != w->known.epoch)) {
        gy_known_fini(w);
    }
}

static bool is(const struct gy_known_key *k, const struct gy_route *r, struct gy_slice key)
{
    return k && k->unit == r->unit && k->len == key.n && memcmp(k->key, key.p, key.n) == 0;
}

void gy_known_add(struct gy_worker *w, const struct gy_view *v, const struct gy_route *r,
                  uint64_t generation, struct gy_slice key)
{
    if (key.n > KEY_MAX || v->move != w->view->move || r->unit == GY_NO_UNIT) {
        return; /* learnt under an earlier view's move: of no use */
    }
    if (!w->known.slots) {
        w->known.slots = gy_xcalloc(SLOTS, sizeof(struct gy_known_key *));
        w->known.epoch = v->move->epoch;
    }
    struct gy_known_key **s = slot(&w->known, key);
    if (!is(*s, r, key)) {
        free(*s);
        *s = gy_xcalloc(1, sizeof **s + key.n);
        memcpy((*s)->key, key.p, key.n);
    }
    (*s)->generation = generation;
    (*s)->unit = r->unit;
    (*s)->attempt = v->attempt[r->unit];
    (*s)->len = (uint32_t)key.n;
}

bool gy_known_has(const struct gy_worker *w, const struct gy_view *v, const struct gy_route *r,
                  struct gy_slice key)
{
    if (!w->known.slots || !v->move || v->move->epoch != w->known.epoch ||
        (r->state != GY_UNIT_MIGRATING && r->state != GY_UNIT_COMPLETING)) {
        return false;
    }
    const struct gy_backend *d = gy_worker_backend(w, r->dst);
    const struct gy_known_key *k = *slot(&w->known, key);
    return is(k, r, key) && k->attempt == v->attempt[r->unit] && d->state == GY_BACKEND_UP &&
           k->generation == d->generation;
}
