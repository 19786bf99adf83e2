/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - what a command does that takes longer than a second, and how long it still will: one
 * line on stderr that is rewritten, and gone when the work is done. Only on a terminal. It is shown
 * by a thread of its own, so work inside one long call is seen too, and the counting costs a store.
 * Threads: main only.
 */
#ifndef GY_CLI_PROGRESS_H
#define GY_CLI_PROGRESS_H

#include <stdint.h>

/* what: "reading keys.txt"; it lives until the end. total 0: unknown, only the time is told. Begun
 * twice, the inner work is not shown. */
void gy_progress_begin(const char *what, uint64_t total);
/* How much of the total is done. */
void gy_progress_at(uint64_t done);
void gy_progress_end(void);

/* Takes the line away, so that another can be written to stderr; the next look brings it back. */
void gy_progress_hush(void);

#endif
