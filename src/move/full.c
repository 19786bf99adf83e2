/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full.c - a start while the state directory's disk is full. What is stored serves: nothing needs
 * to be written for that but the number of this process, which is then taken from the clock and
 * kept as soon as there is room. Every step of a move fails meanwhile, by its own transaction, and
 * is tried again. Threads: the mover's.
 */
#include "base/log.h"
#include "lib/error.h"
#include "move/journal.h"
#include "move/state.h"

#include <inttypes.h>

#define LOOK_MS 1000

/* What `gyre move status` says until there is room, and how the log begins. */
void gy_full_tell(struct gy_mover *m, const gyre_error_t *e)
{
    gyre_error_t told;
    (void)gy_fail(&told, GYRE_IO,
                  "no room in the state directory: version %" PRIu64
                  " serves as stored, and no move can begin, go on or be steered until there is; "
                  "then all goes on by itself (%.300s)",
                  gyre_topology_version(m->topology), e->message);
    gy_mover_complain(m, &told);
}

int64_t gy_full_turn(struct gy_mover *m)
{
    gyre_error_t e;
    int64_t now = gy_now_ms();
    if (m->kept) {
        return -1;
    }
    if (now < m->keep_at) {
        return m->keep_at - now;
    }
    m->keep_at = now + LOOK_MS;
    pthread_mutex_lock(&m->lock);
    int rc = gy_journal_raise_generation(m->store, m->link_conf.fence.generation, &e);
    if (rc == GYRE_OK) {
        m->kept = true;
        m->last_error[0] = '\0';
        gy_info("there is room in the state directory again: moves can begin and go on");
    }
    bool silent = !m->last_error[0]; /* a move that began or ended has wiped it */
    pthread_mutex_unlock(&m->lock);
    if (rc != GYRE_OK && silent) {
        gy_full_tell(m, &e);
    }
    return m->kept ? -1 : LOOK_MS;
}
