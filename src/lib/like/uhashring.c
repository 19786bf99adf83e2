/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uhashring.c - uhashring 2.1 (Python). default: 128-bit positions, and a node's points depend on
 * nothing else. ketama: 32 bits, counts in whole numbers from all weights, so a change of one node
 * moves some keys between others. In both a key on a point belongs to the next point, and of equal
 * points the node added last has the keys. Keys and names are UTF-8. Source: behaviour of 2.1,
 * docs/compat/SPEC-servers.md section 7. Threads: any.
 */
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/hash/table.h"
#include "lib/like/ketama.h"

enum { DEFAULT, KETAMA };

static const struct gy_like_setting settings[] = {
    {GY_SET_MODE, GY_VALUE_WORD, "default", "default|ketama"},
    {GY_SET_VNODES, GY_VALUE_NUMBER, "", "1..100000"}, /* 160; ketama: 40 */
    {GY_SET_DIGEST_POINTS, GY_VALUE_NUMBER, "4", "1..4"},
    {0, 0, NULL, NULL},
};

/* Numbers in no proportion to the others' weights. */
static uint64_t by_weight(uint64_t w, uint64_t total, uint64_t n, uint64_t unit)
{
    (void)total;
    (void)n;
    return w * unit;
}

static int build(const struct gy_like_job *job)
{
    bool ketama = gy_like_word(job, GY_SET_MODE) == KETAMA;
    uint64_t vnodes = gy_like_number(job, GY_SET_VNODES);
    struct gyre_map *m = job->m;
    m->hash = ketama ? &gy_hash_md5_le32 : &gy_hash_md5;
    m->hash_bits = m->hash->bits;
    m->after = true;
    uint32_t *newest = gy_mem_alloc((size_t)job->n + 1, sizeof *newest);
    int err = newest ? gy_like_whole_weights(job, UINT32_MAX) : gy_fail_nomem(job->e);
    for (uint32_t i = 0; !err && i < job->n; i++) {
        newest[i] = job->list[job->n - 1 - i];
    }
    if (!err) {
        struct gy_ketama k = {.name = gy_ketama_plain_name,
                              .count = ketama ? gy_ketama_whole : by_weight,
                              .unit = vnodes   ? vnodes
                                      : ketama ? 40
                                               : 160,
                              .hash = &gy_hash_md5,
                              .per_digest =
                                  ketama ? (unsigned)gy_like_number(job, GY_SET_DIGEST_POINTS) : 1,
                              .list = newest,
                              .whole = !ketama};
        err = gy_ketama_build(job, &k);
    }
    gy_mem_free(newest);
    return err;
}

const struct gy_like gy_like_uhashring = {
    .name = "uhashring", .settings = settings, .build = build};
