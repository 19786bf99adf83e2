/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - clients that know different parts of the fleet (Karger et al., STOC 1997, section 4):
 * spread is on how many nodes a key is put by all of them, load how many keys a node is given by
 * any of them. Where a key goes to the first node of its own order that a client knows, the spread
 * to be expected has a closed form, which stands beside.
 */
#include "study/fleet.h"
#include "study/rand.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { NODES, KEYS, VIEWS, KNOWN };

static const struct gy_column COLUMNS[] = {
    {"algorithm", "ALGORITHM", GY_TEXT, 0, false},
    {"views", "VIEWS", GY_COUNT, 0, false},
    {"spread", "SPREAD", GY_NUMBER, 2, false},
    {"expected_spread", "EXPECTED", GY_NUMBER, 2, false},
    {"most_spread", "MOST", GY_COUNT, 0, false},
    {"most_load", "FULLEST NODE", GY_NUMBER, 2, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

/* What stands for an algorithm here; points 0 where it has none. */
static const struct {
    const char *label, *algorithm;
    uint64_t points;
    bool ordered; /* a key goes to the first node of an order of its own */
} RULES[] = {
    {"ring, 1 point", "ring", 1, true},    {"ring, 150", "ring", 150, true},
    {"rendezvous", "rendezvous", 0, true}, {"jump", "jump", 0, false},
    {"modulo", "modulo", 0, false},
};
#define RULE_COUNT (sizeof RULES / sizeof RULES[0])

struct seen {
    uint8_t *on;      /* [key][node]: some client put it there */
    uint32_t *load;   /* keys of each node, by any client */
    uint16_t *spread; /* nodes of each key */
    uint64_t nodes, keys;
};

/* A client's fleet: each node is known with the same probability; one at least. */
static int view_map(struct gy_lab *lab, size_t rule, uint64_t view, gyre_map_t **out)
{
    struct gy_fleet f = {.setting = {{"algorithm", RULES[rule].algorithm}},
                         .points = RULES[rule].points,
                         .nodes = lab->value[NODES]};
    uint64_t state = lab->seed << 20 ^ view; /* the same views for every rule */
    char name[GY_FLEET_KEY];
    gyre_topology_t *t;
    *out = NULL;
    int rc = gy_fleet_topology(lab, &f, &t);
    uint64_t spared = gy_rand_below(&state, f.nodes);
    for (uint64_t n = 0; n < f.nodes && !rc; n++) {
        bool known = gy_rand_below(&state, 100) < lab->value[KNOWN];
        if (!known && n != spared) {
            rc = gyre_topology_remove(t, gy_fleet_name(lab, &f, n, name), &lab->error);
        }
    }
    rc = rc ? rc : gyre_map_build(t, out, &lab->error);
    gyre_topology_free(t);
    return rc;
}

static void take_view(struct seen *s, const gyre_map_t *m)
{
    for (uint64_t k = 0; k < s->keys; k++) {
        char key[GY_FLEET_KEY];
        size_t len = gy_fleet_key(k, key);
        const char *name = gyre_map_node(m, gyre_map_locate(m, key, len))->name;
        size_t node = (size_t)strtoull(name + 1, NULL, 10);
        uint8_t *on = &s->on[k * s->nodes + node];
        if (!*on) {
            *on = 1;
            s->load[node]++;
            s->spread[k]++;
        }
    }
}

/* The j-th node of a key's order gets it from a client that knows it and none before it. */
static double expected_spread(uint64_t nodes, uint64_t views, double known)
{
    double sum = 0, first = known;
    for (uint64_t j = 0; j < nodes; j++) {
        sum += 1 - pow(1 - first, (double)views);
        first *= 1 - known;
    }
    return sum;
}

static void row(struct gy_lab *lab, struct gy_tab *t, size_t rule, uint64_t views,
                const struct seen *s)
{
    struct gy_stat spread = {0}, load = {0};
    for (uint64_t k = 0; k < s->keys; k++) {
        gy_stat_add(&spread, s->spread[k]);
    }
    for (uint64_t n = 0; n < s->nodes; n++) {
        gy_stat_add(&load, (double)s->load[n] * (double)s->nodes / (double)s->keys);
    }
    gy_tab_text(t, "%s", RULES[rule].label);
    gy_tab_count(t, views);
    gy_tab_number(t, spread.mean);
    if (RULES[rule].ordered) {
        gy_tab_number(t, expected_spread(s->nodes, views, (double)lab->value[KNOWN] / 100));
    } else {
        gy_tab_none(t);
    }
    gy_tab_count(t, (uint64_t)spread.most);
    gy_tab_number(t, load.most);
}

static int rule(struct gy_lab *lab, struct gy_tab *t, size_t which, struct seen *s)
{
    static const uint64_t shown[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
    size_t next = 0;
    memset(s->on, 0, s->keys * s->nodes);
    memset(s->load, 0, s->nodes * sizeof *s->load);
    memset(s->spread, 0, s->keys * sizeof *s->spread);
    for (uint64_t v = 1; v <= lab->value[VIEWS]; v++) {
        gyre_map_t *m;
        int rc = view_map(lab, which, v, &m);
        if (rc) {
            return rc;
        }
        take_view(s, m);
        gyre_map_unref(m);
        if (v == shown[next]) {
            row(lab, t, which, v, s);
            next += next + 1 < sizeof shown / sizeof shown[0];
        }
        gy_lab_step(lab, (double)which + (double)v / (double)lab->value[VIEWS], RULE_COUNT);
    }
    return GYRE_OK;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Spread: nodes that hold one key",
        .table = "views",
        .x = "views",
        .x_label = "clients, each with its own view",
        .y = {"spread"},
        .by = "algorithm",
        .y_label = "nodes a key is on",
        .log_x = true,
    },
    {
        .title = "Load: keys of the fullest node",
        .table = "views",
        .x = "views",
        .x_label = "clients, each with its own view",
        .y = {"most_load"},
        .by = "algorithm",
        .y_label = "keys / (all keys / nodes)",
        .log_x = true,
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct seen s = {.nodes = lab->value[NODES], .keys = lab->value[KEYS]};
    s.on = calloc(s.keys, s.nodes);
    s.load = calloc(s.nodes, sizeof *s.load);
    s.spread = calloc(s.keys, sizeof *s.spread);
    int rc = s.on && s.load && s.spread ? GYRE_OK : gy_lab_memory(lab);
    struct gy_tab *t = gy_result_table(r, "views", NULL, COLUMNS);
    for (size_t i = 0; i < RULE_COUNT && !rc; i++) {
        rc = rule(lab, t, i, &s);
    }
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r, "each client knows each of %llu nodes with probability %llu %%",
                   (unsigned long long)lab->value[NODES], (unsigned long long)lab->value[KNOWN]);
    gy_result_note(r,
                   "EXPECTED: the sum over j of 1 - (1 - p (1-p)^j)^views, p being what a client "
                   "knows: it grows with the logarithm of the clients");
    gy_result_note(r, "FULLEST NODE: keys that any client puts there, beside all keys / nodes");
    gy_result_note(r, "with modulo and jump every view is another function, so the spread goes on "
                      "growing");
    free(s.on);
    free(s.load);
    free(s.spread);
    return rc;
}

const struct gy_study gy_study_views = {
    .name = "views",
    .question = "what if clients know different parts of the fleet?",
    .about =
        "Gives each client a view of its own, a random part of the nodes, and lets each place "
        "all\nkeys. SPREAD: on how many nodes a key ends up; FULLEST NODE: keys that any client "
        "puts there,\nbeside the fair number. Karger's paper bounds both by about log(clients) "
        "for consistent\nhashing; for others they go on growing.",
    .claims = "B 2: spread, load, balance and monotonicity. C: views must agree\n  A 2: Karger et "
              "al. 1997",
    .params = {{"nodes", "nodes of the fleet", 50, 100, 2, 1000},
               {"keys", "keys placed by every client", 1000, 10000, 1, 100000},
               {"views", "clients", 100, 1000, 1, 1000},
               {"known", "part of the nodes that a client knows, in percent", 50, 50, 1, 100}},
    .run = run,
};
