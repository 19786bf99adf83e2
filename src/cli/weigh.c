/* SPDX-License-Identifier: Apache-2.0 */
/* weigh.c - see weigh.h. */
#include "cli/weigh.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES      6
#define CLOSE      0.0005 /* of the key space */
#define FAR        0.01
#define NEAR       0.0025  /* by the rule; chance adds what it will */
#define SAMPLES    200000  /* where the movement can only be sampled */
#define POINTS_MAX 4000000 /* tried in about a second */
#define FACTOR_MAX 20      /* a list of weights must stay readable */
#define LEAST      1e-6    /* the least weight there is: 0 takes the node out */
#define TINY       0.01    /* a weight below is searched in steps of the least */

#define NO_WEIGHTS "this placement does not look at weights"
#define NONE_NEAR  "no weight was found that comes nearer than the one it has"

static int complain(const char *text, const char *why)
{
    char q[GY_QUOTE];
    gy_complain("balance: --weight-for %s: %s", gy_utf8_quote(q, gy_str(text)), why);
    return GY_EXIT_USAGE;
}

/* "NODE=25%": the last '=' ends the name. */
static int parse(const gyre_map_t *map, const char *text, uint32_t *node, double *share)
{
    const char *eq = strrchr(text, '=');
    struct gy_slice number = gy_str(eq ? eq + 1 : "");
    bool percent = number.n && number.p[number.n - 1] == '%';
    uint64_t micros;
    number.n -= percent;
    if (!eq || gy_num_micros(number, &micros)) {
        return complain(text, "it is NODE=SHARE, such as cache-1=25% or cache-1=0.25");
    }
    *share = gy_num_from_micros(micros) / (percent ? 100 : 1);
    if (*share <= 0 || *share >= 1) {
        return complain(text, "a share is above 0 and below 100 %");
    }
    char *name = gy_slice_dup((struct gy_slice){(const uint8_t *)text, (size_t)(eq - text)});
    if (!name) {
        return gy_complain_memory();
    }
    *node = gyre_map_find(map, name);
    free(name);
    return *node == GYRE_NONE ? complain(text, "there is no such node") : GY_EXIT_OK;
}

/* The map with this weight for the node, and those of all others times factor. */
static int build(const gyre_topology_t *t, const char *name, double weight, unsigned factor,
                 gyre_map_t **out, gyre_error_t *e)
{
    gyre_topology_t *copy = gyre_topology_clone(t);
    int rc = copy ? GYRE_OK : GYRE_NOMEM;
    for (size_t i = 0; !rc && factor > 1 && i < gyre_topology_count(t); i++) {
        const struct gyre_node *node = gyre_topology_node(t, i);
        rc = gyre_topology_set_weight(copy, node->name, node->weight * factor, e);
    }
    rc = rc ? rc : gyre_topology_set_weight(copy, name, weight, e);
    rc = rc ? rc : gyre_map_build(copy, out, e);
    gyre_topology_free(copy);
    return rc;
}

/* A system that counts in whole numbers gets one. */
static int try_weight(const gyre_topology_t *t, struct gy_weigh *w, double *weight,
                      gyre_map_t **out, gyre_error_t *e)
{
    int rc = build(t, w->name, *weight, 1, out, e);
    if (rc && rc != GYRE_NOMEM && *weight != round(*weight)) {
        *weight = fmax(1, round(*weight));
        rc = build(t, w->name, *weight, 1, out, e);
        w->whole = w->whole || !rc;
    }
    return rc;
}

static int measure(gyre_map_t *map, gyre_map_t *best, struct gy_weighed *out)
{
    gyre_diff_t *diff = NULL;
    if (gyre_diff_build(map, best, SAMPLES, &diff, NULL)) {
        return gy_complain_memory();
    }
    out->points = gyre_map_points(best);
    out->bytes = gyre_map_bytes(best);
    out->moved = gyre_diff_moved(diff);
    out->minimum = gyre_diff_minimum(diff);
    gyre_diff_free(diff);
    return GY_EXIT_OK;
}

/* Takes the map if it comes nearer than the best so far, `off` from what is wanted. */
static void take_nearer(const struct gy_weigh *w, uint32_t node, double weight, gyre_map_t *map,
                        struct gy_weighed *best_is, gyre_map_t **best, double *off)
{
    double got = gyre_map_share(map, node);
    if (fabs(got - w->wanted) < *off) {
        *off = fabs(got - w->wanted);
        best_is->weight = weight;
        best_is->share = got;
        gyre_map_unref(*best);
        *best = gyre_map_ref(map);
    }
}

/* The rule: w / (w + others) is the share. */
static double by_rule(double share, double others)
{
    return share / (1 - share) * others;
}

/* Short to write where it can be, and never 0, which is no share at all. */
static double rounded(double weight)
{
    double steps = weight < TINY ? 1 / LEAST : 1e4;
    return fmax(LEAST, round(weight * steps) / steps);
}

