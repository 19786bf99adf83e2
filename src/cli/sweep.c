/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - see sweep.h. */
#include "cli/sweep.h"
#include "cli/pairs.h"

bool gy_sweep(const gyre_map_t *m, size_t replicas, uint64_t samples, gy_sweep_fn *each, void *ctx)
{
    uint32_t holders[GY_SWEEP_MOST];
    struct gyre_cursor at = {{0}};
    struct gyre_range x = {.size = sizeof x};
    size_t most = replicas < GY_SWEEP_MOST ? replicas : GY_SWEEP_MOST;
    bool any = false;
    while (gyre_range_next(m, most, &at, &x, holders)) {
        each(ctx, x.share, holders, x.holders);
        any = true;
    }
    for (uint64_t i = 0; !any && i < samples; i++) {
        char key[GY_SAMPLE_ROOM];
        size_t len = gy_sample_key(key, i);
        size_t n = gyre_map_replicas(m, key, len, holders, most, NULL);
        each(ctx, 1 / (double)samples, holders, n);
    }
    return any;
}
