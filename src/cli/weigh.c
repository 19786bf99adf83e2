/* SPDX-License-Identifier: Apache-2.0 */
/* weigh.c - see weigh.h. */
#include "cli/weigh.h"
#include "base/num.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIES      6
#define CLOSE      0.0005 /* of the key space */
#define FAR        0.01
#define NEAR       0.0025  /* by the rule; chance adds what it will */
#define SAMPLES    200000  /* where the movement can only be sampled */
#define POINTS_MAX 4000000 /* tried in about a second */
#define FACTOR_MAX 20      /* a list of weights must stay readable */

#define NO_WEIGHTS "this placement does not look at weights"

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

/* What the points really gave corrects the rule. */
static int search(const gyre_topology_t *t, uint32_t node, double others, gyre_map_t **best,
                  struct gy_weigh *w, gyre_error_t *e)
{
    double weight = by_rule(w->wanted, others), off = INFINITY;
    int rc = GYRE_OK;
    for (int i = 0; i < TRIES && off > CLOSE && !rc; i++) {
        gyre_map_t *map = NULL;
        weight = round(weight * 1e4) / 1e4;
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

/* The least factor with a whole weight near the rule's; 0: none is near. */
static unsigned find_factor(double share, double others)
{
    for (unsigned factor = 2; factor <= FACTOR_MAX; factor++) {
        double all = others * factor, weight = fmax(1, round(by_rule(share, all)));
        if (fabs(weight / (weight + all) - share) < NEAR) {
            return factor;
        }
    }
    return 0;
}

/* Weights of all nodes times a factor mean the same shares, in finer steps; the neighbours of the
 * rule's are tried too. What the system refuses is no answer. */
static int search_scaled(const gyre_topology_t *t, uint32_t node, double others, gyre_map_t **best,
                         struct gy_weigh *w)
{
    unsigned factor = find_factor(w->wanted, others);
    factor = w->points_now * factor > POINTS_MAX ? 0 : factor;
    double off = fabs(w->found.share - w->wanted) / 2; /* less is not worth other weights */
    double middle = round(by_rule(w->wanted, others * factor));
    for (double weight = fmax(1, middle - 1); factor && weight <= middle + 1; weight++) {
        gyre_map_t *map = NULL;
        int rc = build(t, w->name, weight, factor, &map, NULL);
        if (rc == GYRE_NOMEM) {
            return rc;
        }
        if (!rc) {
            take_nearer(w, node, weight, map, &w->scaled, best, &off);
        }
        gyre_map_unref(map);
    }
    w->factor = *best ? factor : 0;
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

/* Why the weight it has is the best found: twice as much tells what weights do here. */
static const char *why_stays(const gyre_topology_t *t, gyre_map_t *map, const struct gy_weigh *w,
                             gyre_error_t *e)
{
    gyre_map_t *twice = NULL;
    const char *why = "no weight comes nearer than the one it has";
    if (build(t, w->name, 2 * w->now, 1, &twice, e)) {
        why = e->message;
    } else if (gyre_map_same(twice, map)) {
        why = NO_WEIGHTS;
    }
    gyre_map_unref(twice);
    return why;
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
    bool far = fabs(out->found.share - out->wanted) > FAR;
    if (out->found.weight != out->now && gyre_map_same(best, map)) {
        rc = complain(text, NO_WEIGHTS);
    } else if (far && out->whole) {
        rc = scale(t, map, node, others, out);
    }
    if (!rc && far && !out->factor && out->found.weight == out->now) {
        rc = complain(text, why_stays(t, map, out, &e));
    }
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
    char q[GY_QUOTE];
    gy_buf_printf(out, "for %.4g %% of the key space on %s: weight: %.6g (now %.6g), which ",
                  100 * w->wanted, gy_utf8_quote(q, gy_str(w->name)), w->found.weight, w->now);
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
