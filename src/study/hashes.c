/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hashes.c - which hash functions fail on the keys people have: counters, counters with a prefix,
 * URLs. Keys are dealt into buckets of equal size by the hash's leading bits, as on a ring, and by
 * its remainder, as by hash mod N; chi-square tells how far that is from chance. The functions are
 * reached through the systems that use them, so they are the ones that serve.
 */
#include "study/fleet.h"
#include "study/studies.h"

#include <stdlib.h>

enum { KEYS, BUCKETS, NODES };

#define PATTERNS 5
#define FAILS    1e-6 /* some 200 tests a run: chance gives less in one run of 5000 */

/* ---- keys ---- */

static size_t plain(uint64_t i, char out[GY_FLEET_KEY])
{
    return (size_t)snprintf(out, GY_FLEET_KEY, "%llu", (unsigned long long)i);
}

static size_t prefixed(uint64_t i, char out[GY_FLEET_KEY])
{
    return (size_t)snprintf(out, GY_FLEET_KEY, "shop:session:%08llu", (unsigned long long)i);
}

static size_t url(uint64_t i, char out[GY_FLEET_KEY])
{
    return (size_t)snprintf(out, GY_FLEET_KEY, "cdn.example/v/%llu/seg-%05llu.ts?q=%llu",
                            (unsigned long long)(i / 400), (unsigned long long)(i % 400),
                            (unsigned long long)(i % 3 * 360 + 360));
}

static size_t leading(uint64_t i, char out[GY_FLEET_KEY])
{
    return (size_t)snprintf(out, GY_FLEET_KEY, "%llu:profile:settings", (unsigned long long)i);
}

static size_t binary(uint64_t i, char out[GY_FLEET_KEY])
{
    for (unsigned b = 0; b < 8; b++) {
        out[b] = (char)(i >> 8 * (7 - b) & 0xff);
    }
    return 8;
}

static const struct {
    const char *name;
    size_t (*key)(uint64_t i, char out[GY_FLEET_KEY]);
} PATTERN[PATTERNS] = {{"sequential 1, 2, 3", plain},
                       {"prefixed shop:session:00000001", prefixed},
                       {"URLs of a CDN", url},
                       {"leading 1:profile:settings", leading},
                       {"binary 64-bit integers", binary}};

/* ---- functions ---- */

static const struct {
    const char *name;
    const char *setting[GY_FLEET_SETTINGS + 1][2];
} HASH[] = {
    {"xxh3", {{"hash_tag", ""}}},
    {"xxh64", {{"like", "jump"}, {"hash", "xxh64"}}},
    {"city64", {{"like", "jump"}, {"hash", "city64"}}},
    {"murmur3_128", {{"like", "guava"}, {"hash", "murmur3_128"}}},
    {"murmur3_32", {{"like", "libmemcached"}, {"hash", "murmur3"}}},
    {"murmur2_64a", {{"like", "jump"}, {"hash", "murmur2_64a"}}},
    {"murmur2", {{"like", "twemproxy"}, {"hash", "murmur"}}},
    {"siphash24", {{"like", "jump"}, {"hash", "siphash24"}}},
    {"md5", {{"like", "jump"}, {"hash", "md5_be64"}}},
    {"sha256, 32 bits", {{"like", "sample"}, {"mode", "sha256_32be"}}},
    {"lookup3", {{"like", "twemproxy"}, {"hash", "jenkins"}}},
    {"one_at_a_time", {{"like", "twemproxy"}, {"hash", "one_at_a_time"}}},
    {"hsieh", {{"like", "twemproxy"}, {"hash", "hsieh"}}},
    {"wt6", {{"like", "haproxy"}, {"hash", "wt6"}}},
    {"fnv1a_64", {{"like", "jump"}, {"hash", "fnv1a_64"}}},
    {"fnv1_64", {{"like", "jump"}, {"hash", "fnv1_64"}}},
    {"fnv1a_32", {{"like", "dskit"}, {"hash", "fnv1a_32"}}},
    {"fnv1_32", {{"like", "dskit"}, {"hash", "fnv1_32"}}},
    {"crc32", {{"like", "haproxy"}, {"hash", "crc32"}}},
    {"crc32, 15 bits", {{"like", "libmemcached"}, {"hash", "crc"}}},
    {"crc16", {{"like", "redis-cluster"}}},
    {"djb2", {{"like", "haproxy"}, {"hash", "djb2"}}},
    {"sdbm", {{"like", "haproxy"}, {"hash", "sdbm"}}},
};
#define HASHES (sizeof HASH / sizeof HASH[0])

