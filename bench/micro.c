/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro.c - the placements beside what people use or write today, in one run; docs/speed.md says
 * how to read it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "lib/place/simd.h"

void bench_compare(const char *name, bench_work *ours, bench_work *theirs, void *arg, double units,
                   double target)
{
    double a[BENCH_RUNS], b[BENCH_RUNS];
    char asked[16] = "";
    ours(arg); /* warm */
    theirs(arg);
    for (int i = 0; i < BENCH_RUNS; i++) {
        double start = now();
        ours(arg);
        double middle = now();
        theirs(arg);
        a[i] = (middle - start) / units;
        b[i] = (now() - middle) / units;
    }
    qsort(a, BENCH_RUNS, sizeof *a, by_value);
    qsort(b, BENCH_RUNS, sizeof *b, by_value);
    double x = a[BENCH_RUNS / 2], y = b[BENCH_RUNS / 2];
    if (target > 0) {
        snprintf(asked, sizeof asked, "%.1f", target);
    }
    printf("%-44s %9.2f %9.2f %7.2f %6s\n", name, x, y, y / x, asked);
    fflush(stdout);
}

void bench_fail(const char *why)
{
    printf("micro: %s\n", why);
    exit(1);
}

gyre_topology_t *bench_topology(const char *settings, unsigned nodes, bool weighted)
{
    char text[256], name[24], *rest = text;
    snprintf(text, sizeof text, "%s", settings);
    gyre_topology_t *t = gyre_topology_new();
    int err = t ? GYRE_OK : GYRE_NOMEM;
    for (char *key; !err && (key = strtok_r(rest, " ", &rest));) {
        err = gyre_topology_set(t, key, strtok_r(rest, " ", &rest), NULL);
    }
    for (unsigned i = 0; !err && i < nodes; i++) {
        snprintf(name, sizeof name, "cache-%05u", i);
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = weighted ? 1 + i % 4 : 1};
        err = gyre_topology_add(t, &n, NULL);
    }
    if (err) {
        bench_fail(gyre_err_name(err));
    }
    return t;
}

gyre_map_t *bench_map(const gyre_topology_t *t)
{
    gyre_map_t *m;
    gyre_error_t e;
    if (gyre_map_build(t, &m, &e)) {
        bench_fail(e.message);
    }
    return m;
}

int main(void)
{
    static const char *const levels[] = {"none", "AVX2", "AVX-512"};
    printf("vector instructions: %s; nanoseconds of CPU time, medians of %d\n",
           levels[gy_simd_best()], BENCH_RUNS);
    printf("%-44s %9s %9s %7s %6s\n", "name", "ours", "peer", "ratio", "target");
    bench_ring();
    bench_places();
    bench_ketama();
    return 0;
}
