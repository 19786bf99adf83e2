/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - the work whose instructions counts.py has counted: run under callgrind, which collects
 * inside `counted` only and writes its sum down each time that returns. Prints a line for each such
 * time: name, and how many times the unit of work was done. One seed, so the counts are the same
 * every time; the level of vector instructions is forced, so they are the same on every machine
 * that has it.
 *
 * Callgrind knows no AVX-512. With GYRE_TICKS set the work is counted by the processor's clock:
 * that of an emulator (tools/avx512.sh) goes on by one an instruction. Then a line is the name and
 * what a unit of the work takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "lib/place/mix.h"
#include "lib/place/rendezvous.h"

enum { KEYS = 1024 };

struct work {
    const char *name, *algorithm; /* or the system it is like */
    unsigned nodes, points;
    bool weighted, like;
    enum { ONE, BATCH, KEY, KEY_BATCH, REPLICAS, BUILD } what;
    enum gy_simd level;
    unsigned keys;
};

static const struct work works[] = {
    {"ring one", "ring", 1000, 160, .what = ONE, .keys = KEYS},
    {"ring batch, plain", "ring", 1000, 160, .what = BATCH, .keys = KEYS},
    {"ring batch, avx2", "ring", 1000, 160, .what = BATCH, .level = GY_SIMD_AVX2, .keys = KEYS},
    {"ring key", "ring", 1000, 160, .what = KEY, .keys = KEYS},
    {"ring three replicas", "ring", 1000, 160, .what = REPLICAS, .keys = KEYS},
    {"ring build, a point, avx2", "ring", 100, 160, .what = BUILD, .level = GY_SIMD_AVX2,
     .keys = 1},
    {"jump one", "jump", 1000, .what = ONE, .keys = KEYS},
    {"jump batch, plain", "jump", 1000, .what = BATCH, .keys = KEYS},
    {"jump batch, avx2", "jump", 1000, .what = BATCH, .level = GY_SIMD_AVX2, .keys = KEYS},
    {"jumpback one", "jumpback", 1000, .what = ONE, .keys = KEYS},
    {"jumpback one, few nodes", "jumpback", 10, .what = ONE, .keys = KEYS},
    {"jumpback batch, plain", "jumpback", 1000, .what = BATCH, .keys = KEYS},
    {"jumpback batch, avx2", "jumpback", 1000, .what = BATCH, .level = GY_SIMD_AVX2, .keys = KEYS},
    {"memento batch, avx2", "memento", 1000, .what = BATCH, .level = GY_SIMD_AVX2, .keys = KEYS},
    {"dx one", "dx", 1000, .what = ONE, .keys = KEYS},
    {"dx one, slots half full", "dx", 600, .what = ONE, .keys = KEYS},
    {"dx batch, plain", "dx", 600, .what = BATCH, .keys = KEYS},
    {"dx batch, avx2", "dx", 600, .what = BATCH, .level = GY_SIMD_AVX2, .keys = KEYS},
    {"maglev one", "maglev", 1000, .what = ONE, .keys = KEYS},
    {"maglev batch", "maglev", 1000, .what = BATCH, .keys = KEYS},
    {"rendezvous, plain", "rendezvous", 100, .what = BATCH, .keys = 128},
    {"rendezvous, avx2", "rendezvous", 100, .what = BATCH, .level = GY_SIMD_AVX2, .keys = 128},
    {"rendezvous one, avx2", "rendezvous", 100, .what = ONE, .level = GY_SIMD_AVX2, .keys = 128},
    {"weighted rendezvous, plain", "rendezvous", 100, .weighted = true, .what = BATCH, .keys = 128},
    {"weighted rendezvous, avx2", "rendezvous", 100, .weighted = true, .what = BATCH,
     .level = GY_SIMD_AVX2, .keys = 128},
    {"weighted rendezvous one, avx2", "rendezvous", 100, .weighted = true, .what = ONE,
     .level = GY_SIMD_AVX2, .keys = 128},
    {"ketama key, md5", "libmemcached", 100, .like = true, .what = KEY, .keys = KEYS},
    {"ketama keys batch, md5, avx2", "libmemcached", 100, .like = true, .what = KEY_BATCH,
     .level = GY_SIMD_AVX2, .keys = KEYS},
    {"jump batch, avx512", "jump", 1000, .what = BATCH, .level = GY_SIMD_AVX512, .keys = KEYS},
    {"jumpback batch, avx512", "jumpback", 1000, .what = BATCH, .level = GY_SIMD_AVX512,
     .keys = KEYS},
    {"rendezvous, avx512", "rendezvous", 100, .what = BATCH, .level = GY_SIMD_AVX512, .keys = 128},
    {"weighted rendezvous, avx512", "rendezvous", 100, .weighted = true, .what = BATCH,
     .level = GY_SIMD_AVX512, .keys = 128},
    {"dx batch, avx512", "dx", 600, .what = BATCH, .level = GY_SIMD_AVX512, .keys = KEYS},
    {"ketama keys batch, md5, avx512", "libmemcached", 100, .like = true, .what = KEY_BATCH,
     .level = GY_SIMD_AVX512, .keys = KEYS},
};

