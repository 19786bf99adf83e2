/* SPDX-License-Identifier: Apache-2.0 */
/* lru.c - see lru.h. */
#include "study/lru.h"

#include <stdlib.h>
#include <string.h>

void gy_lru_clear(struct gy_lru *c)
{
    c->size = 0;
    c->newer[c->objects] = c->older[c->objects] = c->objects;
    memset(c->in, 0, c->objects * sizeof *c->in);
}

bool gy_lru_init(struct gy_lru *c, uint32_t objects, uint32_t room)
{
    *c = (struct gy_lru){.objects = objects, .room = room};
    c->newer = calloc((size_t)objects + 1, sizeof *c->newer);
    c->older = calloc((size_t)objects + 1, sizeof *c->older);
    c->in = calloc((size_t)objects + 1, sizeof *c->in);
    if (!c->newer || !c->older || !c->in) {
        gy_lru_fini(c);
        return false;
    }
    gy_lru_clear(c);
    return true;
}

void gy_lru_fini(struct gy_lru *c)
{
    free(c->newer);
    free(c->older);
    free(c->in);
    *c = (struct gy_lru){0};
}

static void take_out(struct gy_lru *c, uint32_t object)
{
    c->older[c->newer[object]] = c->older[object];
    c->newer[c->older[object]] = c->newer[object];
    c->in[object] = false;
    c->size--;
}

static void put_first(struct gy_lru *c, uint32_t object)
{
    uint32_t end = c->objects, second = c->older[end];
    c->older[end] = object;
    c->newer[object] = end;
    c->older[object] = second;
    c->newer[second] = object;
    c->in[object] = true;
    c->size++;
}

bool gy_lru_get(struct gy_lru *c, uint32_t object)
{
    if (!c->in[object]) {
        return false;
    }
    take_out(c, object);
    put_first(c, object);
    return true;
}

void gy_lru_put(struct gy_lru *c, uint32_t object)
{
    if (c->in[object]) {
        take_out(c, object);
    }
    if (c->room && c->size == c->room) {
        take_out(c, c->newer[c->objects]);
    }
    if (c->room) {
        put_first(c, object);
    }
}
