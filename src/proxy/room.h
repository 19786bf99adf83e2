/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.h - how much memory a worker's answers may take, and what is done when it is short.
 *
 * The budget is half of limits.max_memory, shared equally by the workers. Nobody knows how large an
 * answer will be before it comes, so there are three lines, each exact where the one before only
 * guesses: (1) no command is taken that is expected to bring more than there is room for; (2) at
 * the budget, nodes whose answers go to clients that leave bytes unread are not read from; what
 * has to be gathered whole is given up, values being carried are read again later; (3) since that
 * also keeps other clients of those nodes waiting, whoever then has taken nothing for a moment is
 * closed, with the reason in the log.
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
    size_t gathered;     /* bytes of answers being gathered by tasks and splits, and of values
                            being carried until they are put */
    size_t promised;     /* bytes that values asked for are expected to bring still */
    size_t value_peak;   /* size of recent values, the larger ones */
    uint64_t counted;    /* ms, when unread was counted last */
    bool pressed;        /* the node being read from brings too much */
    unsigned paused;     /* nodes not read from for now */
    uint64_t calm_until; /* ms; so long after a node had to wait, patience is short */
    uint64_t short_since; /* ms; 0: no node had to wait since there was room for half the budget */
    bool starving; /* a client waits for room, perhaps without an event of its own to end that */
    bool refused;  /* since the last tick a command was not taken: all hold too much */
};

void gy_room_init(struct gy_room *r, size_t memory); /* the worker's share of max_memory */
/* May one more command of this client be taken, as far as all clients together go? */
bool gy_room_for_command(struct gy_client *c);
/* n bytes of an answer have come for this client. */
void gy_room_answer(struct gy_client *c, size_t n);
/* After bytes of a node were given away: it may have to wait. */
void gy_room_pause(struct gy_backend *b);
void gy_room_unpause(struct gy_backend *b);
/* n more bytes of an answer that is gathered whole; false: there is no room, give it up. */
bool gy_room_gather(struct gy_worker *w, size_t n);
/* A value that is carried from one node to another. The most that there can be room for: */
size_t gy_room_most(const struct gy_worker *w);
/* May one be asked for? `need` bytes, or 0: as large as recent ones. True: so much is kept for it,
 * and noted in *promise. What has come of it, or will not come, is no longer. */
bool gy_room_promise(struct gy_worker *w, size_t need, size_t *promise);
void gy_room_redeem(struct gy_worker *w, size_t *promise, size_t n);
void gy_room_learn(struct gy_worker *w, size_t size); /* how large one was */
/* At the end of a turn: is there room again? */
void gy_room_turn(struct gy_worker *w);
void gy_room_tick(struct gy_worker *w, uint64_t now);

#endif
