/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.c - MGET MSET DEL UNLINK EXISTS TOUCH whose keys live on several nodes: one part a node,
 * and one a key whose unit is on the move; the answers are merged in the order of the keys. A part
 * that fails makes the whole answer that error (for writes the other parts may have been executed,
 * as with any client that talks to several nodes).
 */
#include "proxy/dispatch.h"

#include "base/alloc.h"
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <stdlib.h>

#define FREE_TASKS 64

struct part {
    struct gy_buf reply;
    uint32_t server;       /* GYRE_NONE: keys of one hash input that is on the move */
    uint32_t first, nkeys; /* its keys are order[first .. first + nkeys) */
};

struct split {
    struct gy_req *req;
    enum gy_cmd_merge merge;
    uint32_t nkeys;
    uint32_t *part_of; /* of each key */
    uint32_t *order;   /* the keys, part by part; within a part in the order they came */
    struct part *parts;
    uint32_t nparts, waiting;
    struct gy_worker *worker;
    size_t bytes; /* of the parts' answers, in the worker's room */
    bool crowded; /* there was no room for one of them */
    bool counted; /* one of its parts is a task that keeps the client waiting */
};

static void free_split(struct split *s)
{
    s->worker->room.gathered -= s->bytes;
    for (uint32_t i = 0; i < s->nparts; i++) {
        gy_buf_fini(&s->parts[i].reply);
    }
    free(s->parts);
    free(s->part_of);
    free(s->order);
    free(s);
}

static struct gy_slice reply_of(const struct part *p)
{
    return (struct gy_slice){gy_buf_head(&p->reply), gy_buf_size(&p->reply)};
}

/* The first error among the parts, or an empty slice. */
static struct gy_slice first_error(const struct split *s)
{
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct gy_slice r = reply_of(&s->parts[i]);
        if (r.n == 0 || r.p[0] == '-') {
            return r.n ? r : GY_LIT("-ERR out of memory for a part of the answer\r\n");
        }
    }
    return (struct gy_slice){NULL, 0};
}

/* Puts the parts' elements in the order of the keys: each part has its own in that order already.
 */
static void merge_array(struct split *s, struct gy_buf *out)
{
    struct gy_slice *rest = gy_xcalloc(s->nparts, sizeof *rest);
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct gy_slice r = reply_of(&s->parts[i]);
        const uint8_t *eol = memchr(r.p, '\n', r.n); /* behind "*3\r" */
        rest[i] = eol ? (struct gy_slice){eol + 1, (size_t)(r.p + r.n - eol - 1)}
                      : (struct gy_slice){r.p + r.n, 0};
    }
    gy_resp_array(out, s->nkeys);
    for (uint32_t k = 0; k < s->nkeys; k++) {
        struct gy_slice *r = &rest[s->part_of[k]];
        struct gy_reply_scan scan;
        size_t used = 0;
        gy_reply_scan_init(&scan);
        if (gy_reply_scan(&scan, r->p, r->n, &used) != GY_PARSE_DONE) {
            gy_buf_reset(out);
            gy_resp_error(out, "ERR a node answered with fewer values than keys");
            break;
        }
        gy_buf_add(out, r->p, used);
        r->p += used;
        r->n -= used;
    }
    free(rest);
}

static void merge_sum(struct split *s, struct gy_buf *out)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->nparts; i++) {
        struct gy_slice r = reply_of(&s->parts[i]);
        int64_t part = 0;
        for (size_t at = 1; at < r.n && r.p[at] >= '0' && r.p[at] <= '9'; at++) {
            part = part * 10 + (r.p[at] - '0');
        }
        sum += part;
    }
    gy_resp_int(out, sum);
}

