/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.h - how much memory a worker's answers may take, and what is done when it is short.
 *
 * The budget is half of limits.max_memory, shared equally by the workers. Nobody knows how large an
 * answer will be before it comes, so there are three lines, each exact where the one before only
 * guesses: (1) no command is taken that is expected to bring more than there is room for; (2) at
 * the budget, nodes whose answers go to clients that leave bytes unread are not read from; what
 * has to be gathered whole is given up; (3) since that also keeps other clients of those nodes
 * waiting, whoever then has taken nothing for a moment is closed, with the reason in the log.
 *
 * Threads: the worker's.
 */
#ifndef GY_PROXY_ROOM_H
#define GY_PROXY_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gy_worker;
struct gy_client;
struct gy_backend;

struct gy_room {
    size_t budget;
    size_t unread;       /* bytes of answers that clients have not taken: at the last count, and all
                            since */
    size_t expected;     /* bytes that commands under way are expected to bring */
    size_t gathered;     /* bytes of answers being gathered by tasks and splits */
    uint64_t counted;    /* ms, when unread was counted last */
    bool pressed;        /* the node being read from brings too much */
    unsigned paused;     /* nodes not read from for now */
    uint64_t calm_until; /* ms; so long after a node had to wait, patience is short */
    uint64_t short_since; /* ms; 0: no node had to wait since there was room for half the budget */
    bool starving; /* a client waits for room, perhaps without an event of its own to end that */
    bool refused;  /* since the last tick a command was not taken: all hold too much */
};

/* May one more command of this client be taken, as far as all clients together go? */
bool gy_room_for_command(struct gy_client *c);
/* n bytes of an answer have come for this client. */
void gy_room_answer(struct gy_client *c, size_t n);
/* After bytes of a node were given away: it may have to wait. */
void gy_room_pause(struct gy_backend *b);
void gy_room_unpause(struct gy_backend *b);
/* n more bytes of an answer that is gathered whole; false: there is no room, give it up. */
bool gy_room_gather(struct gy_worker *w, size_t n);
/* At the end of a turn: is there room again? */
void gy_room_turn(struct gy_worker *w);
void gy_room_tick(struct gy_worker *w, uint64_t now);

#endif
