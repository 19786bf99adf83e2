/* SPDX-License-Identifier: Apache-2.0 */
/* req.c - a client's requests and their answers, in order; see client.h. */
#include "base/alloc.h"
#include "proxy/client.h"
#include "proxy/proxy.h"

#include <stdarg.h>
#include <stdlib.h>

/* A forwarded command's answer arrives here. */
static void on_chunk(struct gy_sink *s, const uint8_t *p, size_t n, bool last)
{
    struct gy_req *r = (struct gy_req *)s;
    gy_req_bytes(r, p, n);
    if (last) {
        gy_req_finish(r);
    }
}

static void on_fail(struct gy_sink *s, struct gy_backend *b, bool sent, const char *why)
{
    struct gy_req *r = (struct gy_req *)s;
    if (r->bytes &&
        r->client) { /* half an answer is out: nothing that follows could be understood */
        gy_conn_close(&r->client->conn, "a node failed in the middle of an answer");
        gy_req_finish(r);
        return;
    }
    if (sent && r->client) { /* its answers may have been too much: feel the way again */
        r->client->answered = 0;
    }
    struct gy_buf text = {0};
    gy_backend_error(&text, b, sent, why);
    r->worker->stats.errors++;
    gy_req_buf(r, &text);
    gy_buf_fini(&text);
}

struct gy_req *gy_req_new(struct gy_client *c)
{
    struct gy_worker *w = c->worker;
    struct gy_req *r = w->free_reqs;
    if (r) {
        w->free_reqs = r->next;
    } else {
        r = gy_xcalloc(1, sizeof *r);
        r->sink = (struct gy_sink){on_chunk, on_fail};
    }
    r->next = NULL;
    r->worker = w;
    r->client = c;
    r->bytes = 0;
    r->done = false;
    r->expected = c->reply_peak;
    w->room.expected += r->expected;
    *c->tail = r;
    c->tail = &r->next;
    c->inflight++;
    w->stats.requests++;
    return r;
}

static void release(struct gy_req *r)
{
    gy_buf_fini(&r->reply);
    r->next = r->worker->free_reqs;
    r->worker->free_reqs = r;
}

void gy_req_bytes(struct gy_req *r, const void *p, size_t n)
{
    r->bytes += n;
    struct gy_client *c = r->client;
    if (!c) {
        return;
    }
    gy_room_answer(c, n);
    if (r->bytes > c->reply_peak) { /* known before it is whole: no more of these are asked for */
        c->reply_peak = r->bytes;
    }
    if (c->head == r) {
        gy_buf_add(&c->conn.out, p, n);
        gy_conn_dirty(&c->conn);
        return;
    }
    c->waiting += n;
    gy_buf_add(&r->reply, p, n);
    if (gy_buf_failed(&r->reply)) {
        gy_conn_close(&c->conn, "out of memory for its answers");
    }
}

void gy_req_finish(struct gy_req *r)
{
    struct gy_client *c = r->client;
    r->done = true;
    r->worker->room.expected -= r->expected;
    if (!c) {
        release(r);
        return;
    }
    struct gy_worker *w = r->worker;
    if (r->bytes > w->reply_peak) {
        w->reply_peak = r->bytes;
    } else {
        w->reply_peak -= (w->reply_peak - r->bytes) / 1024;
    }
    if (r->bytes < c->reply_peak) {
        c->reply_peak -= (c->reply_peak - r->bytes) / 16; /* forget an old peak slowly */
    }
    if (c->answered < UINT32_MAX) {
        c->answered++;
    }
    if (c->head != r) {
        return;
    }
    while (c->head && c->head->done) {
        struct gy_req *over = c->head;
        c->head = over->next;
        c->inflight--;
        release(over);
        if (c->head && gy_buf_size(&c->head->reply)) {
            c->waiting -= gy_buf_size(&c->head->reply);
            gy_buf_add(&c->conn.out, gy_buf_head(&c->head->reply), gy_buf_size(&c->head->reply));
            gy_buf_fini(&c->head->reply);
            gy_conn_dirty(&c->conn);
        }
    }
    if (!c->head) {
        c->tail = &c->head;
    }
    if (gy_buf_size(&c->in) || !c->conn.reading || c->closing) {
        gy_client_ready(c);
    }
}

void gy_req_buf(struct gy_req *r, const struct gy_buf *b)
{
    gy_req_bytes(r, gy_buf_head(b), gy_buf_size(b));
    gy_req_finish(r);
}

void gy_req_error(struct gy_req *r, const char *fmt, ...)
{
    struct gy_buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    gy_resp_verror(&b, fmt, ap);
    va_end(ap);
    r->worker->stats.errors++;
    gy_req_buf(r, &b);
    gy_buf_fini(&b);
}

void gy_reqs_orphan(struct gy_client *c)
{
    for (struct gy_req *r = c->head, *next; r; r = next) {
        next = r->next;
        r->client = NULL;
        gy_buf_fini(&r->reply);
        if (r->done) {
            release(r);
        }
    }
    c->head = NULL;
}

void gy_reqs_free(struct gy_worker *w)
{
    for (struct gy_req *r = w->free_reqs, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    w->free_reqs = NULL;
}
