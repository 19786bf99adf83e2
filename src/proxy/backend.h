/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - one worker's connection to one storage node: pipelined, shared by all of the worker's
 * clients.
 *
 * Answers come in the order of the commands; each command waits in a queue with the sink that takes
 * its answer. A connection is usable after a hand-shake (net/greet.h): authenticate, name it, learn
 * the server's run_id, fence this proxy's dead generations and the own predecessor that broke with
 * commands unanswered (docs/migration.md, race 7 and 3.7). A node that is down answers at once; it
 * is tried again with growing pauses, without any request being needed.
 *
 * Threads: the worker's.
 */
#ifndef GY_PROXY_BACKEND_H
#define GY_PROXY_BACKEND_H

#include "net/greet.h"
#include "net/loop.h"
#include "wire/resp.h"

struct gy_worker;
struct gy_client;
struct gy_backend;

/* Takes the answer of one command: its bytes in one or more chunks, or a failure instead (or in the
 * middle) of it. */
struct gy_sink {
    void (*chunk)(struct gy_sink *s, const uint8_t *p, size_t n, bool last);
    /* sent: the node may have executed the command; why: of the failure, alive during the call. */
    void (*fail)(struct gy_sink *s, struct gy_backend *b, bool sent, const char *why);
};

enum gy_backend_state {
    GY_BACKEND_IDLE,
    GY_BACKEND_CONNECTING,
    GY_BACKEND_GREETING,
    GY_BACKEND_UP,
    GY_BACKEND_DOWN
};

struct gy_wait {
    struct gy_sink *sink;
    uint64_t since; /* when it was queued, ms */
};

struct gy_backend {
    struct gy_worker *worker;
    uint32_t server;
    const char *name, *address; /* owned */
    struct gy_conn conn;
    bool conn_alive; /* conn is linked to the loop: wait for closed() before connecting again */
    enum gy_backend_state state;
    bool left;             /* no node has this server now: no connection is made or kept */
    bool suspect;          /* it failed and has not been up since */
    bool told_weak;        /* that ACL cannot be used there */
    char why[160];         /* of the last failure */
    char told[160];        /* the reason that was logged since it was up */
    struct gy_greet greet; /* the hand-shake: run_id and client_id of the server and connection */
    char conn_name[320];
    int64_t kill_id; /* 0, or the broken connection that may still have commands of ours queued at
                        the server */
    char kill_run_id[48];
    uint64_t generation; /* grows with every connection */

    struct gy_wait *waits; /* a ring: commands that await an answer, oldest first */
    uint32_t head, count, cap;
    struct gy_client *awaiting,
        **awaiting_tail;       /* those whose next command it is to be spared for now */
    uint64_t sent, answered;   /* commands in all; sent - answered = count */
    struct gy_reply_scan scan; /* of the answer being received */
    size_t answer_bytes;       /* of it so far */
    double answer_mean;        /* of recent answers, bytes */
    struct gy_buf queued;      /* commands written while the hand-shake runs */
    struct gy_buf greeting;    /* the answer of the hand-shake being received */
    uint64_t deadline;         /* of connecting or greeting */
    uint64_t progress;         /* when bytes came last */
    unsigned patients;         /* keys it has been given to dump or restore, however large */
    uint64_t patient_until;    /* while there are such: since one was given, or the last was done */
    uint64_t retry_at;
    unsigned retry_ms;
    bool paused; /* not read from: there is no room for its answers */
    bool pinged; /* an own PING is unanswered */
    struct gy_sink ping_sink;
    uint64_t failures, requests, bytes_in, bytes_out;
};

struct gy_backend *gy_backend_new(struct gy_worker *w, uint32_t server, const char *name,
                                  const char *address);
void gy_backend_free(struct gy_backend *b); /* after the loop has closed its connection */

/* Where to append the next command, or NULL: the node is down (b->why). Then gy_backend_expect,
 * once a command. */
struct gy_buf *gy_backend_begin(struct gy_backend *b);
void gy_backend_expect(struct gy_backend *b, struct gy_sink *s);

/* It has so much to do, or so many bytes of commands have not left for it yet, that no more should
 * be sent. */
bool gy_backend_behind(const struct gy_backend *b);
uint32_t gy_backend_slots(const struct gy_backend *b); /* as many may be sent before it is behind */

/* True when nothing sent before the mark is unanswered or may still be executed by the server. */
bool gy_backend_drained(const struct gy_backend *b, uint64_t mark);
/* Closes the connection if no node has this server any more and nothing is unanswered there; true:
 * there is no more to be done for it. */
bool gy_backend_leave(struct gy_backend *b);
void gy_backend_tick(struct gy_backend *b, uint64_t now, bool stalled);

/* "-NODEDOWN node 'x' at y ..." */
void gy_backend_error(struct gy_buf *out, const struct gy_backend *b, bool sent, const char *why);

#endif
