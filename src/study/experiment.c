/* SPDX-License-Identifier: Apache-2.0 */
/*
 * experiment.c - the published experiment of a sample program, to the key: `user:0` to `user:19999`
 * on a ring of MD5 points, one node added, beside hash mod N. The names of the figures are those of
 * the vectors in tests/vectors/seeds, so that other implementations can be held against them.
 */
#include "study/fleet.h"
#include "study/studies.h"

#include <stdlib.h>

enum { KEYS, POINTS, NODES };

struct run {
    uint64_t keys, nodes;
    gyre_map_t *map[2];                    /* before, after */
    uint64_t *held[2], *modulo[2], *moved; /* by node; moved: from each to the new one */
    uint64_t ring_moved, modulo_moved;
    struct gy_buf lines[2]; /* key TAB node LF: their digest tells whether all keys agree */
};

static int build(struct gy_lab *lab, struct run *s, int which)
{
    char points[24];
    snprintf(points, sizeof points, "%llu", (unsigned long long)lab->value[POINTS]);
    struct gy_fleet f = {
        .setting = {{"like", "sample"}, {"mode", "md5_64be"}, {"vnodes", points}},
        .nodes = s->nodes + (uint64_t)which,
        .plain = true,
    };
    return gy_fleet_map(lab, &f, &s->map[which]);
}

/* The sample programs number nodes as they were added; the map, by name. */
static uint64_t number_of(const struct run *s, int which, uint32_t node)
{
    return strtoull(gyre_map_node(s->map[which], node)->name + strlen("cache-"), NULL, 10);
}

static void take_key(struct run *s, uint64_t i)
{
    char key[GY_FLEET_KEY];
    size_t len = gy_fleet_key(i, key);
    uint64_t hash = gyre_map_hash(s->map[0], key, len), node[2], slot[2];
    for (int w = 0; w < 2; w++) {
        node[w] = number_of(s, w, gyre_map_locate(s->map[w], key, len));
        slot[w] = hash % (s->nodes + (uint64_t)w);
        s->held[w][node[w]]++;
        s->modulo[w][slot[w]]++;
        gy_buf_add(&s->lines[w], key, len);
        gy_buf_printf(&s->lines[w], "\tcache-%llu\n", (unsigned long long)node[w]);
    }
    if (node[0] != node[1]) {
        s->ring_moved++;
        s->moved[node[0]]++;
    }
    s->modulo_moved += slot[0] != slot[1];
}

static const char *digest(const struct gy_buf *lines, char out[65])
{
    uint8_t d[32];
    gyre_hash_sha256(gy_buf_head(lines), gy_buf_size(lines), d);
    for (size_t i = 0; i < sizeof d; i++) {
        snprintf(out + 2 * i, 3, "%02x", d[i]);
    }
    return out;
}

static int cv(const uint64_t *loads, uint64_t n, double *out)
{
    double *x = calloc(n, sizeof *x);
    struct gyre_balance b = {.size = sizeof b};
    if (!x) {
        return GYRE_NOMEM;
    }
    for (uint64_t i = 0; i < n; i++) {
        x[i] = (double)loads[i];
    }
    gyre_balance_of(x, NULL, (size_t)n, &b);
    *out = b.cv;
    free(x);
    return GYRE_OK;
}

/* ---- what it found ---- */

