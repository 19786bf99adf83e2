/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - a request that takes more than one step: held while its unit flips, or moved key by key
 * while its unit is under way; also one part of a split command. It owns a copy of its command. The
 * rules are docs/migration.md 3.2 and 3.5, one function a state.
 *
 * Threads: the worker's.
 */
#ifndef GY_PROXY_TASK_H
#define GY_PROXY_TASK_H

#include "move/view.h"
#include "proxy/backend.h"
#include "wire/command.h"
#include "wire/resp.h"

struct gy_worker;
struct gy_task;
struct gy_carry;
struct gy_line;

/* Collects the answers of several commands sent at once to one node; then calls done. */
struct gy_batch {
    struct gy_sink sink; /* first */
    struct gy_buf data;
    size_t *ends; /* end of each answer in data */
    uint32_t want, got, cap;
    bool failed, sent; /* sent: the node may have executed what failed */
    bool crowded;      /* there was no room for the answers: they are dropped */
    size_t came;       /* bytes of the answers, also of those dropped */
    size_t counted;    /* bytes of data in the worker's room */
    struct gy_backend *backend;
    uint64_t generation; /* of the connection it was sent on */
    char why[160];
};

struct gy_span {
    uint32_t off, len; /* of a key in cmd */
};

struct gy_task {
    struct gy_batch batch; /* first */
    struct gy_worker *worker;
    struct gy_task *next, **link;
    struct gy_buf cmd; /* the command, RESP */
    size_t request;    /* bytes of it in the worker's input */
    struct gy_span *keys;
    uint32_t nkeys;
    bool write;
    bool grows; /* a full server refuses the command, so its keys need not be carried to one */

    struct gy_view *view; /* whose rule it follows */
    struct gy_route route;
    bool held;
    uint64_t since; /* ms, when it came */
    uint64_t held_since;
    unsigned restarts;
    void (*step)(struct gy_task *t);    /* when the batch is complete */
    void (*carried)(struct gy_task *t); /* after every key has been carried */
    uint32_t at;                        /* key being moved */
    size_t payload;                     /* bytes of its value; 0: it has none */
    size_t load;            /* bytes in the worker's room, of a value that is being put */
    size_t promise;         /* bytes of room it has been promised for a value, and not yet used */
    size_t need;            /* bytes its value was found to be; 0: not known */
    struct gy_carry *carry; /* its key, which is nobody else's to carry (carries.h) */
    bool taking;            /* it is at it: what is ended now has failed */
    uint64_t waits_since;   /* ms; when it first had to stand in a line */
    struct gy_line *line;   /* in which it stands now; NULL: in none */
    struct gy_task *line_next, **line_link;
    bool backward;             /* it is carried from D to S */
    uint64_t marks_generation; /* of the connection on which the marks were read */
    bool *mark;          /* of each key: known to be moved (forward) or brought back (abort) */
    struct gy_buf stash; /* an answer kept while it is being validated */

    /* The answer, once; frees nothing: the task is freed after it returns. */
    void (*done)(void *owner, uint32_t tag, struct gy_slice reply);
    void *owner;
    uint32_t tag;
};

struct gy_task *gy_task_new(struct gy_worker *w, const struct gy_command *cmd);
/* keys: positions in argv; the command is written as RESP. */
void gy_task_command(struct gy_task *t, const struct gy_slice *argv, size_t argc,
                     const uint32_t *keys, uint32_t nkeys);
/* Routes by the worker's view and goes. Keys of one hash input. */
void gy_task_start(struct gy_task *t);
/* Keys that are all stable on one server, whatever their hash inputs. */
void gy_task_send(struct gy_task *t, uint32_t server);

void gy_tasks_review(struct gy_worker *w); /* a new view: held ones look again */
void gy_tasks_expire(struct gy_worker *w,
                     uint64_t now); /* held too long: -TRYAGAIN, never executed */
bool gy_tasks_older(const struct gy_worker *w,
                    uint64_t seq); /* is one under way by a rule of an earlier view? */

/* At the end of the process: every client has gone, nobody is answered. */
void gy_tasks_free(struct gy_worker *w);

/* ---- for the rules (task_forward.c, task_back.c) ---- */
/* What a task takes besides its command. */
#define GY_TASK_COST (sizeof(struct gy_task) + 512)
struct gy_slice gy_task_key(const struct gy_task *t, uint32_t i);
void gy_task_restart(struct gy_task *t);
void gy_task_rest(struct gy_task *t); /* gives everything back but its request */
void gy_task_reply(struct gy_task *t, struct gy_slice reply); /* ends the task */
void gy_task_fail(struct gy_task *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define GY_TASK_NO_ROOM                                                                         \
    "ERR no memory is left to gather so large an answer (a write may have been executed); ask " \
    "for fewer keys at once, or raise limits.max_memory"
/* A batch to `server` is begun (NULL: node down, the task has failed), commands appended, then run:
 * step is called with all answers. */
struct gy_buf *gy_task_batch(struct gy_task *t, uint32_t server);
void gy_task_add(struct gy_task *t); /* counts one command just appended */
void gy_task_run(struct gy_task *t, void (*step)(struct gy_task *t));
struct gy_slice gy_task_answer(const struct gy_task *t, uint32_t i); /* raw bytes of answer i */
/* The node works on a whole key, however large: it may take longer than an answer otherwise may. */
void gy_task_patience(struct gy_task *t, bool on);
/* SISMEMBER set key, a key each; EXISTS key...; the command itself */
void gy_task_add_members(struct gy_task *t, struct gy_buf *out, const char *set);
void gy_task_add_exists(struct gy_task *t, struct gy_buf *out);
void gy_task_add_command(struct gy_task *t, struct gy_buf *out);
/* How many of answers first..first+nkeys-1 are 1, noted in t->mark; UINT32_MAX: one of them is an
 * error (the task has failed). */
uint32_t gy_task_members(struct gy_task *t, uint32_t first);
/* Every key of the task is known to be moved; and: those marked now are, by the last batch. */
bool gy_task_all_known(const struct gy_task *t);
void gy_task_note_known(struct gy_task *t);
bool gy_task_batch_ok(struct gy_task *t); /* false: the node failed; the task has been answered */

/* HMGET rec st run_id; and whether that answer says this state, for the very server that gave it.
 */
void gy_task_add_record(struct gy_task *t, struct gy_buf *out);
bool gy_task_record_is(struct gy_task *t, uint32_t answer, const char *state);
/* The frozen copy: [cmd][EXISTS] on S, marks at D asked again where a key is missing. */
void gy_task_source_read(struct gy_task *t);

void gy_forward_prepare_read(struct gy_task *t);
void gy_forward_read(struct gy_task *t);
void gy_forward_write(struct gy_task *t);
/* task_carry.c: every key not in t->mark, from S to D, or backward; then `carried`. */
void gy_task_carry(struct gy_task *t, bool backward, void (*carried)(struct gy_task *t));
void gy_back_prepare_read(struct gy_task *t);
void gy_back_read(struct gy_task *t);
void gy_back_write(struct gy_task *t);

#endif
