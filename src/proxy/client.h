/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - a client's connection: commands in, answers out in the order of the commands.
 *
 * Invariant: requests stand in a list in the order they came; answer bytes of the first go straight
 * into the connection's output, those of later ones wait in their own buffers. Parsing stops (and
 * soon reading) while a multi-step request is under way, while too much is unanswered or unread: so
 * memory a client is bounded, and a later command never overtakes a held one.
 *
 * Threads: the worker's.
 */
#ifndef GY_PROXY_CLIENT_H
#define GY_PROXY_CLIENT_H

#include "net/loop.h"
#include "proxy/backend.h"
#include "wire/resp.h"

struct gy_worker;
struct gy_client;

struct gy_req {
    struct gy_sink sink; /* first: a forwarded command's answer comes here */
    struct gy_req *next;
    struct gy_worker *worker;
    struct gy_client *client; /* NULL: it has gone; the answer is dropped */
    struct gy_buf reply;      /* answer bytes that came before its turn */
    size_t bytes;             /* answer bytes so far */
    size_t expected;          /* as many were foreseen, in the worker's room */
    bool done;
};

struct gy_client {
    struct gy_conn conn;
    struct gy_worker *worker;
    struct gy_client *next, **link;
    struct gy_client *next_ready;
    bool is_ready;
    uint64_t id;
    char *name;               /* CLIENT SETNAME */
    char *lib_name, *lib_ver; /* CLIENT SETINFO */
    struct gy_req_parser parser;
    struct gy_buf in;          /* bytes of requests not dispatched yet */
    size_t accounted;          /* of in, in the worker\'s input_bytes */
    size_t waiting;            /* bytes of answers that came before their turn */
    struct gy_backend *behind; /* its next command is for this node, which has enough to do; NULL:
                                  nothing of the kind */
    struct gy_client *next_behind;
    struct gy_req *head, **tail;
    uint32_t inflight;
    uint32_t answered; /* replies so far, to learn how large they are */
    size_t reply_peak; /* of recent replies: bounds how many may be in flight */
    unsigned tasks;    /* multi-step requests under way: no further command is taken meanwhile */
    uint64_t heard;    /* ms; when it sent something last */
    uint64_t stalled_since; /* ms; output was first seen unread; 0: it is being read */
    size_t stalled_bytes;
    bool ended;   /* it sends no more */
    bool closing; /* QUIT or a protocol error: close once everything is answered */
};

struct gy_conn *gy_client_accept(void *worker, const struct gy_conn_events **ev,
                                 const char **farewell);
void gy_client_tick(struct gy_client *c, uint64_t now);
/* Its next command waits until this node has caught up. Then they go on in turn, each with at least
 * one command: nobody's long pipeline keeps another's one command waiting for ever. */
void gy_client_await(struct gy_client *c, struct gy_backend *b);
void gy_clients_caught_up(struct gy_backend *b);
/* From the end of this turn it may take more commands. */
void gy_client_ready(struct gy_client *c);
/* Answer bytes it has not been given or has not taken. */
size_t gy_client_unread(const struct gy_client *c);
/* Memory is short: true if it has taken nothing for so long that its share is for others. */
bool gy_client_idles(const struct gy_client *c, uint64_t now);
void gy_client_evict(struct gy_client *c);
void gy_client_resume(struct gy_client *c); /* from the end of a turn: parse on */

/* A new request at the end of the client's list. */
struct gy_req *gy_req_new(struct gy_client *c);
/* Answer bytes; then done, once. */
void gy_req_bytes(struct gy_req *r, const void *p, size_t n);
void gy_req_finish(struct gy_req *r);
/* The client is going: whatever is still under way has nobody to answer to. */
void gy_reqs_orphan(struct gy_client *c);
void gy_reqs_free(struct gy_worker *w);
/* A whole answer made by the proxy. */
void gy_req_error(struct gy_req *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gy_req_buf(struct gy_req *r, const struct gy_buf *b);

#endif
