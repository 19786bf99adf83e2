/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.c - the keys that come most, in fixed memory: space-saving (Metwally, Agrawal, El Abbadi,
 * ICDT 2005). As many counters as memory was given for; a key without one takes over that of the
 * least counted key, count and all, and remembers as its error what it inherited. Always:
 *
 *     count - error <= how often the key came <= count        for a key with a counter
 *     how often it came <= the least count                    for one without
 *
 * and the counts add up to the total, so the least is at most total / counters. Sketches are added
 * by Agarwal et al., "Mergeable summaries" (PODS 2012): a key one of them has no counter for came
 * at most as often as that one's least count says; the largest sums stay. Halving rounds counts and
 * errors up, which keeps both lines true.
 *
 * A counter belongs to a key's 128-bit hash; of the key itself a beginning is kept, to be shown.
 * Counters are found by open addressing, the least by a heap. Threads: one at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/halve.h"
#include "lib/hash/functions.h"

#define CAPACITY_MAX (1u << 24)
#define KEPT_MAX     4096u
#define KEPT_DEFAULT 64u

struct counter {
    gy_u128 hash;
    uint64_t count, error;
    size_t len;    /* of the key */
    uint32_t heap; /* where in the heap */
};

struct gyre_hot {
    uint32_t capacity, used;
    uint32_t kept; /* bytes of a key that are stored */
    uint64_t mask; /* of the index */
    struct gy_halving halving;
    uint64_t total;
    struct counter *counter;
    uint32_t *heap;  /* counters, the least first */
    uint32_t *index; /* counter + 1 at or after its hash's place; 0 = nothing */
    const struct counter **rank;
    uint8_t *keys;
};

int gyre_hot_new(const struct gyre_hot_settings *s, gyre_hot_t **out, gyre_error_t *e)
{
    *out = NULL;
    if (s->size < sizeof *s) {
        return gy_fail(e, GYRE_INVALID, "size is not set");
    }
    if (s->counters < 1 || s->counters > CAPACITY_MAX) {
        return gy_fail(e, GYRE_RANGE, "counters: %u is out of range (1..%u)", s->counters,
                       CAPACITY_MAX);
    }
    if (s->key_bytes > KEPT_MAX) {
        return gy_fail(e, GYRE_RANGE, "key_bytes: %u is out of range (0..%u)", s->key_bytes,
                       KEPT_MAX);
    }
    gyre_hot_t *h = gy_mem_alloc(1, sizeof *h);
    if (!h) {
        return gy_fail_nomem(e);
    }
    uint64_t places = 2;
    while (places < 2 * (uint64_t)s->counters) {
        places *= 2;
    }
    *h = (struct gyre_hot){.capacity = s->counters,
                           .kept = s->key_bytes ? s->key_bytes : KEPT_DEFAULT,
                           .mask = places - 1,
                           .halving.life = s->half_life};
    h->counter = gy_mem_alloc(h->capacity, sizeof *h->counter);
    h->heap = gy_mem_alloc(h->capacity, sizeof *h->heap);
    h->index = gy_mem_alloc(places, sizeof *h->index);
    h->rank = gy_mem_alloc(h->capacity, sizeof(struct counter *));
    h->keys = gy_mem_alloc(h->capacity, h->kept);
    if (!h->counter || !h->heap || !h->index || !h->rank || !h->keys) {
        gyre_hot_free(h);
        return gy_fail_nomem(e);
    }
    gyre_hot_clear(h);
    *out = h;
    return GYRE_OK;
}

void gyre_hot_free(gyre_hot_t *h)
{
    if (h) {
        gy_mem_free(h->counter);
        gy_mem_free(h->heap);
        gy_mem_free(h->index);
        gy_mem_free((void *)h->rank);
        gy_mem_free(h->keys);
        gy_mem_free(h);
    }
}

void gyre_hot_clear(gyre_hot_t *h)
{
    memset(h->index, 0, (h->mask + 1) * sizeof *h->index);
    h->used = 0;
    h->total = 0;
}

/* ---- the heap ---- */

static void heap_put(gyre_hot_t *h, uint32_t at, uint32_t counter)
{
    h->heap[at] = counter;
    h->counter[counter].heap = at;
}

