/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - what the benchmarks share: two pieces of work on the same arguments, run in turn, and
 * one line about them. Threads: one.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "gyre.h"

enum { BENCH_RUNS = 9 };

typedef void bench_work(void *arg);

/*
 * Prints `name ours peer ratio`: nanoseconds of CPU time a unit, medians of BENCH_RUNS runs that
 * alternate, and how many times ours the peer's is. target is the ratio asked for, on machines with
 * AVX-512 where vectors do the work; 0 = none.
 */
void bench_compare(const char *name, bench_work *ours, bench_work *theirs, void *arg, double units,
                   double target);

/* Ends the run with the reason: the peers must give the same answers. */
void bench_fail(const char *why);

/* A topology of nodes `cache-0`, ... with the settings "name value name value ..."; with weights 1
 * to 4 in turn or all 1. */
gyre_topology_t *bench_topology(const char *settings, unsigned nodes, bool weighted);
gyre_map_t *bench_map(const gyre_topology_t *t);

void bench_ring(void);
void bench_places(void);
void bench_ketama(void);

#endif
