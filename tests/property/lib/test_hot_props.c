/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hot_props.c - what holds of the hot-key sketch, against exact counts: streams are Zipf's,
 * weighted and clocked; the truth is kept beside in plain arrays, in 2^-20ths so that halving it
 * is exact.
 */
#include "lib/prop.h"

#include <string.h>

#include "gyre.h"

enum { KEYS = 400, MAX_HALVES = 12 };

static void must(int err)
{
    if (err) {
        printf("setup: %s\n", gyre_err_name(err));
        exit(2);
    }
}

/* Exact weights, all scaled by 2^MAX_HALVES so that halving loses nothing. */
struct truth {
    uint64_t of[KEYS], total;
};

static void truth_add(struct truth *t, const struct truth *more)
{
    for (unsigned i = 0; i < KEYS; i++) {
        t->of[i] += more->of[i];
    }
    t->total += more->total;
}

static size_t key_text(unsigned i, char out[160])
{
    /* Some are longer than what is kept of them. */
    return (size_t)snprintf(out, 160, "%u:%*s", i, i % 3 == 0 ? 100 : 1, "end");
}

/* Key k with probability near 1 / (k + 1): the harmonic numbers of KEYS run to about 6.6. */
static unsigned zipf(struct prop *p)
{
    uint64_t u = prop_below(p, 6570);
    unsigned k = 0;
    for (uint64_t at = 1000; at < u && k + 1 < KEYS; k++) {
        at += 1000 / (k + 2);
    }
    return k;
}

struct counted {
    gyre_hot_t *h;
    struct truth t;
    uint64_t now, halves;
};

static struct gyre_hot_settings gen_settings(struct prop *p)
{
    return (struct gyre_hot_settings){.size = sizeof(struct gyre_hot_settings),
                                      .counters = 1 + (uint32_t)prop_size(p, 0, 119),
                                      .key_bytes = 80,
                                      .half_life = prop_below(p, 2) ? 100 : 0};
}

static void pass_time(struct counted *c, const struct gyre_hot_settings *s, uint64_t now)
{
    gyre_hot_clock(c->h, now);
    for (; s->half_life && c->halves < now / s->half_life; c->halves++) {
        c->t.total /= 2;
        for (unsigned i = 0; i < KEYS; i++) {
            c->t.of[i] /= 2;
        }
    }
    c->now = now;
}

static struct counted count(struct prop *p, const struct gyre_hot_settings *s, uint64_t until)
{
    struct counted c = {0};
    must(gyre_hot_new(s, &c.h, NULL));
    unsigned n = (unsigned)prop_size(p, 0, 3000);
    for (unsigned i = 0; i < n; i++) {
        char text[160];
        unsigned k = zipf(p);
        uint64_t weight = prop_below(p, 4) ? 1 : prop_below(p, 50);
        gyre_hot_add(c.h, text, key_text(k, text), weight);
        c.t.of[k] += weight << MAX_HALVES;
        c.t.total += weight << MAX_HALVES;
        if (prop_below(p, 64) == 63) {
            pass_time(&c, s, c.now + prop_below(p, until - c.now + 1));
        }
    }
    return c;
}

/* ceil, of what is kept in 2^-MAX_HALVES. */
static uint64_t whole(uint64_t scaled)
{
    return (scaled + (1 << MAX_HALVES) - 1) >> MAX_HALVES;
}

static bool bounds_hold(struct prop *p, const struct counted *c, const struct gyre_hot_settings *s,
                        bool plain)
{
    struct gyre_hot_key top[128];
    size_t n = gyre_hot_top(c->h, top, 128);
    bool shown[KEYS] = {false};
    uint64_t sum = 0, floor = gyre_hot_floor(c->h);
    PROP(n <= s->counters);
    for (size_t i = 0; i < n; i++) {
        char text[160], digits[96] = {0};
        PROP(i == 0 || top[i - 1].count >= top[i].count);
        PROP(top[i].kept == (top[i].len < 80 ? top[i].len : 80) && top[i].error <= top[i].count);
        memcpy(digits, top[i].key, top[i].kept);
        unsigned k = (unsigned)strtoul(digits, NULL, 10);
        PROP(k < KEYS && !shown[k] && top[i].len == key_text(k, text));
        shown[k] = true;
        PROP(top[i].count << MAX_HALVES >= c->t.of[k]);
        PROP((top[i].count - top[i].error) << MAX_HALVES <= c->t.of[k]);
        sum += top[i].count;
    }
    PROP(gyre_hot_total(c->h) >= whole(c->t.total));
    for (unsigned k = 0; k < KEYS; k++) {
        PROP(shown[k] || whole(c->t.of[k]) <= floor);
    }
    if (plain) { /* nothing was rounded */
        PROP(gyre_hot_total(c->h) << MAX_HALVES == c->t.total && sum <= gyre_hot_total(c->h));
        PROP(floor <= gyre_hot_total(c->h) / s->counters);
    }
    return true;
}

static bool counts_are_bounded(struct prop *p)
{
    struct gyre_hot_settings s = gen_settings(p);
    struct counted c = count(p, &s, MAX_HALVES * 100 - 1);
    PROP(bounds_hold(p, &c, &s, s.half_life == 0));
    gyre_hot_clear(c.h);
    memset(&c.t, 0, sizeof c.t);
    PROP(bounds_hold(p, &c, &s, true) && gyre_hot_floor(c.h) == 0);
    gyre_hot_free(c.h);
    return true;
}

static bool merged_counts_are_bounded(struct prop *p)
{
    struct gyre_hot_settings s = gen_settings(p);
    struct counted sum = count(p, &s, 599);
    unsigned parts = 1 + (unsigned)prop_below(p, 4);
    for (unsigned i = 0; i < parts; i++) {
        struct counted one = count(p, &s, 599);
        must(gyre_hot_merge(sum.h, one.h, NULL));
        /* The later of the two clocks is the clock of the sum. */
        uint64_t now = one.now > sum.now ? one.now : sum.now;
        pass_time(&one, &s, now);
        pass_time(&sum, &s, now);
        truth_add(&sum.t, &one.t);
        gyre_hot_free(one.h);
        PROP(bounds_hold(p, &sum, &s, s.half_life == 0));
    }
    gyre_hot_free(sum.h);
    return true;
}

int main(void)
{
    int failed = prop_run("counts_are_bounded", counts_are_bounded, 400);
    failed += prop_run("merged_counts_are_bounded", merged_counts_are_bounded, 300);
    return failed != 0;
}
