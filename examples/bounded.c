/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounded.c - work goes where its data is warm, unless that node has too much to do: consistent
 * hashing with bounded loads. One key is very hot here.
 *
 *     cc bounded.c $(pkg-config --cflags --libs gyre) -o bounded
 */
#include <gyre.h>

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 5, JOBS = 1000 };

static void must(int err, const gyre_error_t *e)
{
    if (err) {
        fprintf(stderr, "bounded: %s\n", e->message);
        exit(1);
    }
}

/* Every second job is for one key. */
static size_t job(unsigned i, char key[24])
{
    return (size_t)snprintf(key, 24, "video:%u", i % 2 ? 7 : i);
}

static void deal(const gyre_map_t *map, unsigned percent)
{
    uint64_t running[NODES] = {0};
    unsigned away = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        char key[24];
        size_t len = job(i, key);
        uint32_t own = gyre_map_locate(map, key, len), node = own;
        if (percent) {
            node = gyre_map_locate_bounded(map, key, len, running, i, percent);
        }
        running[node]++; /* and one less when the job is done */
        away += node != own;
    }
    if (percent) {
        printf("at most %u %% of the mean: ", percent);
    } else {
        printf("no bound:                 ");
    }
    for (unsigned i = 0; i < NODES; i++) {
        printf("%4llu", (unsigned long long)running[i]);
    }
    printf("   %u of %d jobs away from home\n", away, JOBS);
}

int main(void)
{
    gyre_error_t e = {0};
    gyre_map_t *map = NULL;
    gyre_topology_t *t = gyre_topology_new();
    /* on rendezvous each key has an order of the nodes of its own to go on in */
    must(t ? gyre_topology_set(t, "algorithm", "rendezvous", &e) : GYRE_NOMEM, &e);
    for (unsigned i = 0; i < NODES; i++) {
        char name[24];
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        snprintf(name, sizeof name, "worker-%u", i);
        must(gyre_topology_add(t, &n, &e), &e);
    }
    must(gyre_map_build(t, &map, &e), &e);
    gyre_topology_free(t);

    deal(map, 0);
    deal(map, 200);
    deal(map, 125);
    deal(map, 110);
    gyre_map_unref(map);
    return 0;
}
