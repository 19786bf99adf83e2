/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.c - how long a lookup takes: the one study with a clock. Each figure is the median of
 * several rounds; on another machine, or beside other work, it is another. What lasts is how they
 * stand to each other.
 */
#include "study/fleet.h"
#include "study/studies.h"

#include <stdlib.h>

enum { NODES, LOOKUPS, ROUNDS };

#define ROUNDS_MAX 99
#define BATCH      512

struct keys {
    char (*text)[GY_FLEET_KEY];
    const void **at;
    size_t *len;
    uint32_t *out;
    size_t n;
};

static void drop(struct keys *k)
{
    free(k->text);
    free(k->at);
    free(k->len);
    free(k->out);
}

static int make(struct gy_lab *lab, struct keys *k)
{
    *k = (struct keys){.n = (size_t)lab->value[LOOKUPS]};
    k->text = calloc(k->n, sizeof *k->text);
    k->at = calloc(k->n, sizeof *k->at);
    k->len = calloc(k->n, sizeof *k->len);
    k->out = calloc(k->n, sizeof *k->out);
    if (!k->text || !k->at || !k->len || !k->out) {
        return gy_lab_memory(lab);
    }
    for (size_t i = 0; i < k->n; i++) {
        k->len[i] = gy_fleet_key(lab->seed + i * 2654435761u % 4294967296u, k->text[i]);
        k->at[i] = k->text[i];
    }
    return GYRE_OK;
}

/* ---- what is timed ---- */

static void one_by_one(const gyre_map_t *m, struct keys *k)
{
    for (size_t i = 0; i < k->n; i++) {
        k->out[i] = gyre_map_locate(m, k->at[i], k->len[i]);
    }
}

static void in_batches(const gyre_map_t *m, struct keys *k)
{
    for (size_t i = 0; i < k->n; i += BATCH) {
        size_t n = k->n - i < BATCH ? k->n - i : BATCH;
        gyre_map_locate_batch(m, k->at + i, k->len + i, n, k->out + i);
    }
}

