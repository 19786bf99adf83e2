/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - see client.h; requests and their answers are in req.c. */
#include "proxy/client.h"

#include "base/alloc.h"
#include "base/log.h"
#include "proxy/dispatch.h"
#include "proxy/proxy.h"

#include <stdlib.h>

/* Commands of one client that may be unanswered at once. The window opens by one with each answer,
 * as TCP's slow start does, so that the size of the first answers is known before many are asked
 * for. */
#define INFLIGHT_MAX 64
/* Input left over from parsing (a cut request, or a client made to wait) above this stops the
 * reading. */
#define LEFTOVER_MAX (256u * 1024)
/* So much of each of its buffers a client keeps from one tick to the next, for nothing. */
#define SPARE_MAX 1024
/* While memory is short, one that has taken nothing for so long is closed; sooner if it holds more
 * than it may (its answers were larger than those before, on which the window was reckoned). */
#define SHORT_STALL_MS 500
#define OVER_STALL_MS  100

static const struct gy_conn_events client_events;

static struct gy_client *of_conn(struct gy_conn *c)
{
    return (struct gy_client *)((char *)c - offsetof(struct gy_client, conn));
}

struct gy_conn *gy_client_accept(void *worker, const struct gy_conn_events **ev,
                                 const char **farewell)
{
    struct gy_worker *w = worker;
    const struct gy_proxy_conf *conf = &w->proxy->config->proxy;
    bool crowded = w->stats.clients >= conf->max_clients / w->proxy->nworkers;
    if (crowded || w->stats.memory > conf->max_memory) {
        *farewell = crowded ? "-ERR max number of clients reached\r\n"
                            : "-ERR the proxy has no memory left for another client; try again\r\n";
        gy_warn("client turned away worker=%u clients=%llu memory=%llu", w->index,
                (unsigned long long)w->stats.clients, (unsigned long long)w->stats.memory);
        return NULL;
    }
    struct gy_client *c = gy_xcalloc(1, sizeof *c);
    struct gy_req_limits limits = {
        .bulk = conf->max_request,
        .total = conf->max_request,
        .args = 1024 * 1024,
        .inline_line = 64 * 1024,
    };
    c->worker = w;
    c->id = atomic_fetch_add_explicit(&w->proxy->next_client_id, 1,
                                      memory_order_relaxed); /* only has to be unique */
    c->tail = &c->head;
    c->reply_peak = w->reply_peak; /* until its own answers are known */
    gy_req_init(&c->parser, &limits);
    c->next = w->clients;
    c->link = &w->clients;
    if (c->next) {
        c->next->link = &c->next;
    }
    w->clients = c;
    w->stats.clients++;
    *ev = &client_events;
    return &c->conn;
}

size_t gy_client_unread(const struct gy_client *c)
{
    return gy_conn_unsent(&c->conn) + c->waiting;
}

/* What of its answers is unread leaves room for one more. */
static bool has_room(const struct gy_client *c)
{
    size_t unread = gy_client_unread(c);
    uint64_t limit = c->worker->proxy->config->proxy.max_client_unread;
    return unread < limit && (c->inflight == 0 || unread + c->inflight * c->reply_peak < limit);
}

static bool may_dispatch(struct gy_client *c)
{
    uint32_t most = c->answered < INFLIGHT_MAX ? c->answered + 1 : INFLIGHT_MAX;
    if (c->closing || c->tasks || c->behind || c->inflight >= most) {
        return false;
    }
    if (has_room(c) && gy_room_for_command(c)) {
        return true;
    }
    c->worker->room.starving = true; /* what it waits for may come without an event of its own */
    return false;
}

/* Takes commands from the bytes; returns how many were used. */
static size_t parse(struct gy_client *c, const uint8_t *p, size_t n)
{
    size_t off = 0;
    while (off < n && may_dispatch(c)) {
        struct gy_request rq;
        enum gy_parse r = gy_req_parse(&c->parser, p + off, n - off, &rq);
        if (r == GY_PARSE_MORE) {
            break;
        }
        if (r == GY_PARSE_ERROR) {
            gy_req_error(gy_req_new(c), "ERR Protocol error: %s", c->parser.error);
            c->closing = true;
            return n;
        }
        if (rq.argc && !gy_dispatch(c, &rq, (struct gy_slice){p + off, rq.bytes})) {
            break; /* it is parsed again when its node has caught up */
        }
        off += rq.bytes;
    }
    return off;
}

