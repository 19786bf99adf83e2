/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_skip.c - a skip list (Pugh, "Skip lists: a probabilistic alternative to balanced trees",
 * CACM 1990), with the numbers of Redis' sorted sets: a quarter of the nodes of a level are in the
 * next, 32 levels at most. Links are places in one block; 0 is the head, and also the end.
 */
#include "study/counted.h"
#include "study/rand.h"

#include <stdlib.h>

#define LEVELS 32

struct skip {
    size_t n;
    uint64_t *at;    /* of each node; [0] is the head */
    uint32_t *first; /* where each node's links begin */
    uint32_t *link;
    size_t links;
    unsigned levels;
};

static void skip_free(void *set)
{
    struct skip *s = set;
    if (s) {
        free(s->at);
        free(s->first);
        free(s->link);
        free(s);
    }
}

/* 1 and more with probability 1/4 each. The seed is fixed: the set is one, whatever the study's. */
static unsigned height(uint64_t *state)
{
    unsigned h = 1;
    for (uint64_t x = gy_rand(state); h < LEVELS && (x & 3) == 0; x >>= 2) {
        h++;
    }
    return h;
}

static struct skip *room(size_t n)
{
    struct skip *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    uint64_t state = 1;
    s->n = n;
    s->at = calloc(n + 1, sizeof *s->at);
    s->first = calloc(n + 2, sizeof *s->first);
    size_t links = LEVELS;
    for (size_t i = 1; s->first && i <= n; i++) {
        s->first[i] = (uint32_t)links;
        links += height(&state);
    }
    if (s->first) {
        s->first[n + 1] = (uint32_t)links;
    }
    s->links = links;
    s->link = calloc(links, sizeof *s->link);
    if (!s->at || !s->first || !s->link) {
        skip_free(s);
        return NULL;
    }
    return s;
}

static void insert(struct skip *s, uint32_t fresh)
{
    unsigned high = s->first[fresh + 1] - s->first[fresh];
    uint32_t from = 0;
    s->levels = high > s->levels ? high : s->levels;
    for (unsigned level = s->levels; level-- > 0;) {
        uint32_t next;
        while ((next = s->link[s->first[from] + level]) && s->at[next] < s->at[fresh]) {
            from = next;
        }
        if (level < high) {
            s->link[s->first[fresh] + level] = next;
            s->link[s->first[from] + level] = fresh;
        }
    }
}

static void *skip_build(const uint64_t *positions, size_t n)
{
    struct skip *s = room(n);
    for (size_t i = 1; s && i <= n; i++) {
        s->at[i] = positions[i - 1];
        insert(s, (uint32_t)i);
    }
    return s;
}

static uint64_t skip_find(const void *set, uint64_t x, uint64_t *compared)
{
    const struct skip *s = set;
    uint32_t from = 0, next = 0;
    for (unsigned level = s->levels; level-- > 0;) {
        while ((next = s->link[s->first[from] + level])) {
            (*compared)++;
            if (s->at[next] >= x) {
                break;
            }
            from = next;
        }
    }
    return s->at[next ? next : s->link[0]];
}

static size_t skip_bytes(const void *set)
{
    const struct skip *s = set;
    return s->n * (sizeof *s->at + sizeof *s->first) + s->links * sizeof *s->link;
}

const struct gy_search gy_search_skip = {"skip list", skip_build, skip_free, skip_find, skip_bytes};
