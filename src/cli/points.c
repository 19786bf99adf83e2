/* SPDX-License-Identifier: Apache-2.0 */
/* points.c - see points.h. */
#include "cli/points.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int find_points(const gyre_topology_t *t, struct gy_points *p)
{
    size_t n = gyre_topology_count(t);
    double *weight = calloc(n + 1, sizeof *weight);
    if (!weight) {
        return gy_complain_memory();
    }
    for (size_t i = 0; i < n; i++) {
        weight[i] = gyre_topology_node(t, i)->weight;
    }
    p->now = (uint32_t)strtoul(gyre_topology_get(t, "points"), NULL, 10);
    p->points = gyre_points_for(weight, n, p->target);
    free(weight);
    return GY_EXIT_OK;
}

static int try_points(const gyre_topology_t *t, struct gy_points *p)
{
    gyre_topology_t *copy = gyre_topology_clone(t);
    gyre_map_t *map = NULL;
    gyre_error_t e = {0};
    char text[16];
    snprintf(text, sizeof text, "%u", p->points);
    int err = copy ? gyre_topology_set(copy, "points", text, &e) : GYRE_NOMEM;
    double start = milliseconds();
    err = err ? err : gyre_map_build(copy, &map, &e);
    p->build_ms = milliseconds() - start;
    gyre_topology_free(copy);
    if (err == GYRE_NOMEM) {
        return gy_complain_memory();
    }
    if (err) {
        gy_complain("balance: --points-for: %u points a unit of weight: %s", p->points, e.message);
        return GY_EXIT_USAGE;
    }
    struct gyre_balance b = {.size = sizeof b};
    gyre_map_balance(map, &b);
    p->total = gyre_map_points(map);
    p->bytes = gyre_map_bytes(map);
    p->cv = b.cv;
    p->expected_cv = b.expected_cv;
    gyre_map_unref(map);
    return GY_EXIT_OK;
}

int gy_points_find(const gyre_topology_t *t, double target, struct gy_points *out)
{
    *out = (struct gy_points){.target = target};
    const char *like = gyre_topology_get(t, "like");
    const char *algorithm = gyre_topology_get(t, "algorithm");
    if ((like && *like) || !algorithm || strcmp(algorithm, "ring") != 0) {
        gy_complain("balance: --points-for: only the ring's spread is a matter of points; this "
                    "topology places by %s",
                    like && *like ? like : algorithm);
        return GY_EXIT_USAGE;
    }
    int rc = find_points(t, out);
    return rc || !out->points ? rc : try_points(t, out);
}

void gy_points_text(const struct gy_points *p, struct gy_buf *out)
{
    if (!p->points) {
        gy_buf_printf(out,
                      "for an expected CV of %.4g the most points there may be are too few; "
                      "rendezvous and dx place exactly by weight\n",
                      p->target);
        return;
    }
    gy_buf_printf(out,
                  "for an expected CV of %.4g: points: %u (now %u), %llu in all, %zu KB, built in "
                  "%.1f ms; the CV is then %.4f\n",
                  p->target, p->points, p->now, (unsigned long long)p->total,
                  (p->bytes + 1023) / 1024, p->build_ms, p->cv);
}

void gy_points_json(const struct gy_points *p, struct gy_json *j)
{
    gy_json_key(j, "points_for");
    gy_json_object(j);
    gy_json_kdouble(j, "cv", p->target);
    gy_json_kuint(j, "points_now", p->now);
    gy_json_key(j, "points");
    if (p->points) {
        gy_json_uint(j, p->points);
        gy_json_kuint(j, "points_total", p->total);
        gy_json_kuint(j, "bytes", p->bytes);
        gy_json_kdouble(j, "build_ms", p->build_ms);
        gy_json_kdouble(j, "expected_cv", p->expected_cv);
        gy_json_kdouble(j, "exact_cv", p->cv);
    } else {
        gy_json_null(j);
    }
    gy_json_object_end(j);
}
