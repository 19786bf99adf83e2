/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask_threads.c - lookups under a mask while one thread marks nodes without pause. Two nodes take
 * turns so that one is up at every moment, and all others are as they were made; so no answer may
 * ever say that none is, or use a zone twice that need not be. Built with ThreadSanitizer as
 * view_threads.c is, and once without, which is fast enough to meet what is rare. The argument is
 * how many lookups with a mark in between to wait for; where threads have to take turns, too, those
 * are few, and four times as many lookups are enough.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gyre.h"

enum { WANT = 3 };

static const struct fleet {
    const char *algorithm;
    unsigned nodes, one, other; /* which take turns */
    bool
        zoned; /* one and other have a zone each, and the rest two: all up. Else the rest is down */
} fleets[] = {
    {"ring", 2, 0, 1, false},      {"ring", 64, 0, 63, false},     {"rendezvous", 64, 63, 0, false},
    {"ring", 200, 0, 199, false},  {"maglev", 200, 199, 0, false}, {"ring", 6, 0, 1, true},
    {"rendezvous", 6, 0, 1, true}, {"memento", 100, 0, 99, true},
};

struct turns {
    gyre_mask_t *mask;
    uint32_t one, other;
    uint64_t marks;
    atomic_bool stop;
};

static unsigned wanted, lookups;
static bool bad;

static void check(const struct fleet *f, const char *what, unsigned long times)
{
    if (times) {
        printf("%s, %u nodes%s: %s, in %lu of %u lookups\n", f->algorithm, f->nodes,
               f->zoned ? " in zones" : "", what, times, lookups);
        bad = true;
    }
}

static void must(int err)
{
    if (err) {
        abort(); /* out of memory */
    }
}

static gyre_map_t *make_map(const struct fleet *f)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_map_t *m;
    must(t ? gyre_topology_set(t, "algorithm", f->algorithm, NULL) : GYRE_NOMEM);
    must(gyre_topology_set(t, "spread", f->zoned ? "zone" : "none", NULL));
    for (unsigned i = 0; i < f->nodes; i++) {
        char name[16];
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        snprintf(name, sizeof name, "n%03u", i);
        n.zone = i == f->one ? "e/a" : i == f->other ? "e/b" : i % 2 ? "e/c" : "e/d";
        must(gyre_topology_add(t, &n, NULL));
    }
    must(gyre_map_build(t, &m, NULL));
    gyre_topology_free(t);
    return m;
}

static void *take_turns(void *arg)
{
    struct turns *t = arg;
    while (!atomic_load(&t->stop)) {
        t->marks += gyre_mask_set(t->mask, t->one, true);
        t->marks += gyre_mask_set(t->mask, t->other, false);
        t->marks += gyre_mask_set(t->mask, t->other, true);
        t->marks += gyre_mask_set(t->mask, t->one, false);
    }
    return NULL;
}

/* Two replicas in one zone, of nodes in as many zones as are asked for? */
static bool meet(const gyre_map_t *m, const uint32_t *out)
{
    for (int i = 0; i < WANT; i++) {
        for (int j = 0; j < i; j++) {
            if (gyre_map_node(m, out[i])->zone[2] == gyre_map_node(m, out[j])->zone[2]) {
                return true;
            }
        }
    }
    return false;
}

static void look_up(const struct fleet *f, const gyre_map_t *m, const gyre_mask_t *k)
{
    unsigned long none = 0, wrong = 0, too_few = 0, twice = 0, flagged = 0, miscounted = 0, met = 0;
    uint32_t least = f->zoned ? 0 : f->nodes - 2; /* down */
    for (unsigned i = 0; met < wanted && i < 4 * wanted; i++) {
        uint64_t before = gyre_mask_version(k);
        uint32_t out[WANT], node = gyre_mask_locate(k, &i, sizeof i), down = gyre_mask_down(k);
        unsigned flags = 0;
        size_t n = gyre_mask_replicas(k, &i, sizeof i, out, f->zoned ? WANT : 1, &flags);
        lookups = i + 1;
        met += gyre_mask_version(k) != before;
        none += node == GYRE_NONE;
        wrong += !f->zoned && node != GYRE_NONE && node != f->one && node != f->other;
        too_few += n != (f->zoned ? WANT : 1);
        twice += f->zoned && n == WANT && meet(m, out);
        flagged += flags != 0;
        miscounted += down < least || down > least + 1;
    }
    check(f, "no node, though one was up at every moment", none);
    check(f, "a node that was down all the time", wrong);
    check(f, "fewer replicas than nodes were up at every moment", too_few);
    check(f, "a zone twice, though three were up at every moment", twice);
    check(f, "flags that were true at no moment", flagged);
    check(f, "more or fewer nodes down than at any moment", miscounted);
}

static void run(const struct fleet *f)
{
    gyre_map_t *m = make_map(f);
    struct turns t = {.one = f->one, .other = f->other};
    must(gyre_mask_new(m, NULL, &t.mask, NULL));
    for (uint32_t i = 0; i < f->nodes; i++) {
        t.marks += i != f->other && (i == f->one || !f->zoned) && gyre_mask_set(t.mask, i, false);
    }
    pthread_t thread;
    must(pthread_create(&thread, NULL, take_turns, &t));
    look_up(f, m, t.mask);
    atomic_store(&t.stop, true);
    pthread_join(thread, NULL);
    check(f, "a version that is not the number of marks", gyre_mask_version(t.mask) != t.marks);
    gyre_mask_unref(t.mask);
    gyre_map_unref(m);
}

int main(int argc, char **argv)
{
    wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (wanted == 0) {
        puts("mask_threads LOOKUPS");
        return 2;
    }
    for (size_t i = 0; i < sizeof fleets / sizeof fleets[0]; i++) {
        run(&fleets[i]);
    }
    return bad;
}
