/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rivals.c - would AnchorHash or FlipHash win anything that jumpback, memento and dx do not? All on
 * the same fleets in one run: `name ours peer ratio`, nanoseconds of CPU time a lookup, medians of
 * RUNS runs in turn; and bytes a slot. First all are held to what they promise: shares by
 * chi-square, and no key moves that need not. What memento and dx do is written out here once more,
 * for fleets above what a map holds, and compared with the map where there is one. Batches are the
 * library's own, to nodes; the sketches' go through the same table. What came out, and why the
 * library has neither: docs/speed.md. Threads: one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gyre.h"
#include "lib/map.h"
#include "lib/place/range.h"
#include "sketch.h"

enum { RUNS = 7, KEYS = 1 << 17, BLOCK = 64, MAP_NODES = 65535 };
enum who { JUMPBACK, MEMENTO, DX, ANCHOR, ROOMY, FLIP, ALL };

static const char *const names[ALL] = {"jumpback", "memento", "dx", "anchor", "anchor x2", "flip"};

struct fleet {
    uint32_t range, working, mask;
    uint32_t *left;              /* memento: as lib/place/memento.c */
    uint32_t *bar;               /* dx: as lib/place/dx.c */
    struct anchor anchor, roomy; /* capacity: the range; twice that, half never used yet */
    uint16_t *node;              /* the map's, of slot */
    gyre_map_t *map[ALL];        /* of the library, where it has that placement and size */
    size_t read[ALL], kept[ALL]; /* bytes that lookups read; that changes need besides */
};

static uint64_t hash_of[KEYS];
static uint32_t out[ALL][KEYS];

static void fail(const char *what, const struct fleet *f)
{
    printf("rivals: %s (%u slots, %u working)\n", what, f->range, f->working);
    exit(1);
}

static void *take(const struct fleet *f, size_t *bytes, size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) {
        fail("out of memory", f);
    }
    *bytes += n * size;
    return p;
}

/* jumpback and flip know no gaps. */
static bool takes_part(const struct fleet *f, int who)
{
    return f->working == f->range || (who != JUMPBACK && who != FLIP);
}

static uint32_t memento_go_on(const struct fleet *f, uint64_t hash, uint32_t b)
{
    while (f->left[b] != UINT32_MAX) {
        uint32_t n = f->left[b];
        b = scaled(gy_stream(gy_mix(~hash), b), n);
        while (f->left[b] != UINT32_MAX && f->left[b] >= n) {
            b = f->left[b];
        }
    }
    return b;
}

static uint32_t one_jumpback(const struct fleet *f, uint64_t hash)
{
    return gy_jumpback(hash, f->range);
}

static uint32_t one_memento(const struct fleet *f, uint64_t hash)
{
    return memento_go_on(f, hash, gy_jumpback(hash, f->range));
}

static uint32_t one_dx(const struct fleet *f, uint64_t hash)
{
    for (;;) {
        uint64_t v = gy_mix(hash += GY_GOLDEN);
        if (v >> 33 < f->bar[(uint32_t)v & f->mask]) {
            return (uint32_t)v & f->mask;
        }
    }
}

static uint32_t one_anchor(const struct fleet *f, uint64_t hash)
{
    return anchor_locate(&f->anchor, hash);
}

static uint32_t one_roomy(const struct fleet *f, uint64_t hash)
{
    return anchor_locate(&f->roomy, hash);
}

static uint32_t one_flip(const struct fleet *f, uint64_t hash)
{
    return flip_locate(hash, f->range);
}

typedef uint32_t one_fn(const struct fleet *f, uint64_t hash);
static one_fn *const one[ALL] = {one_jumpback, one_memento, one_dx,
                                 one_anchor,   one_roomy,   one_flip};

/* Both sketches in batches, as the library does it: first answers without a branch, and those that
 * do not stand are put on a list. */
static void many_anchor(const struct anchor *a, uint32_t *to)
{
    uint32_t open[BLOCK];
    for (size_t done = 0; done < KEYS; done += BLOCK) {
        size_t left = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t b = scaled(hash_of[done + i], a->room);
            to[done + i] = b;
            open[left] = (uint32_t)(done + i);
            left += a->slot[b].left != 0;
        }
        for (size_t k = 0; k < left; k++) {
            to[open[k]] = anchor_go_on(a, hash_of[open[k]], to[open[k]]);
        }
    }
}

