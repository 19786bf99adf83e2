/* SPDX-License-Identifier: Apache-2.0 */
/*
 * points.h - how many points a ring needs for a wanted spread, found by the formula and then tried:
 * the ring is built, so that its memory, time and real spread are measured, not guessed. Threads:
 * main only.
 */
#ifndef GY_CLI_POINTS_H
#define GY_CLI_POINTS_H

#include "base/json.h"
#include "gyre.h"

struct gy_points {
    double target;
    uint32_t now, points; /* of a unit of weight; points 0: not even the most there may be */
    uint64_t total;
    size_t bytes;
    double build_ms, cv, expected_cv;
};

/* GY_EXIT_OK, or GY_EXIT_USAGE after saying why there is no answer. */
int gy_points_find(const gyre_topology_t *t, double target, struct gy_points *out);
void gy_points_text(const struct gy_points *p, struct gy_buf *out);
/* Member "points_for" of the object that is open. */
void gy_points_json(const struct gy_points *p, struct gy_json *j);

#endif