/* What the points really gave corrects the rule. */
static int search(const gyre_topology_t *t, uint32_t node, double others, gyre_map_t **best,
                  struct gy_weigh *w, gyre_error_t *e)
{
    double weight = by_rule(w->wanted, others), off = INFINITY;
    int rc = GYRE_OK;
    for (int i = 0; i < TRIES && off > CLOSE && !rc; i++) {
        gyre_map_t *map = NULL;
        weight = rounded(weight);
        rc = try_weight(t, w, &weight, &map, e);
        double got = rc ? 0 : gyre_map_share(map, node);
        if (!rc) {
            take_nearer(w, node, weight, map, &w->found, best, &off);
        }
        gyre_map_unref(map);
        weight *= got > 0 && got < 1 ? w->wanted / got * ((1 - got) / (1 - w->wanted)) : 2;
    }
    return *best && rc != GYRE_NOMEM ? GYRE_OK : rc;
}

/* ---- whole numbers that are too coarse ---- */

/* How far the nearest whole weight is off by the rule. */
static double off_by_rule(double share, double others)
{
    double weight = fmax(1, round(by_rule(share, others)));
    return fabs(weight / (weight + others) - share);
}

/* The highest that so many points allow; below 2: none. */
static unsigned factor_most(const struct gy_weigh *w, uint64_t points)
{
    uint64_t most = points / (w->points_now ? w->points_now : 1);
    return most < FACTOR_MAX ? (unsigned)most : FACTOR_MAX;
}

/* Of those not tried the least that comes near by the rule, else the nearest; 0: none is left. */
static unsigned find_factor(const struct gy_weigh *w, double others, unsigned most, uint32_t tried)
{
    unsigned best = 0;
    double off = INFINITY;
    for (unsigned factor = 2; factor <= most && off >= NEAR; factor++) {
        double is = tried >> factor & 1 ? INFINITY : off_by_rule(w->wanted, others * factor);
        best = is < off ? factor : best;
        off = fmin(off, is);
    }
    return best;
}

/* The rule's weight and its neighbours, with the others times factor. GYRE_NOMEM, or the last
 * refusal where the system takes none of them. */
static int try_factor(const gyre_topology_t *t, uint32_t node, double others, unsigned factor,
                      gyre_map_t **best, double *off, struct gy_weigh *w)
{
    double middle = round(by_rule(w->wanted, others * factor));
    int refused = GYRE_RANGE;
    for (double weight = fmax(1, middle - 1); weight <= middle + 1; weight++) {
        gyre_map_t *map = NULL;
        int rc = build(t, w->name, weight, factor, &map, NULL);
        if (rc == GYRE_NOMEM) {
            return rc;
        }
        if (!rc) {
            take_nearer(w, node, weight, map, &w->scaled, best, off);
        }
        gyre_map_unref(map);
        refused = rc ? refused : GYRE_OK;
    }
    return refused;
}

/* Weights of all nodes times a factor mean the same shares, in finer steps; where chance spoils
 * one, the next may do. What the system refuses is no answer, and higher is refused too. */
static int search_scaled(const gyre_topology_t *t, uint32_t node, double others, gyre_map_t **best,
                         struct gy_weigh *w)
{
    /* Less than half is not worth other weights, unless there is nothing else. */
    double worth = w->found.weight == w->now ? 1 : 0.5;
    double off = fabs(w->found.share - w->wanted) * worth;
    uint64_t points = POINTS_MAX;
    uint32_t tried = 0;
    unsigned factor, most = factor_most(w, points);
    while (!*best && (factor = find_factor(w, others, most, tried)) != 0) {
        int rc = try_factor(t, node, others, factor, best, &off, w);
        if (rc == GYRE_NOMEM) {
            return rc;
        }
        w->factor = *best ? factor : 0;
        points -= w->points_now * factor;
        most = rc ? factor - 1 : most;
        most = most < factor_most(w, points) ? most : factor_most(w, points);
        tried |= (uint32_t)1 << factor;
    }
    return GYRE_OK;
}

static int scale(const gyre_topology_t *t, gyre_map_t *map, uint32_t node, double others,
                 struct gy_weigh *w)
{
    gyre_map_t *best = NULL;
    int rc = search_scaled(t, node, others, &best, w) ? gy_complain_memory() : GY_EXIT_OK;
    if (!rc && best) {
        rc = measure(map, best, &w->scaled);
    }
    gyre_map_unref(best);
    return rc;
}

/* ---- the answer ---- */

enum looks { LOOKS, LOOKS_NOT, LOOKS_FAILED };

/* Does the placement look at weights? One that differs widely from what was found tells, and where
 * that is refused one that differs less. LOOKS_FAILED: all are, and e says why. */
static enum looks look(const gyre_topology_t *t, const gyre_map_t *best, const struct gy_weigh *w,
                       double others, gyre_error_t *e)
{
    double found = w->found.weight,
           tried[] = {fmax(2 * found, fmax(others, 2)), 2 * found, found / 2};
    enum looks looks = LOOKS_FAILED;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0] && looks == LOOKS_FAILED; i++) {
        gyre_map_t *other = NULL;
        if (!build(t, w->name, tried[i], 1, &other, e)) {
            looks = gyre_map_same(other, best) ? LOOKS_NOT : LOOKS;
        }
        gyre_map_unref(other);
    }
    return looks;
}