static void finish(struct split *s)
{
    struct gy_buf out = {0};
    struct gy_slice error = first_error(s);
    if (s->crowded) {
        gy_resp_error(&out, GY_TASK_NO_ROOM);
    } else if (error.n) {
        gy_buf_add(&out, error.p, error.n);
    } else if (s->merge == GY_MERGE_ARRAY) {
        merge_array(s, &out);
    } else if (s->merge == GY_MERGE_SUM) {
        merge_sum(s, &out);
    } else {
        gy_resp_simple(&out, "OK");
    }
    if (s->req->client && s->counted) {
        s->req->client->tasks--;
    }
    gy_req_buf(s->req, &out);
    gy_buf_fini(&out);
    free_split(s);
}

static void part_done(void *owner, uint32_t tag, struct gy_slice reply)
{
    struct split *s = owner;
    if (gy_room_gather(s->worker, reply.n)) {
        s->bytes += reply.n;
        gy_buf_add(&s->parts[tag].reply, reply.p, reply.n);
    } else {
        s->crowded = true;
    }
    if (--s->waiting == 0) {
        finish(s);
    }
}

/* While the keys are dealt out. */
struct dealing {
    uint32_t *by_server; /* part of each server, or GYRE_NONE */
    uint32_t *by_input;  /* open-addressed: part of each hash input on the move, or GYRE_NONE */
    uint32_t mask;
};

static bool same_input(const gyre_map_t *map, struct gy_slice a, struct gy_slice b)
{
    const void *pa, *pb;
    size_t na, nb;
    gyre_map_hash_input(map, a.p, a.n, &pa, &na);
    gyre_map_hash_input(map, b.p, b.n, &pb, &nb);
    return na == nb && memcmp(pa, pb, na) == 0;
}

/* Where the part of a key on the move is noted: one part a hash input, so that a key named twice
 * keeps its order. */
static uint32_t *moving_slot(const struct dealing *d, const struct split *s, const gyre_map_t *map,
                             const struct gy_request *rq, const uint32_t *pos, struct gy_slice key)
{
    uint32_t at = (uint32_t)gyre_map_hash(map, key.p, key.n) & d->mask;
    while (d->by_input[at] != GYRE_NONE) {
        uint32_t first = s->parts[d->by_input[at]].first; /* so far: the index of its first key */
        if (same_input(map, rq->argv[pos[first]], key)) {
            break;
        }
        at = (at + 1) & d->mask;
    }
    return &d->by_input[at];
}

static void place_key(struct split *s, struct gy_worker *w, const struct gy_request *rq,
                      const uint32_t *pos, uint32_t k, struct dealing *d)
{
    struct gy_slice key = rq->argv[pos[k]];
    struct gy_route route = gy_view_route(w->view, key.p, key.n);
    uint32_t server = GYRE_NONE;
    bool stable = route.src != GYRE_NONE && gy_route_settled(&route, &server);
    uint32_t *slot = stable ? &d->by_server[server] : moving_slot(d, s, w->view->map, rq, pos, key);
    if (*slot == GYRE_NONE) {
        *slot = s->nparts;
        s->parts[s->nparts++] = (struct part){.server = stable ? server : GYRE_NONE, .first = k};
    }
    s->part_of[k] = *slot;
    s->parts[*slot].nkeys++;
    s->counted |= !stable;
}

/* A counting sort: linear in the keys however many parts there are. */
static void order_keys(struct split *s)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->nparts; i++) {
        s->parts[i].first = at;
        at += s->parts[i].nkeys;
        s->parts[i].nkeys = 0;
    }
    for (uint32_t k = 0; k < s->nkeys; k++) {
        struct part *p = &s->parts[s->part_of[k]];
        s->order[p->first + p->nkeys++] = k;
    }
}

