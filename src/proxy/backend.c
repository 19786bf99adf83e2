/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c - see backend.h; the hand-shake is in greeting.c. */
#include "proxy/backend.h"

#include "base/alloc.h"
#include "base/log.h"
#include "net/addr.h"
#include "proxy/client.h"
#include "proxy/greeting.h"
#include "proxy/proxy.h"

#include <stdio.h>
#include <stdlib.h>

/* Commands that may pile up while a first connection is being made; more are refused as if the node
 * were down. */
#define QUEUED_MAX (32u * 1024 * 1024)
/* Commands that may be unanswered at once. How large their answers will be is not known, and the
 * node makes them all before we have read the first: this bounds its memory. */
#define UNANSWERED_MAX 256
/* Of the answers' budget: commands that may wait for a node to take them. */
#define BEHIND_SHARE   4
#define RETRY_FIRST_MS 50
#define RETRY_MAX_MS   1000
#define SLOW_COPY      100e3 /* bytes a millisecond */
#define PING_AFTER_MS  500

static const struct gy_conn_events backend_events;

struct gy_backend *gy_backend_new(struct gy_worker *w, uint32_t server, const char *name,
                                  const char *address)
{
    struct gy_backend *b = gy_xcalloc(1, sizeof *b);
    b->worker = w;
    b->server = server;
    b->name = gy_xstrdup(name);
    b->address = gy_xstrdup(address);
    b->retry_ms = RETRY_FIRST_MS;
    gy_reply_scan_init(&b->scan);
    return b;
}

void gy_backend_free(struct gy_backend *b)
{
    if (!b) {
        return;
    }
    free((void *)(uintptr_t)b->name);
    free((void *)(uintptr_t)b->address);
    gy_buf_fini(&b->queued);
    gy_buf_fini(&b->greeting);
    gy_greet_fini(&b->greet);
    free(b->waits);
    free(b);
}

void gy_backend_error(struct gy_buf *out, const struct gy_backend *b, bool sent, const char *why)
{
    if (sent) {
        gy_resp_error(
            out,
            "NODEDOWN node '%s' at %s did not answer (%s); the command may or may not have been executed",
            b->name, b->address, why);
    } else {
        gy_resp_error(out, "NODEDOWN node '%s' at %s is down: %s", b->name, b->address, why);
    }
}

static void went_down(struct gy_backend *b, const char *why, uint64_t now)
{
    if (!b->left && !gy_loop_stopping(b->worker->loop) &&
        strcmp(b->told, why) != 0) { /* once a reason */
        snprintf(b->told, sizeof b->told, "%s", why);
        gy_warn("node down name=%s address=%s worker=%u why=\"%s\"", b->name, b->address,
                b->worker->index, why);
    }
    snprintf(b->why, sizeof b->why, "%s", why);
    b->state = GY_BACKEND_DOWN;
    b->suspect = true;
    b->failures++;
    b->retry_at = now + b->retry_ms;
    b->retry_ms = b->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : b->retry_ms * 2;
}

static void connect_now(struct gy_backend *b)
{
    uint64_t now = gy_loop_now(b->worker->loop);
    struct gy_addr addr;
    struct sockaddr_storage sa;
    socklen_t len;
    gyre_error_t e = {0};
    if (gy_addr_parse(b->address, 6379, &addr, &e) || gy_addr_resolve(&addr, &sa, &len, &e)) {
        went_down(b, e.message, now);
        return;
    }
    b->state = GY_BACKEND_CONNECTING;
    b->deadline = now + b->worker->proxy->config->proxy.connect_ms;
    b->generation++;
    b->conn_alive = true;
    gy_conn_connect(b->worker->loop, &b->conn, &backend_events, &addr, &sa);
}

struct gy_buf *gy_backend_begin(struct gy_backend *b)
{
    if (b->state == GY_BACKEND_UP) {
        return &b->conn.out;
    }
    if (b->state == GY_BACKEND_IDLE) {
        connect_now(b);
    }
    if (b->suspect) { /* also while it is tried again: nobody waits for a node known to be down */
        return NULL;
    }
    if (gy_buf_size(&b->queued) > QUEUED_MAX) {
        snprintf(b->why, sizeof b->why, "too many commands wait for its connection");
        return NULL;
    }
    return &b->queued;
}

