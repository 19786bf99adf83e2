/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dealt.c - see dealt.h. Doubles in the order written: a ring of 50 may get 51 points by rounding,
 * and has to. Source: docs/compat/SPEC-databases.md section 4. Threads: any.
 */
#include "lib/like/dealt.h"

#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/like/digits.h"

void gy_dealt_normalize(const struct gy_like_job *job, struct gy_dealt *host, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += gy_like_weight(job, host[i].node);
    }
    for (uint32_t i = 0; i < n; i++) {
        host[i].weight = (double)gy_like_weight(job, host[i].node) * 1.0 / (double)sum;
    }
}

/* Of 0 to 2^53. */
static double round_up(double x)
{
    double whole = (double)(uint64_t)x;
    return whole < x ? whole + 1 : whole;
}

static double scale_of(const struct gy_dealt_ring *ring)
{
    double least = ring->host[0].weight;
    for (uint32_t i = 1; i < ring->n; i++) {
        least = ring->host[i].weight < least ? ring->host[i].weight : least;
    }
    double scale = round_up(least * (double)ring->least) / least;
    return scale < (double)ring->most ? scale : (double)ring->most;
}

int gy_dealt_points(const struct gy_like_job *job, const struct gy_dealt_ring *ring,
                    struct gy_points *points)
{
    double scale = ring->n ? scale_of(ring) : 0, current = 0, target = 0;
    char *text = gy_mem_alloc(GY_NAME_MAX + GY_DEALT_NAME + GY_DIGITS + 1, 1);
    int err = gy_points_init(points, (uint64_t)scale + ring->n + 2, job->e);
    if (!err && !text) {
        err = gy_fail_nomem(job->e);
    }
    for (uint32_t i = 0; !err && i < ring->n; i++) {
        const char *name = job->m->nodes[ring->host[i].node].name;
        size_t len = strlen(name);
        if (ring->name) {
            len = ring->name(name, text);
        } else {
            memcpy(text, name, len);
        }
        text[len++] = '_';
        target += scale * ring->host[i].weight;
        for (uint64_t k = 0; current < target; k++) {
            size_t all = len + gy_digits_write(text + len, k);
            gy_points_put(points, ring->hash(text, all) ^ ring->flip, ring->host[i].node);
            current += 1;
        }
    }
    gy_mem_free(text);
    return err;
}
