/* SPDX-License-Identifier: Apache-2.0 */
/*
 * movement.c - which part of the keys changes its node when one comes or goes: of every algorithm
 * beside the least that any must move; of a ring, against its points; and of hash mod N, against N.
 * Exact where the library's diff is.
 */
#include "study/fleet.h"
#include "study/stat.h"
#include "study/studies.h"

enum { NODES, TRIALS };

#define SAMPLES 20000 /* keys looked at where there is no better answer */

/* ---- each algorithm ---- */

static const struct gy_column ALGORITHMS[] = {
    {"algorithm", "ALGORITHM", GY_TEXT, 0, false},
    {"add_moved", "ADD: MOVED", GY_SHARE, 2, false},
    {"add_minimum", "MINIMUM", GY_SHARE, 2, false},
    {"add_ratio", "RATIO", GY_NUMBER, 3, false},
    {"remove_moved", "REMOVE: MOVED", GY_SHARE, 2, false},
    {"remove_minimum", "MINIMUM", GY_SHARE, 2, false},
    {"remove_ratio", "RATIO", GY_NUMBER, 3, false},
    {"basis", "HOW", GY_TEXT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int compare(struct gy_lab *lab, const struct gy_fleet *f, enum gyre_change_kind kind,
                   uint64_t n, gyre_diff_t **out)
{
    gyre_map_t *before, *after = NULL;
    *out = NULL;
    int rc = gy_fleet_map(lab, f, &before);
    if (!rc) {
        rc = gy_fleet_change(lab, f, kind, n, &after);
    }
    if (!rc) {
        rc = gyre_diff_build(before, after, SAMPLES, out, &lab->error);
    }
    gyre_map_unref(before);
    gyre_map_unref(after);
    return rc;
}

static void cells(struct gy_tab *t, const gyre_diff_t *d)
{
    if (!d) { /* the algorithm cannot do it */
        gy_tab_none(t);
        gy_tab_none(t);
        gy_tab_none(t);
        return;
    }
    gy_tab_number(t, gyre_diff_moved(d));
    gy_tab_number(t, gyre_diff_minimum(d));
    gy_tab_number(t, gyre_diff_ratio(d));
}

static int algorithm(struct gy_lab *lab, struct gy_tab *t, const char *name)
{
    static const char *const basis[] = {
        [GYRE_SAMPLED] = "sampled", [GYRE_EXPECTED] = "expected", [GYRE_EXACT] = "exact"};
    struct gy_fleet f = {.setting = {{"algorithm", name}}, .nodes = lab->value[NODES]};
    gyre_diff_t *add, *gone = NULL;
    int rc = compare(lab, &f, GYRE_ADD, f.nodes, &add);
    if (rc) {
        return rc;
    }
    /* One in the middle, by number: that is what some cannot do. */
    rc = compare(lab, &f, GYRE_REMOVE, f.nodes / 2, &gone);
    if (rc == GYRE_UNSUPPORTED || rc == GYRE_OK) {
        gy_tab_text(t, "%s", name);
        cells(t, add);
        cells(t, gone);
        gy_tab_text(t, "%s", basis[gyre_diff_basis(add)]);
        rc = GYRE_OK;
    }
    gyre_diff_free(add);
    gyre_diff_free(gone);
    return rc;
}

static int algorithms(struct gy_lab *lab, struct gy_result *r)
{
    char name[GY_FLEET_KEY];
    struct gy_tab *t =
        gy_result_table(r, "algorithms", "One node more, and one of the middle gone", ALGORITHMS);
    int rc = GYRE_OK;
    for (size_t i = 0; gy_fleet_algorithm(i, name) && !rc; i++) {
        rc = algorithm(lab, t, name);
        gy_lab_step(lab, (double)i + 1, 20);
    }
    return rc;
}

/* ---- a ring, against its points ---- */

static const struct gy_column POINTS[] = {
    {"points", "POINTS", GY_COUNT, 0, false},
    {"moved", "MOVED", GY_SHARE, 2, false},
    {"deviation", "+-", GY_SHARE, 2, false},
    {"least", "LEAST", GY_SHARE, 2, false},
    {"most", "MOST", GY_SHARE, 2, false},
    {"fair", "1/(N+1)", GY_SHARE, 2, false},
    {"ratio", "MOVED/MINIMUM", GY_NUMBER, 3, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int points(struct gy_lab *lab, struct gy_result *r)
{
    static const uint64_t list[] = {1, 10, 50, 100, 150, 200, 500, 1000, 4000};
    size_t n = sizeof list / sizeof list[0];
    struct gy_tab *t =
        gy_result_table(r, "points", "One node more, by the points of a ring", POINTS);
    for (size_t i = 0; i < n; i++) {
        struct gy_stat moved = {0}, ratio = {0};
        for (uint64_t k = 0; k < lab->value[TRIALS]; k++) {
            struct gy_fleet f = {.nodes = lab->value[NODES], .points = list[i], .trial = k};
            gyre_diff_t *d;
            int rc = compare(lab, &f, GYRE_ADD, f.nodes, &d);
            if (rc) {
                return rc;
            }
            gy_stat_add(&moved, gyre_diff_moved(d));
            gy_stat_add(&ratio, gyre_diff_ratio(d));
            gyre_diff_free(d);
        }
        gy_tab_count(t, list[i]);
        gy_tab_number(t, moved.mean);
        gy_tab_number(t, gy_stat_deviation(&moved));
        gy_tab_number(t, moved.least);
        gy_tab_number(t, moved.most);
        gy_tab_number(t, 1 / ((double)lab->value[NODES] + 1));
        gy_tab_number(t, ratio.mean);
        gy_lab_step(lab, 9 + (double)i, 20);
    }
    return GYRE_OK;
}

/* ---- hash mod N ---- */

static const struct gy_column MODULO[] = {
    {"change", "CHANGE", GY_TEXT, 0, false},
    {"modulo", "MODULO", GY_SHARE, 2, false},
    {"minimum", "MINIMUM", GY_SHARE, 2, false},
    {"ratio", "RATIO", GY_NUMBER, 1, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int modulo(struct gy_lab *lab, struct gy_result *r)
{
    static const uint64_t list[][2] = {{2, 3},   {3, 4},   {4, 5},  {5, 4},    {7, 8},
                                       {10, 11}, {10, 20}, {10, 5}, {100, 101}};
    struct gy_tab *t = gy_result_table(r, "modulo", "hash mod N", MODULO);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct gy_fleet f = {.setting = {{"algorithm", "modulo"}}, .nodes = list[i][0]};
        gyre_map_t *from, *to = NULL;
        gyre_diff_t *d = NULL;
        int rc = gy_fleet_map(lab, &f, &from);
        f.nodes = list[i][1];
        rc = rc ? rc : gy_fleet_map(lab, &f, &to);
        rc = rc ? rc : gyre_diff_build(from, to, 0, &d, &lab->error);
        gyre_map_unref(from);
        gyre_map_unref(to);
        if (rc) {
            return rc;
        }
        gy_tab_text(t, "%llu -> %llu", (unsigned long long)list[i][0],
                    (unsigned long long)list[i][1]);
        gy_tab_number(t, gyre_diff_moved(d));
        gy_tab_number(t, gyre_diff_minimum(d));
        gy_tab_number(t, gyre_diff_ratio(d));
        gyre_diff_free(d);
    }
    return GYRE_OK;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Keys that move, of each algorithm",
        .table = "algorithms",
        .x = "algorithm",
        .x_label = "algorithm",
        .y = {"add_moved", "add_minimum"},
        .name = {"moved when one is added", "the least possible"},
        .y_label = "of all keys",
    },
    {
        .title = "Points change the spread of it, not the amount",
        .table = "points",
        .x = "points",
        .x_label = "points of a node",
        .y = {"moved", "most", "least", "fair"},
        .name = {"moved, on average", "on the worst ring", "on the luckiest", "1/(N+1)"},
        .y_label = "of all keys",
        .log_x = true,
    },
    {
        .title = "hash mod N",
        .table = "modulo",
        .x = "change",
        .x_label = "nodes",
        .y = {"modulo", "minimum"},
        .name = {"moved", "the least possible"},
        .y_label = "of all keys",
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    int rc = algorithms(lab, r);
    rc = rc ? rc : points(lab, r);
    rc = rc ? rc : modulo(lab, r);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r, "RATIO is moved / minimum: 1 means that nothing moved that need not have");
    gy_result_note(r,
                   "expected: computed for a hash of which every value is as likely as any other; "
                   "keys are dealt by chance, so a few more or fewer move");
    gy_result_note(r, "'-': jump and jumpback can only give up the last node");
    return rc;
}

const struct gy_study gy_study_movement = {
    .name = "movement",
    .question = "how many keys change their node when one comes or goes?",
    .about =
        "Adds a node, then takes one of the middle out, under every algorithm, and holds what "
        "moved\nagainst the least that any placement with these shares must move. Then rings of "
        "more and\nmore points: the share that moves stays at 1/(N+1), only its spread falls. "
        "Then hash mod N.",
    .claims =
        "A 1: 4 to 5 nodes under hash mod N moves 75 % (it is 80 %). A 2.1, A 5: 1/N\n  D: "
        "12.5 %, 1.2 %, 0.6 % at 10, 100, 200 virtual nodes (it is 20 % at each)\n  B 1.4: 10 "
        "to 20 tables moves everything (it is half). B 2: K/n keys",
    .params = {{"nodes", "nodes before the change", 4, 4, 2, 1000},
               {"trials", "rings looked at for each number of points", 40, 1000, 1, 100000}},
    .run = run,
};