static void close_if_over(struct gy_client *c)
{
    bool asked_all =
        c->ended && (may_dispatch(c) || c->closing); /* what is left in `in` is half a request */
    if ((c->closing || asked_all) && !c->head) {
        gy_conn_finish(&c->conn, "done");
    }
}

/* Reading stops when there is nothing to be done with more bytes for now. */
static void pace(struct gy_client *c)
{
    bool wait = !may_dispatch(c) &&
                (c->closing || gy_buf_size(&c->in) > LEFTOVER_MAX || c->tasks ||
                 gy_conn_unsent(&c->conn) >= c->worker->proxy->config->proxy.max_client_unread);
    gy_conn_read(&c->conn, !wait && !c->ended);
    close_if_over(c);
}

/* What this client's unfinished input takes of the worker's memory; false: all of it is taken and
 * this one asks for more. */
static bool account(struct gy_client *c)
{
    struct gy_worker *w = c->worker;
    w->input_bytes = w->input_bytes - c->accounted + c->in.cap;
    c->accounted = c->in.cap;
    return c->in.cap <= LEFTOVER_MAX ||
           w->input_bytes <= w->proxy->config->proxy.max_memory / w->proxy->nworkers;
}

static bool keep(struct gy_client *c, const uint8_t *p, size_t n)
{
    size_t need = gy_req_need(&c->parser);
    size_t have = gy_buf_size(&c->in);
    /* A large bulk is announced: take its room at once instead of doubling up to it, but only as it
     * really arrives. */
    if (need > have && have > LEFTOVER_MAX &&
        !gy_buf_reserve(&c->in, need - have < have ? need - have : have)) {
        return false;
    }
    gy_buf_add(&c->in, p, n);
    return !gy_buf_failed(&c->in);
}

/* Its requests so far are answered; the one it has begun cannot be held. */
static void shed(struct gy_client *c)
{
    gy_warn("client closed id=%llu why=\"no memory for a request of %zu bytes\"",
            (unsigned long long)c->id, gy_buf_size(&c->in));
    gy_buf_fini(&c->in);
    account(c);
    gy_req_error(gy_req_new(c), "ERR the proxy has no memory left for so large a request");
    c->closing = true;
    pace(c);
}

static void parse_kept(struct gy_client *c)
{
    gy_buf_consume(&c->in, parse(c, gy_buf_head(&c->in), gy_buf_size(&c->in)));
    gy_buf_trim(&c->in, LEFTOVER_MAX);
}

static void on_data(struct gy_conn *conn, const uint8_t *p, size_t n)
{
    struct gy_client *c = of_conn(conn);
    if (c->closing) {
        return;
    }
    bool kept = true;
    c->heard = gy_loop_now(c->worker->loop);
    if (gy_buf_size(&c->in) == 0) {
        size_t used = parse(c, p, n);
        kept = used == n || keep(c, p + used, n - used);
    } else {
        kept = keep(c, p, n);
        if (kept) {
            parse_kept(c);
        }
    }
    if (!account(c) || !kept) {
        shed(c);
        return;
    }
    pace(c);
}

/* At the end of the turn, so that nothing recurses. */
void gy_client_ready(struct gy_client *c)
{
    if (!c->is_ready) {
        c->is_ready = true;
        c->next_ready = c->worker->ready;
        c->worker->ready = c;
    }
}

void gy_client_await(struct gy_client *c, struct gy_backend *b)
{
    c->behind = b;
    c->next_behind = NULL;
    if (!b->awaiting) {
        b->awaiting_tail = &b->awaiting;
    }
    *b->awaiting_tail = c;
    b->awaiting_tail = &c->next_behind;
}

static void stop_awaiting(struct gy_client *c)
{
    struct gy_backend *b = c->behind;
    struct gy_client **p = &b->awaiting;
    while (*p != c) {
        p = &(*p)->next_behind;
    }
    *p = c->next_behind;
    if (b->awaiting_tail == &c->next_behind) {
        b->awaiting_tail = p;
    }
    c->behind = NULL;
}

void gy_clients_caught_up(struct gy_backend *b)
{
    for (uint32_t n = gy_backend_slots(b); n && b->awaiting; n--) {
        struct gy_client *c = b->awaiting;
        stop_awaiting(c);
        gy_client_ready(c);
    }
}

void gy_client_resume(struct gy_client *c)
{
    if (c->conn.closing) {
        return;
    }
    if (gy_buf_size(&c->in)) {
        parse_kept(c);
        account(c);
    }
    pace(c);
}