static void many_flip(uint32_t n, uint32_t *to)
{
    uint32_t open[BLOCK], mask = flip_mask(n);
    for (size_t done = 0; done < KEYS; done += BLOCK) {
        size_t left = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            uint32_t r = flip_whole(hash_of[done + i], mask);
            to[done + i] = r;
            open[left] = (uint32_t)(done + i);
            left += r >= n;
        }
        for (size_t k = 0; k < left; k++) {
            to[open[k]] = flip_go_on(hash_of[open[k]], n, mask);
        }
    }
}

static void many(const struct fleet *f, enum who who)
{
    if (f->map[who]) {
        gyre_map_locate_hash_batch(f->map[who], hash_of, KEYS, out[who]);
    } else if (who == FLIP) {
        many_flip(f->range, out[who]);
    } else {
        many_anchor(who == ANCHOR ? &f->anchor : &f->roomy, out[who]);
    }
    for (size_t i = 0; !f->map[who] && i < KEYS; i++) {
        out[who][i] = f->node[out[who][i]];
    }
}

static void alone(const struct fleet *f, enum who who)
{
    one_fn *locate = one[who];
    for (size_t i = 0; i < KEYS; i++) {
        out[who][i] = locate(f, hash_of[i]);
    }
}

static void line(const struct fleet *f, enum who ours, enum who peer, const char *what,
                 const double *figure)
{
    char name[80];
    unsigned gone = (unsigned)((uint64_t)(f->range - f->working) * 100 / f->range);
    snprintf(name, sizeof name, "%s %u -%u %% %s / %s", names[ours], f->range, gone, what,
             names[peer]);
    printf("%-44s %9.2f %9.2f %7.2f\n", name, figure[ours], figure[peer],
           figure[peer] / figure[ours]);
    fflush(stdout);
}

/* Who promises what: any node may leave; and only the last one may. */
static void lines(const struct fleet *f, const char *what, const double *figure)
{
    line(f, MEMENTO, ANCHOR, what, figure);
    line(f, MEMENTO, ROOMY, what, figure);
    line(f, DX, ANCHOR, what, figure);
    line(f, DX, ROOMY, what, figure);
    if (takes_part(f, FLIP)) {
        line(f, JUMPBACK, FLIP, what, figure);
    }
}

static void measure(const struct fleet *f, bool batch)
{
    double took[ALL][RUNS], median[ALL] = {0};
    for (int run = -1; run < RUNS; run++) { /* the first is not counted */
        for (int who = 0; who < ALL; who++) {
            if (!takes_part(f, who)) {
                continue;
            }
            double start = now();
            (batch ? many : alone)(f, (enum who)who);
            if (run >= 0) {
                took[who][run] = (now() - start) / KEYS;
            }
        }
    }
    for (int who = 0; who < ALL; who++) {
        if (!takes_part(f, who)) {
            continue;
        }
        qsort(took[who], RUNS, sizeof took[who][0], by_value);
        median[who] = took[who][RUNS / 2];
    }
    lines(f, batch ? "batch" : "one", median);
}

/* A batch answers as single lookups do. */
static void check_batches(const struct fleet *f)
{
    for (int who = 0; who < ALL; who++) {
        if (!takes_part(f, who)) {
            continue;
        }
        many(f, (enum who)who);
        for (size_t i = 0; i < KEYS; i++) {
            if (f->map[DX]->nodes[out[who][i]].slot - 1 != one[who](f, hash_of[i])) {
                fail(names[who], f);
            }
        }
    }
}

