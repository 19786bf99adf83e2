/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_gen.h - random fleets for property tests, drawn so that 0 is the plainest.
 */
#ifndef TESTS_PROPERTY_LIB_FLEET_GEN_H
#define TESTS_PROPERTY_LIB_FLEET_GEN_H

#include <string.h>

#include "gyre.h"
#include "lib/prop.h"

/* A failure to set up is no property of the library's; it ends the test. */
static inline void must(int err)
{
    if (err) {
        printf("setup: %s\n", gyre_err_name(err));
        exit(2);
    }
}

/* 1 mostly; else a fraction, a heavy one, or drained. */
static inline double gen_weight(struct prop *p)
{
    switch (prop_below(p, 8)) {
    case 5:
        return (double)(1 + prop_below(p, 3000000)) / 1000000;
    case 6:
        return (double)(1 + prop_below(p, 9));
    case 7:
        return prop_below(p, 3) ? 0.000001 : 0;
    default:
        return 1;
    }
}

static inline void gen_zone(struct prop *p, char out[32])
{
    unsigned parts = (unsigned)prop_below(p, 4);
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < parts; i++) {
        len += (size_t)snprintf(out + len, 32 - len, "%s%c", i ? "/" : "",
                                (char)('a' + prop_below(p, 3)));
    }
}

/* Adds node number i under a name that says so; the letter makes name order and number differ. */
static inline void gen_add(struct prop *p, gyre_topology_t *t, unsigned i, double weight)
{
    char name[32], zone[32];
    snprintf(name, sizeof name, "%c-%u", (char)('a' + (i * 7) % 26), i);
    gen_zone(p, zone);
    struct gyre_node n = {
        .size = sizeof n, .name = name, .weight = weight, .zone = zone[0] ? zone : NULL};
    must(gyre_topology_add(t, &n, NULL));
}

static inline gyre_topology_t *gen_topology(struct prop *p, unsigned nodes, unsigned points)
{
    gyre_topology_t *t = gyre_topology_new();
    char number[24];
    snprintf(number, sizeof number, "%u", points);
    must(t ? gyre_topology_set(t, "points", number, NULL) : GYRE_NOMEM);
    must(gyre_topology_set(t, "vnodes", number, NULL));
    gen_add(p, t, 0, 1); /* one that takes keys is always there */
    for (unsigned i = 1; i < nodes; i++) {
        gen_add(p, t, i, gen_weight(p));
    }
    return t;
}

/* 1 to 2000 nodes, at most about 20000 points. */
static inline gyre_topology_t *gen_fleet(struct prop *p)
{
    unsigned nodes = (unsigned)prop_size(p, 1, 2000);
    return gen_topology(p, nodes, (unsigned)prop_size(p, 1, 20000 / nodes));
}

static inline gyre_map_t *gen_map(const gyre_topology_t *t)
{
    gyre_map_t *m;
    must(gyre_map_build(t, &m, NULL));
    return m;
}

#endif