void gy_backend_expect(struct gy_backend *b, struct gy_sink *s)
{
    if (b->count == b->cap) {
        uint32_t cap = b->cap ? b->cap * 2 : 256;
        struct gy_wait *w = gy_xcalloc(cap, sizeof *w);
        for (uint32_t i = 0; i < b->count; i++) {
            w[i] = b->waits[(b->head + i) & (b->cap - 1)];
        }
        free(b->waits);
        b->waits = w;
        b->cap = cap;
        b->head = 0;
    }
    uint64_t now = gy_loop_now(b->worker->loop);
    if (b->count == 0) {
        b->progress =
            now; /* the clock of the server starts with the first command that waits for it */
    }
    b->waits[(b->head + b->count++) & (b->cap - 1)] = (struct gy_wait){s, now};
    b->sent++;
    b->requests++;
    if (b->state == GY_BACKEND_UP) {
        gy_conn_dirty(&b->conn);
    }
}

static struct gy_wait pop(struct gy_backend *b)
{
    struct gy_wait w = b->waits[b->head];
    b->head = (b->head + 1) & (b->cap - 1);
    b->count--;
    b->answered++;
    return w;
}

bool gy_backend_behind(const struct gy_backend *b)
{
    return b->state == GY_BACKEND_UP &&
           (b->count >= UNANSWERED_MAX ||
            b->count * b->answer_mean > (double)b->worker->room.budget ||
            gy_conn_unsent(&b->conn) > b->worker->room.budget / BEHIND_SHARE);
}

uint32_t gy_backend_slots(const struct gy_backend *b)
{
    return b->state != GY_BACKEND_UP   ? UINT32_MAX /* nobody waits for it: they get their error */
           : b->count < UNANSWERED_MAX ? UNANSWERED_MAX - b->count
                                       : 0;
}

bool gy_backend_drained(const struct gy_backend *b, uint64_t mark)
{
    return b->answered >= mark && b->kill_id == 0;
}

/* Everything that waited fails. What was only queued behind the hand-shake was never sent. */
static void fail_all(struct gy_backend *b, bool sent, const char *why)
{
    uint32_t n = b->count;
    while (n--) { /* a sink may send something new: that is not part of this failure */
        struct gy_wait w = pop(b);
        w.sink->fail(w.sink, b, sent, why);
    }
}

static void on_opened(struct gy_conn *c)
{
    struct gy_backend *b = (struct gy_backend *)((char *)c - offsetof(struct gy_backend, conn));
    b->state = GY_BACKEND_GREETING;
    b->deadline = gy_loop_now(b->worker->loop) + b->worker->proxy->config->proxy.timeout_ms;
    gy_reply_scan_init(&b->scan);
    gy_greeting_begin(b);
}

/* The hand-shake is over: what waited for it goes out. */
static void on_greeted(struct gy_backend *b)
{
    if (b->suspect) {
        gy_info("node up name=%s address=%s worker=%u", b->name, b->address, b->worker->index);
    }
    b->state = GY_BACKEND_UP;
    b->suspect = false;
    b->why[0] = b->told[0] = 0;
    b->retry_ms = RETRY_FIRST_MS;
    b->kill_id = 0;
    if (b->greet.weak[0] && !b->told_weak && b->worker->index == 0) {
        gy_info("node %s at %s: no fencing by ACL user there, moves need --weak-fencing: %s",
                b->name, b->address, b->greet.weak);
    }
    b->told_weak = b->greet.weak[0] != '\0';
    b->progress = gy_loop_now(b->worker->loop);
    gy_buf_add(&b->conn.out, gy_buf_head(&b->queued), gy_buf_size(&b->queued));
    gy_buf_fini(&b->queued);
    gy_conn_dirty(&b->conn);
}

static void take_answers(struct gy_backend *b, const uint8_t *p, size_t n)
{
    while (n) {
        if (b->count == 0) {
            gy_conn_close(&b->conn, "the node sent an answer nobody asked for");
            return;
        }
        size_t used = 0;
        enum gy_parse r = gy_reply_scan(&b->scan, p, n, &used);
        if (r == GY_PARSE_ERROR) {
            gy_conn_close(&b->conn, "the node's answer is not RESP");
            return;
        }
        struct gy_sink *s = b->waits[b->head].sink;
        bool last = r == GY_PARSE_DONE;
        b->answer_bytes += used;
        if (last) {
            b->answer_mean += ((double)b->answer_bytes - b->answer_mean) / 8;
            b->answer_bytes = 0;
            pop(b);
            gy_reply_scan_init(&b->scan);
        }
        s->chunk(s, p, used, last);
        p += used;
        n -= used;
    }
    if (b->worker->room.pressed) {
        gy_room_pause(b);
    }
    if (b->awaiting && !gy_backend_behind(b)) {
        gy_clients_caught_up(b);
    }
}