/* No answer where the weight it has is the best found, and is far off. */
static int complain_stays(const char *text, const struct gy_weigh *w)
{
    char why[GY_QUOTE];
    unsigned most = w->whole ? factor_most(w, POINTS_MAX) : 0;
    snprintf(why, sizeof why,
             most < 2 ? NONE_NEAR : NONE_NEAR ", by factors up to %u of all weights neither", most);
    return complain(text, why);
}

/* What was found, or why it is none. */
static int judge(const gyre_topology_t *t, gyre_map_t *map, const gyre_map_t *best, uint32_t node,
                 double others, const char *text, struct gy_weigh *w)
{
    gyre_error_t e = {0};
    bool far = fabs(w->found.share - w->wanted) > FAR, same = gyre_map_same(best, map);
    enum looks looks = far || same ? look(t, best, w, others, &e) : LOOKS;
    if (looks == LOOKS_NOT || (looks == LOOKS_FAILED && same)) {
        return complain(text, looks == LOOKS_NOT ? NO_WEIGHTS : e.message);
    }
    w->found.weight = same ? w->now : w->found.weight;
    int rc = far && w->whole ? scale(t, map, node, others, w) : GY_EXIT_OK;
    if (!rc && far && same && !w->factor) {
        rc = complain_stays(text, w);
    }
    return rc;
}

int gy_weigh_find(const gyre_topology_t *t, gyre_map_t *map, const char *text, struct gy_weigh *out)
{
    uint32_t node = GYRE_NONE;
    gyre_error_t e = {0};
    gyre_map_t *best = NULL;
    double others = 0;
    *out = (struct gy_weigh){.points_now = gyre_map_points(map)};
    int rc = parse(map, text, &node, &out->wanted);
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < gyre_map_count(map); i++) {
        others += i == node ? 0 : gyre_map_node(map, i)->weight;
    }
    out->name = gyre_map_node(map, node)->name;
    out->now = gyre_map_node(map, node)->weight;
    if (others <= 0) {
        return complain(text, "no other node takes keys, so it has them all");
    }
    rc = search(t, node, others, &best, out, &e);
    if (rc == GYRE_NOMEM) {
        return gy_complain_memory();
    }
    if (rc) {
        return complain(text, e.message);
    }
    rc = judge(t, map, best, node, others, text, out);
    rc = rc ? rc : measure(map, best, &out->found);
    gyre_map_unref(best);
    return rc;
}

static void text_weighed(const struct gy_weigh *w, const struct gy_weighed *is, struct gy_buf *out)
{
    gy_buf_printf(out, "gives %.3f %%; %.3f %% moves (minimum %.3f %%)", 100 * is->share,
                  100 * is->moved, 100 * is->minimum);
    if (is->points) {
        gy_buf_printf(out, ", %llu points instead of %llu, %zu KB", (unsigned long long)is->points,
                      (unsigned long long)w->points_now, (is->bytes + 1023) / 1024);
    }
    gy_buf_putc(out, '\n');
}

void gy_weigh_text(const struct gy_weigh *w, struct gy_buf *out)
{
    char q[GY_QUOTE], weight[GY_NUM_TEXT], now[GY_NUM_TEXT];
    gy_buf_printf(out, "for %.4g %% of the key space on %s: weight: %s (now %s), which ",
                  100 * w->wanted, gy_utf8_quote(q, gy_str(w->name)),
                  gy_num_fmt_micros(weight, gy_num_to_micros(w->found.weight)),
                  gy_num_fmt_micros(now, gy_num_to_micros(w->now)));
    text_weighed(w, &w->found, out);
    if (w->factor) {
        gy_buf_printf(out,
                      "weights are whole numbers here; with those of all nodes times %u, weight: "
                      "%.6g ",
                      w->factor, w->scaled.weight);
        text_weighed(w, &w->scaled, out);
    }
}

static void json_weighed(struct gy_json *j, const struct gy_weighed *is)
{
    gy_json_kdouble(j, "weight", is->weight);
    gy_json_kdouble(j, "share", is->share);
    gy_json_kdouble(j, "moved", is->moved);
    gy_json_kdouble(j, "minimum", is->minimum);
    gy_json_kuint(j, "points", is->points);
    gy_json_kuint(j, "bytes", is->bytes);
}

void gy_weigh_json(const struct gy_weigh *w, struct gy_json *j)
{
    gy_json_key(j, "weight_for");
    gy_json_object(j);
    gy_json_kstring(j, "node", w->name);
    gy_json_kdouble(j, "wanted", w->wanted);
    gy_json_kdouble(j, "weight_now", w->now);
    json_weighed(j, &w->found);
    if (w->factor) {
        gy_json_key(j, "scaled");
        gy_json_object(j);
        gy_json_kuint(j, "factor", w->factor);
        json_weighed(j, &w->scaled);
        gy_json_object_end(j);
    }
    gy_json_object_end(j);
}
