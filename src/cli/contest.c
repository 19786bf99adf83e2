/* SPDX-License-Identifier: Apache-2.0 */
/* contest.c - see contest.h. */
#include "cli/contest.h"
#include "base/buf.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SAMPLES  200000 /* where movement has no exact answer */
#define NEWCOMER "gyre-bench-newcomer"

/* ---- the baseline ---- */

struct point {
    uint64_t at;
    uint32_t node;
};

struct array {
    struct point *points;
    size_t count;
};

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool array_build(struct array *a, const gyre_map_t *nodes, uint64_t points)
{
    uint32_t n = gyre_map_count(nodes);
    double weights = 0;
    for (uint32_t i = 0; i < n; i++) {
        weights += gyre_map_node(nodes, i)->weight;
    }
    a->count = 0;
    a->points = calloc((size_t)points + n + 1, sizeof *a->points);
    for (uint32_t i = 0; a->points && i < n; i++) {
        const struct gyre_node *node = gyre_map_node(nodes, i);
        uint64_t own = (uint64_t)((double)points * node->weight / weights);
        for (uint64_t k = 0; k < own; k++) {
            char text[300];
            int len = snprintf(text, sizeof text, "%.270s-%llu", node->name, (unsigned long long)k);
            a->points[a->count++] = (struct point){gyre_hash_xxh3(text, (size_t)len), i};
        }
    }
    if (a->points) {
        qsort(a->points, a->count, sizeof *a->points, by_place);
    }
    return a->points && a->count;
}

static uint32_t array_locate(const struct array *a, const void *key, size_t len)
{
    uint64_t hash = gyre_hash_xxh3(key, len);
    size_t low = 0, high = a->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->points[middle].at < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return a->points[low == a->count ? 0 : low].node;
}

/* What it owns, from point to point. */
static double array_cv(const struct array *a, const gyre_map_t *nodes)
{
    uint32_t n = gyre_map_count(nodes);
    double *share = calloc(2 * (size_t)n + 1, sizeof *share), *weight = share ? share + n : NULL;
    struct gyre_balance b = {.size = sizeof b};
    if (!share) {
        return 0;
    }
    for (size_t i = 0; i < a->count; i++) {
        uint64_t before = a->points[i ? i - 1 : a->count - 1].at;
        share[a->points[i].node] += (double)(a->points[i].at - before);
    }
    for (uint32_t i = 0; i < n; i++) {
        weight[i] = gyre_map_node(nodes, i)->weight;
    }
    gyre_balance_of(share, weight, n, &b);
    free(share);
    return b.cv;
}

/* ---- keys and clocks ---- */

struct keys {
    char text[GY_CONTEST_KEYS][24];
    const void *key[GY_CONTEST_KEYS];
    size_t len[GY_CONTEST_KEYS];
    uint32_t node[GY_CONTEST_KEYS];
};

