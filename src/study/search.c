/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - how many points a lookup is compared with, in each structure that a ring can be kept
 * in. The points are random; all structures must find the same ones, or the study fails.
 */
#include "study/counted.h"
#include "study/fleet.h"
#include "study/rand.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { NODES, POINTS, LOOKUPS };

static const struct gy_search *const SETS[] = {&gy_search_scan, &gy_search_array, &gy_search_tree,
                                               &gy_search_skip, &gy_search_buckets};
#define SET_COUNT (sizeof SETS / sizeof SETS[0])
#define SCAN_MOST 20000 /* beyond it a scan takes longer than all others together, to no end */

static const struct gy_column COLUMNS[] = {
    {"structure", "STRUCTURE", GY_TEXT, 0, false},
    {"points", "POINTS", GY_COUNT, 0, false},
    {"log2", "LOG2", GY_NUMBER, 1, false},
    {"comparisons", "COMPARISONS", GY_NUMBER, 1, false},
    {"most", "MOST", GY_COUNT, 0, false},
    {"bytes_point", "BYTES/POINT", GY_NUMBER, 1, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

/* What every structure must answer: the sums of what was found. */
struct truth {
    bool known;
    uint64_t sum;
};

static int look(struct gy_lab *lab, struct gy_tab *t, const struct gy_search *set,
                const uint64_t *points, size_t n, struct truth *truth)
{
    void *s = set->build(points, n);
    if (!s) {
        return gy_lab_memory(lab);
    }
    struct gy_stat compared = {0};
    uint64_t state = lab->seed + 1, sum = 0;
    for (uint64_t i = 0; i < lab->value[LOOKUPS]; i++) {
        uint64_t here = 0;
        sum += set->find(s, gy_rand(&state), &here);
        gy_stat_add(&compared, (double)here);
    }
    gy_tab_text(t, "%s", set->name);
    gy_tab_count(t, n);
    gy_tab_number(t, log2((double)n));
    gy_tab_number(t, compared.mean);
    gy_tab_count(t, (uint64_t)compared.most);
    gy_tab_number(t, (double)set->bytes(s) / (double)n);
    set->free(s);
    if (truth->known && truth->sum != sum) {
        snprintf(lab->error.message, sizeof lab->error.message,
                 "%s finds other points than the ones before it", set->name);
        return GYRE_MISMATCH;
    }
    *truth = (struct truth){true, sum};
    return GYRE_OK;
}

static int size(struct gy_lab *lab, struct gy_tab *t, size_t n)
{
    uint64_t *points = malloc(n * sizeof *points), state = lab->seed << 32;
    struct truth truth = {false, 0};
    int rc = points ? GYRE_OK : gy_lab_memory(lab);
    for (size_t i = 0; !rc && i < n; i++) {
        points[i] = gy_rand(&state); /* SplitMix64 is a permutation: all are different */
    }
    for (size_t k = 0; k < SET_COUNT && !rc; k++) {
        if (SETS[k] != &gy_search_scan || n <= SCAN_MOST) {
            rc = look(lab, t, SETS[k], points, n, &truth);
        }
    }
    free(points);
    return rc;
}

static const struct gy_chart CHART = {
    .title = "Points a lookup is compared with",
    .table = "searches",
    .x = "points",
    .x_label = "points on the ring",
    .y = {"comparisons"},
    .by = "structure",
    .y_label = "comparisons",
    .log_x = true,
    .log_y = true,
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    size_t nodes = (size_t)lab->value[NODES], each = (size_t)lab->value[POINTS];
    size_t sizes[] = {10, 100, nodes, 10 * nodes, each * nodes};
    size_t n = sizeof sizes / sizeof sizes[0];
    struct gy_tab *t = gy_result_table(r, "searches", NULL, COLUMNS);
    size_t last = 0;
    int rc = GYRE_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        if (sizes[i] <= last) {
            continue;
        }
        last = sizes[i];
        rc = size(lab, t, last);
        gy_lab_step(lab, (double)i + 1, (double)n);
    }
    gy_result_chart(r, &CHART);
    gy_result_note(r, "%zu nodes with one point each are %zu points; with %zu points each, %zu",
                   nodes, nodes, each, nodes * each);
    gy_result_note(r, "the bucket index has about as many buckets as points, and looks at those of "
                      "one bucket: its comparisons do not grow with the ring");
    gy_result_note(r,
                   "how long they take is another matter (docs/speed.md): a comparison in a tree "
                   "or a list is a jump in memory");
    return rc;
}

const struct gy_study gy_study_search = {
    .name = "search",
    .question = "how many comparisons does a lookup take?",
    .about = "Keeps the same points in a sorted array, a red-black tree, a skip list (as Redis' "
             "sorted sets)\nand an array with an index of buckets, and counts the points that each "
             "lookup is compared\nwith. All must find the same points. No clock is involved.",
    .claims =
        "A 4: a red-black tree or a skip list; O(log N); 1000 nodes take about 10 comparisons\n"
        "  C: one bisection, O(log(N V)). D: a TreeMap",
    .params = {{"nodes", "nodes", 1000, 1000, 1, 10000},
               {"points", "points of a node", 150, 1000, 1, 1000},
               {"lookups", "lookups counted", 10000, 200000, 1, 10000000}},
    .run = run,
};
