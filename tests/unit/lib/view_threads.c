/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_threads.c - readers, publishers and a health check on one view at once. Each stage is marked
 * with its number in three places, so a torn or freed one is seen; built with ThreadSanitizer where
 * the build has no other sanitizer, which sees the rest. Maps are small: what counts is how often
 * they are swapped and freed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gyre.h"

enum { READERS = 3, PUBLISHERS = 2, SWAPS = 1500, VISITS = 30000, NEW_SEAT = 1000 };

static gyre_view_t *view;
static gyre_mask_t *shared;
static atomic_uint_fast64_t version;
static atomic_bool bad;

static void check(const char *what, bool good)
{
    if (!good) {
        printf("not so: %s\n", what);
        atomic_store(&bad, true);
    }
}

static gyre_map_t *make_map(uint64_t number)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_map_t *m = NULL;
    struct gyre_node n = {.size = sizeof n, .name = "a", .weight = 1};
    bool good =
        t && !gyre_topology_set(t, "algorithm", "modulo", NULL) && !gyre_topology_add(t, &n, NULL);
    n.name = "b";
    good = good && !gyre_topology_add(t, &n, NULL);
    if (good) {
        gyre_topology_set_version(t, number);
        good = !gyre_map_build(t, &m, NULL);
    }
    gyre_topology_free(t);
    if (!good) {
        abort(); /* out of memory */
    }
    return m;
}

static void *publish(void *arg)
{
    for (int i = 0; i < SWAPS; i++) {
        uint64_t number = atomic_fetch_add(&version, 1) + 1;
        struct gyre_stage s = {.size = sizeof s, .map = make_map(number), .salt = number};
        s.next = make_map(number + 1);
        s.permille = (uint32_t)(number % 1001);
        if (gyre_mask_new(s.map, shared, &s.mask, NULL)) {
            abort();
        }
        int err = gyre_view_publish(view, &s, NULL);
        check("a publisher is let in, or told of the other", !err || err == GYRE_CONFLICT);
        gyre_mask_unref(s.mask);
        gyre_map_unref(s.map);
        gyre_map_unref(s.next);
    }
    return arg;
}

static void *health(void *arg)
{
    for (int i = 0; i < VISITS; i++) {
        gyre_mask_set(shared, (uint32_t)(i / 2) % 2, i % 2);
    }
    return arg;
}

static gyre_reader_t *sit(void)
{
    gyre_reader_t *r = NULL;
    if (gyre_reader_new(view, &r, NULL)) {
        abort();
    }
    return r;
}

static void *visit(void *arg)
{
    gyre_reader_t *r = sit();
    uint64_t last = 0;
    for (unsigned i = 0; i < VISITS; i++) {
        struct gyre_target at[2];
        const struct gyre_stage *s = gyre_reader_enter(r);
        uint64_t number = gyre_map_version(s->map);
        size_t n = gyre_stage_route(s, &i, sizeof i, 1, at, NULL);
        check("a stage is whole", s->salt == number && gyre_map_version(s->next) == number + 1);
        check("its share, too", s->permille == number % 1001);
        check("versions only grow", number >= last);
        check("somebody is up", n >= 1);
        check("names can be read", gyre_map_node(at[0].map, at[0].node)->name[0] <= 'b');
        last = number;
        gyre_map_t *kept = i % 64 == 0 ? gyre_map_ref(s->map) : NULL;
        gyre_reader_leave(r);
        if (kept) { /* beyond the visit, by a reference */
            check("a kept map lives", gyre_map_version(kept) == number);
            gyre_map_unref(kept);
        }
        if (i % NEW_SEAT == NEW_SEAT - 1) {
            gyre_reader_free(r);
            r = sit();
        }
    }
    gyre_reader_free(r);
    return arg;
}

int main(void)
{
    pthread_t t[READERS + PUBLISHERS + 1];
    int n = 0;
    struct gyre_stage first = {.size = sizeof first, .map = make_map(0)};
    first.next = make_map(1);
    if (gyre_mask_new(first.map, NULL, &shared, NULL) || gyre_view_new(&first, &view, NULL)) {
        return 1;
    }
    for (int i = 0; i < READERS; i++) {
        n += pthread_create(&t[n], NULL, visit, NULL) == 0;
    }
    for (int i = 0; i < PUBLISHERS; i++) {
        n += pthread_create(&t[n], NULL, publish, NULL) == 0;
    }
    n += pthread_create(&t[n], NULL, health, NULL) == 0;
    check("all threads run", n == READERS + PUBLISHERS + 1);
    while (n) {
        pthread_join(t[--n], NULL);
    }
    size_t left = 1;
    check("nothing is left to free", gyre_view_reclaim(view, &left, NULL) == 0 && left == 0);
    gyre_view_free(view);
    gyre_mask_unref(shared);
    gyre_map_unref(first.map);
    gyre_map_unref(first.next);
    return atomic_load(&bad);
}
