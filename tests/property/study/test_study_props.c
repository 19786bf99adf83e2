/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_study_props.c - what must hold of every study whatever its numbers: the same seed gives the
 * same result, tables are whole and charts have their columns. And of some: what a ring moves is
 * what the new node owns; hash mod N moves N/(N+1); the spread of clients' views is Karger's; every
 * structure finds the same points in as many comparisons as it promises; an LRU cache is one.
 */
#include "lib/prop.h"
#include "study/counted.h"
#include "study/fleet.h"
#include "study/lru.h"
#include "study/rand.h"
#include "study/study.h"
#include "study/svg.h"

#include <math.h>

static uint64_t ticks(void)
{
    static uint64_t t;
    return t += 1000;
}

static int run(const struct gy_study *s, struct gy_lab *lab, struct gy_result *r)
{
    *r = (struct gy_result){0};
    return gy_study_run(s, lab, r);
}

/* Numbers at or near the least of each param, so that edges come up and runs are short. */
static struct gy_lab draw_lab(struct prop *p, const struct gy_study *s)
{
    struct gy_lab lab = {.seed = prop_below(p, 1000), .now = ticks};
    for (size_t i = 0; s->params[i].name; i++) {
        uint64_t room = s->params[i].max - s->params[i].min;
        room = room > 4 ? 4 : room;
        lab.value[i] = s->params[i].min + prop_below(p, room + 1);
    }
    return lab;
}

static bool same_cells(const struct gy_tab *a, const struct gy_tab *b)
{
    bool same = a->cells == b->cells;
    for (size_t i = 0; same && i < a->cells; i++) {
        const struct gy_value *x = &a->cell[i], *y = &b->cell[i];
        bool equal = x->count == y->count && (x->number == y->number || (x->none && y->none)) &&
                     (x->text == NULL || strcmp(x->text, y->text) == 0);
        same = x->measured || equal;
    }
    return same;
}

/* ---- every study ---- */

static bool whole(struct prop *p, const struct gy_result *r)
{
    for (size_t i = 0; i < r->tabs; i++) {
        const struct gy_tab *t = &r->tab[i];
        PROP(t->width && t->cells % t->width == 0 && t->cells);
        for (size_t c = 0; c < t->cells; c++) {
            const struct gy_column *col = &t->columns[c % t->width];
            PROP(t->cell[c].kind == col->kind);
            PROP(t->cell[c].none || (t->cell[c].text != NULL) == (col->kind == GY_TEXT));
            PROP(t->cell[c].none || col->kind != GY_SHARE ||
                 (t->cell[c].number >= 0 && t->cell[c].number <= 1 + 1e-9));
        }
    }
    for (size_t i = 0; i < r->charts; i++) {
        const struct gy_chart *c = r->chart[i];
        const struct gy_tab *t = gy_result_find(r, c->table);
        PROP(t && gy_tab_column(t, c->x) < t->width && c->y[0]);
        PROP(!c->by || gy_tab_column(t, c->by) < t->width);
        for (size_t k = 0; c->y[k]; k++) {
            PROP(gy_tab_column(t, c->y[k]) < t->width);
        }
    }
    return true;
}

/* No coordinate is "nan" or "inf". */
static bool drawable(const char *svg)
{
    return !strstr(svg, "\"nan") && !strstr(svg, " nan") && !strstr(svg, "\"-nan") &&
           !strstr(svg, "\"inf") && !strstr(svg, " inf") && !strstr(svg, "-inf");
}

static bool every_study(struct prop *p)
{
    struct gy_result a, b;
    size_t count = 0;
    while (gy_studies[count]) {
        count++;
    }
    const struct gy_study *s = gy_studies[prop_below(p, count)];
    struct gy_lab lab = draw_lab(p, s);
    int ra = run(s, &lab, &a), rb = run(s, &lab, &b);
    bool holds = ra == rb && ra == GYRE_OK && a.tabs == b.tabs && whole(p, &a);
    for (size_t i = 0; holds && i < a.tabs; i++) {
        holds = same_cells(&a.tab[i], &b.tab[i]);
    }
    struct gy_buf svg = {0};
    gy_svg_write(&svg, s, &a);
    holds = holds && !gy_buf_failed(&svg) && drawable(gy_buf_cstr(&svg));
    if (!holds && !p->quiet) {
        printf("study %s, seed %llu: %d %s\n", s->name, (unsigned long long)lab.seed, ra,
               lab.error.message);
    }
    gy_buf_fini(&svg);
    gy_result_fini(&a);
    gy_result_fini(&b);
    PROP(holds);
    return true;
}

