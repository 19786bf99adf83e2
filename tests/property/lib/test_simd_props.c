/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simd_props.c - every level of vector instructions the machine has gives the answers of plain
 * C; and the widest kernels of jump, jumpback and dx do so too where the machine cannot run them,
 * compiled from the same source without the instructions. Those of MD5:
 * tests/unit/hash/test_batch.c. jump and jumpback are held to their published code.
 * GYRE_LEVEL, if set, is the level the machine is to have: tools/avx512.sh emulates some.
 */
#include "fleet_gen.h"
#include "lib/map.h"
#include "lib/place/mix.h"
#include "lib/place/range.h"
#include "lib/place/rendezvous.h"
#include "lib/place/ring.h"
#include "plain_lanes.h"

enum { KEYS = 300 };

#define JUMP_FACTOR 2862933555777941757u

static uint32_t jump(uint64_t key, uint32_t n)
{
    int64_t at = -1, next = 0;
    while (next < (int64_t)n) {
        at = next;
        key = key * JUMP_FACTOR + 1;
        next = (int64_t)((double)(at + 1) * ((double)(1u << 31) / (double)((key >> 33) + 1)));
    }
    return (uint32_t)at;
}

static uint32_t jumpback(uint64_t hash, uint32_t n)
{
    uint64_t state = hash, v = gy_mix(state += GY_GOLDEN);
    uint32_t u =
        ((uint32_t)v ^ (uint32_t)(v >> 32)) & (n > 1 ? UINT32_MAX >> __builtin_clz(n - 1) : 0);
    while (u) {
        uint32_t q = (uint32_t)1 << (31 - __builtin_clz(u));
        uint32_t r = q + ((uint32_t)(v >> (__builtin_popcount(u) & 1) * 32) & (q - 1));
        for (unsigned draws = 0; r >= n; draws++) {
            uint64_t w = draws % 2 ? gy_mix(state) >> 32 : gy_mix(state += GY_GOLDEN);
            r = (uint32_t)w & (2 * q - 1);
        }
        if (r >= q) {
            return r;
        }
        u ^= q;
    }
    return 0;
}

#ifdef GY_SIMD_X86
#define NAME              jump_sixteen
#define LANES             PLAIN_LANES
#define TARGET            __attribute__((noinline))
#define LOWER(a, b)       PLAIN_LOWER(a, b)
#define UPPER(a, b)       PLAIN_UPPER(a, b)
#define PICK(flags, a, b) PLAIN_PICK(flags, a, b)
#define BITS(flags)       (unsigned)(flags)
#define FLAGS             uint16_t
#define LESS(x, y)        PLAIN_LESS(real, x, y)
#define PRODUCT(x, y)     PLAIN_PRODUCT(x, y)
#define MERGED(even, odd) PLAIN_MERGED(even, odd)
#define FLOOR(x)          PLAIN_FLOOR(x)
#include "lib/place/jump_lanes.h"

static uint32_t top_of(uint32_t n)
{
    return n > 1 ? (uint32_t)1 << (31 - __builtin_clz(n - 1)) : 1;
}

#define NAME   draw_eight
#define LANES  8
#define TARGET __attribute__((noinline))
#define MIX(z) PLAIN_MIX(z)
#include "lib/place/dx_lanes.h"

#define NAME              jumpback_sixteen
#define LANES             PLAIN_LANES
#define TARGET            __attribute__((noinline))
#define MIX(z)            PLAIN_MIX(z)
#define LOWER(a, b)       PLAIN_LOWER(a, b)
#define UPPER(a, b)       PLAIN_UPPER(a, b)
#define PICK(flags, a, b) PLAIN_PICK(flags, a, b)
#define BITS(flags)       (unsigned)(flags)
#define FLAGS             uint16_t
#define BELOW(x, y)       PLAIN_LESS(number, x, y)
#define SIGN(x)           PLAIN_LESS(number, x, (number){0})
#include "lib/place/jumpback_lanes.h"
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

/* The z that gy_mix_folded makes, back to what it makes it of. */
static uint64_t unmix(uint64_t z)
{
    z ^= z >> 31 ^ z >> 62;
    z *= 0x319642b2d24d8ec3u; /* the inverses, modulo 2^64, of its factors */
    z ^= z >> 27 ^ z >> 54;
    return z * 0x96de1b173f119089u;
}

/* Scores that random hashes have once in 2^31, for one key: alike at their start, or to the bit, as
 * those of names whose hashes are the same would be; the best there can be; and the worst. */
