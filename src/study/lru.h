/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lru.h - a cache of so many objects that forgets the one asked for longest ago. Objects are
 * numbers below a limit. Threads: one thread an object.
 */
#ifndef GY_STUDY_LRU_H
#define GY_STUDY_LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gy_lru {
    uint32_t *newer, *older; /* a ring through `objects`, which stands for both ends */
    bool *in;
    uint32_t objects, size, room;
};

/* false: out of memory. */
bool gy_lru_init(struct gy_lru *c, uint32_t objects, uint32_t room);
void gy_lru_fini(struct gy_lru *c);
void gy_lru_clear(struct gy_lru *c);
/* Is it there? It is the newest then. */
bool gy_lru_get(struct gy_lru *c, uint32_t object);
/* It is there from now on, the newest; the oldest goes if need be. */
void gy_lru_put(struct gy_lru *c, uint32_t object);

#endif