/* Wilson and Hilferty's normal score of chi-square; above 5 with a chance of 3 in 10^7. */
static void check_shares(const struct fleet *f, enum who who)
{
    uint32_t *count = calloc(f->roomy.room, sizeof *count);
    size_t keys = (size_t)f->working * 8 > 1u << 20 ? (size_t)f->working * 8 : 1u << 20;
    if (!count) {
        fail("out of memory", f);
    }
    for (size_t i = 0; i < keys; i++) {
        count[one[who](f, gy_stream(7, i))]++;
    }
    double mean = (double)keys / f->working, sum = 0, df = f->working - 1;
    for (uint32_t b = 0; b < f->roomy.room; b++) {
        bool works = b < f->range && f->left[b] == UINT32_MAX;
        if (!works && count[b]) {
            fail("a key fell on a slot that does not work", f);
        }
        sum += works ? (count[b] - mean) * (count[b] - mean) / mean : 0;
    }
    double score = (cbrt(sum / df) - 1 + 2 / (9 * df)) / sqrt(2 / (9 * df));
    char name[80];
    snprintf(name, sizeof name, "%s %u of %u", names[who], f->working, f->range);
    printf("%-44s %9.2f %9.2f\n", name, sum / df, score);
    if (score > 5) {
        fail("shares are uneven", f);
    }
    free(count);
}

/* Only keys of `from`, or to `to`, may differ from what out[who] says. */
static void check_moves(const struct fleet *f, enum who who, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < KEYS; i++) {
        uint32_t was = out[who][i], is = one[who](f, hash_of[i]);
        if (was != is ? was != from && is != to : is == from) {
            fail("a key moved that need not, or did not that must", f);
        }
    }
}

static void check_anchor(struct fleet *f, enum who who)
{
    struct anchor *a = who == ANCHOR ? &f->anchor : &f->roomy;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t b = a->at[gy_stream(i, f->range) % a->working];
        alone(f, who);
        anchor_remove(a, b);
        check_moves(f, who, b, UINT32_MAX);
        anchor_add(a);
        check_moves(f, who, UINT32_MAX, UINT32_MAX);
    }
    if (a->working < a->room) { /* one more than the fleet began with */
        uint32_t b = anchor_add(a);
        check_moves(f, who, UINT32_MAX, b);
        anchor_remove(a, b);
        check_moves(f, who, UINT32_MAX, UINT32_MAX);
    }
}

static void check_flip(struct fleet *f)
{
    alone(f, FLIP);
    f->range++;
    check_moves(f, FLIP, UINT32_MAX, f->range - 1);
    f->range -= 2;
    check_moves(f, FLIP, f->range, UINT32_MAX);
    f->range++;
}

static void anchor_init(struct fleet *f, struct anchor *a, enum who who, uint32_t room)
{
    *a = (struct anchor){.room = room, .working = room};
    a->slot = take(f, &f->read[who], room, sizeof *a->slot);
    a->at = take(f, &f->kept[who], room, sizeof *a->at);
    a->where = take(f, &f->kept[who], room, sizeof *a->where);
    a->gone = take(f, &f->kept[who], room, sizeof *a->gone);
    for (uint32_t i = 0; i < room; i++) {
        a->slot[i].next = a->at[i] = a->where[i] = i;
    }
    while (a->working > f->range) {
        anchor_remove(a, a->working - 1);
    }
}

/* The library's map of the same fleet, if it can hold that many. */
static gyre_map_t *map_of(const struct fleet *f, enum who who)
{
    gyre_topology_t *t = gyre_topology_new();
    gyre_map_t *m = NULL;
    gyre_error_t e = {0};
    char name[24];
    int err = t ? gyre_topology_set(t, "algorithm", names[who], &e) : GYRE_NOMEM;
    snprintf(name, sizeof name, "%u", f->mask + 1);
    err = err ? err : gyre_topology_set(t, "capacity", name, &e);
    for (uint32_t b = 0; !err && b < f->range; b++) {
        if (f->left[b] == UINT32_MAX) {
            snprintf(name, sizeof name, "cache-%u", b);
            struct gyre_node n = {.size = sizeof n, .name = name, .weight = 1, .slot = b + 1};
            err = gyre_topology_add(t, &n, &e);
        }
    }
    uint32_t *slots = malloc((f->range - f->working + 1) * sizeof *slots);
    for (uint32_t i = 0; slots && i < f->range - f->working; i++) {
        slots[i] = f->anchor.gone[i] + 1;
    }
    err = err || !slots ? err : gyre_topology_set_removed(t, slots, f->range - f->working, &e);
    if (err || !slots || gyre_map_build(t, &m, &e)) {
        fail(e.message, f);
    }
    free(slots);
    gyre_topology_free(t);
    return m;
}