static const struct gy_column COLUMNS[] = {
    {"node", "NODE", GY_TEXT, 0, false},
    {"ring_before", "RING BEFORE", GY_COUNT, 0, false},
    {"ring_after", "AFTER", GY_COUNT, 0, false},
    {"moved_away", "MOVED AWAY", GY_COUNT, 0, false},
    {"modulo_before", "MODULO BEFORE", GY_COUNT, 0, false},
    {"modulo_after", "AFTER", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static const struct gy_chart CHART = {
    .title = "Keys of each node, before one is added and after",
    .table = "nodes",
    .x = "node",
    .x_label = "node",
    .y = {"ring_before", "ring_after", "modulo_after"},
    .y_label = "keys",
    .name = {"ring, before", "ring, one more", "modulo, one more"},
};

static void table(const struct run *s, struct gy_result *r)
{
    struct gy_tab *t = gy_result_table(r, "nodes", NULL, COLUMNS);
    const uint64_t *columns[] = {s->held[0], s->held[1], s->moved, s->modulo[0], s->modulo[1]};
    for (uint64_t i = 0; i <= s->nodes; i++) {
        gy_tab_text(t, "cache-%llu", (unsigned long long)i);
        for (size_t c = 0; c < 5; c++) {
            if (i < s->nodes || c == 1 || c == 4) {
                gy_tab_count(t, columns[c][i]);
            } else {
                gy_tab_none(t);
            }
        }
    }
    gy_result_chart(r, &CHART);
}

static void loads(struct gy_result *r, const char *prefix, const uint64_t *of, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        char id[64];
        snprintf(id, sizeof id, "%s%llu", prefix, (unsigned long long)i);
        gy_figure_count(r, id, NULL, of[i]);
    }
}

static void moved(const struct run *s, struct gy_result *r)
{
    for (uint64_t i = 0; i < s->nodes; i++) {
        char id[80];
        snprintf(id, sizeof id, "moved:cache-%llu->cache-%llu", (unsigned long long)i,
                 (unsigned long long)s->nodes);
        if (s->moved[i]) {
            gy_figure_count(r, id, NULL, s->moved[i]);
        }
    }
}

static int figures(const struct run *s, struct gy_result *r)
{
    char d[65];
    double keys = (double)s->keys, before, after;
    if (cv(s->held[0], s->nodes, &before) || cv(s->held[1], s->nodes + 1, &after)) {
        return GYRE_NOMEM;
    }
    gy_figure_count(r, "keys", "keys", s->keys);
    gy_figure_count(r, "ring_moved", "ring moved", s->ring_moved);
    gy_figure_share(r, "ring_moved_fraction", "  of all keys", 2, (double)s->ring_moved / keys);
    gy_figure_count(r, "modulo_moved", "modulo moved", s->modulo_moved);
    gy_figure_share(r, "modulo_moved_fraction", "  of all keys", 2, (double)s->modulo_moved / keys);
    loads(r, "before:cache-", s->held[0], s->nodes);
    loads(r, "after:cache-", s->held[1], s->nodes + 1);
    moved(s, r);
    loads(r, "modulo_before:", s->modulo[0], s->nodes);
    loads(r, "modulo_after:", s->modulo[1], s->nodes + 1);
    gy_figure_text(r, "sha256_before", "sha256 before", digest(&s->lines[0], d));
    gy_figure_text(r, "sha256_after", "sha256 after", digest(&s->lines[1], d));
    gy_figure_number(r, "cv_before", "CV before", 4, before);
    gy_figure_number(r, "cv_after", "CV after", 4, after);
    return GYRE_OK;
}

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct run s = {.keys = lab->value[KEYS], .nodes = lab->value[NODES]};
    size_t n = (size_t)s.nodes + 1;
    uint64_t *all = calloc(5 * n, sizeof *all);
    int rc = all ? GYRE_OK : gy_lab_memory(lab);
    if (!rc) {
        s.held[0] = all;
        s.held[1] = all + n;
        s.modulo[0] = all + 2 * n;
        s.modulo[1] = all + 3 * n;
        s.moved = all + 4 * n;
        rc = build(lab, &s, 0);
    }
    if (!rc) {
        rc = build(lab, &s, 1);
    }
    for (uint64_t i = 0; i < s.keys && !rc; i++) {
        take_key(&s, i);
        if (i % 65536 == 65535) {
            gy_lab_step(lab, (double)i, (double)s.keys);
        }
    }
    if (!rc) {
        table(&s, r);
        bool lost = gy_buf_failed(&s.lines[0]) || gy_buf_failed(&s.lines[1]);
        rc = lost || figures(&s, r) ? gy_lab_memory(lab) : GYRE_OK;
    }
    for (int w = 0; w < 2; w++) {
        gyre_map_unref(s.map[w]);
        gy_buf_fini(&s.lines[w]);
    }
    free(all);
    return rc;
}

const struct gy_study gy_study_experiment = {
    .name = "experiment",
    .question = "what moved in the published experiment, key by key?",
    .about = "Repeats a published experiment: keys user:0, user:1, ... on a ring of cache-0, "
             "cache-1, ...\nwith 150 points of MD5 each; then one node more; and the same with "
             "hash mod N. Every figure is\nreproducible to the key, and the digests are of the "
             "lines key, tab, node: another\nprogram that prints the same one agrees on every "
             "key. The seed changes nothing here.",
    .claims = "C: 4 to 5 nodes moves about 1/5, and modulo much more",
    .params = {{"keys", "keys user:0 to user:N-1", 20000, 20000, 1, 10000000},
               {"points", "points of a node on the ring", 150, 150, 1, 100000},
               {"nodes", "nodes before one more is added", 4, 4, 1, 1000}},
    .run = run,
    .flat = true,
};
