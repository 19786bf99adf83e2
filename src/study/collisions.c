/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collisions.c - how soon two keys share a hash of so many bits, and two points a position; and
 * labels of points that are one though their nodes are two. Counts, beside the birthday bound.
 */
#include "study/fleet.h"
#include "study/studies.h"

#include <math.h>
#include <stdlib.h>

enum { BITS, NODES, POINTS };

/* ---- the first collision of SHA-256, cut short ---- */

static const struct gy_column FIRST[] = {
    {"bits", "BITS", GY_COUNT, 0, false},
    {"keys", "KEYS UNTIL THE FIRST", GY_COUNT, 0, false},
    {"expected", "EXPECTED", GY_NUMBER, 0, false},
    {"one", "ONE KEY", GY_TEXT, 0, false},
    {"other", "THE OTHER", GY_TEXT, 0, false},
    {"hash", "BOTH HASH TO", GY_TEXT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

/* A set of hashes by open addressing; the value is the key's number + 1. */
struct seen {
    uint64_t *hash;
    uint32_t *number;
    size_t mask;
};

static uint64_t cut(uint64_t i, unsigned bits)
{
    char key[GY_FLEET_KEY];
    uint8_t d[32];
    uint64_t h = 0;
    gyre_hash_sha256(key, (size_t)snprintf(key, sizeof key, "k%llu", (unsigned long long)i), d);
    for (unsigned b = 0; b < 8; b++) {
        h = h << 8 | d[b];
    }
    return h >> (64 - bits);
}

/* The number + 1 of an earlier key with the same hash, or 0. */
static uint32_t meet(struct seen *s, uint64_t hash, uint32_t number)
{
    size_t at = (size_t)(hash * 0x9e3779b97f4a7c15u >> 24) & s->mask;
    while (s->number[at] && s->hash[at] != hash) {
        at = (at + 1) & s->mask;
    }
    if (s->number[at]) {
        return s->number[at];
    }
    s->hash[at] = hash;
    s->number[at] = number + 1;
    return 0;
}

static int first_of(struct gy_lab *lab, struct gy_tab *t, unsigned bits)
{
    /* Half of the room takes six times the keys to be expected; the chance to need more is e^-32.
     */
    double expected = sqrt(acos(-1) / 2 * pow(2, bits));
    size_t room = (size_t)1 << (bits / 2 + 4);
    struct seen s = {.mask = room - 1};
    s.hash = calloc(room, sizeof *s.hash);
    s.number = calloc(room, sizeof *s.number);
    uint64_t i = 0;
    uint32_t other = 0;
    if (!s.hash || !s.number) {
        free(s.hash);
        free(s.number);
        return gy_lab_memory(lab);
    }
    while (!other && i < room / 2) {
        other = meet(&s, cut(i, bits), (uint32_t)i);
        i++;
    }
    gy_tab_count(t, bits);
    gy_tab_count(t, i);
    gy_tab_number(t, expected);
    gy_tab_text(t, "k%u", other ? other - 1 : 0);
    gy_tab_text(t, "k%llu", (unsigned long long)(i - 1));
    gy_tab_text(t, "%0*llx", (int)(bits + 3) / 4, (unsigned long long)cut(i - 1, bits));
    free(s.hash);
    free(s.number);
    return GYRE_OK;
}

/* ---- points at one position ---- */

static const struct gy_column POINTS_AT[] = {
    {"labels", "LABELS", GY_TEXT, 0, false},
    {"bits", "BITS", GY_COUNT, 0, false},
    {"points", "POINTS", GY_COUNT, 0, false},
    {"lost", "AT A TAKEN POSITION", GY_COUNT, 0, false},
    {"expected", "BY CHANCE", GY_NUMBER, 1, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void points_at(struct gy_tab *t, const char *form, const char *label, unsigned bits,
                      uint64_t *at, uint64_t nodes, uint64_t points)
{
    size_t n = (size_t)(nodes * points), taken = 0;
    for (size_t i = 0; i < n; i++) {
        char text[GY_FLEET_KEY];
        uint8_t d[16];
        uint64_t h = 0;
        size_t len =
            (size_t)snprintf(text, sizeof text, "n%llu%s%llu", (unsigned long long)(i / points),
                             form, (unsigned long long)(i % points));
        gyre_hash_md5(text, len, d);
        for (unsigned b = 0; b < 8; b++) {
            h = h << 8 | d[b];
        }
        at[i] = h >> (64 - bits);
    }
    qsort(at, n, sizeof *at, by_value);
    for (size_t i = 1; i < n; i++) {
        taken += at[i] == at[i - 1];
    }
    gy_tab_text(t, "%s", label);
    gy_tab_count(t, bits);
    gy_tab_count(t, n);
    gy_tab_count(t, taken);
    gy_tab_number(t, (double)n * ((double)n - 1) / 2 / pow(2, bits));
}

static int rings(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t =
        gy_result_table(r, "points", "Points of a ring at one position (MD5)", POINTS_AT);
    uint64_t nodes = lab->value[NODES], points = lab->value[POINTS];
    uint64_t *at = calloc((size_t)(nodes * points), sizeof *at);
    if (!at) {
        return gy_lab_memory(lab);
    }
    points_at(t, "#", "n1#0", 32, at, nodes, points);
    points_at(t, "#", "n1#0", 64, at, nodes, points);
    points_at(t, "", "n10", 32, at, nodes, points);
    points_at(t, "", "n10", 64, at, nodes, points);
    free(at);
    return GYRE_OK;
}

static const struct gy_chart CHART = {
    .title = "Keys until two share a hash",
    .table = "first",
    .x = "bits",
    .x_label = "bits of the hash",
    .y = {"keys", "expected"},
    .name = {"counted", "expected"},
    .y_label = "keys",
    .log_y = true,
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t = gy_result_table(r, "first", "SHA-256 cut short, keys k0, k1, ...", FIRST);
    int rc = GYRE_OK;
    for (unsigned bits = 8; bits <= lab->value[BITS] && !rc; bits += 4) {
        rc = first_of(lab, t, bits);
        gy_lab_step(lab, pow(2, bits / 2.0), pow(2, (double)lab->value[BITS] / 2) * 1.5);
    }
    rc = rc ? rc : rings(lab, r);
    gy_result_chart(r, &CHART);
    gy_result_note(r, "EXPECTED is sqrt(pi/2 * 2^bits): half the bits are what a search for some "
                      "collision costs, however good the function. Against an enemy take a secret "
                      "key (hash: siphash), or 128 bits and more");
    gy_result_note(r, "labels without a separator are one for two nodes: n1 with point 10, and n11 "
                      "with point 0; no number of bits helps");
    gy_result_note(r, "a map of position to node loses the point that was there; removing one node "
                      "then takes the other's. Gyre's ring keeps both, by name");
    return rc;
}

const struct gy_study gy_study_collisions = {
    .name = "collisions",
    .question = "how soon do two keys, or two points, collide?",
    .about =
        "Hashes k0, k1, ... by SHA-256 cut to so many bits until two agree, and counts the "
        "points of a\nring that fall on a position that is taken: with the node and the number "
        "parted by '#', and\nwith nothing between them. The seed changes nothing.",
    .claims = "A 8.1: four bytes of SHA-256 protect against collision attacks (they do not)\n  B "
              "1.1: collisions cannot be avoided; the wider the range, the rarer\n  C: removing a "
              "node may remove another's point. D: labels node + i",
    .params = {{"bits", "widest hash", 32, 40, 8, 40},
               {"nodes", "nodes of the ring", 200, 1000, 1, 10000},
               {"points", "points of a node", 150, 150, 1, 1000}},
    .run = run,
};
