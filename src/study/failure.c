/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failure.c - who gets the keys of a node that is down. On a ring exactly, from the diff to the map
 * without it; under every algorithm by keys, through the library's mask, which is what serves them.
 */
#include "study/fleet.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { NODES, KEYS, TRIALS };

#define DOWN_MOST 10 /* nodes that are down in turn, on each ring: the names are no order */

static const struct gy_column BY_POINTS[] = {
    {"points", "POINTS", GY_COUNT, 0, false},
    {"heirs", "HEIRS", GY_NUMBER, 1, false},
    {"first_heir", "FIRST HEIR'S PART", GY_SHARE, 1, false},
    {"worst_heir", "AT WORST", GY_SHARE, 1, false},
    {"heir_load", "ITS LOAD/MEAN", GY_NUMBER, 2, false},
    {"heir_load_worst", "AT WORST", GY_NUMBER, 2, false},
    {"peak_before", "FULLEST BEFORE", GY_NUMBER, 2, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

struct spill {
    struct gy_stat heirs, part, before, after;
};

/* Flows are sorted, the largest first. */
static void take_flows(struct spill *s, const gyre_diff_t *d, const gyre_map_t *rest)
{
    gy_stat_add(&s->heirs, (double)gyre_diff_count(d));
    if (gyre_diff_count(d)) {
        const struct gyre_flow *first = gyre_diff_flow(d, 0);
        double load = gyre_map_share(rest, gyre_map_find(rest, first->to));
        gy_stat_add(&s->part, first->share / gyre_diff_moved(d));
        gy_stat_add(&s->after, load * gyre_map_count(rest));
    }
}

static int one_gone(struct gy_lab *lab, const struct gy_fleet *f, gyre_map_t *whole, uint64_t node,
                    struct spill *s)
{
    gyre_map_t *rest;
    gyre_diff_t *d = NULL;
    int rc = gy_fleet_change(lab, f, GYRE_REMOVE, node, &rest);
    rc = rc ? rc : gyre_diff_build(whole, rest, 0, &d, &lab->error);
    if (!rc) {
        take_flows(s, d, rest);
    }
    gyre_diff_free(d);
    gyre_map_unref(rest);
    return rc;
}

static int ring(struct gy_lab *lab, uint64_t points, struct spill *s)
{
    for (uint64_t k = 0; k < lab->value[TRIALS]; k++) {
        struct gy_fleet f = {.nodes = lab->value[NODES], .points = points, .trial = k};
        struct gyre_balance b = {.size = sizeof b};
        gyre_map_t *whole;
        int rc = gy_fleet_map(lab, &f, &whole);
        if (!rc) {
            gyre_map_balance(whole, &b);
            gy_stat_add(&s->before, b.peak);
        }
        for (uint64_t n = 0; n < f.nodes && n < DOWN_MOST && !rc; n++) {
            rc = one_gone(lab, &f, whole, n, s);
        }
        gyre_map_unref(whole);
        if (rc) {
            return rc;
        }
    }
    return GYRE_OK;
}

static int by_points(struct gy_lab *lab, struct gy_result *r)
{
    static const uint64_t list[] = {1, 2, 5, 10, 20, 50, 100, 150, 500, 1000};
    size_t n = sizeof list / sizeof list[0];
    struct gy_tab *t =
        gy_result_table(r, "points", "A ring, up to ten nodes down in turn", BY_POINTS);
    for (size_t i = 0; i < n; i++) {
        struct spill s = {.heirs = {0}};
        int rc = ring(lab, list[i], &s);
        if (rc) {
            return rc;
        }
        gy_tab_count(t, list[i]);
        gy_tab_number(t, s.heirs.mean);
        gy_tab_number(t, s.part.mean);
        gy_tab_number(t, s.part.most);
        gy_tab_number(t, s.after.mean);
        gy_tab_number(t, s.after.most);
        gy_tab_number(t, s.before.mean);
        gy_lab_step(lab, (double)i + 1, (double)n + 4);
    }
    return GYRE_OK;
}

/* ---- every algorithm ---- */

static const struct gy_column ALGORITHMS[] = {
    {"algorithm", "ALGORITHM", GY_TEXT, 0, false},
    {"heirs", "HEIRS", GY_NUMBER, 1, false},
    {"first_heir", "FIRST HEIR'S PART", GY_SHARE, 1, false},
    {"peak_after", "FULLEST AFTER", GY_NUMBER, 2, false},
    {"others_moved", "OTHERS MOVED", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

struct counts {
    uint64_t *load, *heir; /* of each node, while one is down */
    uint64_t others;       /* keys that moved and were not its */
};

static int count_keys(struct gy_lab *lab, gyre_map_t *m, uint32_t down, struct counts *c)
{
    gyre_mask_t *mask;
    int rc = gyre_mask_new(m, NULL, &mask, &lab->error);
    if (rc) {
        return rc;
    }
    gyre_mask_set(mask, down, false);
    for (uint64_t i = 0; i < lab->value[KEYS]; i++) {
        char key[GY_FLEET_KEY];
        size_t len = gy_fleet_key(i, key);
        uint32_t home = gyre_map_locate(m, key, len), node = gyre_mask_locate(mask, key, len);
        c->load[node]++;
        c->heir[node] += home == down;
        c->others += home != down && home != node;
    }
    gyre_mask_unref(mask);
    return GYRE_OK;
}

static void judge(const struct counts *c, uint32_t nodes, uint64_t keys, struct spill *s)
{
    uint64_t all = 0, first = 0, fullest = 0;
    uint32_t heirs = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        all += c->heir[i];
        heirs += c->heir[i] > 0;
        first = c->heir[i] > first ? c->heir[i] : first;
        fullest = c->load[i] > fullest ? c->load[i] : fullest;
    }
    gy_stat_add(&s->heirs, heirs);
    gy_stat_add(&s->part, all ? (double)first / (double)all : 0);
    gy_stat_add(&s->after, (double)fullest * (nodes - 1) / (double)keys);
}

static int algorithm(struct gy_lab *lab, struct gy_tab *t, const char *name)
{
    struct gy_fleet f = {.setting = {{"algorithm", name}}, .nodes = lab->value[NODES]};
    struct spill s = {.heirs = {0}};
    struct counts c = {.others = 0};
    gyre_map_t *m;
    int rc = gy_fleet_map(lab, &f, &m);
    uint32_t nodes = rc ? 0 : gyre_map_count(m);
    for (uint32_t down = 0; down < nodes && down < 3 && !rc; down++) {
        c.load = calloc(2 * (size_t)nodes, sizeof *c.load);
        c.heir = c.load ? c.load + nodes : NULL;
        rc = c.load ? count_keys(lab, m, down, &c) : gy_lab_memory(lab);
        if (!rc) {
            judge(&c, nodes, lab->value[KEYS], &s);
        }
        free(c.load);
    }
    gyre_map_unref(m);
    if (!rc) {
        gy_tab_text(t, "%s", name);
        gy_tab_number(t, s.heirs.mean);
        gy_tab_number(t, s.part.mean);
        gy_tab_number(t, s.after.mean);
        gy_tab_count(t, c.others);
    }
    return rc;
}

static int algorithms(struct gy_lab *lab, struct gy_result *r)
{
    char name[GY_FLEET_KEY];
    struct gy_tab *t =
        gy_result_table(r, "algorithms", "Every algorithm, three nodes down in turn", ALGORITHMS);
    int rc = GYRE_OK;
    for (size_t i = 0; gy_fleet_algorithm(i, name) && !rc; i++) {
        rc = algorithm(lab, t, name);
        gy_lab_step(lab, 10 + (double)i / 2, 14);
    }
    return rc;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Who inherits: a few points leave it to a few nodes",
        .table = "points",
        .x = "points",
        .x_label = "points of a node",
        .y = {"worst_heir", "first_heir"},
        .name = {"largest heir, at worst", "largest heir, on average"},
        .y_label = "of the dead node's keys",
        .log_x = true,
    },
    {
        .title = "How full the largest heir is then",
        .table = "points",
        .x = "points",
        .x_label = "points of a node",
        .y = {"heir_load_worst", "heir_load", "peak_before"},
        .name = {"at worst", "on average", "fullest, all up"},
        .y_label = "share / fair share",
        .log_x = true,
    },
    {
        .title = "The largest heir's part, of each algorithm",
        .table = "algorithms",
        .x = "algorithm",
        .x_label = "algorithm",
        .y = {"first_heir"},
        .y_label = "of the dead node's keys",
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    int rc = by_points(lab, r);
    rc = rc ? rc : algorithms(lab, r);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r, "HEIRS: nodes that take over at least one key; at most all others, %llu",
                   (unsigned long long)lab->value[NODES] - 1);
    gy_result_note(r, "MEAN is that of the nodes that are up; FULLEST BEFORE: while all were");
    gy_result_note(r, "OTHERS MOVED: keys that were not on the dead node and moved all the same");
    return rc;
}

const struct gy_study gy_study_failure = {
    .name = "failure",
    .question = "who gets the keys of a node that is down?",
    .about = "Takes nodes down in turn and counts its heirs, the part the largest of them gets, "
             "and\nhow full that one is then: on a ring by its points, exactly; and for "
             "every\nalgorithm by keys, through the same mask that serves them.",
    .claims = "A 2.2, B 2.1: all goes to the next node clockwise (with one point, not with many)\n"
              "  C: the arc goes to its successor, which may become a hot spot. A 7.3: to the "
              "neighbours",
    .params = {{"nodes", "nodes of the fleet", 10, 10, 2, 1000},
               {"keys", "keys looked at, under every algorithm", 20000, 500000, 100, 10000000},
               {"trials", "rings looked at for each number of points", 5, 100, 1, 10000}},
    .run = run,
};
