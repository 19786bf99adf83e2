/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounded.c - bounded loads under keys of which few are most of the traffic. Requests arrive one by
 * one and stay for as long as so many others take to arrive; each goes where the library's bounded
 * lookup sends it. What is looked at is the fullest node, and what is paid for it: requests that do
 * not reach the node that has their key.
 */
#include "study/fleet.h"
#include "study/rand.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { NODES, KEYS, ZIPF, FLIGHT, REQUESTS };

static const struct gy_column COLUMNS[] = {
    {"algorithm", "ALGORITHM", GY_TEXT, 0, false},
    {"bound", "BOUND", GY_TEXT, 0, false},
    {"percent", "PERCENT", GY_COUNT, 0, false},
    {"peak", "FULLEST/MEAN", GY_NUMBER, 2, false},
    {"most", "MOST", GY_NUMBER, 2, false},
    {"away", "AWAY FROM HOME", GY_SHARE, 1, false},
    {"hot_away", "OF THE HOTTEST KEY", GY_SHARE, 1, false},
    {"first_taker", "FIRST TAKER'S PART", GY_SHARE, 1, false},
    {"nodes_key", "NODES A KEY", GY_NUMBER, 2, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

struct sim {
    gyre_map_t *map;
    uint32_t nodes;
    const uint32_t *rank; /* of each request's key */
    uint32_t *at;         /* where each went */
    uint64_t *load, *taken;
    uint64_t *on; /* a bit for each node that was sent the key, up to 64 */
    uint64_t away, hot, hot_away;
    struct gy_stat peak;
};

static void arrive(const struct gy_lab *lab, struct sim *s, uint64_t i, unsigned percent)
{
    char key[GY_FLEET_KEY];
    uint64_t flight = lab->value[FLIGHT], under_way = i < flight ? i : flight;
    if (i >= flight) {
        s->load[s->at[i - flight]]--;
        under_way--;
    }
    size_t len = gy_fleet_key(s->rank[i], key);
    uint32_t home = gyre_map_locate(s->map, key, len), node = home;
    if (percent) {
        node = gyre_map_locate_bounded(s->map, key, len, s->load, under_way, percent);
    }
    s->at[i] = node;
    s->load[node]++;
    s->on[s->rank[i]] |= (uint64_t)1 << node % 64;
    s->away += node != home;
    s->taken[node] += node != home;
    s->hot += s->rank[i] == 0;
    s->hot_away += s->rank[i] == 0 && node != home;
}

static void look(const struct gy_lab *lab, struct sim *s)
{
    uint64_t most = 0;
    for (uint32_t n = 0; n < s->nodes; n++) {
        most = s->load[n] > most ? s->load[n] : most;
    }
    gy_stat_add(&s->peak, (double)most * s->nodes / (double)lab->value[FLIGHT]);
}

static void simulate(struct gy_lab *lab, struct sim *s, unsigned percent)
{
    memset(s->load, 0, 2 * (size_t)s->nodes * sizeof *s->load); /* and taken, behind it */
    memset(s->on, 0, lab->value[KEYS] * sizeof *s->on);
    s->away = s->hot = s->hot_away = 0;
    s->peak = (struct gy_stat){.n = 0};
    for (uint64_t i = 0; i < lab->value[REQUESTS]; i++) {
        arrive(lab, s, i, percent);
        if (i >= lab->value[FLIGHT] && i % 64 == 0) {
            look(lab, s);
        }
    }
}

static void row(const struct gy_lab *lab, struct gy_tab *t, const char *algorithm, unsigned percent,
                const struct sim *s)
{
    uint64_t first = 0;
    struct gy_stat spread = {0};
    for (uint32_t n = 0; n < s->nodes; n++) {
        first = s->taken[n] > first ? s->taken[n] : first;
    }
    for (uint64_t k = 0; k < lab->value[KEYS]; k++) {
        if (s->on[k]) {
            gy_stat_add(&spread, __builtin_popcountll(s->on[k]));
        }
    }
    gy_tab_text(t, "%s", algorithm);
    if (percent) {
        gy_tab_text(t, "%u.%02u", percent / 100, percent % 100);
        gy_tab_count(t, percent);
    } else {
        gy_tab_text(t, "none");
        gy_tab_none(t);
    }
    gy_tab_number(t, s->peak.mean);
    gy_tab_number(t, s->peak.most);
    gy_tab_number(t, (double)s->away / (double)lab->value[REQUESTS]);
    gy_tab_number(t, s->hot ? (double)s->hot_away / (double)s->hot : 0);
    gy_tab_number(t, s->away ? (double)first / (double)s->away : NAN);
    gy_tab_number(t, spread.mean);
}

static int draw_ranks(struct gy_lab *lab, uint32_t *rank)
{
    struct gy_zipf z;
    uint64_t state = lab->seed;
    if (gy_zipf_init(&z, (size_t)lab->value[KEYS], (double)lab->value[ZIPF] / 100)) {
        return gy_lab_memory(lab);
    }
    for (uint64_t i = 0; i < lab->value[REQUESTS]; i++) {
        rank[i] = (uint32_t)gy_zipf_draw(&z, &state);
    }
    gy_zipf_fini(&z);
    return GYRE_OK;
}

static int algorithms(struct gy_lab *lab, struct sim *s, struct gy_tab *t)
{
    static const char *const list[] = {"ring", "rendezvous"};
    static const unsigned bounds[] = {0, 200, 150, 125, 110, 100};
    size_t done = 0, all = 2 * sizeof bounds / sizeof bounds[0];
    for (size_t a = 0; a < 2; a++) {
        struct gy_fleet f = {.setting = {{"algorithm", list[a]}}, .nodes = lab->value[NODES]};
        int rc = gy_fleet_map(lab, &f, &s->map);
        if (rc) {
            return rc;
        }
        for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
            simulate(lab, s, bounds[b]);
            row(lab, t, list[a], bounds[b], s);
            gy_lab_step(lab, (double)++done, (double)all);
        }
        gyre_map_unref(s->map);
    }
    return GYRE_OK;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "The fullest node",
        .table = "bounds",
        .x = "percent",
        .x_label = "bound, in percent of the mean",
        .y = {"peak"},
        .by = "algorithm",
        .y_label = "requests under way / mean",
    },
    {
        .title = "What it costs",
        .table = "bounds",
        .x = "percent",
        .x_label = "bound, in percent of the mean",
        .y = {"away"},
        .by = "algorithm",
        .y_label = "requests away from their node",
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t = gy_result_table(r, "bounds", NULL, COLUMNS);
    size_t n = (size_t)lab->value[REQUESTS];
    uint32_t *rank = calloc(n, sizeof *rank);
    struct sim s = {.rank = rank, .nodes = (uint32_t)lab->value[NODES]};
    s.at = calloc(n, sizeof *s.at);
    s.load = calloc(2 * (size_t)s.nodes, sizeof *s.load);
    s.on = calloc((size_t)lab->value[KEYS], sizeof *s.on);
    int rc = GYRE_NOMEM;
    if (rank && s.at && s.load && s.on) {
        s.taken = s.load + s.nodes;
        rc = draw_ranks(lab, rank);
    } else {
        gy_lab_memory(lab);
    }
    rc = rc ? rc : algorithms(lab, &s, t);
    free(rank);
    free(s.at);
    free(s.load);
    free(s.on);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r,
                   "%llu nodes, %llu requests under way, %llu keys, the one of rank k in "
                   "proportion to 1/k^%.2f",
                   (unsigned long long)lab->value[NODES], (unsigned long long)lab->value[FLIGHT],
                   (unsigned long long)lab->value[KEYS], (double)lab->value[ZIPF] / 100);
    gy_result_note(r,
                   "FIRST TAKER'S PART: of what is turned away, that of the node that takes most: "
                   "on a ring it falls on the next ones, with rendezvous on all");
    gy_result_note(r,
                   "where a key goes depends on the loads: for work and for caches, not for data "
                   "that is kept once");
    return rc;
}

const struct gy_study gy_study_bounded = {
    .name = "bounded",
    .question = "what do bounded loads do about a few hot keys, and at what price?",
    .about =
        "Sends requests for keys drawn by Zipf's law through the bounded lookup, so many under "
        "way at\na time. A node may go above the mean by the bound and no further. FULLEST/MEAN "
        "is how full\nthe fullest node is, on average and at most; AWAY FROM HOME the requests "
        "that had to go\nelsewhere, which a cache there may not have.",
    .claims = "A 8.2: detect hot keys, and copy them. C: a hot spot is eased by several hashes",
    .params = {{"nodes", "nodes of the fleet", 10, 10, 2, 64},
               {"keys", "different keys", 10000, 100000, 1, 10000000},
               {"zipf", "exponent of Zipf's law, in hundredths", 100, 100, 0, 300},
               {"in-flight", "requests under way", 1000, 1000, 1, 1000000},
               {"requests", "requests in all", 40000, 1000000, 1, 100000000}},
    .run = run,
};
