/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simd_props.c - every level of vector instructions the machine has gives the answers of plain
 * C; and the widest kernels of jump and dx do so too where the machine cannot run them, compiled
 * from the same source without the instructions. Those of MD5: tests/unit/hash/test_batch.c.
 */
#include "fleet_gen.h"
#include "lib/map.h"
#include "lib/place/mix.h"
#include "lib/place/rendezvous.h"
#include "lib/place/ring.h"

enum { KEYS = 300 };

#ifdef GY_SIMD_X86
#define BLOCK       16
#define STEPS       3
#define JUMP_FACTOR 2862933555777941757u

struct walkers {
    uint64_t key[BLOCK];
    double at[BLOCK], next[BLOCK];
};

static double whole_part(double x)
{
    return x < 0x1p52 ? (double)(int64_t)x : x;
}

#define NAME   jump_eight
#define LANES  8
#define TARGET __attribute__((noinline))
#define FLOOR(x)                         \
    ({                                   \
        real v_ = (x);                   \
        for (int l_ = 0; l_ < 8; l_++) { \
            v_[l_] = whole_part(v_[l_]); \
        }                                \
        v_;                              \
    })
#define BELOW(x, y, a, b)                               \
    ({                                                  \
        real x_ = (x), y_ = (y), a_ = (a), b_ = (b);    \
        for (int l_ = 0; l_ < 8; l_++) {                \
            a_[l_] = x_[l_] < y_[l_] ? a_[l_] : b_[l_]; \
        }                                               \
        a_;                                             \
    })
#include "lib/place/jump_lanes.h"

#define NAME        draw_eight
#define LANES       8
#define TARGET      __attribute__((noinline))
#define TIMES(a, b) ((a) * (b))
#include "lib/place/dx_lanes.h"

/* 16 keys to the end. */
static void jump_far(const uint64_t *hashes, uint32_t nodes, double *at)
{
    struct walkers w = {{0}, {0}, {0}};
    bool on = true;
    memcpy(w.key, hashes, sizeof w.key);
    for (size_t i = 0; i < BLOCK; i++) {
        at[i] = -1;
    }
    while (on) {
        jump_eight(&w, BLOCK, nodes);
        on = false;
        for (size_t i = 0; i < BLOCK; i++) {
            at[i] = at[i] < 0 && w.next[i] >= nodes ? w.at[i] : at[i];
            on |= w.next[i] < nodes;
        }
    }
}
#endif

/* A map is constant but for this: what the machine is taken to be able to do. */
static void force(gyre_map_t *m, enum gy_simd level)
{
    m->simd = level;
    if (m->place == &gy_place_rendezvous) {
        ((struct gy_rendezvous *)m->data)->simd = level;
    }
    gy_map_settle(m);
}

/* A fleet of dx's: how many of its draws pass decides how many are taken at once. */
static void set_dx(struct prop *p, gyre_topology_t *t, unsigned nodes, bool weighted)
{
    char text[24];
    unsigned power = 1;
    while (power < nodes) {
        power *= 2;
    }
    snprintf(text, sizeof text, "%u", power << prop_below(p, 3));
    must(gyre_topology_set(t, "capacity", text, NULL));
    must(gyre_topology_set(t, "heaviest", weighted ? "9" : "1", NULL));
}

static gyre_topology_t *gen(struct prop *p)
{
    static const struct {
        const char *name;
        bool weighted;
        unsigned most;
    } rows[] = {{"jump", false, 2000},      {"rendezvous", false, 2000}, {"dx", false, 2000},
                {"rendezvous", true, 2000}, {"dx", true, 2000},          {"ring", true, 100}};
    unsigned which = (unsigned)prop_below(p, sizeof rows / sizeof rows[0]);
    unsigned nodes = (unsigned)prop_size(p, 1, prop_below(p, 2) ? 70 : rows[which].most);
    gyre_topology_t *t = gen_topology(p, rows[which].weighted ? nodes : 1, 1);
    for (unsigned i = 1; !rows[which].weighted && i < nodes; i++) {
        gen_add(p, t, i, 1);
    }
    must(gyre_topology_set(t, "algorithm", rows[which].name, NULL));
    set_dx(p, t, nodes, rows[which].weighted);
    return t;
}

/* The index of a ring built at another level is the same to the bit. */
static bool same_lines(gyre_map_t *m, enum gy_simd level)
{
    struct gy_ring *r = m->data;
    size_t n = r->lines, bytes = n * sizeof *r->line;
    struct gy_line *before = malloc(bytes);
    if (!before) {
        abort();
    }
    memcpy(before, r->line, bytes);
    gy_ring_fini(m);
    force(m, level);
    must(gy_ring_build(m, NULL, NULL));
    r = m->data;
    bool same = r->lines == n && memcmp(r->line, before, bytes) == 0;
    free(before);
    return same;
}

