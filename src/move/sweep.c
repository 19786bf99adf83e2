/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - removes copies that are nobody's any more: the source's after a move (gyre_clean), the
 * destination's after an abort (gyre_purge). The functions look at the record first, so a late
 * request removes nothing. Threads: the mover's.
 */
#include "lib/error.h"
#include "move/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void queue(struct gy_pass *p, const struct gy_run *r, size_t from, size_t to,
                  struct gy_slice *argv)
{
    char epoch[24], count[24];
    size_t argc = 0;
    const char *fn = p->step == GY_STEP_CLEAN ? "gyre_clean" : "gyre_purge";
    snprintf(epoch, sizeof epoch, "%" PRIu64, p->j->epoch);
    snprintf(count, sizeof count, "%zu", to - from + 1);
    argv[argc++] = GY_LIT("FCALL");
    argv[argc++] = gy_str(fn);
    argv[argc++] = gy_str(count);
    argv[argc++] = gy_str(p->j->mig->names[r->keys->v[from].unit].rec);
    for (size_t i = from; i < to; i++) {
        argv[argc++] = gy_keyset_key(r->keys, i);
    }
    argv[argc++] = gy_str(epoch);
    gy_sync_add(r->nearc, argc, argv);
}

static bool read_answers(struct gy_pass *p, struct gy_run *r)
{
    for (size_t i = r->from, end; i < r->to; i = end) {
        struct gy_reply *a;
        gyre_error_t e;
        end = gy_run_unit_end(r, i);
        if (gy_sync_read(r->nearc, &a, &e) != GYRE_OK) {
            gy_pass_lost_server(p, r->near, &e);
            return false;
        }
        if (a->type == '-') {
            gy_pass_refused(p, r->near, r->keys->v[i].unit, a);
        } else {
            pthread_mutex_lock(&p->m->lock);
            p->j->cleaned += (uint64_t)a->integer;
            pthread_mutex_unlock(&p->m->lock);
        }
        gy_reply_free(a);
    }
    return true;
}

void gy_sweep_run(struct gy_pass *p, struct gy_run *r)
{
    enum gy_failpoint before =
        p->step == GY_STEP_CLEAN ? GY_FAIL_before_clean : GY_FAIL_before_purge;
    if (gy_pass_throttle(p, r->to - r->from, 0)) {
        return;
    }
    struct gy_slice *argv = calloc(r->to - r->from + 5, sizeof *argv);
    if (!argv || gy_failpoint(before)) {
        gy_pass_fail_run(p, r);
        free(argv);
        return;
    }
    for (size_t i = r->from, end; i < r->to; i = end) {
        end = gy_run_unit_end(r, i);
        queue(p, r, i, end, argv);
    }
    free(argv);
    if (read_answers(p, r) && gy_failpoint(before + 1)) {
        gy_pass_fail_run(p, r);
    }
}
