/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.c - what tokens cost a database that keeps copies: ranges to repair, nodes that share data
 * (so: that may feed a replacement, and that lose a quorum together), and steps of a lookup. Ranges
 * are the library's own walk over replicas, nothing is sampled.
 */
#include "study/fleet.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { NODES, COPIES, TRIALS };

static const struct gy_column COLUMNS[] = {
    {"tokens", "NUM_TOKENS", GY_TEXT, 0, false},
    {"ranges", "RANGES/NODE", GY_NUMBER, 1, false},
    {"ranges_all", "IN ALL", GY_NUMBER, 1, false},
    {"feeders", "FEEDERS", GY_NUMBER, 1, false},
    {"largest_feed", "FROM THE BUSIEST", GY_SHARE, 1, false},
    {"pairs", "PAIRS THAT SHARE", GY_SHARE, 1, false},
    {"cv", "CV", GY_NUMBER, 3, false},
    {"peak", "MAX/MEAN", GY_NUMBER, 2, false},
    {"comparisons", "LOOKUP STEPS", GY_NUMBER, 1, false},
    {"bytes", "RING BYTES", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

/* Tokens of the even and of the odd nodes. */
static const uint64_t TOKENS[][2] = {{1, 1},   {4, 4},     {8, 8},     {16, 16},  {32, 32},
                                     {64, 64}, {128, 128}, {256, 256}, {16, 256}, {1, 256}};
#define ROWS (sizeof TOKENS / sizeof TOKENS[0])

struct seen {
    struct gy_stat ranges, feeders, largest, cv, peak;
    uint64_t points;
    size_t bytes;
};

static int look(struct gy_lab *lab, const struct gy_fleet *f, struct seen *s)
{
    struct gyre_balance b = {.size = sizeof b};
    gyre_holdings_t *h = NULL;
    gyre_map_t *m;
    int rc = gy_fleet_map(lab, f, &m);
    rc = rc ? rc : gyre_holdings_build(m, (size_t)lab->value[COPIES], 0, &h, &lab->error);
    for (uint32_t i = 0; !rc && i < gyre_map_count(m); i++) {
        struct gyre_holding g = {.size = sizeof g};
        rc = gyre_holdings_node(h, i, &g);
        gy_stat_add(&s->ranges, (double)g.ranges);
        gy_stat_add(&s->feeders, g.feeders);
        if (g.held > g.alone) {
            gy_stat_add(&s->largest, g.largest / (g.held - g.alone));
        }
    }
    if (!rc) {
        gyre_map_balance(m, &b); /* each beside its weight, which is its tokens */
        gy_stat_add(&s->cv, b.cv);
        gy_stat_add(&s->peak, b.peak);
        s->points = gyre_map_points(m);
        s->bytes = gyre_map_bytes(m);
    }
    gyre_holdings_free(h);
    gyre_map_unref(m);
    return rc;
}

static void row(const struct gy_lab *lab, struct gy_tab *t, const uint64_t tokens[2],
                const struct seen *s)
{
    double nodes = (double)lab->value[NODES];
    if (tokens[0] == tokens[1]) {
        gy_tab_text(t, "%llu", (unsigned long long)tokens[0]);
    } else {
        gy_tab_text(t, "%llu and %llu", (unsigned long long)tokens[0],
                    (unsigned long long)tokens[1]);
    }
    gy_tab_number(t, s->ranges.mean);
    gy_tab_number(t, s->ranges.mean * nodes / (double)lab->value[COPIES]);
    gy_tab_number(t, s->feeders.mean);
    gy_tab_number(t, s->largest.mean);
    gy_tab_number(t, s->feeders.mean / (nodes - 1));
    gy_tab_number(t, s->cv.mean);
    gy_tab_number(t, s->peak.mean);
    gy_tab_number(t, log2((double)s->points));
    gy_tab_count(t, s->bytes);
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Ranges a node has to repair",
        .table = "tokens",
        .x = "tokens",
        .x_label = "num_tokens",
        .y = {"ranges"},
        .y_label = "ranges held by a node",
    },
    {
        .title =
            "Pairs of nodes that hold some key together: if both are down, it has lost two copies",
        .table = "tokens",
        .x = "tokens",
        .x_label = "num_tokens",
        .y = {"pairs", "largest_feed"},
        .name = {"pairs that share", "from the busiest feeder"},
        .y_label = "of all pairs; of what a replacement is sent",
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t = gy_result_table(r, "tokens", NULL, COLUMNS);
    double *weights = calloc(lab->value[NODES], sizeof *weights);
    int rc = weights ? GYRE_OK : gy_lab_memory(lab);
    for (size_t i = 0; i < ROWS && !rc; i++) {
        struct seen s = {.points = 0};
        for (uint64_t n = 0; n < lab->value[NODES]; n++) {
            weights[n] = (double)TOKENS[i][n % 2];
        }
        for (uint64_t k = 0; k < lab->value[TRIALS] && !rc; k++) {
            struct gy_fleet f = {
                .points = 1, .nodes = lab->value[NODES], .trial = k, .weights = weights};
            rc = look(lab, &f, &s);
        }
        row(lab, t, TOKENS[i], &s);
        gy_lab_step(lab, (double)i + 1, ROWS);
    }
    free(weights);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r,
                   "tokens stand at random places, as without an allocator; %llu nodes, %llu "
                   "copies of each key",
                   (unsigned long long)lab->value[NODES], (unsigned long long)lab->value[COPIES]);
    gy_result_note(r,
                   "FROM THE BUSIEST: of what a replacement is sent, the part of the feeder that "
                   "sends most; the others send beside it, so it is the time it takes");
    gy_result_note(r, "PAIRS THAT SHARE: two nodes that hold some key together; with both down it "
                      "has lost two copies. LOOKUP STEPS: log2 of all tokens");
    gy_result_note(r,
                   "16 and 256: every other node; CV and MAX/MEAN are beside a node's own tokens");
    return rc;
}

const struct gy_study gy_study_repair = {
    .name = "repair",
    .question = "what do more tokens a node cost, and what do they buy?",
    .about =
        "Gives each node num_tokens places on the ring, keeps several copies of each key, and "
        "counts:\nranges a node holds (each is compared by itself in a repair), nodes that can "
        "feed its\nreplacement, pairs of nodes whose loss together takes two copies of some key, "
        "evenness, and\nthe steps of a lookup. Two rows are mixed: every other node has more.",
    .claims =
        "A 7.2: 256 tokens by default (16 since Cassandra 4.0); too many cost repair and "
        "lookups;\n  128 to 256 recommended; a replacement is fed from many in parallel; more "
        "tokens for\n  larger machines",
    .params = {{"nodes", "nodes of the fleet", 24, 48, 2, 1000},
               {"copies", "copies of each key", 3, 3, 1, 64},
               {"trials", "rings looked at for each line", 3, 20, 1, 1000}},
    .run = run,
};
