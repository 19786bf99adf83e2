/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - what has moved by now: of settled units exactly, as counted in their records; of the
 * others by the mover's and the workers' running counters, less what of those is settled already.
 * Threads: any, under the mover's lock.
 */
#include "move/state.h"

struct gy_figures gy_live_figures(const struct gy_mover *m, const struct gy_job *j)
{
    uint64_t keys = 0, bytes = 0;
    if (m->host) {
        m->host->on_access(m->host->ctx, &keys, &bytes);
    }
    uint64_t new_keys = keys > j->access_base_keys ? keys - j->access_base_keys : 0;
    uint64_t new_bytes = bytes > j->access_base_bytes ? bytes - j->access_base_bytes : 0;
    return (struct gy_figures){
        .moved = j->settled.keys + j->live_keys + new_keys,
        .on_access = keys > j->access_start ? keys - j->access_start : 0,
        .bytes = j->settled.bytes + j->live_bytes + new_bytes,
    };
}

void gy_live_restart(struct gy_mover *m, struct gy_job *j)
{
    j->live_keys = j->live_bytes = 0;
    m->host->on_access(m->host->ctx, &j->access_base_keys, &j->access_base_bytes);
}

/* First what the mover counted, then what the workers did. */
static void settle(uint64_t *live, uint64_t *access_base, uint64_t counted)
{
    uint64_t of_live = counted < *live ? counted : *live;
    *live -= of_live;
    *access_base += counted - of_live;
}

void gy_live_settle(struct gy_job *j, const struct gy_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct gy_totals *t = &j->counted[s->units[i]];
        if (!j->unit[s->units[i]].from_complete) {
            settle(&j->live_keys, &j->access_base_keys, t->keys);
            settle(&j->live_bytes, &j->access_base_bytes, t->bytes);
        }
    }
}