static void make_ties(struct prop *p, gyre_map_t *m, uint64_t hash)
{
    struct gy_rendezvous *r = m->data;
    uint64_t start = prop_below(p, 3) ? prop_draw(p) : UINT64_MAX, z = start;
    for (uint32_t i = 0; i < r->count; i++) {
        switch (prop_below(p, 8)) {
        case 0:
            z = start;
            break;
        case 1:
            z = start - start % 16 + prop_below(p, 16);
            break;
        case 2:
            z = start >> 33 << 33 | prop_draw(p) >> 31;
            break;
        case 3:
            z = (start >> 32 << 32) - prop_below(p, 3);
            break;
        case 4:
            z = prop_below(p, 3);
            break;
        default:
            z = prop_draw(p) >> prop_below(p, 3);
        }
        r->seed[i] = unmix(z) ^ gy_mix_fold(hash);
    }
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
    if (n && m->place == &gy_place_rendezvous && prop_below(p, 2)) {
        make_ties(p, m, hashes[n / 2]);
        PROP(gy_mix_folded(unmix(hashes[0])) == hashes[0]);
    }
    PROP(!ring || same_lines(m, GY_SIMD_NONE));
    force(m, GY_SIMD_NONE);
    gyre_map_locate_hash_batch(m, hashes, n, plain);
    for (size_t i = 0; i < n; i++) {
        struct gy_walk walk[GY_WALKS];
        PROP(gyre_map_locate_hash(m, hashes[i]) == plain[i]);
        if (i % 8 == 0 ||
            i == n / 2) { /* the walk goes another way: one draw, one score after the other */
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
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

/* ---- jump and jumpback ---- */

/* About powers of two, the smallest, the largest, and others. */
static uint32_t draw_range(struct prop *p, unsigned bits)
{
    uint32_t power = (uint32_t)1 << prop_below(p, bits);
    switch (prop_below(p, 4)) {
    case 0:
        return (uint32_t)prop_below(p, 3) + 1;
    case 1:
        return power - (power > 1) + (uint32_t)prop_below(p, 3);
    case 2:
        return power + (uint32_t)prop_below(p, power);
    default:
        return ((uint32_t)1 << bits) - 1;
    }
}

/* x times it is 1, mod 2^64: Newton's method. */
static uint64_t inverse(uint64_t x)
{
    uint64_t y = x;
    for (unsigned i = 0; i < 5; i++) {
        y *= 2 - x * y;
    }
    return y;
}

/* A key whose first jump ends on a whole number or just beside it: what floats cannot tell. */
static uint64_t draw_close(struct prop *p)
{
    uint64_t end = prop_size(p, 1, 1000);
    uint64_t upper = (((uint64_t)1 << 31) + end / 2) / end - prop_below(p, 3);
    return (((upper << 33) | prop_draw(p) >> 31) - 1) * inverse(JUMP_FACTOR);
}

/* A key the halves of whose first word differ in nearly all bits up to some: as a float that is
 * rounded up to a power of two. */
static uint64_t draw_ones(struct prop *p)
{
    uint32_t u = UINT32_MAX >> prop_below(p, 31), high = (uint32_t)prop_draw(p);
    uint64_t z = (uint64_t)high << 32 | (high ^ u ^ (prop_draw(p) & 3));
    z = (z ^ z >> 31 ^ z >> 62) * inverse(GY_MIX_TWO);
    z = (z ^ z >> 27 ^ z >> 54) * inverse(GY_MIX_ONE);
    return (z ^ z >> 30 ^ z >> 60) - GY_GOLDEN;
}

/* The placement's own functions, on a map that has slots and no more: up to 65536 of them, which
 * would take long to build. */
static bool jump_lanes_agree(struct prop *p)
{
    static uint16_t node[1 << 16];
    struct gy_numbers x = {.n = draw_range(p, 16), .node = node};
    struct gyre_map m = {.data = &x};
    uint64_t hashes[KEYS];
    uint32_t out[KEYS];
    size_t n = prop_below(p, KEYS + 1);
    for (uint32_t i = 0; i < x.n; i++) {
        node[i] = (uint16_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        hashes[i] = prop_below(p, 2) ? prop_draw(p) : draw_close(p);
    }
    for (int level = GY_SIMD_NONE; level <= (int)gy_simd_best(); level++) {
        m.simd = (enum gy_simd)level;
        gy_place_jump.locate_batch(&m, hashes, n, out);
        for (size_t i = 0; i < n; i++) {
            PROP(out[i] == jump(hashes[i], x.n));
        }
    }
#ifdef GY_SIMD_X86
    jump_sixteen(hashes, n / 32 * 32, x.n, out);
    for (size_t i = 0; i < n / 32 * 32; i++) {
        PROP(out[i] == jump(hashes[i], x.n));
    }
#endif
    return true;
}

static bool jumpback_lanes_agree(struct prop *p)
{
    uint32_t nodes = draw_range(p, prop_below(p, 2) ? 16 : 31), out[KEYS];
    uint64_t hashes[KEYS];
    size_t n = prop_below(p, KEYS + 1);
    for (size_t i = 0; i < n; i++) {
        hashes[i] = prop_below(p, 2) ? prop_draw(p) : draw_ones(p);
        PROP(gy_jumpback(hashes[i], nodes) == jumpback(hashes[i], nodes));
    }
    for (int level = GY_SIMD_NONE; level <= (int)gy_simd_best(); level++) {
        gy_jumpback_batch((enum gy_simd)level, hashes, n, nodes, out);
        for (size_t i = 0; i < n; i++) {
            PROP(out[i] == jumpback(hashes[i], nodes));
        }
    }
#ifdef GY_SIMD_X86
    jumpback_sixteen(hashes, n / 16 * 16, nodes, out);
    for (size_t i = 0; i < n / 16 * 16; i++) {
        PROP(out[i] == jumpback(hashes[i], nodes));
    }
#endif
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
    const char *level = names[gy_simd_best()], *wanted = getenv("GYRE_LEVEL");
    printf("this machine's level: %s\n", level);
    if (wanted && strcmp(level, wanted) != 0) {
        printf("it was to be %s\n", wanted);
        return 1;
    }
    int failed = prop_run("levels agree", levels_agree, 400);
    failed += prop_run("levels agree, jump", jump_lanes_agree, 200);
    failed += prop_run("levels agree, jumpback", jumpback_lanes_agree, 400);
    failed += prop_run("levels agree, keys by MD5", md5_levels_agree, 400);
#ifdef GY_SIMD_X86
    failed += prop_run("eight lanes of dx", eight_draws_agree, 20);
#endif
    return failed;
}
