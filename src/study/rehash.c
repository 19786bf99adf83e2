/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rehash.c - from uid % 10 to uid % 20 tables: with the service stopped, or while it reads and
 * writes. Which tables a read looks into is asked of the library's stages; the tables are those of
 * a system that takes the number itself for the hash.
 */
#include "study/fleet.h"
#include "study/rand.h"
#include "study/studies.h"

enum { ROWS, RATE, READS };

#define MODULO                                                                     \
    {                                                                              \
        {"like", "clickhouse"}, {"distribution", "distributed"}, {"hash", "none"}, \
        {                                                                          \
            "key_type", "uint64"                                                   \
        }                                                                          \
    }
#define RING                    \
    {                           \
        {                       \
            "algorithm", "ring" \
        }                       \
    }

static const struct change {
    const char *name;
    struct gy_fleet from, to;
} CHANGES[] = {
    {"uid % 10 -> % 20", {.setting = MODULO, .nodes = 10}, {.setting = MODULO, .nodes = 20}},
    {"uid % 10 -> % 5", {.setting = MODULO, .nodes = 10}, {.setting = MODULO, .nodes = 5}},
    {"uid % 10 -> % 11", {.setting = MODULO, .nodes = 10}, {.setting = MODULO, .nodes = 11}},
    {"ring, 10 -> 20", {.setting = RING, .nodes = 10}, {.setting = RING, .nodes = 20}},
    {"ring, 10 -> 11", {.setting = RING, .nodes = 10}, {.setting = RING, .nodes = 11}},
};
#define CHANGE_COUNT (sizeof CHANGES / sizeof CHANGES[0])

