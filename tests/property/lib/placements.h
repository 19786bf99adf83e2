/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placements.h - every placement of the library's own as one table for property tests, and what all
 * of them have to keep: a new algorithm is a row here, and all laws apply to it.
 */
#ifndef TESTS_PROPERTY_LIB_PLACEMENTS_H
#define TESTS_PROPERTY_LIB_PLACEMENTS_H

#include "fleet_gen.h"
#include "lib/map.h"

#define REPLICAS_MAX 12

/* minimal: a change of one node moves keys only to or from it. tail_only: the node of the highest
 * slot alone may go. history: answers depend on the order in which slots were given up. */
struct placement {
    const char *name;
    bool weights, minimal, replicas_minimal, tail_only, history;
};

static const struct placement placements[] = {
    {"ring", true, true, false, false, false},    {"rendezvous", true, true, true, false, false},
    {"maglev", true, false, false, false, false}, {"slots", true, true, false, false, false},
    {"jump", false, true, false, true, false},    {"jumpback", false, true, false, true, false},
    {"memento", false, true, false, false, true}, {"dx", true, true, true, false, false},
};

static inline const struct placement *gen_placement(struct prop *p)
{
    return &placements[prop_below(p, sizeof placements / sizeof placements[0])];
}

static inline double weight_for(const struct placement *a, struct prop *p)
{
    if (!a->weights) {
        return prop_below(p, 8) == 7 && !a->tail_only ? 0 : 1;
    }
    double w = gen_weight(p);
    return w > 0 && w < 0.05 ? 0.05 : w; /* dx refuses fleets that would take it long */
}

static inline gyre_topology_t *gen_placed(struct prop *p, const struct placement *a, unsigned nodes)
{
    gyre_topology_t *t = gyre_topology_new();
    must(t ? gyre_topology_set(t, "algorithm", a->name, NULL) : GYRE_NOMEM);
    must(gyre_topology_set(t, "points", "20", NULL));
    must(gyre_topology_set(t, "table", prop_below(p, 2) ? "1009" : "251", NULL));
    must(gyre_topology_set(t, "capacity", "128", NULL));
    must(gyre_topology_set(t, "heaviest", "10", NULL));
    gen_add(p, t, 0, 1);
    for (unsigned i = 1; i < nodes; i++) {
        gen_add(p, t, i, weight_for(a, p));
    }
    return t;
}

static inline const char *name_of(const gyre_map_t *m, uint32_t node)
{
    return gyre_map_node(m, node)->name;
}

/* As many as there can be, live and distinct, in as many zones as there can be, flagged if fewer.
 */
static inline bool replicas_hold(struct prop *p, const gyre_map_t *m, uint64_t key, size_t want)
{
    uint32_t out[REPLICAS_MAX];
    unsigned flags;
    size_t n = gyre_map_replicas(m, &key, sizeof key, out, want, &flags);
    size_t groups = 0, used = 0;
    PROP(n == (want < m->positive ? want : m->positive));
    for (size_t i = 0; i < n; i++) {
        bool fresh = true;
        for (size_t j = 0; j < i; j++) {
            PROP(out[i] != out[j]);
            fresh = fresh && (!m->zone || m->zone[out[i]] != m->zone[out[j]]);
        }
        used += fresh;
        PROP(m->weight[out[i]] > 0);
    }
    for (uint32_t z = 0; z < m->zones; z++) {
        groups += m->zone_size[z] > 0;
    }
    groups = m->zone ? groups : m->positive;
    PROP(used == (n < groups ? n : groups));
    PROP(!(flags & GYRE_REPLICAS_SHORT) == (n == want));
    PROP(!(flags & GYRE_REPLICAS_SPREAD) == (used == n));
    PROP(n == 0 || out[0] == gyre_map_locate(m, &key, sizeof key));
    return true;
}

/* The same nodes and slots in another order; with the slots given up, or without. */
static inline gyre_topology_t *rebuilt(struct prop *p, const gyre_topology_t *t, bool history)
{
    static const char *const keys[] = {"algorithm", "points", "table", "capacity", "heaviest"};
    gyre_topology_t *u = gyre_topology_new();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        must(gyre_topology_set(u, keys[i], gyre_topology_get(t, keys[i]), NULL));
    }
    size_t n = gyre_topology_count(t), first = prop_below(p, n), given_up;
    const uint32_t *removed = gyre_topology_removed(t, &given_up);
    for (size_t i = n; i-- > 0;) {
        must(gyre_topology_add(u, gyre_topology_node(t, (first + i) % n), NULL));
    }
    must(history ? gyre_topology_set_removed(u, removed, given_up, NULL) : GYRE_OK);
    return u;
}

/* Wilson and Hilferty's bound on chi-square; 6 is the normal quantile of 10^-9: a thousand such
 * tests fail by chance once in a million times. */
static inline double chi_square_limit(double df)
{
    double v = 2 / (9 * df), root = 1;
    for (int i = 0; i < 60; i++) {
        root = (root + v / root) / 2;
    }
    double x = 1 - v + 6 * root;
    return df * x * x * x;
}

#endif