static void make_keys(struct keys *k)
{
    for (size_t i = 0; i < GY_CONTEST_KEYS; i++) {
        k->len[i] = (size_t)snprintf(k->text[i], sizeof k->text[i], "user:%llu",
                                     (unsigned long long)(i * 2654435761 % 100000007));
        k->key[i] = k->text[i];
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Once through the keys. */
static void lookups(const struct gy_contestant *c, const struct array *a, struct keys *k,
                    bool batch)
{
    if (!c->map) {
        for (size_t i = 0; i < GY_CONTEST_KEYS; i++) {
            k->node[i] = array_locate(a, k->key[i], k->len[i]);
        }
    } else if (batch) {
        gyre_map_locate_batch(c->map, k->key, k->len, GY_CONTEST_KEYS, k->node);
    } else {
        for (size_t i = 0; i < GY_CONTEST_KEYS; i++) {
            k->node[i] = gyre_map_locate(c->map, k->key[i], k->len[i]);
        }
    }
}

/* Whole passes until the time is up; a pass that takes longer than that is the only one. */
static double time_slice(const struct gy_contestant *c, const struct array *a, struct keys *k,
                         bool batch, double seconds)
{
    double start = now(), passed;
    size_t passes = 0;
    do {
        lookups(c, a, k, batch);
        passes++;
        passed = now() - start;
    } while (passed < seconds);
    return passed * 1e9 / (double)(passes * GY_CONTEST_KEYS);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void settle(struct gy_timing *t)
{
    qsort(t->round, GY_CONTEST_ROUNDS, sizeof *t->round, by_value);
    t->least = t->round[0];
    t->median = t->round[GY_CONTEST_ROUNDS / 2];
}

/* ---- a contestant ---- */

static void refuse(struct gy_contestant *c, const char *why)
{
    snprintf(c->why, sizeof c->why, "%.*s", (int)sizeof c->why - 1, why);
    gyre_map_unref(c->map);
    c->map = NULL;
}

/* What moves when one more node comes, and the least that could. */
static void measure_move(struct gy_contestant *c, const gyre_topology_t *t)
{
    const struct gyre_change add = {
        .size = sizeof add,
        .kind = GYRE_ADD,
        .node = {.size = sizeof add.node, .name = NEWCOMER, .weight = 1}};
    gyre_topology_t *grown = NULL;
    gyre_map_t *map = NULL;
    gyre_diff_t *d = NULL;
    gyre_error_t e = {0};
    int err = gyre_plan_apply(t, &add, 1, &grown, &e);
    err = err ? err : gyre_map_build(grown, &map, &e);
    err = err ? err : gyre_diff_build(c->map, map, SAMPLES, &d, &e);
    c->moved = err ? -1 : gyre_diff_moved(d);
    c->minimum = err ? -1 : gyre_diff_minimum(d);
    gyre_diff_free(d);
    gyre_map_unref(map);
    gyre_topology_free(grown);
}

static void enter(struct gy_contestant *c, const gyre_topology_t *t)
{
    gyre_error_t e = {0};
    struct gyre_balance b = {.size = sizeof b};
    double start = now();
    int err = gyre_map_build(t, &c->map, &e);
    c->build_ms = (now() - start) * 1e3;
    if (err) {
        refuse(c, *e.message ? e.message : gyre_err_text(err));
        return;
    }
    c->bytes = gyre_map_bytes(c->map);
    gyre_map_balance(c->map, &b);
    c->cv = b.cv;
    measure_move(c, t);
}

/* dx wants to know the largest weight beforehand: a whole number. */
static int set_heaviest(gyre_topology_t *t, const gyre_topology_t *fleet, gyre_error_t *e)
{
    double most = 1;
    char text[32];
    for (size_t i = 0; i < gyre_topology_count(fleet); i++) {
        double w = gyre_topology_node(fleet, i)->weight;
        most = w > most ? w : most;
    }
    snprintf(text, sizeof text, "%.0f", ceil(most));
    return gyre_topology_set(t, "heaviest", text, e);
}

/* The fleet's nodes under an algorithm of gyre's own, its other settings as they are by default. */
static gyre_topology_t *with_algorithm(const gyre_topology_t *fleet, const char *name, bool equal,
                                       gyre_error_t *e)
{
    gyre_topology_t *t = gyre_topology_new();
    int err = t ? gyre_topology_set(t, "algorithm", name, e) : GYRE_NOMEM;
    if (!err && strcmp(name, "dx") == 0 && !equal) {
        err = set_heaviest(t, fleet, e);
    }
    for (size_t i = 0; !err && i < gyre_topology_count(fleet); i++) {
        struct gyre_node n = *gyre_topology_node(fleet, i);
        n.options = NULL; /* words of an imitated system */
        n.slot = 0;
        n.weight = equal && n.weight > 0 ? 1 : n.weight;
        err = gyre_topology_add(t, &n, e);
    }
    if (err) {
        gyre_topology_free(t);
        t = NULL;
    }
    return t;
}

static void enter_algorithm(struct gy_contest *c, struct gy_contestant *me)
{
    gyre_error_t e = {0};
    gyre_topology_t *t = with_algorithm(c->fleet, me->name, me->equal, &e);
    if (t) {
        enter(me, t);
        if (me->map && strcmp(me->name, "ring") == 0) {
            c->points = gyre_map_points(me->map);
        }
    } else {
        refuse(me, *e.message ? e.message : "out of memory");
    }
    gyre_topology_free(t);
}

/* ---- all of them ---- */

/* gyre's algorithms, of "ring|modulo|...". */
static void add_algorithms(struct gy_contest *c)
{
    size_t n;
    const struct gyre_setting *all = gyre_settings(&n);
    for (size_t i = 0; i < n; i++) {
        const char *p = strcmp(all[i].key, "algorithm") == 0 ? all[i].values : "";
        while (*p) {
            size_t len = strcspn(p, "|");
            struct gy_contestant *me = &c->list[c->count++];
            snprintf(me->word, sizeof me->word, "%.*s", (int)len, p);
            me->name = me->word;
            p += len + (p[len] == '|');
        }
    }
}

static bool takes_part(const struct gy_contestant *me)
{
    return !*me->why;
}

static int rounds(struct gy_contest *c, const struct array *a)
{
    struct keys *k = malloc(sizeof *k);
    double slice = c->seconds / (2 * GY_CONTEST_ROUNDS);
    if (!k) {
        return gy_complain_memory();
    }
    make_keys(k);
    gy_progress_begin("lookups in turns", (uint64_t)GY_CONTEST_ROUNDS * c->count);
    for (size_t r = 0; r < GY_CONTEST_ROUNDS; r++) {
        for (size_t i = 0; i < c->count; i++) {
            struct gy_contestant *me = &c->list[i];
            if (takes_part(me)) {
                me->single.round[r] = time_slice(me, a, k, false, slice);
                me->batch.round[r] = me->map ? time_slice(me, a, k, true, slice) : 0;
            }
            gy_progress_at(r * c->count + i + 1);
        }
    }
    gy_progress_end();
    for (size_t i = 0; i < c->count; i++) {
        settle(&c->list[i].single);
        settle(&c->list[i].batch);
    }
    free(k);
    return GY_EXIT_OK;
}

static int baseline(struct gy_contest *c, struct gy_contestant *me, struct array *a)
{
    const gyre_map_t *nodes = NULL;
    for (size_t i = 0; i < c->count && !nodes; i++) {
        nodes = c->list[i].map;
    }
    if (!nodes || !c->points) {
        refuse(me, "the ring could not be built");
        return GY_EXIT_OK;
    }
    double start = now();
    if (!array_build(a, nodes, c->points)) {
        return gy_complain_memory();
    }
    me->build_ms = (now() - start) * 1e3;
    me->bytes = a->count * sizeof *a->points;
    me->cv = array_cv(a, nodes);
    me->moved = me->minimum = -1; /* as the ring's; nobody keeps two of them to compare */
    return GY_EXIT_OK;
}

int gy_contest_run(struct gy_contest *c)
{
    enum { MOST = 32 };
    struct array a = {0};
    int rc = GY_EXIT_OK;
    c->list = calloc(MOST, sizeof *c->list);
    if (!c->list) {
        return gy_complain_memory();
    }
    add_algorithms(c);
    gy_progress_begin("building", c->count);
    for (size_t i = 0; i < c->count; i++) {
        struct gy_contestant *me = &c->list[i];
        enter_algorithm(c, me);
        if (!me->map) { /* most likely for the weights */
            me->equal = true;
            *me->why = 0;
            enter_algorithm(c, me);
        }
        gy_progress_at(i + 1);
    }
    gy_progress_end();
    if (c->own) {
        c->list[c->count].name = "as the file says";
        enter(&c->list[c->count++], c->fleet);
    }
    c->list[c->count].name = "sorted array";
    rc = baseline(c, &c->list[c->count++], &a);
    if (!rc) {
        rc = rounds(c, &a);
    }
    free(a.points);
    return rc;
}

void gy_contest_fini(struct gy_contest *c)
{
    for (size_t i = 0; i < c->count; i++) {
        gyre_map_unref(c->list[i].map);
    }
    free(c->list);
}