static const struct gy_column COLUMNS[] = {
    {"hash", "HASH", GY_TEXT, 0, false},
    {"bits", "BITS", GY_COUNT, 0, false},
    {"sequential", "SEQUENTIAL", GY_NUMBER, 2, false},
    {"prefixed", "PREFIXED", GY_NUMBER, 2, false},
    {"url", "URL", GY_NUMBER, 2, false},
    {"leading", "LEADING", GY_NUMBER, 2, false},
    {"binary", "BINARY", GY_NUMBER, 2, false},
    {"worst_cv", "WORST CV", GY_NUMBER, 3, false},
    {"verdict", "VERDICT", GY_TEXT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

/* ---- counting and judging ---- */

struct bench {
    gyre_map_t *judge; /* as many equal nodes as buckets: its shares are what chance gives */
    uint64_t *count[2];
    uint64_t buckets;
};

struct verdict {
    double ratio[2][PATTERNS], worst_cv[2], p[2];
};

static void deal(const gyre_map_t *m, unsigned bits, uint64_t keys, size_t pattern, struct bench *b)
{
    memset(b->count[0], 0, 2 * b->buckets * sizeof *b->count[0]);
    for (uint64_t i = 0; i < keys; i++) {
        char key[GY_FLEET_KEY];
        uint64_t h = gyre_map_hash(m, key, PATTERN[pattern].key(i, key));
        /* The leading bits as a fraction, 32 of them: buckets of equal width. */
        uint64_t top = bits > 32 ? h >> (bits - 32) : h << (32 - bits);
        b->count[0][(top & 0xffffffff) * b->buckets >> 32]++;
        b->count[1][h % b->buckets]++;
    }
}

static int judge(struct gy_lab *lab, const gyre_map_t *m, unsigned bits, struct bench *b,
                 struct verdict *v)
{
    *v = (struct verdict){.p = {1, 1}};
    for (size_t pattern = 0; pattern < PATTERNS; pattern++) {
        deal(m, bits, lab->value[KEYS], pattern, b);
        for (int way = 0; way < 2; way++) {
            struct gyre_evidence e = {.size = sizeof e};
            int rc = gyre_map_judge(b->judge, b->count[way], 0.95, &e);
            if (rc) {
                return rc;
            }
            v->ratio[way][pattern] = e.degrees ? e.chi_square / e.degrees : 0;
            v->worst_cv[way] = e.cv > v->worst_cv[way] ? e.cv : v->worst_cv[way];
            v->p[way] = e.p < v->p[way] ? e.p : v->p[way];
        }
    }
    return GYRE_OK;
}

static void row(struct gy_tab *t, size_t hash, unsigned bits, const struct verdict *v, int way)
{
    gy_tab_text(t, "%s", HASH[hash].name);
    gy_tab_count(t, bits);
    for (size_t p = 0; p < PATTERNS; p++) {
        gy_tab_number(t, v->ratio[way][p]);
    }
    gy_tab_number(t, v->worst_cv[way]);
    gy_tab_text(t, "%s", v->p[way] < FAILS ? "fails" : "holds");
}

static int one_hash(struct gy_lab *lab, size_t hash, struct bench *b, struct gy_tab *const t[2],
                    uint64_t failed[2])
{
    struct gy_fleet f = {.nodes = 1};
    struct gyre_explain e = {.size = sizeof e};
    struct verdict v;
    gyre_map_t *m;
    memcpy(f.setting, HASH[hash].setting, sizeof f.setting);
    int rc = gy_fleet_map(lab, &f, &m);
    rc = rc ? rc : gyre_map_explain(m, "", 0, &e);
    unsigned bits = e.hash_bits > 64 ? 64 : e.hash_bits;
    rc = rc ? rc : judge(lab, m, bits, b, &v);
    gyre_map_unref(m);
    for (int way = 0; way < 2 && !rc; way++) {
        row(t[way], hash, bits, &v, way);
        failed[way] += v.p[way] < FAILS;
    }
    return rc;
}

/* ---- as points of a ring ---- */

static const struct gy_column POINTS[] = {
    {"hash", "HASH", GY_TEXT, 0, false},
    {"cv", "CV OF SHARES", GY_NUMBER, 3, false},
    {"expected_cv", "EXPECTED", GY_NUMBER, 3, false},
    {"peak", "MAX/MEAN", GY_NUMBER, 2, false},
    {"least", "MIN/MEAN", GY_NUMBER, 2, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int as_points(struct gy_lab *lab, struct gy_result *r)
{
    static const char *const list[] = {"murmur3",  "md5",     "jenkins",  "default", "hsieh",
                                       "fnv1a_64", "fnv1_64", "fnv1a_32", "fnv1_32", "crc"};
    struct gy_tab *t = gy_result_table(
        r, "points", "As points of a ring of 100 each (libmemcached's consistent)", POINTS);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct gy_fleet f = {.setting = {{"like", "libmemcached"},
                                         {"distribution", "consistent"},
                                         {"hash", list[i]}},
                             .nodes = lab->value[NODES],
                             .plain = true};
        struct gyre_balance b = {.size = sizeof b};
        gyre_map_t *m;
        int rc = gy_fleet_map(lab, &f, &m);
        if (rc) {
            return rc;
        }
        gyre_map_balance(m, &b);
        gyre_map_unref(m);
        gy_tab_text(t, "%s", strcmp(list[i], "default") == 0 ? "one_at_a_time" : list[i]);
        gy_tab_number(t, b.cv);
        gy_tab_number(t, b.expected_cv);
        gy_tab_number(t, b.peak);
        gy_tab_number(t, b.least);
    }
    return GYRE_OK;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Buckets by leading bits: 0 would be even, chance gives what xxh3 has",
        .table = "leading_bits",
        .x = "hash",
        .x_label = "hash function",
        .y = {"worst_cv"},
        .y_label = "CV of the keys in a bucket, on the worst kind of keys",
    },
    {
        .title = "Buckets by remainder",
        .table = "remainder",
        .x = "hash",
        .x_label = "hash function",
        .y = {"worst_cv"},
        .y_label = "CV of the keys in a bucket, on the worst kind of keys",
    },
    {
        .title = "Shares of nodes when the function places a ring's points",
        .table = "points",
        .x = "hash",
        .x_label = "hash function",
        .y = {"cv", "expected_cv"},
        .name = {"CV of the shares", "as expected of 100"},
        .y_label = "standard deviation / mean",
    },
};

static void notes(const struct gy_lab *lab, struct gy_result *r)
{
    gy_result_note(r,
                   "numbers are chi-square / degrees of freedom of %llu keys in %llu buckets: "
                   "about 1 by chance, below it more even than chance, far above it uneven",
                   (unsigned long long)lab->value[KEYS], (unsigned long long)lab->value[BUCKETS]);
    gy_result_note(r, "fails: some kind of keys is dealt as chance would once in a million times; "
                      "holds is no proof of quality, least of all against an enemy");
    gy_result_note(r, "keys: %s; %s; %s; %s; %s", PATTERN[0].name, PATTERN[1].name, PATTERN[2].name,
                   PATTERN[3].name, PATTERN[4].name);
}

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct gy_tab *t[2];
    struct bench b = {.buckets = lab->value[BUCKETS]};
    struct gy_fleet equal = {.setting = {{"algorithm", "modulo"}}, .nodes = b.buckets};
    uint64_t failed[2] = {0, 0};
    t[0] = gy_result_table(r, "leading_bits", "By leading bits, as on a ring", COLUMNS);
    t[1] = gy_result_table(r, "remainder", "By remainder, as hash mod N", COLUMNS);
    b.count[0] = calloc(2 * b.buckets, sizeof *b.count[0]);
    b.count[1] = b.count[0] ? b.count[0] + b.buckets : NULL;
    int rc = b.count[0] ? gy_fleet_map(lab, &equal, &b.judge) : gy_lab_memory(lab);
    for (size_t i = 0; i < HASHES && !rc; i++) {
        rc = one_hash(lab, i, &b, t, failed);
        gy_lab_step(lab, (double)i + 1, HASHES);
    }
    rc = rc ? rc : as_points(lab, r);
    if (!rc) {
        gy_figure_count(r, "functions", "functions", HASHES);
        gy_figure_count(r, "fail_leading_bits", "fail by leading bits", failed[0]);
        gy_figure_count(r, "fail_remainder", "fail by remainder", failed[1]);
        notes(lab, r);
    }
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gyre_map_unref(b.judge);
    free(b.count[0]);
    return rc;
}

const struct gy_study gy_study_hashes = {
    .name = "hashes",
    .question = "which hash functions fail on the keys people have?",
    .about =
        "Hashes five kinds of keys that differ little from one to the next, deals them into "
        "buckets by\nthe leading bits (what a ring uses) and by remainder (what hash mod N "
        "uses), and judges the\ncounts by chi-square. Then it lets functions place the points of "
        "a ring. The seed changes\nnothing: the keys are what they are.",
    .claims =
        "A 8.1: the function decides how even it is; MurmurHash3, xxHash, SHA-256, FNV-1a\n  "
        "D: MD5, or MurmurHash; a more even function against skew. A 8.2: key patterns skew\n  "
        "B: crc16 mod 16384",
    .params = {{"keys", "keys of each kind", 10000, 200000, 1000, 10000000},
               {"buckets", "buckets", 64, 64, 2, 4096},
               {"nodes", "nodes of the rings", 10, 10, 2, 1000}},
    .run = run,
};