/* ---- fleets ---- */

/* Every algorithm takes fleets of any size, and one node more. */
static bool fleets(struct prop *p)
{
    char name[GY_FLEET_KEY];
    struct gy_lab lab = {.seed = prop_draw(p) >> 24};
    uint64_t nodes = 250 + prop_below(p, 500);
    bool right = true;
    size_t i = 0;
    for (; gy_fleet_algorithm(i, name) && right; i++) {
        struct gy_fleet f = {.setting = {{"algorithm", name}}, .nodes = nodes};
        gyre_map_t *m, *more;
        f.points = strcmp(name, "ring") == 0 ? 3 : 0;
        right = gy_fleet_map(&lab, &f, &m) == GYRE_OK && gyre_map_count(m) == nodes;
        right = gy_fleet_change(&lab, &f, GYRE_ADD, nodes, &more) == GYRE_OK && right &&
                gyre_map_count(more) == nodes + 1;
        gyre_map_unref(m);
        gyre_map_unref(more);
    }
    PROP(right && i >= 9);
    return true;
}

/* ---- movement ---- */

static double number(const struct gy_result *r, const char *table, size_t row, const char *column)
{
    const struct gy_tab *t = gy_result_find(r, table);
    return gy_tab_at(t, row, gy_tab_column(t, column))->number;
}

static bool movement_checks(struct prop *p, const struct gy_result *r, uint64_t nodes)
{
    const struct gy_tab *t = gy_result_find(r, "algorithms");
    for (size_t row = 0; row < gy_tab_rows(t); row++) {
        const char *name = gy_tab_at(t, row, 0)->text;
        double moved = number(r, "algorithms", row, "add_moved");
        double n = (double)nodes;
        if (strcmp(name, "modulo") != 0 && strcmp(name, "maglev") != 0) {
            PROP(fabs(number(r, "algorithms", row, "add_ratio") - 1) < 1e-9);
            PROP(fabs(moved - number(r, "algorithms", row, "add_minimum")) < 1e-9);
        }
        if (strcmp(name, "modulo") == 0) {
            PROP(fabs(moved - n / (n + 1)) < 1e-12);
        }
    }
    for (size_t row = 0; row < gy_tab_rows(gy_result_find(r, "points")); row++) {
        PROP(fabs(number(r, "points", row, "ratio") - 1) < 1e-9);
        PROP(number(r, "points", row, "least") <= number(r, "points", row, "moved") + 1e-12);
    }
    return true;
}

static bool movement(struct prop *p)
{
    const struct gy_study *s = gy_study_find("movement");
    uint64_t nodes = 2 + prop_below(p, 12);
    struct gy_lab lab = {.seed = prop_draw(p) >> 24, .value = {nodes, 1}, .now = ticks};
    struct gy_result r;
    bool holds = run(s, &lab, &r) == GYRE_OK && movement_checks(p, &r, nodes);
    gy_result_fini(&r);
    PROP(holds);
    return true;
}

/* ---- views: Karger's spread ---- */

static bool views_checks(struct prop *p, const struct gy_result *r, const struct gy_lab *lab)
{
    const struct gy_tab *t = gy_result_find(r, "views");
    double last = 0;
    const char *rule = "";
    for (size_t row = 0; row < gy_tab_rows(t); row++) {
        const struct gy_value *expected = gy_tab_at(t, row, gy_tab_column(t, "expected_spread"));
        double views = (double)gy_tab_at(t, row, 1)->count;
        double spread = number(r, "views", row, "spread");
        bool same_rule = strcmp(rule, gy_tab_at(t, row, 0)->text) == 0;
        PROP(spread >= 1 && spread <= views && spread <= (double)lab->value[0]);
        PROP(!same_rule || spread >= last); /* more clients never make a key rarer */
        if (!expected->none && strcmp(gy_tab_at(t, row, 0)->text, "rendezvous") == 0) {
            /* 400 keys, of which each has its own order: the mean's own error is below 0.1; nodes
             * are known to all keys alike, and few of them make that error larger. */
            PROP(fabs(spread - expected->number) < 0.2 + 0.2 * expected->number);
        }
        rule = gy_tab_at(t, row, 0)->text;
        last = spread;
    }
    return true;
}

