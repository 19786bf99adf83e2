/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - a fixed number of hash slots, each dealt to a node by weighted rendezvous (see
 * rendezvous.c): rendezvous at the price of one load.
 *
 * Cost: one table load a key; building scores every node for every slot. Memory: 2 bytes a slot.
 * Guaranteed: a change of one node's presence or weight moves slots only to or from that node
 * (moved / minimum is 1); no history; diffs and shares are exact.
 * Not: even shares. They vary as those of rendezvous over `table` keys do: a coefficient of
 * variation of about sqrt(nodes / table). Replicas are the owners of the slots that follow, so
 * taking a node away promotes another one for each replica, but in the order of the table.
 * Threads: immutable once built.
 */
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/place/lut.h"
#include "lib/place/mix.h"
#include "lib/place/rendezvous.h"

#define WORK_MAX ((uint64_t)1 << 32) /* scores a build may take: some seconds */

/* How many slots each may expect; what the spread of the shares follows from. */
static void expect(struct gyre_map *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        m->points[i] = (uint32_t)(m->weight[i] * m->table / m->heavy); /* at most 10^12 * 2^24 */
        m->points[i] += m->weight[i] && !m->points[i];
    }
}

static int check_work(const struct gyre_map *m, gyre_error_t *e)
{
    if ((uint64_t)m->table * m->positive > WORK_MAX) {
        return gy_fail(e, GYRE_RANGE,
                       "slots: dealing %u slots to %u nodes would take minutes; lower `table`",
                       m->table, m->positive);
    }
    return GYRE_OK;
}

/* Slot s is dealt as a key whose hash is output s of the stream seeded with 0. */
static int slots_build(struct gyre_map *m, const void *rule, gyre_error_t *e)
{
    (void)rule;
    struct gy_rendezvous r;
    int err = check_work(m, e);
    err = err ? err : gy_lut_init(m, e);
    if (err) {
        return err;
    }
    if (gy_rendezvous_init(&r, m)) {
        return gy_fail_nomem(e);
    }
    uint16_t *owner = m->data;
    for (uint32_t s = 0; s < m->table; s++) {
        owner[s] = (uint16_t)gy_rendezvous_best(&r, gy_stream(0, s));
    }
    gy_rendezvous_fini(&r);
    expect(m);
    gy_lut_done(m);
    return GYRE_OK;
}

const struct gy_place gy_place_slots = {
    .name = "slots",
    .ring = true,
    .build = slots_build,
    .explain = gy_lut_explain,
    .fini = gy_lut_fini,
    .locate = gy_lut_locate,
    .locate_batch = gy_lut_locate_batch,
    .first = gy_lut_first,
    .node = gy_lut_node,
    .position = gy_lut_position,
};