static void sift_up(gyre_hot_t *h, uint32_t at)
{
    uint32_t moving = h->heap[at];
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (h->counter[h->heap[parent]].count <= h->counter[moving].count) {
            break;
        }
        heap_put(h, at, h->heap[parent]);
        at = parent;
    }
    heap_put(h, at, moving);
}

static void sift_down(gyre_hot_t *h, uint32_t at)
{
    uint32_t moving = h->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= h->used) {
            break;
        }
        if (child + 1 < h->used &&
            h->counter[h->heap[child + 1]].count < h->counter[h->heap[child]].count) {
            child++;
        }
        if (h->counter[moving].count <= h->counter[h->heap[child]].count) {
            break;
        }
        heap_put(h, at, h->heap[child]);
        at = child;
    }
    heap_put(h, at, moving);
}

/* ---- the index ---- */

static uint64_t home_of(const gyre_hot_t *h, gy_u128 hash)
{
    return (uint64_t)hash & h->mask;
}

/* Where the counter of this hash is, or where it would be put. */
static uint64_t find_place(const gyre_hot_t *h, gy_u128 hash)
{
    uint64_t at = home_of(h, hash);
    while (h->index[at] && h->counter[h->index[at] - 1].hash != hash) {
        at = (at + 1) & h->mask;
    }
    return at;
}

/* Closes the gap, so that nothing behind it is looked for in vain. */
static void index_remove(gyre_hot_t *h, gy_u128 hash)
{
    uint64_t gap = find_place(h, hash);
    for (uint64_t at = gap;;) {
        at = (at + 1) & h->mask;
        if (!h->index[at]) {
            break;
        }
        uint64_t home = home_of(h, h->counter[h->index[at] - 1].hash);
        if (((at - home) & h->mask) >= ((at - gap) & h->mask)) {
            h->index[gap] = h->index[at];
            gap = at;
        }
    }
    h->index[gap] = 0;
}

/* ---- counting ---- */

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t gyre_hot_floor(const gyre_hot_t *h)
{
    return h->used < h->capacity ? 0 : h->counter[h->heap[0]].count;
}

static size_t kept_of(const gyre_hot_t *h, size_t len)
{
    return len < h->kept ? len : h->kept;
}

/* A counter for a key that has none. */
static void begin(gyre_hot_t *h, gy_u128 hash, const void *key, size_t len, uint64_t count,
                  uint64_t error)
{
    bool grows = h->used < h->capacity;
    uint32_t i = grows ? h->used++ : h->heap[0];
    if (!grows) {
        index_remove(h, h->counter[i].hash);
    }
    h->counter[i] = (struct counter){hash, count, error, len, grows ? i : 0};
    if (len) {
        memcpy(h->keys + (size_t)i * h->kept, key, kept_of(h, len));
    }
    h->index[find_place(h, hash)] = i + 1;
    if (grows) {
        heap_put(h, i, i);
        sift_up(h, i);
    } else {
        sift_down(h, 0);
    }
}

void gyre_hot_add(gyre_hot_t *h, const void *key, size_t len, uint64_t weight)
{
    if (!weight) {
        return;
    }
    gy_u128 hash = gy_xxh3_128(key, len, 0);
    uint32_t known = h->index[find_place(h, hash)];
    h->total = plus(h->total, weight);
    if (known) {
        struct counter *c = &h->counter[known - 1];
        c->count = plus(c->count, weight);
        sift_down(h, c->heap);
    } else {
        uint64_t least = gyre_hot_floor(h);
        begin(h, hash, key, len, plus(least, weight), least);
    }
}

/* With T <= c and T >= c - e for the true T: T/2 <= half(c), and half(c) - T/2 is at most what is
 * written here. */
static void halve(uint64_t *count, uint64_t *error, unsigned times)
{
    for (; times && *count; times--) {
        uint64_t odd = *count & 1;
        *count = gy_half(*count);
        *error = *error / 2 + (*error % 2 + odd + 1) / 2;
    }
}

void gyre_hot_clock(gyre_hot_t *h, uint64_t now)
{
    unsigned times = gy_halvings_due(&h->halving, now);
    if (!times) {
        return;
    }
    /* Halving keeps the order, so the heap stays one. */
    for (uint32_t i = 0; i < h->used; i++) {
        halve(&h->counter[i].count, &h->counter[i].error, times);
    }
    h->total = gy_halved(h->total, times);
}

