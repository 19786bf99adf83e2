/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carries.h - the keys that a worker's tasks are carrying: one carry a key, and no more at once
 * than there is room for their values (room.h). Without it each of many writers of one large key
 * has its source read the key out, and holds the value, once more.
 *
 * A task whose key is on its way already, or for whose value there is no room, stands in a line. It
 * holds nothing there but its request: no view, so that no barrier waits for it, and nothing that a
 * node owes. When it is called it starts over, at the end of the turn and never from within what
 * called it. After a carry that failed the first in the line is called alone and the rest stay
 * behind it; otherwise all are called, and find the key moved.
 *
 * Invariant: a task carries at most one key, stands in at most one line, and lets go of its key
 * before it stands in the line of another: no two wait for each other. Threads: the worker's.
 */
#ifndef GY_PROXY_CARRIES_H
#define GY_PROXY_CARRIES_H

#include <stdbool.h>
#include <stddef.h>

struct gy_worker;
struct gy_task;

/* First come, first served. */
struct gy_line {
    struct gy_task *first, **tail; /* tail: of no meaning while it is empty */
};

struct gy_carries {
    void *keys;              /* under way: a tree of struct gy_carry (tsearch) */
    struct gy_line roomless; /* wait for room */
    struct gy_line called;   /* go on at the end of this turn */
};

/* May the task carry its key t->at now? False: it waits, and the caller is done with it. */
bool gy_carry_begin(struct gy_task *t);
/* The value did not find room as it came; `need` bytes of it would have to: it waits for them. */
void gy_carry_await_room(struct gy_task *t, size_t need);
/* The task carries nothing any more: whoever waits for it is called. It failed if it was at it
 * (t->taking). Nothing if there was none. */
void gy_carry_end(struct gy_task *t);
/* Out of whatever line it stands in. */
void gy_carry_leave(struct gy_task *t);
bool gy_carry_waits(const struct gy_task *t);
/* At the end of a turn: those called, and those there is room for now, go on. */
void gy_carries_turn(struct gy_worker *w);

#endif
