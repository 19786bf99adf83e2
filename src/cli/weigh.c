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

#define TRIES   6
#define CLOSE   0.0005 /* of the key space */
#define FAR     0.01
#define SAMPLES 200000 /* where the movement can only be sampled */

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

static int build(const gyre_topology_t *t, const char *name, double weight, gyre_map_t **out,
                 gyre_error_t *e)
{
    gyre_topology_t *copy = gyre_topology_clone(t);
    int rc = copy ? gyre_topology_set_weight(copy, name, weight, e) : GYRE_NOMEM;
    rc = rc ? rc : gyre_map_build(copy, out, e);
    gyre_topology_free(copy);
    return rc;
}

/* A system that counts in whole numbers gets one. */
static int try_weight(const gyre_topology_t *t, const char *name, double *weight, gyre_map_t **out,
                      gyre_error_t *e)
{
    int rc = build(t, name, *weight, out, e);
    if (rc && rc != GYRE_NOMEM && *weight != round(*weight)) {
        *weight = fmax(1, round(*weight));
        rc = build(t, name, *weight, out, e);
    }
    return rc;
}

static int measure(gyre_map_t *map, gyre_map_t *best, struct gy_weigh *w)
{
    gyre_diff_t *diff = NULL;
    if (gyre_diff_build(map, best, SAMPLES, &diff, NULL)) {
        return gy_complain_memory();
    }
    w->points = gyre_map_points(best);
    w->bytes = gyre_map_bytes(best);
    w->moved = gyre_diff_moved(diff);
    w->minimum = gyre_diff_minimum(diff);
    gyre_diff_free(diff);
    return GY_EXIT_OK;
}

/* w / (w + others) is the share as a rule; what the points really gave corrects it. */
static int search(const gyre_topology_t *t, uint32_t node, double others, gyre_map_t **best,
                  struct gy_weigh *w, gyre_error_t *e)
{
    double weight = w->wanted / (1 - w->wanted) * others, off = INFINITY;
    int rc = GYRE_OK;
    for (int i = 0; i < TRIES && off > CLOSE && !rc; i++) {
        gyre_map_t *map = NULL;
        weight = round(weight * 1e4) / 1e4;
        rc = try_weight(t, w->name, &weight, &map, e);
        double got = rc ? 0 : gyre_map_share(map, node);
        if (!rc && fabs(got - w->wanted) < off) {
            off = fabs(got - w->wanted);
            w->weight = weight;
            w->share = got;
            gyre_map_unref(*best);
            *best = gyre_map_ref(map);
        }
        gyre_map_unref(map);
        weight *= got > 0 && got < 1 ? w->wanted / got * ((1 - got) / (1 - w->wanted)) : 2;
    }
    return *best && rc != GYRE_NOMEM ? GYRE_OK : rc;
}

/* Why the weight it has is the best found: twice as much tells what weights do here. */
static const char *why_stays(const gyre_topology_t *t, gyre_map_t *map, const struct gy_weigh *w,
                             gyre_error_t *e)
{
    gyre_map_t *twice = NULL;
    const char *why = "no weight comes nearer than the one it has";
    if (build(t, w->name, 2 * w->now, &twice, e)) {
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
    if (out->weight != out->now && gyre_map_same(best, map)) {
        rc = complain(text, NO_WEIGHTS);
    } else if (out->weight == out->now && fabs(out->share - out->wanted) > FAR) {
        rc = complain(text, why_stays(t, map, out, &e));
    }
    rc = rc ? rc : measure(map, best, out);
    gyre_map_unref(best);
    return rc;
}

void gy_weigh_text(const struct gy_weigh *w, struct gy_buf *out)
{
    char q[GY_QUOTE];
    gy_buf_printf(
        out,
        "for %.4g %% of the key space on %s: weight: %.6g (now %.6g), which gives %.3f %%; "
        "%.3f %% moves (minimum %.3f %%)",
        100 * w->wanted, gy_utf8_quote(q, gy_str(w->name)), w->weight, w->now, 100 * w->share,
        100 * w->moved, 100 * w->minimum);
    if (w->points) {
        gy_buf_printf(out, ", %llu points instead of %llu, %zu KB", (unsigned long long)w->points,
                      (unsigned long long)w->points_now, (w->bytes + 1023) / 1024);
    }
    gy_buf_putc(out, '\n');
}

void gy_weigh_json(const struct gy_weigh *w, struct gy_json *j)
{
    gy_json_key(j, "weight_for");
    gy_json_object(j);
    gy_json_kstring(j, "node", w->name);
    gy_json_kdouble(j, "wanted", w->wanted);
    gy_json_kdouble(j, "weight_now", w->now);
    gy_json_kdouble(j, "weight", w->weight);
    gy_json_kdouble(j, "share", w->share);
    gy_json_kdouble(j, "moved", w->moved);
    gy_json_kdouble(j, "minimum", w->minimum);
    gy_json_kuint(j, "points", w->points);
    gy_json_kuint(j, "bytes", w->bytes);
    gy_json_object_end(j);
}