static void fleet_init(struct fleet *f, uint32_t range, unsigned percent)
{
    *f = (struct fleet){.range = range, .working = range, .mask = flip_mask(range)};
    f->left = take(f, &f->read[MEMENTO], range, sizeof *f->left);
    f->bar = take(f, &f->read[DX], (size_t)f->mask + 1, sizeof *f->bar);
    memset(f->left, UINT8_MAX, range * sizeof *f->left);
    for (uint32_t b = 0; b < range; b++) {
        f->bar[b] = (uint32_t)1 << 31;
    }
    anchor_init(f, &f->anchor, ANCHOR, range);
    anchor_init(f, &f->roomy, ROOMY, range * 2);
    for (uint32_t i = 0; i < (uint32_t)((uint64_t)range * percent / 100); i++) {
        uint32_t b = f->anchor.at[gy_stream(3, i) % f->working];
        anchor_remove(&f->anchor, b);
        anchor_remove(&f->roomy, b);
        f->bar[b] = 0;
        f->left[b] = --f->working;
        f->kept[MEMENTO] += sizeof *f->anchor.gone; /* its list of slots given up */
    }
    for (int who = JUMPBACK; f->working <= MAP_NODES && who <= DX; who++) {
        f->map[who] = takes_part(f, who) ? map_of(f, (enum who)who) : NULL;
    }
    f->node = calloc(range, sizeof *f->node);
    if (!f->node) {
        fail("out of memory", f);
    }
    for (uint32_t i = 0; f->map[DX] && i < f->working; i++) {
        f->node[f->map[DX]->nodes[i].slot - 1] = (uint16_t)i;
    }
}

static void anchor_fini(struct anchor *a)
{
    free(a->slot);
    free(a->at);
    free(a->where);
    free(a->gone);
}

static void fleet_fini(struct fleet *f)
{
    for (int who = 0; who < ALL; who++) {
        gyre_map_unref(f->map[who]);
    }
    anchor_fini(&f->anchor);
    anchor_fini(&f->roomy);
    free(f->node);
    free(f->left);
    free(f->bar);
}

static void check(struct fleet *f)
{
    for (int who = 0; who < ALL; who++) {
        if (takes_part(f, who)) {
            check_shares(f, (enum who)who);
        }
    }
    check_anchor(f, ANCHOR);
    check_anchor(f, ROOMY);
    if (takes_part(f, FLIP)) {
        check_flip(f);
    }
    if (f->map[DX]) {
        check_batches(f);
    }
}

static void report(const struct fleet *f)
{
    double read[ALL], all[ALL];
    for (int who = 0; who < ALL; who++) {
        read[who] = (double)f->read[who] / f->range;
        all[who] = (double)(f->read[who] + f->kept[who]) / f->range;
    }
    measure(f, false);
    if (f->map[DX]) {
        measure(f, true);
    }
    for (int who = ANCHOR; who <= ROOMY; who++) {
        line(f, MEMENTO, (enum who)who, "bytes read", read);
        line(f, MEMENTO, (enum who)who, "bytes", all);
    }
}

int main(void)
{
    static const unsigned percents[] = {0, 20, 65};
    struct fleet f;
    for (size_t i = 0; i < KEYS; i++) {
        hash_of[i] = gy_stream(1, i);
    }
    for (int timed = 0; timed < 2; timed++) {
        printf(timed ? "%-44s %9s %9s %7s\n" : "%-44s %9s %9s\n", timed ? "name" : "shares of",
               timed ? "ours" : "chi2/df", timed ? "peer" : "score", "ratio");
        for (uint32_t range = 10; range <= 1000000; range *= 10) {
            for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
                fleet_init(&f, range, percents[i]);
                (timed ? report(&f) : check(&f));
                fleet_fini(&f);
            }
        }
    }
    return 0;
}
