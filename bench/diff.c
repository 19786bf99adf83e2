/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c - the exact difference of two rings beside building one of them, in one run. Prints `name
 * ours peer ratio`: nanoseconds of CPU time a point, medians of RUNS runs that alternate; ours is
 * the diff (or walking along what moves), the peer is gyre_map_build. Exits 1 if the diff of one
 * new node takes longer than a build, or any diff moves more than it must.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "gyre.h"

enum { RUNS = 9 };

struct bench {
    gyre_topology_t *topology;
    gyre_map_t *from, *to;
    gyre_diff_t *diff;
    uint64_t arcs;
};

static double median(double *x)
{
    qsort(x, RUNS, sizeof *x, by_value);
    return x[RUNS / 2];
}

static void must(int err)
{
    if (err) {
        printf("diff: %s\n", gyre_err_text(err));
        exit(1);
    }
}

static void build_map(struct bench *b)
{
    gyre_map_t *m;
    must(gyre_map_build(b->topology, &m, NULL));
    gyre_map_unref(m);
}

static void build_diff(struct bench *b)
{
    gyre_diff_free(b->diff);
    must(gyre_diff_build(b->from, b->to, 0, &b->diff, NULL));
}

static void walk_arcs(struct bench *b)
{
    struct gyre_cursor at = {{0}};
    struct gyre_arc arc = {.size = sizeof arc};
    for (b->arcs = 0; gyre_diff_next(b->diff, &at, &arc); b->arcs++) {
    }
}

/* ours / peer, in nanoseconds a point */
static double compare(const char *name, void (*ours)(struct bench *b), struct bench *b)
{
    double a[RUNS], c[RUNS], points = (double)gyre_map_points(b->from);
    ours(b); /* warm */
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        ours(b);
        double middle = now();
        build_map(b);
        a[i] = (middle - start) / points;
        c[i] = (now() - middle) / points;
    }
    double x = median(a), y = median(c);
    printf("%-36s %9.2f %9.2f %7.1f\n", name, x, y, y / x);
    return x / y;
}

static void add(gyre_topology_t *t, unsigned i)
{
    char name[32];
    snprintf(name, sizeof name, "cache-%u", i);
    struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
    must(gyre_topology_add(t, &n, NULL));
}

static bool bench(unsigned nodes, const char *points, unsigned more)
{
    struct bench b = {.topology = gyre_topology_new()};
    char name[64];
    must(b.topology ? gyre_topology_set(b.topology, "points", points, NULL) : GYRE_NOMEM);
    for (unsigned i = 0; i < nodes; i++) {
        add(b.topology, i);
    }
    must(gyre_map_build(b.topology, &b.from, NULL));
    for (unsigned i = 0; i < more; i++) {
        add(b.topology, nodes + i);
    }
    must(gyre_map_build(b.topology, &b.to, NULL));
    snprintf(name, sizeof name, "%ux%s +%u diff/build", nodes, points, more);
    bool fast = compare(name, build_diff, &b) < 1;
    snprintf(name, sizeof name, "%ux%s +%u walk/build", nodes, points, more);
    compare(name, walk_arcs, &b);
    printf("%-36s %9llu\n", "  arcs that move", (unsigned long long)b.arcs);
    bool least = gyre_diff_ratio(b.diff) == 1;
    gyre_diff_free(b.diff);
    gyre_map_unref(b.from);
    gyre_map_unref(b.to);
    gyre_topology_free(b.topology);
    return least && (fast || more > 1);
}

int main(void)
{
    printf("%-36s %9s %9s %7s   (ns of CPU time a point, median of %d)\n", "name", "ours", "peer",
           "ratio", RUNS);
    bool one = bench(1000, "160", 1);
    bool ten = bench(10000, "160", 1);
    bool much = bench(10000, "160", 5000);
    return one && ten && much ? 0 : 1;
}
