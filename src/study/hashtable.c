/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hashtable.c - the two ways to keep keys that collide, at growing load: chains, and open
 * addressing (the next slots, or a step of the key's own). Counts keys looked at, beside what
 * theory says (Knuth, The Art of Computer Programming, vol. 3, 6.4). A key is its 64-bit hash here.
 */
#include "study/fleet.h"
#include "study/rand.h"
#include "study/stat.h"
#include "study/studies.h"

#include <stdlib.h>

enum { SLOTS, LOOKUPS };

struct table {
    size_t slots;          /* a power of two */
    uint64_t *key;         /* open: by slot; chains: by entry. 0 is empty */
    uint32_t *head, *next; /* chains only: entry + 1 */
};

/* ---- the three of them: put returns nothing, find the keys it looked at ---- */

static void chain_put(struct table *t, uint64_t key, size_t i)
{
    size_t slot = key & (t->slots - 1);
    t->key[i] = key;
    t->next[i] = t->head[slot];
    t->head[slot] = (uint32_t)i + 1;
}

static uint64_t chain_find(const struct table *t, uint64_t key)
{
    uint64_t looked = 0;
    for (uint32_t at = t->head[key & (t->slots - 1)]; at; at = t->next[at - 1]) {
        looked++;
        if (t->key[at - 1] == key) {
            break;
        }
    }
    return looked;
}

static uint64_t walk(struct table *t, uint64_t key, uint64_t step, bool put)
{
    size_t slot = key & (t->slots - 1);
    uint64_t looked = 1;
    while (t->key[slot] && (put || t->key[slot] != key)) {
        slot = (slot + step) & (t->slots - 1);
        looked++;
    }
    if (put) {
        t->key[slot] = key;
    }
    return looked;
}

static void linear_put(struct table *t, uint64_t key, size_t i)
{
    (void)i;
    (void)walk(t, key, 1, true);
}

static uint64_t linear_find(const struct table *t, uint64_t key)
{
    struct table copy = *t;
    return walk(&copy, key, 1, false);
}

/* An odd step meets every slot of a power of two. */
static uint64_t own_step(uint64_t key)
{
    return key >> 32 | 1;
}

static void double_put(struct table *t, uint64_t key, size_t i)
{
    (void)i;
    (void)walk(t, key, own_step(key), true);
}

static uint64_t double_find(const struct table *t, uint64_t key)
{
    struct table copy = *t;
    return walk(&copy, key, own_step(key), false);
}

/* ---- theory, by load ---- */

static double chain_hit(double a)
{
    return 1 + a / 2;
}

static double chain_miss(double a)
{
    return a;
}

static double linear_hit(double a)
{
    return (1 + 1 / (1 - a)) / 2;
}

static double linear_miss(double a)
{
    return (1 + 1 / ((1 - a) * (1 - a))) / 2;
}

static double double_hit(double a)
{
    return log(1 / (1 - a)) / a;
}

static double double_miss(double a)
{
    return 1 / (1 - a);
}

static const struct way {
    const char *name;
    void (*put)(struct table *t, uint64_t key, size_t i);
    uint64_t (*find)(const struct table *t, uint64_t key);
    double (*hit)(double load), (*miss)(double load);
    bool chains;
} WAYS[] = {
    {"chains", chain_put, chain_find, chain_hit, chain_miss, true},
    {"next slots", linear_put, linear_find, linear_hit, linear_miss, false},
    {"a step of its own", double_put, double_find, double_hit, double_miss, false},
};
#define WAY_COUNT (sizeof WAYS / sizeof WAYS[0])

/* ---- filling and asking ---- */

static const struct gy_column COLUMNS[] = {
    {"way", "COLLISIONS GO TO", GY_TEXT, 0, false},
    {"load", "LOAD", GY_NUMBER, 2, false},
    {"hit", "HIT", GY_NUMBER, 2, false},
    {"hit_expected", "THEORY", GY_NUMBER, 2, false},
    {"miss", "MISS", GY_NUMBER, 2, false},
    {"miss_expected", "THEORY", GY_NUMBER, 2, false},
    {"most", "MOST", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int make(struct table *t, const struct way *w, size_t slots, size_t keys)
{
    *t = (struct table){.slots = slots};
    t->key = calloc(w->chains ? keys : slots, sizeof *t->key);
    t->head = calloc(w->chains ? slots : 1, sizeof *t->head);
    t->next = calloc(w->chains ? keys : 1, sizeof *t->next);
    return t->key && t->head && t->next ? GYRE_OK : GYRE_NOMEM;
}

static void drop(struct table *t)
{
    free(t->key);
    free(t->head);
    free(t->next);
}

/* Key i, or with same, keys whose first slot and step are all the same. Never 0. */
static uint64_t key_of(const struct gy_lab *lab, uint64_t i, bool same)
{
    uint64_t state = (lab->seed << 24) + i;
    return same ? (i + 1) << 12 | 1 : gy_rand(&state) | (uint64_t)1 << 63;
}

struct seen {
    struct gy_stat hit, miss;
};

static int fill_and_ask(struct gy_lab *lab, const struct way *w, size_t slots, size_t keys,
                        bool same, struct seen *s)
{
    struct table t;
    int rc = make(&t, w, slots, keys);
    *s = (struct seen){.hit = {0}};
    for (size_t i = 0; i < keys && !rc; i++) {
        w->put(&t, key_of(lab, i, same), i);
    }
    uint64_t state = lab->seed;
    for (uint64_t i = 0; i < lab->value[LOOKUPS] && !rc; i++) {
        gy_stat_add(&s->hit, (double)w->find(&t, key_of(lab, gy_rand_below(&state, keys), same)));
        gy_stat_add(&s->miss, (double)w->find(&t, key_of(lab, keys + i, same)));
    }
    drop(&t);
    return rc ? gy_lab_memory(lab) : GYRE_OK;
}

static int loads(struct gy_lab *lab, struct gy_result *r)
{
    static const double list[] = {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.5, 2, 4};
    size_t slots = (size_t)1 << lab->value[SLOTS];
    struct gy_tab *t = gy_result_table(r, "loads", "Keys looked at, by load", COLUMNS);
    for (size_t w = 0; w < WAY_COUNT; w++) {
        for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
            if (list[i] >= 1 && !WAYS[w].chains) {
                continue; /* there is no room for more keys than slots */
            }
            struct seen s;
            size_t keys = (size_t)(list[i] * (double)slots);
            int rc = fill_and_ask(lab, &WAYS[w], slots, keys, false, &s);
            if (rc) {
                return rc;
            }
            double load = (double)keys / (double)slots;
            gy_tab_text(t, "%s", WAYS[w].name);
            gy_tab_number(t, load);
            gy_tab_number(t, s.hit.mean);
            gy_tab_number(t, WAYS[w].hit(load));
            gy_tab_number(t, s.miss.mean);
            gy_tab_number(t, WAYS[w].miss(load));
            gy_tab_count(t, (uint64_t)(s.hit.most > s.miss.most ? s.hit.most : s.miss.most));
        }
        gy_lab_step(lab, (double)w + 1, WAY_COUNT + 1);
    }
    return GYRE_OK;
}

static const struct gy_column WORST[] = {
    {"way", "COLLISIONS GO TO", GY_TEXT, 0, false},
    {"keys", "KEYS", GY_COUNT, 0, false},
    {"hit", "HIT", GY_NUMBER, 1, false},
    {"most", "MOST", GY_COUNT, 0, false},
    {NULL, NULL, GY_TEXT, 0, false},
};

static int worst(struct gy_lab *lab, struct gy_result *r)
{
    static const size_t list[] = {10, 100, 1000};
    struct gy_tab *t = gy_result_table(r, "worst", "All keys in one slot", WORST);
    for (size_t w = 0; w < WAY_COUNT; w++) {
        for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
            struct seen s;
            int rc = fill_and_ask(lab, &WAYS[w], 4096, list[i], true, &s);
            if (rc) {
                return rc;
            }
            gy_tab_text(t, "%s", WAYS[w].name);
            gy_tab_count(t, list[i]);
            gy_tab_number(t, s.hit.mean);
            gy_tab_count(t, (uint64_t)s.hit.most);
        }
    }
    return GYRE_OK;
}

static const struct gy_chart CHARTS[] = {
    {
        .title = "Looking for a key that is there",
        .table = "loads",
        .x = "load",
        .x_label = "load: keys / slots",
        .y = {"hit"},
        .by = "way",
        .y_label = "keys looked at",
        .log_y = true,
    },
    {
        .title = "Looking for one that is not",
        .table = "loads",
        .x = "load",
        .x_label = "load: keys / slots",
        .y = {"miss"},
        .by = "way",
        .y_label = "keys (or empty slots) looked at",
        .log_y = true,
    },
};

static int run(struct gy_lab *lab, struct gy_result *r)
{
    int rc = loads(lab, r);
    rc = rc ? rc : worst(lab, r);
    for (size_t i = 0; i < sizeof CHARTS / sizeof CHARTS[0]; i++) {
        gy_result_chart(r, &CHARTS[i]);
    }
    gy_result_note(r, "%llu slots; a chain is not limited by them, open addressing is full at 1",
                   (unsigned long long)1 << lab->value[SLOTS]);
    gy_result_note(r,
                   "the step of its own spreads keys whose first slots are one, unless the steps "
                   "are one too, as here where all keys collide");
    return rc;
}

const struct gy_study gy_study_hashtable = {
    .name = "hashtable",
    .question = "what do collisions cost in a hash table as it fills?",
    .about =
        "Fills tables and counts the keys a lookup looks at: with chains (PHP, Redis), with the "
        "next free\nslot, and with a step of the key's own; then with all keys in one slot. THEORY "
        "is Knuth's.",
    .claims =
        "B 1.2: chains or open addressing. B 1.2: O(1) at best, O(n) if all keys collide\n  B "
        "1.2: tables grow at a threshold; open addressing is not commonly used",
    .params = {{"slots", "slots, as a power of two", 15, 18, 4, 24},
               {"lookups", "lookups counted, of each kind", 4000, 200000, 1, 10000000}},
    .run = run,
};
