/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simd_props.c - every level of vector instructions the machine has gives the answers of plain
 * C; and the eight-lane kernel of jump does so too where the machine cannot run it, compiled from
 * the same source without the instructions.
 */
#include "fleet_gen.h"
#include "lib/map.h"
#include "lib/place/rendezvous.h"

enum { KEYS = 300 };

#ifdef GY_SIMD_X86
static bool any(const int64_t *lanes)
{
    int64_t all = 0;
    for (int i = 0; i < 8; i++) {
        all |= lanes[i];
    }
    return all != 0;
}

#define GROUPS 2
#define NAME   jump_eight
#define LANES  8
#define TARGET __attribute__((noinline))
#define ANY(m) any((const int64_t *)&(m))
#include "lib/place/jump_lanes.h"
#endif

/* A map is constant but for this: what the machine is taken to be able to do. */
static void force(gyre_map_t *m, enum gy_simd level)
{
    m->simd = level;
    if (m->place == &gy_place_rendezvous) {
        ((struct gy_rendezvous *)m->data)->simd = level;
    }
}

static gyre_topology_t *gen(struct prop *p)
{
    static const char *const algorithms[] = {"jump", "rendezvous", "rendezvous"};
    unsigned which = (unsigned)prop_below(p, 3), nodes = (unsigned)prop_size(p, 1, 2000);
    gyre_topology_t *t = gen_topology(p, which == 2 ? nodes : 1, 1);
    for (unsigned i = 1; which < 2 && i < nodes; i++) {
        gen_add(p, t, i, 1);
    }
    must(gyre_topology_set(t, "algorithm", algorithms[which], NULL));
    return t;
}

static bool levels_agree(struct prop *p)
{
    gyre_topology_t *t = gen(p);
    gyre_map_t *m = gen_map(t);
    uint64_t hashes[KEYS];
    uint32_t plain[KEYS], out[KEYS];
    size_t n = prop_below(p, KEYS + 1);
    for (unsigned i = 0; i < n; i++) {
        hashes[i] = prop_draw(p);
    }
    force(m, GY_SIMD_NONE);
    gyre_map_locate_hash_batch(m, hashes, n, plain);
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
    for (size_t i = 0; m->place == &gy_place_jump && i + 16 <= n; i += 16) {
        jump_eight(hashes + i, x->n, out);
        for (size_t k = 0; k < 16; k++) {
            PROP(x->node[out[k]] == plain[i + k]);
        }
    }
#endif
    gyre_map_unref(m);
    gyre_topology_free(t);
    return true;
}

int main(void)
{
    static const char *const names[] = {"plain C", "AVX2", "AVX-512"};
    printf("this machine's level: %s\n", names[gy_simd_best()]);
    return prop_run("levels agree", levels_agree, 150);
}
