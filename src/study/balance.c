/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - how evenly a ring deals, against its points and against its nodes. Shares are exact,
 * so the only chance is in where the points fall: each trial is a ring of other names.
 */
#include "study/fleet.h"
#include "study/stat.h"
#include "study/studies.h"

enum { NODES, TRIALS, POINTS };

struct seen {
    struct gy_stat cv, peak, least;
    double expected;
    size_t bytes;
    uint64_t half; /* rings on which one node owns more than half */
};

static double largest(const gyre_map_t *m)
{
    double most = 0;
    for (uint32_t i = 0; i < gyre_map_count(m); i++) {
        double share = gyre_map_share(m, i);
        most = share > most ? share : most;
    }
    return most;
}

static int look(struct gy_lab *lab, uint64_t nodes, uint64_t points, uint64_t trials,
                struct seen *s)
{
    *s = (struct seen){.bytes = 0};
    for (uint64_t t = 0; t < trials; t++) {
        struct gy_fleet f = {.nodes = nodes, .points = points, .trial = t};
        struct gyre_balance b = {.size = sizeof b};
        gyre_map_t *m;
        int rc = gy_fleet_map(lab, &f, &m);
        if (rc) {
            return rc;
        }
        gyre_map_balance(m, &b);
        gy_stat_add(&s->cv, b.cv);
        gy_stat_add(&s->peak, b.peak);
        gy_stat_add(&s->least, b.least);
        s->expected = b.expected_cv;
        s->bytes = gyre_map_bytes(m);
        s->half += largest(m) > 0.5;
        gyre_map_unref(m);
    }
    return GYRE_OK;
}

static const struct gy_column COLUMNS[] = {
    {"points", "POINTS", GY_COUNT, 0, false},   {"nodes", "NODES", GY_COUNT, 0, false},
    {"cv", "CV", GY_NUMBER, 3, false},          {"expected_cv", "EXPECTED", GY_NUMBER, 3, false},
    {"peak", "MAX/MEAN", GY_NUMBER, 2, false},  {"worst_peak", "WORST", GY_NUMBER, 2, false},
    {"least", "MIN/MEAN", GY_NUMBER, 2, false}, {"over_half", "OVER HALF", GY_SHARE, 0, false},
    {"bytes", "BYTES", GY_COUNT, 0, false},     {NULL, NULL, GY_TEXT, 0, false},
};

static const struct gy_chart CHARTS[] = {
    {
        .title = "More points, more even",
        .table = "points",
        .x = "points",
        .x_label = "points of a node",
        .y = {"cv", "expected_cv"},
        .name = {"CV of the shares", "as expected"},
        .y_label = "standard deviation / mean",
        .log_x = true,
        .log_y = true,
    },
    {
        .title = "The fullest and the emptiest node",
        .table = "points",
        .x = "points",
        .x_label = "points of a node",
        .y = {"worst_peak", "peak", "least"},
        .name = {"fullest, worst ring", "fullest, on average", "emptiest, on average"},
        .y_label = "share / fair share",
        .log_x = true,
    },
    {
        .title = "More nodes are not more even",
        .table = "nodes",
        .x = "nodes",
        .x_label = "nodes",
        .y = {"worst_peak", "peak", "least"},
        .name = {"fullest, worst ring", "fullest, on average", "emptiest, on average"},
        .y_label = "share / fair share",
        .log_x = true,
    },
};

static void row(struct gy_tab *t, uint64_t points, uint64_t nodes, const struct seen *s,
                uint64_t trials)
{
    gy_tab_count(t, points);
    gy_tab_count(t, nodes);
    gy_tab_number(t, s->cv.mean);
    gy_tab_number(t, s->expected);
    gy_tab_number(t, s->peak.mean);
    gy_tab_number(t, s->peak.most);
    gy_tab_number(t, s->least.mean);
    if (nodes > 2) {
        gy_tab_number(t, (double)s->half / (double)trials);
    } else { /* of two one always does */
        gy_tab_none(t);
    }
    gy_tab_count(t, s->bytes);
}

static int by_points(struct gy_lab *lab, struct gy_result *r)
{
    static const uint64_t points[] = {1, 2, 5, 10, 20, 50, 100, 150, 200, 500, 1000, 2000, 4000};
    struct gy_tab *t = gy_result_table(r, "points", "Points, at a fixed number of nodes", COLUMNS);
    int rc = GYRE_OK;
    for (size_t i = 0; i < sizeof points / sizeof points[0] && !rc; i++) {
        struct seen s;
        rc = look(lab, lab->value[NODES], points[i], lab->value[TRIALS], &s);
        row(t, points[i], lab->value[NODES], &s, lab->value[TRIALS]);
        gy_lab_step(lab, (double)points[i], 8000);
    }
    return rc;
}

static int by_nodes(struct gy_lab *lab, struct gy_result *r)
{
    static const uint64_t nodes[] = {2, 4, 10, 30, 100, 300, 1000};
    struct gy_tab *t = gy_result_table(r, "nodes", "Nodes, at a fixed number of points", COLUMNS);
    int rc = GYRE_OK;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0] && !rc; i++) {
        struct seen s;
        /* Large fleets have many nodes a trial: fewer trials tell as much. */
        uint64_t trials = (lab->value[TRIALS] * 20 + nodes[i] - 1) / nodes[i];
        trials = trials < lab->value[TRIALS] ? trials : lab->value[TRIALS];
        rc = look(lab, nodes[i], lab->value[POINTS], trials, &s);
        row(t, lab->value[POINTS], nodes[i], &s, trials);
        gy_lab_step(lab, 4000 + 4.0 * (double)nodes[i], 8000);
    }
    return rc;
}

static int run(struct gy_lab *lab, struct gy_result *r)
{
    int rc = by_points(lab, r);
    if (!rc) {
        rc = by_nodes(lab, r);
    }
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r,
                   "CV is standard deviation / mean of the shares; it falls with the square root "
                   "of the points, and only so: four times the points for half of it");
    gy_result_note(r, "more nodes leave the CV where it is, and the fullest of many is fuller");
    gy_result_note(r, "OVER HALF: rings on which one node owns more than half of all keys");
    return rc;
}

const struct gy_study gy_study_balance = {
    .name = "balance",
    .question = "how evenly does a ring deal, by points and by nodes?",
    .about =
        "Builds rings of other names, again and again, and looks at the exact share of each\nnode: "
        "its CV (standard deviation / mean), the fullest and the emptiest beside the fair\nshare, "
        "on average and on the worst ring. CV should be near EXPECTED, about 1/sqrt(points).",
    .claims = "A 2.3: few points deal unevenly. A 3: the more nodes, the more even\n  A 3, D: 100 "
              "to 200 virtual nodes. C: 1 or 5 points differ much, 150 little\n  D: deviation "
              "0.23, 0.08, 0.05 at 10, 100, 200",
    .params = {{"nodes", "nodes of the fleet whose points vary", 10, 10, 1, 10000},
               {"trials", "rings looked at for each line", 40, 1000, 1, 100000},
               {"points", "points of a node where nodes vary", 150, 150, 1, 10000}},
    .run = run,
};