static void on_drained(struct gy_conn *conn)
{
    gy_client_resume(of_conn(conn));
}

/* printf ... | nc: it has asked all it wants and still reads the answers. */
static void on_ended(struct gy_conn *conn)
{
    struct gy_client *c = of_conn(conn);
    c->ended = true;
    pace(c);
}

static void on_opened(struct gy_conn *conn)
{
    (void)conn;
}

static void on_closed(struct gy_conn *conn, const char *why)
{
    struct gy_client *c = of_conn(conn);
    gy_debug("client closed id=%llu why=\"%s\"", (unsigned long long)c->id, why);
    gy_reqs_orphan(c);
    if (c->behind) {
        stop_awaiting(c);
    }
    if (c->is_ready) {
        for (struct gy_client **p = &c->worker->ready; *p; p = &(*p)->next_ready) {
            if (*p == c) {
                *p = c->next_ready;
                break;
            }
        }
    }
    *c->link = c->next;
    if (c->next) {
        c->next->link = c->link;
    }
    c->worker->stats.clients--;
    c->worker->input_bytes -= c->accounted;
    gy_req_fini(&c->parser);
    gy_buf_fini(&c->in);
    free(c->name);
    free(c->lib_name);
    free(c->lib_ver);
    free(c);
}

static const struct gy_conn_events client_events = {.opened = on_opened,
                                                    .data = on_data,
                                                    .drained = on_drained,
                                                    .ended = on_ended,
                                                    .closed = on_closed};

bool gy_client_idles(const struct gy_client *c, uint64_t now)
{
    uint64_t limit = c->worker->proxy->config->proxy.max_client_unread;
    unsigned most = gy_client_unread(c) > limit ? OVER_STALL_MS : SHORT_STALL_MS;
    return c->stalled_since && now - c->stalled_since >= most;
}

void gy_client_evict(struct gy_client *c)
{
    gy_warn(
        "client closed id=%llu why=\"memory is short and it leaves the most unread\" unread=%zu",
        (unsigned long long)c->id, gy_client_unread(c));
    gy_conn_close(&c->conn, "memory is short");
}

/* Room that it had use for once. Kept for as long as it is connected, that of idle clients alone
 * would be all the memory there is for those that come. */
static void give_back(struct gy_client *c)
{
    size_t n = gy_buf_size(&c->in);
    if (c->in.cap > SPARE_MAX && n < c->in.cap / 4) {
        struct gy_buf rest = {0};
        gy_buf_add(&rest, gy_buf_head(&c->in), n);
        if (gy_buf_failed(&rest)) {
            gy_buf_fini(&rest);
        } else {
            gy_buf_fini(&c->in);
            c->in = rest;
            account(c);
        }
    }
    if (gy_conn_unsent(&c->conn) == 0) {
        gy_buf_trim(&c->conn.out, SPARE_MAX);
        gy_buf_trim(&c->conn.sending, SPARE_MAX);
    }
}

/* A client that takes none of its answers for client_stall_ms is closed: its memory is somebody
 * else's. */
void gy_client_tick(struct gy_client *c, uint64_t now)
{
    const struct gy_proxy_conf *conf = &c->worker->proxy->config->proxy;
    size_t unread = gy_conn_unsent(&c->conn);
    if (gy_buf_size(&c->in) > LEFTOVER_MAX && c->conn.reading && !c->head &&
        now > c->heard + conf->client_stall_ms) {
        gy_warn("client closed id=%llu why=\"half a request, then nothing for %u ms\"",
                (unsigned long long)c->id, conf->client_stall_ms);
        gy_conn_close(&c->conn, "half a request");
        return;
    }
    give_back(c);
    c->worker->stats.memory += c->in.cap + c->conn.out.cap + c->conn.sending.cap + c->waiting;
    if (unread == 0 || c->conn.closing) {
        c->stalled_since = 0;
        return;
    }
    size_t written = gy_conn_taken(&c->conn);
    if (c->stalled_since == 0 || written != c->stalled_bytes) {
        c->stalled_since = now;
        c->stalled_bytes = written;
    } else if (now - c->stalled_since > conf->client_stall_ms) {
        gy_warn("client closed id=%llu why=\"it has not read for %u ms\" unread=%zu",
                (unsigned long long)c->id, conf->client_stall_ms, unread);
        gy_conn_close(&c->conn, "does not read");
    }
}