uint64_t gyre_hot_total(const gyre_hot_t *h)
{
    return h->total;
}

/* ---- reading ---- */

static int by_count(const void *a, const void *b)
{
    const struct counter *x = *(const struct counter *const *)a;
    const struct counter *y = *(const struct counter *const *)b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

size_t gyre_hot_top(gyre_hot_t *h, struct gyre_hot_key *out, size_t want)
{
    for (uint32_t i = 0; i < h->used; i++) {
        h->rank[i] = &h->counter[i];
    }
    qsort((void *)h->rank, h->used, sizeof(struct counter *), by_count);
    size_t n = want < h->used ? want : h->used;
    for (size_t i = 0; i < n; i++) {
        const struct counter *c = h->rank[i];
        out[i] = (struct gyre_hot_key){
            .key = h->keys + (size_t)(c - h->counter) * h->kept,
            .kept = kept_of(h, c->len),
            .len = c->len,
            .count = c->count,
            .error = c->error,
        };
    }
    return n;
}

/* ---- merging ---- */

struct sum {
    struct counter c;
    const uint8_t *key;
};

static int by_sum(const void *a, const void *b)
{
    const struct counter *x = &((const struct sum *)a)->c, *y = &((const struct sum *)b)->c;
    return by_count(&x, &y);
}

/* One counter of a, with what b says of the same key: its counter, halved by `behind_b`, or its
 * least count. */
static struct sum add_up(const gyre_hot_t *a, uint32_t i, unsigned behind_a, const gyre_hot_t *b,
                         unsigned behind_b, bool *both)
{
    struct sum s = {a->counter[i], a->keys + (size_t)i * a->kept};
    uint32_t known = b->index[find_place(b, s.c.hash)];
    struct counter other = {.count = gyre_hot_floor(b), .error = gyre_hot_floor(b)};
    if (known) {
        other = b->counter[known - 1];
    }
    halve(&s.c.count, &s.c.error, behind_a);
    halve(&other.count, &other.error, behind_b);
    s.c.count = plus(s.c.count, other.count);
    s.c.error = plus(s.c.error, known ? other.error : other.count);
    *both = known;
    return s;
}

int gyre_hot_merge(gyre_hot_t *into, const gyre_hot_t *from, gyre_error_t *e)
{
    if (into == from) {
        return gy_fail(e, GYRE_INVALID, "a sketch cannot be added to itself");
    }
    if (into->capacity != from->capacity || into->kept != from->kept ||
        into->halving.life != from->halving.life) {
        return gy_fail(e, GYRE_MISMATCH, "the two sketches were made with different settings");
    }
    struct gyre_hot_settings same = {sizeof same, into->capacity, into->kept, into->halving.life};
    gyre_hot_t *fresh = NULL;
    struct sum *sums = gy_mem_alloc((size_t)into->used + from->used, sizeof *sums);
    int err = sums ? gyre_hot_new(&same, &fresh, e) : gy_fail_nomem(e);
    if (err) {
        gy_mem_free(sums);
        return err;
    }
    unsigned into_behind = gy_halvings_behind(&into->halving, &from->halving);
    unsigned from_behind = gy_halvings_behind(&from->halving, &into->halving);
    size_t n = 0;
    bool both;
    for (uint32_t i = 0; i < into->used; i++) {
        sums[n++] = add_up(into, i, into_behind, from, from_behind, &both);
    }
    for (uint32_t i = 0; i < from->used; i++) {
        sums[n] = add_up(from, i, from_behind, into, into_behind, &both);
        n += !both;
    }
    qsort(sums, n, sizeof *sums, by_sum);
    for (size_t i = 0; i < n && i < into->capacity; i++) {
        const struct counter *c = &sums[i].c;
        begin(fresh, c->hash, sums[i].key, c->len, c->count, c->error);
    }
    fresh->total = plus(gy_halved(into->total, into_behind), gy_halved(from->total, from_behind));
    fresh->halving = into_behind ? from->halving : into->halving;
    struct gyre_hot old = *into;
    *into = *fresh;
    *fresh = old;
    gyre_hot_free(fresh);
    gy_mem_free(sums);
    return GYRE_OK;
}
