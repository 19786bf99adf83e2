/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pairs_props.c - what two configurations disagree on: an exact share is what counted keys
 * say, either way round; renaming servers that have addresses is no disagreement where the
 * placement goes by order; and reasons are told for whatever differs.
 */
#include "cli/reasons.h"
#include "lib/fleet_gen.h"

#include <math.h>

#define KEYS 4000

static const char *const ALGORITHMS[] = {"ring", "maglev", "slots", "modulo", "rendezvous"};

/* The same fleet with names, weights, a server or the algorithm changed; every server has an
 * address, so that a renamed one is known again. */
static gyre_topology_t *fleet(struct prop *p, unsigned n, bool renamed, bool algorithm)
{
    gyre_topology_t *t = gyre_topology_new();
    must(t ? gyre_topology_set(t, "algorithm", ALGORITHMS[algorithm ? prop_below(p, 5) : 0], NULL)
           : GYRE_NOMEM);
    for (unsigned i = 0; i < n; i++) {
        char name[32], address[32];
        bool other = renamed && prop_below(p, 2);
        /* Names of others, too: what the diff takes for one server is two then. */
        snprintf(name, sizeof name, "s%u", other ? n + i : i);
        snprintf(address, sizeof address, "10.0.0.%u:1", renamed && !other ? (i * 7) % n : i);
        struct gyre_node node = {
            .size = sizeof node, .name = name, .address = address, .weight = 1};
        must(gyre_topology_add(t, &node, NULL));
    }
    return t;
}

static double counted(const struct gy_pairs *p)
{
    unsigned differ = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[GY_SAMPLE_ROOM];
        size_t n = gy_sample_key(key, 1000000 + i);
        differ += !gy_pairs_same(p, gyre_map_locate(p->a, key, n), gyre_map_locate(p->b, key, n));
    }
    return (double)differ / KEYS;
}

static bool shares_are_what_keys_say(struct prop *p)
{
    unsigned n = (unsigned)prop_size(p, 1, 20), m = (unsigned)prop_size(p, 1, 20);
    gyre_topology_t *x = fleet(p, n, false, false), *y = fleet(p, m, true, prop_below(p, 3) == 2);
    gyre_map_t *a = gen_map(x), *b = gen_map(y);
    struct gy_pairs there, back;
    struct gy_disagreement d, e;
    struct gy_reasons why;
    must(gy_pairs_make(&there, a, b));
    must(gy_pairs_make(&back, b, a));
    must(gy_pairs_compare(&there, KEYS, &d));
    must(gy_pairs_compare(&back, KEYS, &e));
    must(gy_reasons_find(&why, &there, x, y, KEYS));
    double error = 6 * sqrt(0.25 / KEYS);
    PROP(fabs(d.share - counted(&there)) < (d.exact ? error : 2 * error));
    PROP(d.exact == e.exact && fabs(d.share - e.share) < 1e-9);
    PROP(d.share == 0 || why.count > 0);
    for (uint32_t i = 0; i < gyre_map_count(a); i++) {
        PROP(there.to[i] == GYRE_NONE || there.from[there.to[i]] == i);
        PROP(there.to[i] == back.from[i]);
    }
    gy_reasons_fini(&why);
    gy_pairs_fini(&there);
    gy_pairs_fini(&back);
    gyre_map_unref(a);
    gyre_map_unref(b);
    gyre_topology_free(x);
    gyre_topology_free(y);
    return true;
}

int main(void)
{
    return prop_run("shares are what keys say", shares_are_what_keys_say, 100);
}