static gyre_topology_t *topology(const struct work *w)
{
    gyre_topology_t *t = gyre_topology_new();
    char text[16];
    snprintf(text, sizeof text, "%u", w->points ? w->points : 1);
    int err =
        t ? gyre_topology_set(t, w->like ? "like" : "algorithm", w->algorithm, NULL) : GYRE_NOMEM;
    if (w->like) {
        err = err ? err : gyre_topology_set(t, "distribution", "ketama_weighted", NULL);
    } else {
        err = err ? err : gyre_topology_set(t, "points", text, NULL);
        err = err ? err : gyre_topology_set(t, "capacity", "1024", NULL);
    }
    for (unsigned i = 0; !err && i < w->nodes; i++) {
        snprintf(text, sizeof text, "cache-%u", i);
        struct gyre_node n = {
            .size = sizeof n, .name = text, .weight = w->weighted ? 1 + i % 4 : 1};
        err = gyre_topology_add(t, &n, NULL);
    }
    if (err) {
        printf("work: %s: %s\n", w->name, gyre_err_name(err));
        exit(1);
    }
    return t;
}

/* The name counts.py gives to callgrind. Answers what was found, so that nothing is left out. */
__attribute__((noinline)) uint32_t counted(const struct work *w, const gyre_topology_t *t,
                                           const gyre_map_t *m, const uint64_t *hashes);

uint32_t counted(const struct work *w, const gyre_topology_t *t, const gyre_map_t *m,
                 const uint64_t *hashes)
{
    static uint32_t out[KEYS];
    static const void *keys[KEYS];
    static size_t lens[KEYS];
    uint32_t sum = 0;
    gyre_map_t *built;
    switch (w->what) {
    case ONE:
        for (unsigned i = 0; i < w->keys; i++) {
            sum += gyre_map_locate_hash(m, hashes[i]);
        }
        return sum;
    case KEY:
        for (unsigned i = 0; i < w->keys; i++) {
            sum += gyre_map_locate(m, &hashes[i], sizeof hashes[i]);
        }
        return sum;
    case KEY_BATCH:
        for (unsigned i = 0; i < w->keys; i++) {
            keys[i] = &hashes[i];
            lens[i] = sizeof hashes[i];
        }
        gyre_map_locate_batch(m, keys, lens, w->keys, out);
        return out[0];
    case REPLICAS:
        for (unsigned i = 0; i < w->keys; i++) {
            sum += (uint32_t)gyre_map_replicas(m, &hashes[i], sizeof hashes[i], out, 3, NULL);
        }
        return sum;
    case BATCH:
        gyre_map_locate_hash_batch(m, hashes, w->keys, out);
        return out[0];
    case BUILD:
        if (gyre_map_build(t, &built, NULL) == GYRE_OK) {
            gyre_map_unref(built);
        }
        return 0;
    }
    return 0;
}

/* The least of a few times: the kernel's own work comes between now and then. */
static uint64_t ticks(const struct work *w, const gyre_topology_t *t, const gyre_map_t *m,
                      const uint64_t *hashes)
{
    uint64_t least = UINT64_MAX;
#ifdef GY_SIMD_X86
    for (unsigned i = 0; i < 25; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        counted(w, t, m, hashes);
        uint64_t taken = __builtin_ia32_rdtsc() - before;
        least = taken < least ? taken : least;
    }
#endif
    return least;
}

int main(void)
{
    uint64_t hashes[KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        hashes[i] = gy_stream(1, i);
    }
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        const struct work *w = &works[i];
        gyre_map_t *m;
        gyre_topology_t *t = topology(w);
        if (w->level > gy_simd_best()) {
            printf("%s\tskipped: not on this machine\n", w->name);
            gyre_topology_free(t);
            continue;
        }
        if (gyre_map_build(t, &m, NULL)) {
            printf("work: %s does not build\n", w->name);
            return 1;
        }
        m->simd = w->level; /* a map is constant but for this */
        if (m->place == &gy_place_rendezvous) {
            ((struct gy_rendezvous *)m->data)->simd = w->level;
        }
        unsigned units = w->what == BUILD ? (unsigned)m->steps : w->keys;
        if (getenv("GYRE_TICKS")) {
            printf("%s\t%.1f\n", w->name, (double)ticks(w, t, m, hashes) / units);
        } else {
            printf("%s\t%u\t%u\n", w->name, units, counted(w, t, m, hashes));
        }
        gyre_map_unref(m);
        gyre_topology_free(t);
    }
    return 0;
}
