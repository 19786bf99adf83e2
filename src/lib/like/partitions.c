/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partitions.c - see partitions.h. Threads: build one, the rest any.
 */
#include "lib/like/partitions.h"

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/like/digits.h"
#include "lib/like/ranges.h"

const struct gy_like_option gy_partition_options[] = {{"partitions", true}, {NULL, false}};

static int take_range(const struct gy_like_job *job, uint32_t node, uint64_t first, uint64_t last,
                      uint32_t *owner)
{
    char name[GY_SHOW], other[GY_SHOW];
    for (uint64_t p = first; p <= last; p++) {
        if (owner[p] != GYRE_NONE) {
            return gy_fail(job->e, GYRE_DUPLICATE, "partition %llu belongs to '%s' and to '%s'",
                           (unsigned long long)p, gy_show(job->m->nodes[owner[p]].name, name),
                           gy_show(job->m->nodes[node].name, other));
        }
        owner[p] = node;
    }
    return GYRE_OK;
}

static int take_list(const struct gy_like_job *job, uint32_t node, const char *p, size_t len,
                     uint32_t count, uint32_t *owner)
{
    const char *end = p + len;
    int err = GYRE_OK;
    do {
        uint64_t first, last;
        bool good = gy_digits_read(&p, end, &first);
        last = first;
        if (good && p < end && *p == '-') {
            p++;
            good = gy_digits_read(&p, end, &last);
        }
        if (!good || first > last || last >= count || (p < end && *p != ',')) {
            char name[GY_SHOW];
            return gy_fail(job->e, GYRE_INVALID,
                           "node '%s': partitions are numbers and ranges up to %u, like 0-5,9",
                           gy_show(job->m->nodes[node].name, name), count - 1);
        }
        err = take_range(job, node, first, last, owner);
    } while (!err && p++ < end);
    return err;
}

/* Fills owner; *any: has a node the option? */
static int take_options(const struct gy_like_job *job, uint32_t count, uint32_t *owner, bool *any)
{
    int err = GYRE_OK;
    *any = false;
    for (uint32_t p = 0; p < count; p++) {
        owner[p] = GYRE_NONE;
    }
    for (uint32_t i = 0; !err && i < job->n; i++) {
        size_t len;
        const char *p = gy_like_option(&job->m->nodes[job->list[i]], "partitions", &len);
        if (p) {
            *any = true;
            err = take_list(job, job->list[i], p, len, count, owner);
        }
    }
    return err;
}

int gy_partitions_settle(const struct gy_like_job *job, uint32_t count, uint64_t width)
{
    struct gy_ranges ranges;
    bool any = false;
    uint32_t *owner = gy_mem_alloc((size_t)count + 1, sizeof *owner);
    int err = gy_ranges_init(&ranges, job->n ? count : 0, job->e);
    if (!err && !owner) {
        err = gy_fail_nomem(job->e);
    }
    err = err ? err : take_options(job, count, owner, &any);
    for (uint32_t p = 0; !err && job->n && p < count; p++) {
        gy_ranges_put(&ranges, width, any ? owner[p] : job->list[p % job->n]);
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    gy_mem_free(owner);
    return err;
}
