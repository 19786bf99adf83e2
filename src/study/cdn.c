/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdn.c - the hit ratio of a CDN over time: a PoP fails and comes back empty; a new one takes over
 * at once, step by step, or step by step while it may ask the PoP that had the object before. Who
 * is asked is the library's mask and stages; the caches are LRU.
 */
#include "study/fleet.h"
#include "study/lru.h"
#include "study/rand.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { POPS, OBJECTS, ROOM, ZIPF, REQUESTS };

#define WARM_UP 20 /* windows before the first that is shown */
#define WINDOWS 40
#define EVENT   5  /* the PoP fails, or the new one starts, before this window */
#define RETURN  20 /* it is back before this one */
#define RAMP    15 /* windows that the new one takes to its full share */

enum policy { RING, MODULO, AT_ONCE, RAMPED, ASKING, MODULO_ADD, POLICIES };

static const char *const NAME[POLICIES] = {"ring",   "mod N",        "at once",
                                           "ramped", "ramped, asks", "mod N"};

struct sim {
    struct gy_lab *lab;
    struct gy_zipf zipf;
    struct gy_lru *cache; /* of each PoP, by the number in its name; one more than there are */
    gyre_map_t *before, *more, *mod, *mod_less, *mod_more;
    gyre_mask_t *mask;
    size_t pops;
    double hit[POLICIES][WINDOWS];
    double newcomer[POLICIES][WINDOWS]; /* origin's requests for the new PoP */
};

static size_t pop_of(const gyre_map_t *m, uint32_t node)
{
    return (size_t)strtoull(gyre_map_node(m, node)->name + 1, NULL, 10);
}

/* ---- one request: which PoP, and whom that may ask ---- */

struct path {
    size_t pop, ask; /* ask == pop: nobody but the origin */
};

static struct path at(const gyre_map_t *m, const char *key, size_t len)
{
    size_t pop = pop_of(m, gyre_map_locate(m, key, len));
    return (struct path){pop, pop};
}

static struct path staged(const struct sim *s, uint32_t permille, bool asks, const char *key,
                          size_t len)
{
    struct gyre_stage stage = {.size = sizeof stage,
                               .map = s->before,
                               .next = s->more,
                               .permille = permille,
                               .salt = s->lab->seed};
    struct gyre_target t[2];
    size_t n = gyre_stage_route(&stage, key, len, 1, t, NULL);
    size_t pop = pop_of(t[0].map, t[0].node);
    return (struct path){pop, asks && n > 1 ? pop_of(t[1].map, t[1].node) : pop};
}

static struct path path_of(const struct sim *s, enum policy p, int window, const char *key,
                           size_t len)
{
    bool down = window >= EVENT && window < RETURN, added = window >= EVENT;
    int step = window - EVENT + 1;
    uint32_t permille = !added ? 0 : step >= RAMP ? 1000 : (uint32_t)(1000 * step / RAMP);
    switch (p) {
    case RING:
        if (down) { /* the node stays in the map: its return moves nothing */
            size_t pop = pop_of(s->before, gyre_mask_locate(s->mask, key, len));
            return (struct path){pop, pop};
        }
        return at(s->before, key, len);
    case MODULO:
        return at(down ? s->mod_less : s->mod, key, len);
    case AT_ONCE:
        return at(added ? s->more : s->before, key, len);
    case RAMPED:
        return staged(s, permille, false, key, len);
    case ASKING:
        return staged(s, permille, true, key, len);
    case MODULO_ADD:
        return at(added ? s->mod_more : s->mod, key, len);
    case POLICIES:
        break;
    }
    return (struct path){0, 0};
}

static void window(struct sim *s, enum policy p, int w, uint64_t *state)
{
    uint64_t hits = 0, cold = 0, n = s->lab->value[REQUESTS];
    for (uint64_t i = 0; i < n; i++) {
        char key[GY_FLEET_KEY];
        uint32_t object = (uint32_t)gy_zipf_draw(&s->zipf, state);
        size_t len = (size_t)snprintf(key, sizeof key, "cdn.example/%u", object);
        struct path path = path_of(s, p, w, key, len);
        bool hit = gy_lru_get(&s->cache[path.pop], object);
        if (!hit) {
            hit = path.ask != path.pop && gy_lru_get(&s->cache[path.ask], object);
            cold += !hit && path.pop == s->pops;
            gy_lru_put(&s->cache[path.pop], object);
        }
        hits += hit;
    }
    if (w >= 0) {
        s->hit[p][w] = (double)hits / (double)n;
        s->newcomer[p][w] = (double)cold / (double)n;
    }
}

