/* SPDX-License-Identifier: Apache-2.0 */
/* keyset.c - see keyset.h. */
#include "move/keyset.h"

#include "gyre.h"

#include <stdlib.h>

bool gy_keyset_add(struct gy_keyset *k, struct gy_slice key, uint32_t unit)
{
    if (k->n == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 256;
        struct gy_item *v = realloc(k->v, cap * sizeof *v);
        if (!v) {
            return false;
        }
        k->v = v;
        k->cap = cap;
    }
    size_t off = gy_buf_size(&k->bytes);
    gy_buf_add(&k->bytes, key.p, key.n);
    if (gy_buf_failed(&k->bytes)) {
        return false;
    }
    k->v[k->n++] = (struct gy_item){.off = off, .len = key.n, .unit = unit};
    return true;
}

struct gy_slice gy_keyset_key(const struct gy_keyset *k, size_t i)
{
    return (struct gy_slice){gy_buf_head(&k->bytes) + k->v[i].off, k->v[i].len};
}

static int by_unit(const void *a, const void *b)
{
    const struct gy_item *x = a, *y = b;
    if (x->unit != y->unit) {
        return x->unit < y->unit ? -1 : 1;
    }
    return x->off < y->off ? -1 : x->off > y->off;
}

void gy_keyset_sort(struct gy_keyset *k)
{
    if (k->n) {
        qsort(k->v, k->n, sizeof *k->v, by_unit);
    }
}

void gy_keyset_reset(struct gy_keyset *k)
{
    gy_buf_reset(&k->bytes);
    k->n = 0;
}

void gy_keyset_fini(struct gy_keyset *k)
{
    gy_buf_fini(&k->bytes);
    free(k->v);
    *k = (struct gy_keyset){0};
}

/* ---- distinct keys ---- */

static bool insert(uint64_t *v, size_t mask, uint64_t h)
{
    size_t i = h & mask;
    while (v[i] != 0 && v[i] != h) {
        i = (i + 1) & mask;
    }
    bool fresh = v[i] == 0;
    v[i] = h;
    return fresh;
}

bool gy_seen_add(struct gy_seen *s, struct gy_slice key)
{
    if (!s->v || s->n >= (s->mask + 1) / 2) {
        size_t size = s->v ? 2 * (s->mask + 1) : 1024;
        uint64_t *v = calloc(size, sizeof *v);
        if (!v) {
            return true;
        }
        for (size_t i = 0; s->v && i <= s->mask; i++) {
            if (s->v[i]) {
                (void)insert(v, size - 1, s->v[i]);
            }
        }
        free(s->v);
        s->v = v;
        s->mask = size - 1;
    }
    uint64_t h = gyre_hash_xxh3(key.p, key.n);
    bool fresh = insert(s->v, s->mask, h ? h : 1);
    s->n += fresh;
    return fresh;
}

void gy_seen_fini(struct gy_seen *s)
{
    free(s->v);
    *s = (struct gy_seen){0};
}
