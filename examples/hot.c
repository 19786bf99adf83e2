/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.c - which keys are hot, and how skewed they make the nodes: two workers count in memory of
 * fixed size, and what they know is put together when somebody asks.
 *
 *     cc hot.c $(pkg-config --cflags --libs gyre) -o hot
 */
#include <gyre.h>

#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, REQUESTS = 20000, KEYS = 5000, SHOWN = 3 };
/* A second as time(NULL) counts them, and the requests that come in one: so all runs are alike. */
enum { STARTED = 1800000000, A_SECOND = 1000 };

static void must(int err, const gyre_error_t *e)
{
    if (err) {
        fprintf(stderr, "hot: %s\n", e->message);
        exit(1);
    }
}

static gyre_map_t *fleet(void)
{
    gyre_error_t e = {0};
    gyre_map_t *map = NULL;
    gyre_topology_t *t = gyre_topology_new();
    for (unsigned i = 0; i < 4; i++) {
        char name[24];
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        snprintf(name, sizeof name, "cache-%u", i);
        must(t ? gyre_topology_add(t, &n, &e) : GYRE_NOMEM, &e);
    }
    must(gyre_map_build(t, &map, &e), &e);
    gyre_topology_free(t);
    return map;
}

/* Every fifth request is for one of three keys, the rest are spread over all. */
static size_t request(unsigned i, char key[24])
{
    unsigned which = i * 2654435761u >> 8;
    return (size_t)snprintf(key, 24, "user:%u", which % 5 ? which % KEYS : which / 5 % SHOWN);
}

int main(void)
{
    /* 300 counters: no key of more than 1/300 of the requests is missed. Half is forgotten each
     * minute; the clock is told in seconds. */
    const struct gyre_hot_settings settings = {
        .size = sizeof settings, .counters = 300, .half_life = 60};
    gyre_error_t e = {0};
    gyre_map_t *map = fleet();
    gyre_hot_t *hot[WORKERS];
    gyre_load_t *load[WORKERS];
    for (unsigned w = 0; w < WORKERS; w++) {
        must(gyre_hot_new(&settings, &hot[w], &e), &e);
        must(gyre_load_new(map, settings.half_life, &load[w], &e), &e);
        for (unsigned i = w; i < REQUESTS; i += WORKERS) {
            char key[24];
            size_t len = request(i, key);
            uint64_t now = STARTED + i / A_SECOND;
            gyre_hot_clock(hot[w], now); /* before counting: costs nothing while no minute ends */
            gyre_load_clock(load[w], now);
            gyre_hot_add(hot[w], key, len, 1);
            gyre_load_add(load[w], gyre_map_locate(map, key, len), GYRE_LOAD_OPS, 1);
        }
    }

    /* Between threads: each hands over a sketch it no longer adds to, and takes a fresh one. */
    must(gyre_hot_merge(hot[0], hot[1], &e), &e);
    must(gyre_load_merge(load[0], load[1], &e), &e);
    struct gyre_hot_key top[SHOWN];
    size_t n = gyre_hot_top(hot[0], top, SHOWN);
    for (size_t i = 0; i < n; i++) {
        printf("%.*s came %llu to %llu times\n", (int)top[i].kept, (const char *)top[i].key,
               (unsigned long long)(top[i].count - top[i].error), (unsigned long long)top[i].count);
    }
    printf("no other key came more than %llu times\n", (unsigned long long)top[n - 1].count);

    struct gyre_balance b = {.size = sizeof b};
    must(gyre_load_balance(load[0], GYRE_LOAD_OPS, &b), &e);
    printf("operations: CV %.2f, the busiest node has %.2f times the mean%s\n", b.cv, b.peak,
           b.cv > 0.2 ? ": skewed" : "");

    for (unsigned w = 0; w < WORKERS; w++) {
        gyre_hot_free(hot[w]);
        gyre_load_free(load[w]);
    }
    gyre_map_unref(map);
    return 0;
}