static void hash_only(const gyre_map_t *m, struct keys *k)
{
    for (size_t i = 0; i < k->n; i++) {
        k->out[i] = (uint32_t)gyre_map_hash(m, k->at[i], k->len[i]);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds a key: the median of the rounds. */
static double timed(const struct gy_lab *lab, const gyre_map_t *m, struct keys *k,
                    void (*work)(const gyre_map_t *, struct keys *))
{
    double took[ROUNDS_MAX];
    size_t rounds = (size_t)lab->value[ROUNDS];
    work(m, k); /* the first one fills the caches */
    for (size_t i = 0; i < rounds; i++) {
        uint64_t began = lab->now();
        work(m, k);
        took[i] = (double)(lab->now() - began) / (double)k->n;
    }
    qsort(took, rounds, sizeof took[0], by_value);
    return took[rounds / 2];
}

/* ---- tables ---- */

static const struct gy_column RING[] = {
    {"nodes", "NODES", GY_COUNT, 0, false},    {"points", "POINTS", GY_COUNT, 0, false},
    {"ns", "NS A LOOKUP", GY_NUMBER, 1, true}, {"batch_ns", "IN BATCHES", GY_NUMBER, 1, true},
    {"bytes", "BYTES", GY_COUNT, 0, false},    {NULL, NULL, GY_TEXT, 0, false},
};
static const struct gy_column ALGORITHMS[] = {
    {"algorithm", "ALGORITHM", GY_TEXT, 0, false},
    {"nodes", "NODES", GY_COUNT, 0, false},
    {"ns", "NS A LOOKUP", GY_NUMBER, 1, true},
    {"batch_ns", "IN BATCHES", GY_NUMBER, 1, true},
    {NULL, NULL, GY_TEXT, 0, false},
};
static const struct gy_column HASHES[] = {
    {"hash", "HASH", GY_TEXT, 0, false},
    {"ns", "NS A KEY", GY_NUMBER, 1, true},
    {"millions", "MILLIONS A SECOND", GY_NUMBER, 0, true},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int ring(struct gy_lab *lab, struct gy_result *r, struct keys *k)
{
    static const uint64_t points[] = {1, 10, 100, 150, 200, 1000, 4000};
    struct gy_tab *t = gy_result_table(r, "points", "A ring, by its points", RING);
    uint64_t nodes[] = {10, lab->value[NODES]};
    for (size_t n = 0; n < 2; n++) {
        for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
            struct gy_fleet f = {.nodes = nodes[n], .points = points[i]};
            gyre_map_t *m;
            int rc = gy_fleet_map(lab, &f, &m);
            if (rc) {
                return rc;
            }
            gy_tab_count(t, nodes[n]);
            gy_tab_count(t, points[i]);
            gy_tab_number(t, timed(lab, m, k, one_by_one));
            gy_tab_number(t, timed(lab, m, k, in_batches));
            gy_tab_count(t, gyre_map_bytes(m));
            gyre_map_unref(m);
            gy_lab_step(lab, (double)(7 * n + i), 34);
        }
    }
    return GYRE_OK;
}

static int algorithms(struct gy_lab *lab, struct gy_result *r, struct keys *k)
{
    char name[GY_FLEET_KEY];
    struct gy_tab *t = gy_result_table(r, "algorithms", "Every algorithm", ALGORITHMS);
    for (size_t i = 0; gy_fleet_algorithm(i, name); i++) {
        struct gy_fleet f = {.setting = {{"algorithm", name}}, .nodes = lab->value[NODES]};
        gyre_map_t *m;
        int rc = gy_fleet_map(lab, &f, &m);
        if (rc) {
            return rc;
        }
        gy_tab_text(t, "%s", name);
        gy_tab_count(t, f.nodes);
        gy_tab_number(t, timed(lab, m, k, one_by_one));
        gy_tab_number(t, timed(lab, m, k, in_batches));
        gyre_map_unref(m);
        gy_lab_step(lab, 15 + (double)i, 34);
    }
    return GYRE_OK;
}

static int hashes(struct gy_lab *lab, struct gy_result *r, struct keys *k)
{
    static const struct {
        const char *name;
        const char *setting[GY_FLEET_SETTINGS + 1][2];
    } list[] = {
        {"xxh3", {{"hash_tag", ""}}},
        {"xxh64", {{"like", "jump"}, {"hash", "xxh64"}}},
        {"murmur3_128", {{"like", "guava"}, {"hash", "murmur3_128"}}},
        {"murmur3_32", {{"like", "libmemcached"}, {"hash", "murmur3"}}},
        {"fnv1a_64", {{"like", "jump"}, {"hash", "fnv1a_64"}}},
        {"siphash24", {{"like", "jump"}, {"hash", "siphash24"}}},
        {"md5", {{"like", "sample"}, {"mode", "md5_64be"}}},
        {"sha256", {{"like", "sample"}, {"mode", "sha256_32be"}}},
    };
    struct gy_tab *t = gy_result_table(r, "hashes", "Hashing alone, keys of some 15 bytes", HASHES);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct gy_fleet f = {.nodes = 1};
        gyre_map_t *m;
        memcpy(f.setting, list[i].setting, sizeof f.setting);
        int rc = gy_fleet_map(lab, &f, &m);
        if (rc) {
            return rc;
        }
        double ns = timed(lab, m, k, hash_only);
        gyre_map_unref(m);
        gy_tab_text(t, "%s", list[i].name);
        gy_tab_number(t, ns);
        gy_tab_number(t, 1000 / ns);
        gy_lab_step(lab, 25 + (double)i, 34);
    }
    return GYRE_OK;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "A lookup, of each algorithm (measured on one machine)",
        .table = "algorithms",
        .x = "algorithm",
        .x_label = "algorithm",
        .y = {"ns", "batch_ns"},
        .name = {"one by one", "in batches"},
        .y_label = "nanoseconds, the key's hash included",
    },
    {
        .title = "Hashing a short key (measured on one machine)",
        .table = "hashes",
        .x = "hash",
        .x_label = "hash",
        .y = {"ns"},
        .y_label = "nanoseconds",
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct keys k;
    int rc = make(lab, &k);
    rc = rc ? rc : ring(lab, r, &k);
    rc = rc ? rc : algorithms(lab, r, &k);
    rc = rc ? rc : hashes(lab, r, &k);
    drop(&k);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r,
                   "measured: nanoseconds depend on the machine and on what else it does; compare "
                   "lines of one run. The key's hash is included");
    gy_result_note(r, "'make bench' measures beside other libraries (docs/speed.md)");
    return rc;
}

const struct gy_study gy_study_latency = {
    .name = "latency",
    .question = "how long does a lookup take, on this machine?",
    .about =
        "Times lookups with a clock: a ring by its points, every algorithm, and the hash "
        "functions alone.\nEach figure is the median of several rounds. All other studies count; "
        "this one measures, so\nits figures are not reproducible, and say so in JSON "
        "(\"measured\": true).",
    .claims = "D: 1.2, 1.5, 1.8 microseconds at 10, 100, 200 virtual nodes\n  A 8.1: billions of "
              "hashes a second. A 6: HRW is O(N)",
    .params = {{"nodes", "nodes of the larger ring, and of every algorithm", 100, 1000, 1, 10000},
               {"lookups", "lookups in a round", 4096, 65536, 1, 10000000},
               {"rounds", "rounds", 5, 31, 1, ROUNDS_MAX}},
    .run = run,
};
