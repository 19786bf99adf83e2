/* SPDX-License-Identifier: Apache-2.0 */
/*
 * movement.h - what moves between two maps: the library's diff, counted keys beside it, as table
 * and as JSON; `gyre diff` and `gyre plan` differ only in where the second map comes from.
 * Threads: one thread an object.
 */
#ifndef GY_CLI_MOVEMENT_H
#define GY_CLI_MOVEMENT_H

#include "base/json.h"
#include "cli/keys.h"
#include "gyre.h"

struct gy_movement {
    gyre_map_t *from, *to; /* borrowed */
    gyre_diff_t *diff;
    uint64_t samples;
    uint64_t copies; /* of a key, that either topology asks for; set after gy_movement_make */
    bool measured;
    uint64_t keys_total, keys_moved;
    struct gy_flow_count *counts; /* of measured keys, by flow; sorted by pair */
    size_t count;
};

/* The pair of node numbers of a flow, and the keys counted on it. */
struct gy_flow_count {
    uint64_t pair, keys;
    size_t flow;
};

/* Reads the keys that `keys` names, if any. GY_EXIT_OK or GY_EXIT_USAGE after reporting. */
int gy_movement_make(struct gy_movement *m, gyre_map_t *from, gyre_map_t *to, uint64_t samples,
                     const struct gy_keys_from *keys);
void gy_movement_fini(struct gy_movement *m);
/* More moves than the most that `limit` times the minimum allows; where it was sampled, by more
 * than chance explains. */
bool gy_movement_excess(const struct gy_movement *m, double limit);
void gy_movement_text(const struct gy_movement *m, double limit, size_t flows, struct gy_buf *out);
/* Members of the object that is open. */
void gy_movement_json(const struct gy_movement *m, double limit, struct gy_json *j);

#endif