static bool levels_agree(struct prop *p)
{
    gyre_topology_t *t = gen(p);
    gyre_map_t *m = gen_map(t);
    uint64_t hashes[KEYS];
    uint32_t plain[KEYS], out[KEYS];
    size_t n = prop_below(p, KEYS + 1);
    bool ring = m->place == &gy_place_ring;
    for (unsigned i = 0; i < n; i++) {
        hashes[i] = prop_draw(p);
        if (ring && i % 4 == 0) { /* on a point, or beside it: what a line cannot tell */
            size_t step = prop_below(p, m->steps);
            uint64_t near = (uint64_t)m->place->position(m, step) + prop_below(p, 3) - 1;
            hashes[i] = near << 32;
        }
    }
    PROP(!ring || same_lines(m, GY_SIMD_NONE));
    force(m, GY_SIMD_NONE);
    gyre_map_locate_hash_batch(m, hashes, n, plain);
    for (size_t i = 0; i < n; i++) {
        struct gy_walk walk[GY_WALKS];
        PROP(gyre_map_locate_hash(m, hashes[i]) == plain[i]);
        if (i % 8 == 0) { /* the walk goes another way: one draw, one score after the other */
            gy_walk_start(walk, m, hashes[i]);
            PROP(gy_walk_next(walk) == plain[i]);
        }
    }
    for (int level = GY_SIMD_AVX2; level <= (int)gy_simd_best(); level++) {
        force(m, (enum gy_simd)level);
        gyre_map_locate_hash_batch(m, hashes, n, out);
        PROP(memcmp(out, plain, n * sizeof *out) == 0);
        for (size_t i = 0; i < n; i++) {
            PROP(gyre_map_locate_hash(m, hashes[i]) == plain[i]);
        }
    }
#ifdef GY_SIMD_X86
    struct gy_numbers *x = m->data;
    for (size_t i = 0; m->place == &gy_place_jump && i + BLOCK <= n; i += BLOCK) {
        double at[BLOCK];
        jump_far(hashes + i, x->n, at);
        for (size_t k = 0; k < BLOCK; k++) {
            PROP(x->node[(size_t)at[k]] == plain[i + k]);
        }
    }
#endif
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

/* ---- keys by MD5 ---- */

/* Systems that hash keys by MD5 in each of its forms, with a tag and without. */
static gyre_map_t *gen_md5_map(struct prop *p)
{
    static const char *const rows[][4] = {
        {"libmemcached", "distribution", "ketama_weighted", NULL},
        {"twemproxy", "hash", "md5", NULL},
        {"twemproxy", "hash", "md5", "<>"},
        {"libketama", NULL, NULL, NULL},
        {"npm-hashring", NULL, NULL, NULL},
        {"uhashring", "mode", "ketama", NULL},
        {"uhashring", "mode", "default", NULL},
        {"sample", "mode", "md5_128", "{}"},
        {"sample", "mode", "md5_64be", "{}"},
        {"sample", "mode", "java_md5_32be", NULL},
        {"clickhouse", "hash", "halfMD5", NULL},
        {"jump", "hash", "md5_le64", NULL},
    };
    const char *const *row = rows[prop_below(p, sizeof rows / sizeof rows[0])];
    gyre_topology_t *t = gyre_topology_new();
    must(t ? gyre_topology_set(t, "like", row[0], NULL) : GYRE_NOMEM);
    must(row[1] ? gyre_topology_set(t, row[1], row[2], NULL) : GYRE_OK);
    must(row[3] ? gyre_topology_set(t, "hash_tag", row[3], NULL) : GYRE_OK);
    unsigned nodes = (unsigned)prop_size(p, 1, 30);
    for (unsigned i = 0; i < nodes; i++) {
        gen_add(p, t, i, 1);
    }
    gyre_map_t *m = gen_map(t);
    gyre_topology_free(t);
    return m;
}

/* Lengths about the ends of one block and of two more than others; tags and empty keys too. */
static size_t draw_key(struct prop *p, char key[160])
{
    static const size_t ends[] = {0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128};
    size_t len = prop_below(p, 3) ? ends[prop_below(p, 12)] : (size_t)prop_size(p, 0, 150);
    for (size_t i = 0; i < len; i++) {
        key[i] = (char)(prop_below(p, 8) ? 'a' + prop_below(p, 26) : (uint64_t) "<>{}"[i % 4]);
    }
    return len;
}

static bool md5_levels_agree(struct prop *p)
{
    gyre_map_t *m = gen_md5_map(p);
    char text[100][160];
    const void *key[100];
    size_t len[100], n = prop_below(p, 101);
    uint32_t plain[100], out[100];
    for (size_t i = 0; i < n; i++) {
        key[i] = text[i];
        len[i] = draw_key(p, text[i]);
        plain[i] = gyre_map_locate(m, key[i], len[i]);
    }
    for (int level = GY_SIMD_NONE; level <= (int)gy_simd_best(); level++) {
        force(m, (enum gy_simd)level);
        memset(out, 0xee, sizeof out);
        gyre_map_locate_batch(m, key, len, n, out);
        PROP(memcmp(out, plain, n * sizeof *out) == 0);
    }
    gyre_map_unref(m);
    return true;
}

#ifdef GY_SIMD_X86
static bool eight_draws_agree(struct prop *p)
{
    uint64_t key[16], drawn[16], round = prop_below(p, 64);
    for (size_t i = 0; i < 16; i++) {
        key[i] = prop_draw(p);
    }
    draw_eight(key, 16, round, drawn);
    for (size_t i = 0; i < 16; i++) {
        PROP(drawn[i] == gy_stream(key[i], round));
    }
    return true;
}
#endif

int main(void)
{
    static const char *const names[] = {"plain C", "AVX2", "AVX-512"};
    printf("this machine's level: %s\n", names[gy_simd_best()]);
    int failed = prop_run("levels agree", levels_agree, 400);
    failed += prop_run("levels agree, keys by MD5", md5_levels_agree, 400);
#ifdef GY_SIMD_X86
    failed += prop_run("eight lanes of dx", eight_draws_agree, 20);
#endif
    return failed;
}
