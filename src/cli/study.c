/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study.c - `gyre study experiment`: the published experiment of a sample program, to the key:
 * `user:0` to `user:19999` on a ring of MD5 points, one node added, beside hash mod N. The names of
 * the quantities are those of the vectors in tests/vectors/seeds.
 */
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>

#define NODES_MAX 1000

struct study {
    uint64_t keys, points, nodes;
    bool json;
    /* inside */
    gyre_map_t *map[2];                    /* before, after */
    uint64_t *held[2], *modulo[2], *moved; /* by node; moved: from each to the new one */
    uint64_t ring_moved, modulo_moved;
    struct gy_buf lines[2]; /* key TAB node LF: their digest tells whether all keys agree */
};

static const struct gy_opt OPTIONS[] = {
    {0, "keys", "N", "keys user:0 to user:N-1 (20000)", GY_OPT_UINT, offsetof(struct study, keys),
     1, 10000000, NULL},
    {0, "points", "N", "points of a node on the ring (150)", GY_OPT_UINT,
     offsetof(struct study, points), 1, 100000, NULL},
    {0, "nodes", "N", "nodes before one more is added (4)", GY_OPT_UINT,
     offsetof(struct study, nodes), 1, NODES_MAX, NULL},
    {0, "json", NULL, "answer in JSON", GY_OPT_FLAG, offsetof(struct study, json), 0, 0, NULL},
    {0}};

static const char *const EXAMPLES[] = {
    "gyre study experiment",
    "gyre study experiment --points 10 --nodes 8 --json",
    NULL,
};

static const struct gy_usage USAGE = {
    "gyre study",
    "experiment",
    "Repeats the published experiment: keys on a ring of cache-0, cache-1, ...; then one node more; "
    "and the\nsame with hash mod N. Every figure is reproducible to the key.",
    OPTIONS,
    EXAMPLES,
    1,
    1,
    GY_EXITS,
};

static int build(struct study *s, int which)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_error_t e = {0};
    char points[24], name[32];
    snprintf(points, sizeof points, "%llu", (unsigned long long)s->points);
    int rc = t ? GYRE_OK : GYRE_NOMEM;
    const char *const settings[][2] = {
        {"like", "sample"}, {"mode", "md5_64be"}, {"vnodes", points}};
    for (size_t i = 0; i < 3 && !rc; i++) {
        rc = gyre_topology_set(t, settings[i][0], settings[i][1], &e);
    }
    for (uint64_t i = 0; i < s->nodes + (uint64_t)which && !rc; i++) {
        snprintf(name, sizeof name, "cache-%llu", (unsigned long long)i);
        struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1};
        rc = gyre_topology_add(t, &n, &e);
    }
    if (!rc) {
        rc = gyre_map_build(t, &s->map[which], &e);
    }
    gyre_topology_free(t);
    e.code = rc;
    return rc ? gy_complain_error(&e) : GY_EXIT_OK;
}

/* The sample programs number nodes as they were added; the map, by name. */
static uint64_t number_of(const struct study *s, int which, uint32_t node)
{
    return strtoull(gyre_map_node(s->map[which], node)->name + strlen("cache-"), NULL, 10);
}

