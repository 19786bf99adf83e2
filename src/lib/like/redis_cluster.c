/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cluster.c - Redis Cluster 7.0: 16384 hash slots by CRC-16 of the key or of its {tag}. Which
 * node has which slots is state, not a function of the list: a node's option `slots=0-5460,9000`
 * says it; without any, the slots are those `redis-cli --cluster create` gives so many masters in
 * that order, on one address. Weights do not count. Source: the cluster specification, and
 * docs/compat/SPEC-servers.md section 5. Threads: any.
 */
#include <string.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/table.h"
#include "lib/like/like.h"
#include "lib/like/ranges.h"

enum { SLOTS = 16384 };

static const struct gy_like_option options[] = {{"slots", true}, {NULL, false}};

/* As redis-cli does it, in doubles; half is rounded up, for nothing is negative. */
static void create(const struct gy_like_job *job, uint32_t *owner)
{
    double step = (double)SLOTS / job->n, cursor = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < job->n && first < SLOTS; i++) {
        double end = cursor + step - 1;
        uint32_t last = (uint32_t)(end + 0.5);
        last = last >= SLOTS || i == job->n - 1 ? SLOTS - 1 : last;
        last = last > first ? last : first;
        while (first <= last) {
            owner[first++] = job->list[i];
        }
        cursor += step;
    }
}

/* Decimal digits, of at most 5; SLOTS where there is no slot number. */
static uint32_t read_slot(const char **p, const char *end)
{
    uint32_t slot = 0, digits = 0;
    for (; *p < end && **p >= '0' && **p <= '9' && digits < 6; (*p)++, digits++) {
        slot = slot * 10 + (uint32_t)(**p - '0');
    }
    return digits && slot < SLOTS ? slot : SLOTS;
}

static int take_slots(const struct gy_like_job *job, uint32_t node, const char *p, size_t len,
                      uint32_t *owner)
{
    char name[GY_SHOW], other[GY_SHOW];
    const char *end = p + len;
    do {
        uint32_t first = read_slot(&p, end), last = first;
        if (p < end && *p == '-') {
            p++;
            last = read_slot(&p, end);
        }
        if (first == SLOTS || last == SLOTS || last < first || (p < end && *p != ',')) {
            return gy_fail(job->e, GYRE_INVALID,
                           "node '%s': slots are numbers and ranges up to %d, like 0-5460,9000",
                           gy_show(job->m->nodes[node].name, name), SLOTS - 1);
        }
        for (; first <= last; first++) {
            if (owner[first] != GYRE_NONE) {
                return gy_fail(job->e, GYRE_DUPLICATE, "slot %u belongs to '%s' and to '%s'", first,
                               gy_show(job->m->nodes[owner[first]].name, name),
                               gy_show(job->m->nodes[node].name, other));
            }
            owner[first] = node;
        }
    } while (p++ < end);
    return GYRE_OK;
}

static int take_all_slots(const struct gy_like_job *job, uint32_t *owner, bool *any)
{
    int err = GYRE_OK;
    *any = false;
    for (uint32_t i = 0; !err && i < job->n; i++) {
        size_t len;
        const char *p = gy_like_option(&job->m->nodes[job->list[i]], "slots", &len);
        if (p) {
            *any = true;
            err = take_slots(job, job->list[i], p, len, owner);
        }
    }
    for (uint32_t slot = 0; !err && *any && slot < SLOTS; slot++) {
        if (owner[slot] == GYRE_NONE) {
            err = gy_fail(job->e, GYRE_INVALID, "slot %u belongs to no node that takes keys", slot);
        }
    }
    return err;
}

static int deal(const struct gy_like_job *job, const uint32_t *owner)
{
    struct gy_ranges ranges;
    int err = gy_ranges_init(&ranges, SLOTS, job->e);
    for (uint32_t first = 0, slot = 1; !err && slot <= SLOTS; slot++) {
        if (slot == SLOTS || owner[slot] != owner[first]) {
            gy_ranges_put(&ranges, slot - first, owner[first]);
            first = slot;
        }
    }
    err = err ? err : gy_ranges_settle(job->m, &ranges, job->e);
    gy_ranges_fini(&ranges);
    return err;
}

static int build(const struct gy_like_job *job)
{
    job->m->hash = &gy_hash_crc16;
    job->m->hash_bits = 16;
    if (job->n == 0) {
        struct gy_ranges none = {0};
        return gy_ranges_settle(job->m, &none, job->e);
    }
    uint32_t *owner = gy_mem_alloc(SLOTS, sizeof *owner);
    if (!owner) {
        return gy_fail_nomem(job->e);
    }
    bool any;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        owner[slot] = GYRE_NONE;
    }
    int err = take_all_slots(job, owner, &any);
    if (!err && !any) {
        create(job, owner);
    }
    err = err ? err : deal(job, owner);
    gy_mem_free(owner);
    return err;
}

const struct gy_like gy_like_redis_cluster = {
    .name = "redis-cluster", .options = options, .tag = "{}", .build = build};
