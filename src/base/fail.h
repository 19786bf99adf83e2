/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail.h - failpoints: one before and one after every durable step of a move, so that a test can
 * stop the process exactly there and see that starting it again is resuming.
 *
 * GYRE_FAIL=name:N[:kill|stop|error] in the environment: at the Nth time (from 1) that the point is
 * passed, SIGKILL, SIGSTOP, or the step reports a failure. Without it a point is one predictable
 * branch. Threads: any.
 */
#ifndef GY_BASE_FAIL_H
#define GY_BASE_FAIL_H

#include <stdbool.h>

/* Steps; each has a point before_<step> and a point after_<step>. Transactions of the store first
 * (a state of units, or of the whole move), then records on the servers, then batches of keys. */
/* clang-format off */
#define GY_FAIL_STEPS(X)                                                                       \
    X(begin) X(cas_stable) X(cas_prepare) X(cas_flipping) X(cas_migrating) X(cas_completing)   \
    X(cas_complete) X(cas_cleaning) X(cas_moved) X(cas_abort_prepare) X(cas_abort_release)     \
    X(cas_abort_flipping) X(cas_aborting) X(cas_purging) X(cas_returned) X(phase) X(finish)    \
    X(rec_arm_dst) X(rec_arm_src) X(rec_flip) X(rec_rearm_dst) X(rec_rearm_src)                \
    X(rec_complete) X(rec_back) X(rec_freeze) X(rec_open) X(rec_clean) X(rec_purge)            \
    X(drop_dst) X(drop_src)                                                                    \
    X(install) X(unmove) X(clean) X(purge)
/* clang-format on */

enum gy_failpoint {
#define GY_FAIL_ENUM(step) GY_FAIL_before_##step, GY_FAIL_after_##step,
    GY_FAIL_STEPS(GY_FAIL_ENUM)
#undef GY_FAIL_ENUM
        GY_FAIL_COUNT
};

/* True: behave as if the step had failed (action "error"). */
bool gy_failpoint(enum gy_failpoint p);
const char *gy_fail_name(enum gy_failpoint p);
/* One name a line, as `gyre proxy --list-failpoints` prints them. The text is constant. */
const char *gy_fail_list(void);

#endif