static void on_data(struct gy_conn *c, const uint8_t *p, size_t n)
{
    struct gy_backend *b = (struct gy_backend *)((char *)c - offsetof(struct gy_backend, conn));
    b->progress = gy_loop_now(b->worker->loop);
    b->bytes_in += n;
    if (b->state != GY_BACKEND_GREETING) {
        take_answers(b, p, n);
        return;
    }
    switch (gy_greeting_data(b, p, n)) {
    case GY_GREETING_MORE:
        break;
    case GY_GREETING_DONE:
        on_greeted(b);
        break;
    case GY_GREETING_FAILED:
        gy_conn_close(&b->conn, b->greet.why);
        break;
    }
}

static void on_drained(struct gy_conn *c)
{
    (void)c;
}

static void on_closed(struct gy_conn *c, const char *why)
{
    struct gy_backend *b = (struct gy_backend *)((char *)c - offsetof(struct gy_backend, conn));
    bool was_up = b->state == GY_BACKEND_UP;
    b->conn_alive = false;
    gy_room_unpause(b);
    if (was_up && b->count) {
        b->kill_id = b->greet.client_id; /* the server may still hold commands of this connection */
        memcpy(b->kill_run_id, b->greet.run_id, sizeof b->kill_run_id);
    }
    went_down(b, why, gy_loop_now(b->worker->loop));
    if (b->left) { /* should it come back, it is new: nobody is told that it was down */
        b->state = GY_BACKEND_IDLE;
        b->suspect = false;
        b->retry_ms = RETRY_FIRST_MS;
    }
    gy_buf_fini(&b->queued);
    char kept[sizeof b->why];
    memcpy(kept, b->why, sizeof kept);
    fail_all(b, was_up, kept);
    gy_clients_caught_up(b);
}

static const struct gy_conn_events backend_events = {
    .opened = on_opened, .data = on_data, .drained = on_drained, .closed = on_closed};

/* ---- health ---- */

static void ping_chunk(struct gy_sink *s, const uint8_t *p, size_t n, bool last)
{
    (void)p;
    (void)n;
    struct gy_backend *b =
        (struct gy_backend *)((char *)s - offsetof(struct gy_backend, ping_sink));
    if (last) {
        b->pinged = false;
    }
}

static void ping_fail(struct gy_sink *s, struct gy_backend *b, bool sent, const char *why)
{
    (void)s;
    (void)sent;
    (void)why;
    b->pinged = false;
}

/* A frozen node must be noticed before a request has to wait for it. */
static void ping(struct gy_backend *b)
{
    b->pinged = true;
    b->ping_sink = (struct gy_sink){ping_chunk, ping_fail};
    gy_buf_puts(&b->conn.out, "*1\r\n$4\r\nPING\r\n");
    gy_backend_expect(b, &b->ping_sink);
}

/* How long the node may be silent: its time-out, and what copying the answers we have asked for
 * takes at SLOW_COPY. Redis makes all answers of one read before it sends the first. */
static uint64_t patience(const struct gy_backend *b)
{
    return b->worker->proxy->config->proxy.timeout_ms +
           (uint64_t)(b->answer_mean * b->count / SLOW_COPY);
}

bool gy_backend_leave(struct gy_backend *b)
{
    if (!b->left || b->count) {
        return false;
    }
    if (b->conn_alive) {
        gy_conn_close(&b->conn, "no node has this server any more");
    }
    return true;
}

/* One that is being moved, for a task or for the mover. */
static bool works_on_large_key(const struct gy_backend *b, uint64_t now)
{
    return (b->patients && now < b->patient_until) ||
           gy_proxy_is_busy(b->worker->proxy, b->server, now);
}

void gy_backend_tick(struct gy_backend *b, uint64_t now, bool stalled)
{
    if (gy_backend_leave(b)) {
        return;
    }
    stalled = stalled || works_on_large_key(b, now);
    if (stalled || b->paused) { /* we slept, not the node: its clock starts again */
        b->progress = now;
        b->deadline = now + b->worker->proxy->config->proxy.timeout_ms;
        return;
    }
    switch (b->state) {
    case GY_BACKEND_CONNECTING:
    case GY_BACKEND_GREETING:
        if (now > b->deadline) {
            gy_conn_close(&b->conn, b->state == GY_BACKEND_CONNECTING ? "connect timed out"
                                                                      : "hand-shake timed out");
        }
        break;
    case GY_BACKEND_UP:
        if (b->count && now > b->progress + patience(b)) {
            gy_conn_close(&b->conn, "no answer in time");
        } else if (b->count == 0 && !b->pinged && now > b->progress + PING_AFTER_MS) {
            ping(b);
        }
        break;
    case GY_BACKEND_DOWN:
        if (!b->conn_alive && now >= b->retry_at) {
            connect_now(b);
        }
        break;
    case GY_BACKEND_IDLE:
        connect_now(b); /* before the first request has to wait for it */
        break;
    }
}