static void play(struct sim *s, enum policy p)
{
    uint64_t state = s->lab->seed; /* the same requests for every policy */
    for (size_t c = 0; c <= s->pops; c++) {
        gy_lru_clear(&s->cache[c]);
    }
    for (int w = -WARM_UP; w < WINDOWS; w++) {
        if (w == RETURN && (p == RING || p == MODULO)) {
            gy_lru_clear(&s->cache[0]); /* it comes back empty */
        }
        window(s, p, w, &state);
    }
    gy_lab_step(s->lab, (double)p + 1, POLICIES);
}

/* ---- what it found ---- */

static const struct gy_column FAILURE[] = {
    {"window", "WINDOW", GY_COUNT, 0, false},
    {"ring", "RING", GY_SHARE, 1, false},
    {"modulo", "MOD N", GY_SHARE, 1, false},
    {NULL, NULL, GY_TEXT, 0, false},
};
static const struct gy_column ADDITION[] = {
    {"window", "WINDOW", GY_COUNT, 0, false},
    {"at_once", "AT ONCE", GY_SHARE, 1, false},
    {"ramped", "RAMPED", GY_SHARE, 1, false},
    {"asking", "RAMPED, ASKS", GY_SHARE, 1, false},
    {"modulo", "MOD N", GY_SHARE, 1, false},
    {"cold_at_once", "NEW POP TO ORIGIN: AT ONCE", GY_SHARE, 2, false},
    {"cold_ramped", "RAMPED", GY_SHARE, 2, false},
    {"cold_asking", "ASKS", GY_SHARE, 2, false},
    {NULL, NULL, GY_TEXT, 0, false},
};
static const struct gy_column SUMMARY[] = {
    {"event", "EVENT", GY_TEXT, 0, false},
    {"policy", "POLICY", GY_TEXT, 0, false},
    {"before", "HITS BEFORE", GY_SHARE, 1, false},
    {"lowest", "LOWEST", GY_SHARE, 1, false},
    {"origin", "ORIGIN AT MOST", GY_NUMBER, 2, false},
    {"windows", "WINDOWS BELOW", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static void summary(const struct sim *s, struct gy_tab *t, enum policy p)
{
    struct gy_stat before = {0}, after = {0};
    uint64_t below = 0;
    for (int w = 0; w < WINDOWS; w++) {
        gy_stat_add(w < EVENT ? &before : &after, s->hit[p][w]);
    }
    for (int w = EVENT; w < WINDOWS; w++) {
        below += s->hit[p][w] < before.mean - 0.01;
    }
    gy_tab_text(t, "%s", p < AT_ONCE ? "one fails, and is back" : "one is added");
    gy_tab_text(t, "%s", NAME[p]);
    gy_tab_number(t, before.mean);
    gy_tab_number(t, after.least);
    gy_tab_number(t, (1 - after.least) / (1 - before.mean));
    gy_tab_count(t, below);
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "A PoP fails before window 5 and is back, empty, before window 20",
        .table = "failure",
        .x = "window",
        .x_label = "window of requests",
        .y = {"ring", "modulo"},
        .name = {"ring, with a mask", "mod N"},
        .y_label = "hit ratio",
    },
    {
        .title = "A PoP is added before window 5",
        .table = "addition",
        .x = "window",
        .x_label = "window of requests",
        .y = {"asking", "ramped", "at_once", "modulo"},
        .name = {"ramped, asks the old one", "ramped", "at once", "mod N"},
        .y_label = "hit ratio",
    },
    {
        .title = "What the new PoP asks of the origin",
        .table = "addition",
        .x = "window",
        .x_label = "window of requests",
        .y = {"cold_at_once", "cold_ramped", "cold_asking"},
        .name = {"at once", "ramped", "ramped, asks the old one"},
        .y_label = "of all requests",
    },
};

static void show(const struct sim *s, struct gy_result *r)
{
    struct gy_tab *t = gy_result_table(r, "summary", "In short", SUMMARY);
    for (int p = 0; p < POLICIES; p++) {
        summary(s, t, (enum policy)p);
    }
    t = gy_result_table(r, "failure", "Hit ratio: a PoP fails, and is back", FAILURE);
    for (int w = 0; w < WINDOWS; w++) {
        gy_tab_count(t, (uint64_t)w);
        gy_tab_number(t, s->hit[RING][w]);
        gy_tab_number(t, s->hit[MODULO][w]);
    }
    t = gy_result_table(r, "addition", "Hit ratio: a PoP is added", ADDITION);
    for (int w = 0; w < WINDOWS; w++) {
        gy_tab_count(t, (uint64_t)w);
        for (int p = AT_ONCE; p < POLICIES; p++) {
            gy_tab_number(t, s->hit[p][w]);
        }
        for (int p = AT_ONCE; p < MODULO_ADD; p++) {
            gy_tab_number(t, s->newcomer[p][w]);
        }
    }
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r,
                   "a window is %llu requests; objects are drawn by Zipf's law, exponent %.2f; "
                   "each PoP keeps %llu of %llu",
                   (unsigned long long)s->lab->value[REQUESTS], (double)s->lab->value[ZIPF] / 100,
                   (unsigned long long)s->lab->value[ROOM],
                   (unsigned long long)s->lab->value[OBJECTS]);
    gy_result_note(r,
                   "ORIGIN AT MOST: its requests in the worst window beside those before; WINDOWS "
                   "BELOW: with more than a point less than before");
    gy_result_note(r,
                   "ramped: the new PoP's share grows over %d windows; asks: what it misses it "
                   "asks of the PoP that had the object before",
                   RAMP);
}