/* One part's command: the name, then its keys (and their values, where keys stand two apart). */
static void send_part(struct split *s, struct gy_worker *w, const struct gy_command *cmd,
                      const struct gy_request *rq, const uint32_t *pos, uint32_t part)
{
    uint32_t per = (uint32_t)cmd->step, n = s->parts[part].nkeys, at = 1;
    const uint32_t *order = s->order + s->parts[part].first;
    struct gy_slice *argv = gy_xcalloc(1 + (size_t)n * per, sizeof *argv);
    uint32_t *keys = gy_xcalloc(n, sizeof *keys);
    argv[0] = rq->argv[0];
    for (uint32_t k = 0; k < n; k++) {
        keys[k] = at;
        for (uint32_t i = 0; i < per; i++) {
            argv[at++] = rq->argv[pos[order[k]] + i];
        }
    }
    struct gy_task *t = gy_task_new(w, cmd);
    gy_task_command(t, argv, at, keys, n);
    t->done = part_done;
    t->owner = s;
    t->tag = part;
    free(argv);
    free(keys);
    if (s->parts[part].server == GYRE_NONE) {
        gy_task_start(t);
    } else {
        gy_task_send(t, s->parts[part].server);
    }
}

static void deal(struct split *s, struct gy_worker *w, const struct gy_request *rq,
                 const uint32_t *pos)
{
    struct dealing d = {.mask = 1};
    while (d.mask < s->nkeys * 2) {
        d.mask = d.mask * 2 + 1;
    }
    d.by_server = gy_xcalloc(w->nbackends, sizeof *d.by_server);
    d.by_input = gy_xcalloc((size_t)d.mask + 1, sizeof *d.by_input);
    memset(d.by_server, 0xff, w->nbackends * sizeof *d.by_server);
    memset(d.by_input, 0xff, ((size_t)d.mask + 1) * sizeof *d.by_input);
    for (uint32_t k = 0; k < s->nkeys; k++) {
        place_key(s, w, rq, pos, k, &d);
    }
    free(d.by_server);
    free(d.by_input);
}

/* A key on the move is a task of its own: a hundred times its own size. So many as nobody minds are
 * always let in. */
static bool too_many(const struct split *s)
{
    const struct gy_worker *w = s->worker;
    size_t moving = 0;
    for (uint32_t i = 0; i < s->nparts; i++) {
        moving += s->parts[i].server == GYRE_NONE;
    }
    return moving > FREE_TASKS && w->input_bytes + moving * GY_TASK_COST >
                                      w->proxy->config->proxy.max_memory / w->proxy->nworkers;
}

bool gy_split(struct gy_client *c, const struct gy_command *cmd, const struct gy_request *rq,
              const uint32_t *pos, uint32_t nkeys)
{
    struct gy_worker *w = c->worker;
    for (uint32_t i = 0; i < w->nbackends; i++) {
        if (gy_backend_behind(w->backends[i])) { /* it may be one of ours */
            gy_client_await(c, w->backends[i]);
            return false;
        }
    }
    struct split *s = gy_xcalloc(1, sizeof *s);
    s->worker = w;
    s->req = gy_req_new(c);
    s->merge = (enum gy_cmd_merge)cmd->merge;
    s->nkeys = nkeys;
    s->part_of = gy_xcalloc(nkeys, sizeof *s->part_of);
    s->order = gy_xcalloc(nkeys, sizeof *s->order);
    s->parts = gy_xcalloc(nkeys, sizeof *s->parts);
    deal(s, w, rq, pos);
    if (too_many(s)) {
        gy_req_error(s->req, "TRYAGAIN more of its keys are being moved than limits.max_memory has "
                             "room for at once; the command was not executed: ask for fewer keys "
                             "at once, or raise the limit");
        free_split(s);
        return true;
    }
    order_keys(s);
    if (s->counted) {
        c->tasks++;
    }
    uint32_t n = s->nparts;
    s->waiting = n + 1; /* one for ourselves: parts may be done before the last is sent */
    for (uint32_t i = 0; i < n; i++) {
        send_part(s, w, cmd, rq, pos, i);
    }
    if (--s->waiting == 0) {
        finish(s);
    }
    return true;
}