static void take_key(struct study *s, uint64_t i)
{
    char key[40];
    size_t len = (size_t)snprintf(key, sizeof key, "user:%llu", (unsigned long long)i);
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

static int run(struct study *s)
{
    size_t n = (size_t)s->nodes + 1;
    uint64_t *all = calloc(5 * n, sizeof *all);
    if (!all) {
        return gy_complain_memory();
    }
    s->held[0] = all; /* one block: freed by its first */
    s->held[1] = all + n;
    s->modulo[0] = all + 2 * n;
    s->modulo[1] = all + 3 * n;
    s->moved = all + 4 * n;
    int rc = build(s, 0);
    if (!rc) {
        rc = build(s, 1);
    }
    for (uint64_t i = 0; i < s->keys && !rc; i++) {
        take_key(s, i);
    }
    if (!rc && (gy_buf_failed(&s->lines[0]) || gy_buf_failed(&s->lines[1]))) {
        rc = gy_complain_memory();
    }
    return rc;
}

static char *digest(const struct gy_buf *lines, char out[65])
{
    uint8_t d[32];
    gyre_hash_sha256(gy_buf_head(lines), gy_buf_size(lines), d);
    for (size_t i = 0; i < sizeof d; i++) {
        snprintf(out + 2 * i, 3, "%02x", d[i]);
    }
    return out;
}

static double cv(const uint64_t *loads, uint64_t n)
{
    double x[NODES_MAX + 1];
    struct gyre_balance b = {.size = sizeof b};
    for (uint64_t i = 0; i < n; i++) {
        x[i] = (double)loads[i];
    }
    gyre_balance_of(x, NULL, (size_t)n, &b);
    return b.cv;
}

/* ---- as text ---- */

static void text_node(const struct study *s, struct gy_table *t, uint64_t i)
{
    bool old = i < s->nodes;
    gy_table_format(t, "cache-%llu", (unsigned long long)i);
    const uint64_t *columns[] = {s->held[0], s->held[1], s->moved, s->modulo[0], s->modulo[1]};
    for (size_t c = 0; c < 5; c++) {
        if (old || c == 1 || c == 4) {
            gy_table_format(t, "%llu", (unsigned long long)columns[c][i]);
        } else {
            gy_table_cell(t, NULL);
        }
    }
}

static void as_text(const struct study *s, struct gy_buf *out)
{
    static const char *const heads[] = {"NODE",           ">RING BEFORE", ">AFTER", ">MOVED AWAY",
                                        ">MODULO BEFORE", ">AFTER",       NULL};
    struct gy_table t;
    char d[65];
    double keys = (double)s->keys;
    gy_table_init(&t, heads);
    for (uint64_t i = 0; i <= s->nodes; i++) {
        text_node(s, &t, i);
    }
    gy_table_end(&t, out);
    gy_buf_printf(
        out,
        "\n%llu keys, %llu points a node, %llu nodes then %llu\nring moved    %9llu  "
        "%.2f %%\nmodulo moved  %9llu  %.2f %%\nCV            %9.4f  before, %.4f after\n",
        (unsigned long long)s->keys, (unsigned long long)s->points, (unsigned long long)s->nodes,
        (unsigned long long)s->nodes + 1, (unsigned long long)s->ring_moved,
        100 * (double)s->ring_moved / keys, (unsigned long long)s->modulo_moved,
        100 * (double)s->modulo_moved / keys, cv(s->held[0], s->nodes),
        cv(s->held[1], s->nodes + 1));
    gy_buf_printf(out, "sha256 before %s\n", digest(&s->lines[0], d));
    gy_buf_printf(out, "sha256 after  %s\n", digest(&s->lines[1], d));
}

/* ---- as JSON ---- */

static void json_loads(struct gy_json *j, const char *prefix, const uint64_t *loads, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s%llu", prefix, (unsigned long long)i);
        gy_json_kuint(j, key, loads[i]);
    }
}

static void json_moved(const struct study *s, struct gy_json *j)
{
    for (uint64_t i = 0; i < s->nodes; i++) {
        char key[80];
        snprintf(key, sizeof key, "moved:cache-%llu->cache-%llu", (unsigned long long)i,
                 (unsigned long long)s->nodes);
        if (s->moved[i]) {
            gy_json_kuint(j, key, s->moved[i]);
        }
    }
}

static void as_json(const struct study *s, struct gy_buf *out)
{
    struct gy_json j;
    char d[65];
    double keys = (double)s->keys;
    gy_json_init(&j, out);
    gy_json_object(&j);
    gy_json_kuint(&j, "keys", s->keys);
    gy_json_kuint(&j, "ring_moved", s->ring_moved);
    gy_json_kdouble(&j, "ring_moved_fraction", (double)s->ring_moved / keys);
    gy_json_kuint(&j, "modulo_moved", s->modulo_moved);
    gy_json_kdouble(&j, "modulo_moved_fraction", (double)s->modulo_moved / keys);
    json_loads(&j, "before:cache-", s->held[0], s->nodes);
    json_loads(&j, "after:cache-", s->held[1], s->nodes + 1);
    json_moved(s, &j);
    json_loads(&j, "modulo_before:", s->modulo[0], s->nodes);
    json_loads(&j, "modulo_after:", s->modulo[1], s->nodes + 1);
    gy_json_kstring(&j, "sha256_before", digest(&s->lines[0], d));
    gy_json_kstring(&j, "sha256_after", digest(&s->lines[1], d));
    gy_json_kdouble(&j, "cv_before", cv(s->held[0], s->nodes));
    gy_json_kdouble(&j, "cv_after", cv(s->held[1], s->nodes + 1));
    gy_json_object_end(&j);
    gy_buf_putc(out, '\n');
}

int gy_cmd_study(int argc, char **argv)
{
    struct study s = {.keys = 20000, .points = 150, .nodes = 4};
    char **words;
    int count;
    int rc = gy_opt_parse(&USAGE, argc, argv, &s, &words, &count);
    if (rc != GY_GO_ON) {
        return rc;
    }
    if (strcmp(words[0], "experiment") != 0) {
        gy_complain("study: unknown study; known: experiment");
        return GY_EXIT_USAGE;
    }
    struct gy_buf out = {0};
    rc = run(&s);
    if (!rc) {
        (s.json ? as_json : as_text)(&s, &out);
    }
    int wrote = gy_out_end(&out);
    for (int w = 0; w < 2; w++) {
        gyre_map_unref(s.map[w]);
        gy_buf_fini(&s.lines[w]);
    }
    free(s.held[0]);
    return rc ? rc : wrote;
}