/* ---- setting up ---- */

static int maps(struct sim *s)
{
    struct gy_lab *lab = s->lab;
    struct gy_fleet ring = {.nodes = s->pops};
    struct gy_fleet mod = {.setting = {{"algorithm", "modulo"}}, .nodes = s->pops};
    int rc = gy_fleet_map(lab, &ring, &s->before);
    rc = rc ? rc : gy_fleet_change(lab, &ring, GYRE_ADD, s->pops, &s->more);
    rc = rc ? rc : gy_fleet_map(lab, &mod, &s->mod);
    rc = rc ? rc : gy_fleet_change(lab, &mod, GYRE_REMOVE, 0, &s->mod_less);
    rc = rc ? rc : gy_fleet_change(lab, &mod, GYRE_ADD, s->pops, &s->mod_more);
    rc = rc ? rc : gyre_mask_new(s->before, NULL, &s->mask, &lab->error);
    if (!rc) {
        char name[GY_FLEET_KEY];
        const char *first = gy_fleet_name(lab, &ring, 0, name);
        gyre_mask_set(s->mask, gyre_map_find(s->before, first), false);
    }
    return rc;
}

static int caches(struct sim *s)
{
    s->cache = calloc(s->pops + 1, sizeof *s->cache);
    for (size_t c = 0; s->cache && c <= s->pops; c++) {
        if (!gy_lru_init(&s->cache[c], (uint32_t)s->lab->value[OBJECTS],
                         (uint32_t)s->lab->value[ROOM])) {
            return gy_lab_memory(s->lab);
        }
    }
    bool ok = s->cache && !gy_zipf_init(&s->zipf, (size_t)s->lab->value[OBJECTS],
                                        (double)s->lab->value[ZIPF] / 100);
    return ok ? GYRE_OK : gy_lab_memory(s->lab);
}

static void drop(struct sim *s)
{
    for (size_t c = 0; s->cache && c <= s->pops; c++) {
        gy_lru_fini(&s->cache[c]);
    }
    free(s->cache);
    gy_zipf_fini(&s->zipf);
    gyre_mask_unref(s->mask);
    gyre_map_unref(s->before);
    gyre_map_unref(s->more);
    gyre_map_unref(s->mod);
    gyre_map_unref(s->mod_less);
    gyre_map_unref(s->mod_more);
}

static int run(struct gy_lab *lab, struct gy_result *r)
{
    struct sim *s = calloc(1, sizeof *s);
    if (!s) {
        return gy_lab_memory(lab);
    }
    s->lab = lab;
    s->pops = (size_t)lab->value[POPS];
    int rc = maps(s);
    rc = rc ? rc : caches(s);
    for (int p = 0; p < POLICIES && !rc; p++) {
        play(s, (enum policy)p);
    }
    if (!rc) {
        show(s, r);
    }
    drop(s);
    free(s);
    return rc;
}

const struct gy_study gy_study_cdn = {
    .name = "cdn",
    .question = "what happens to a CDN's hit ratio when a PoP fails or is added?",
    .about =
        "Plays requests against PoPs with LRU caches, window by window. One PoP fails and comes "
        "back\nempty; then, from the begin, one is added: at once, step by step, or step by step "
        "while it\nmay ask the PoP that had the object before. The same with hash mod N.",
    .claims =
        "A 7.3: a PoP fails, requests go to its neighbours, hits fall only briefly; a new one "
        "is\n  ramped in. C: a new node is cold: warm it, protect the origin. A 1: caches are "
        "pierced",
    .params = {{"pops", "PoPs", 10, 20, 2, 100},
               {"objects", "different objects", 20000, 200000, 100, 1000000},
               {"room", "objects a PoP can keep", 1000, 10000, 1, 1000000},
               {"zipf", "exponent of Zipf's law, in hundredths", 80, 80, 0, 300},
               {"requests", "requests in a window", 2000, 40000, 1, 1000000}},
    .run = run,
};