static const struct gy_column COSTS[] = {
    {"change", "CHANGE", GY_TEXT, 0, false},
    {"moved", "ROWS THAT MOVE", GY_SHARE, 2, false},
    {"minimum", "MINIMUM", GY_SHARE, 2, false},
    {"stopped_hours", "STOPPED, HOURS", GY_NUMBER, 2, false},
    {"dual_extra", "DUAL READ: MORE LOOKS", GY_SHARE, 1, false},
    {"staged_extra", "STAGED: MORE LOOKS", GY_SHARE, 1, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static const struct gy_column STEPS[] = {
    {"done", "CARRIED", GY_SHARE, 0, false},
    {"dual_hit", "DUAL: A ROW THAT IS", GY_NUMBER, 3, false},
    {"dual_miss", "ONE THAT IS NOT", GY_NUMBER, 3, false},
    {"staged_hit", "STAGED: A ROW THAT IS", GY_NUMBER, 3, false},
    {"staged_miss", "ONE THAT IS NOT", GY_NUMBER, 3, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

struct pair {
    gyre_map_t *from, *to;
};

static int maps(struct gy_lab *lab, const struct change *c, struct pair *p)
{
    int rc = gy_fleet_map(lab, &c->from, &p->from);
    p->to = NULL;
    return rc ? rc : gy_fleet_map(lab, &c->to, &p->to);
}

static void drop(struct pair *p)
{
    gyre_map_unref(p->from);
    gyre_map_unref(p->to);
}

/* Looks of one read. leads: the share for which the new map is asked first; carried: the share of
 * the rows that are at their new places. Both are taken in the same order of keys. */
static void looks(const struct pair *p, uint64_t uid, uint32_t leads, uint32_t carried, double *hit,
                  double *miss)
{
    struct gyre_stage order = {
        .size = sizeof order, .map = p->from, .next = p->to, .permille = leads, .salt = 1};
    struct gyre_stage place = order;
    struct gyre_target target[2];
    char key[GY_FLEET_KEY];
    size_t len = (size_t)snprintf(key, sizeof key, "%llu", (unsigned long long)uid);
    place.permille = carried;
    bool at_new = gyre_stage_shifted(&place, key, len);
    size_t n = gyre_stage_route(&order, key, len, 1, target, NULL);
    *miss = (double)n;
    *hit = n > 1 && (target[0].map == p->to) != at_new ? 2 : 1;
}

struct mean {
    double dual_hit, dual_miss, staged_hit, staged_miss;
};

/* Dual read: writes go to the new tables at once, so those are asked first. Staged: the new ones
 * lead only for what has been carried. */
static struct mean ask(struct gy_lab *lab, const struct pair *p, uint32_t carried)
{
    struct mean m = {0, 0, 0, 0}; /* sums of small whole numbers until the end: exact */
    uint64_t state = lab->seed;
    double n = (double)lab->value[READS];
    for (uint64_t i = 0; i < lab->value[READS]; i++) {
        double hit, miss;
        uint64_t uid = gy_rand_below(&state, (uint64_t)1 << 32);
        looks(p, uid, 1000, carried, &hit, &miss);
        m.dual_hit += hit;
        m.dual_miss += miss;
        looks(p, uid, carried, carried, &hit, &miss);
        m.staged_hit += hit;
        m.staged_miss += miss;
    }
    return (struct mean){m.dual_hit / n, m.dual_miss / n, m.staged_hit / n, m.staged_miss / n};
}

/* Exact for a ring; of user numbers 0, 1, 2, ... for remainders, which is exact too once round. */
static double moved(const struct pair *p, const gyre_diff_t *d)
{
    uint64_t all = 22000, n = 0; /* a multiple of 10, 11, 20 and 5 */
    for (uint64_t uid = 0; uid < all && !gyre_diff_exact(d); uid++) {
        char key[GY_FLEET_KEY];
        size_t len = (size_t)snprintf(key, sizeof key, "%llu", (unsigned long long)uid);
        uint32_t from = gyre_map_locate(p->from, key, len), to = gyre_map_locate(p->to, key, len);
        n += strcmp(gyre_map_node(p->from, from)->name, gyre_map_node(p->to, to)->name) != 0;
    }
    return gyre_diff_exact(d) ? gyre_diff_moved(d) : (double)n / (double)all;
}

static int cost(struct gy_lab *lab, struct gy_tab *t, const struct change *c)
{
    struct pair p;
    gyre_diff_t *d = NULL;
    int rc = maps(lab, c, &p);
    rc = rc ? rc : gyre_diff_build(p.from, p.to, 1000, &d, &lab->error);
    if (!rc) {
        double extra = 0, staged = 0;
        for (uint32_t carried = 50; carried < 1000; carried += 100) {
            struct mean m = ask(lab, &p, carried);
            extra += (m.dual_hit - 1) / 10;
            staged += (m.staged_hit - 1) / 10;
        }
        double rows = (double)lab->value[ROWS] * 1e6 * moved(&p, d);
        gy_tab_text(t, "%s", c->name);
        gy_tab_number(t, moved(&p, d));
        gy_tab_number(t, gyre_diff_minimum(d));
        gy_tab_number(t, rows / (double)lab->value[RATE] / 3600);
        gy_tab_number(t, extra);
        gy_tab_number(t, staged);
    }
    gyre_diff_free(d);
    drop(&p);
    return rc;
}

static int steps(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t =
        gy_result_table(r, "steps", "Tables a read looks into, uid % 10 -> % 20", STEPS);
    struct pair p;
    int rc = maps(lab, &CHANGES[0], &p);
    for (uint32_t carried = 0; carried <= 1000 && !rc; carried += 100) {
        struct mean m = ask(lab, &p, carried);
        gy_tab_number(t, carried / 1000.0);
        gy_tab_number(t, m.dual_hit);
        gy_tab_number(t, m.dual_miss);
        gy_tab_number(t, m.staged_hit);
        gy_tab_number(t, m.staged_miss);
        gy_lab_step(lab, CHANGE_COUNT + carried / 1000.0, CHANGE_COUNT + 1);
    }
    drop(&p);
    return rc;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Rows that move",
        .table = "costs",
        .x = "change",
        .x_label = "change",
        .y = {"moved", "minimum"},
        .name = {"moved", "the least possible"},
        .y_label = "of all rows",
    },
    {
        .title = "Tables a read looks into, uid % 10 to % 20",
        .table = "steps",
        .x = "done",
        .x_label = "rows carried over",
        .y = {"dual_hit", "dual_miss", "staged_hit", "staged_miss"},
        .name = {"dual read, row is there", "dual read, no such row", "staged, row is there",
                 "staged, no such row"},
        .y_label = "tables",
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t = gy_result_table(r, "costs", "What each change costs", COSTS);
    int rc = GYRE_OK;
    for (size_t i = 0; i < CHANGE_COUNT && !rc; i++) {
        rc = cost(lab, t, &CHANGES[i]);
        gy_lab_step(lab, (double)i + 1, CHANGE_COUNT + 1);
    }
    rc = rc ? rc : steps(lab, r);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r, "STOPPED: %llu million rows, %llu moved a second",
                   (unsigned long long)lab->value[ROWS], (unsigned long long)lab->value[RATE]);
    gy_result_note(r,
                   "dual read: writes go to the new tables at once, reads ask them first and then "
                   "the old; on average over the whole change");
    gy_result_note(r, "staged (gyre_stage_route): the new tables lead only for rows that have been "
                      "carried, so a row that is there is found at once");
    gy_result_note(r,
                   "doubling moves half, which no other placement could do with less: the new ten "
                   "tables hold half. %% 11 is where the two part");
    return rc;
}

const struct gy_study gy_study_rehash = {
    .name = "rehash",
    .question = "what moves from uid % 10 to uid % 20, stopped or while serving?",
    .about =
        "Deals user numbers to tables by remainder, changes the number of tables, and compares: "
        "rows\nthat move, how long the service stops if it stops, and how many tables a read "
        "looks into\nif it does not, as rows are carried over. Beside it a ring with as many "
        "tables.",
    .claims = "B 1.4: 10 to 20 or 5 tables means rehashing everything (half of it moves)\n  B 1.4: "
              "stop the service, or read from several tables by several hashes meanwhile",
    .params = {{"rows", "rows, in millions", 200, 200, 1, 1000000},
               {"rate", "rows moved a second", 20000, 20000, 1, 1000000000},
               {"reads", "reads counted at each step", 2000, 100000, 1, 10000000}},
    .run = run,
};