static bool views(struct prop *p)
{
    const struct gy_study *s = gy_study_find("views");
    struct gy_lab lab = {.seed = prop_draw(p) >> 24, .value = {60, 400, 20, 50}, .now = ticks};
    struct gy_result r;
    bool holds = run(s, &lab, &r) == GYRE_OK && views_checks(p, &r, &lab);
    gy_result_fini(&r);
    PROP(holds);
    return true;
}

/* ---- the structures ---- */

static uint64_t successor(const uint64_t *at, size_t n, uint64_t x)
{
    bool some = false;
    uint64_t best = 0, least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        least = at[i] < least ? at[i] : least;
        if (at[i] >= x && (!some || at[i] < best)) {
            some = true;
            best = at[i];
        }
    }
    return some ? best : least;
}

static bool finds(struct prop *p, const struct gy_search *set, uint64_t *at, size_t n, double most)
{
    void *s = set->build(at, n);
    bool right = s != NULL;
    uint64_t state = prop_draw(p);
    for (int i = 0; right && i < 50; i++) {
        uint64_t x = i % 3 ? gy_rand(&state) : at[gy_rand_below(&state, n)] + (uint64_t)(i % 2);
        uint64_t compared = 0;
        right = set->find(s, x, &compared) == successor(at, n, x) && (double)compared <= most;
    }
    right = right && set->bytes(s) >= n * sizeof *at;
    set->free(s);
    return right;
}

static bool structures(struct prop *p)
{
    static uint64_t at[600];
    size_t n = (size_t)prop_size(p, 1, 600);
    bool sorted = prop_below(p, 3) == 2; /* the worst order for a tree that does not balance */
    for (size_t i = 0; i < n; i++) {
        at[i] = sorted ? i << 32 : prop_draw(p) << 10 | i;
    }
    double bits = log2((double)n + 1);
    PROP(finds(p, &gy_search_scan, at, n, (double)n));
    PROP(finds(p, &gy_search_array, at, n, floor(log2((double)n)) + 1));
    PROP(finds(p, &gy_search_tree, at, n, 2 * bits + 1));
    PROP(finds(p, &gy_search_skip, at, n, (double)n + 32));
    PROP(finds(p, &gy_search_buckets, at, n, (double)n));
    return true;
}

/* ---- the cache ---- */

#define OBJECTS 12

static bool cache(struct prop *p)
{
    uint32_t order[OBJECTS], n = 0, room = (uint32_t)prop_below(p, 6);
    struct gy_lru c;
    PROP(gy_lru_init(&c, OBJECTS, room));
    bool right = true;
    for (int i = 0; i < 200 && right; i++) {
        uint32_t object = (uint32_t)prop_below(p, OBJECTS), at = 0;
        while (at < n && order[at] != object) {
            at++;
        }
        right = gy_lru_get(&c, object) == (at < n);
        if (at == n) {
            if (!room || !prop_below(p, 4)) {
                continue;
            }
            gy_lru_put(&c, object);
            n += n < room; /* or the last one is overwritten */
            at = n - 1;
        }
        memmove(order + 1, order, at * sizeof *order);
        order[0] = object;
        right = right && c.size == n;
    }
    gy_lru_fini(&c);
    PROP(right);
    return true;
}

int main(void)
{
    return prop_run("every study", every_study, 42) | prop_run("fleets", fleets, 3) |
           prop_run("movement", movement, 4) | prop_run("views", views, 4) |
           prop_run("structures", structures, 60) | prop_run("cache", cache, 200);
}
