/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin.c - see admin.h: the HTTP side, on libmicrohttpd. A request is checked when its headers are
 * there (path, method, Host, X-Gyre, size), gathered, answered by routes.c.
 *
 * Two things keep a web page in the operator's browser from steering the proxy: a POST must carry
 * X-Gyre, which a page of another origin cannot send without a preflight that we never grant; and
 * on loopback TCP the Host must be a literal address or localhost, so that a name rebound to
 * 127.0.0.1 is no origin of ours.
 */
#include "admin/admin.h"

#include "admin/door.h"
#include "admin/routes.h"
#include "base/late.h"
#include "base/log.h"

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What is used of libmicrohttpd: found when a door is opened. */
/* clang-format off */
#define HTTP_FUNCTIONS(X) \
    X(add_response_header) X(create_response_from_buffer) X(destroy_response) \
    X(get_connection_info) X(lookup_connection_value) X(queue_response) \
    X(set_connection_option) X(start_daemon) X(stop_daemon)
/* clang-format on */

static struct {
#define FIELD(f) __typeof__(MHD_##f) *f;
    HTTP_FUNCTIONS(FIELD)
#undef FIELD
} http;

static bool find_http(char *why, size_t size)
{
#define NAME(f) "MHD_" #f,
    static const char *const names[] = {HTTP_FUNCTIONS(NAME)};
#undef NAME
    return gy_late_load(GYRE_SONAME_MICROHTTPD, names, sizeof names / sizeof names[0], &http, why,
                        size);
}

enum {
    MAX_CONNECTIONS = 64,
    CROWDED = 48,           /* from here on the oldest makes room for the newest */
    SILENT_SECONDS = 5,     /* a connection without a request that sends nothing */
    IDLE_SECONDS = 30,      /* one in the middle of a request */
    HEADER_BYTES = 32768,   /* of one request */
    BODIES_HELD = 64 << 20, /* bytes of all bodies being gathered */
};

/* One a connection, the oldest (since its last request) first. */
struct peer {
    struct MHD_Connection *conn;
    struct peer *next, **link;
    bool busy;    /* a request of it has begun */
    bool leaving; /* it was shut, and not closed yet */
};

struct gy_admin {
    struct MHD_Daemon *daemon;
    struct peer *peers, **last; /* admin thread only */
    unsigned npeers;
    struct gy_admin_ops ops;
    struct gy_door door;
    size_t held; /* bytes of bodies being gathered; admin thread only */
};

struct request {
    const struct gy_route_http *route;
    struct gy_buf body;
    struct gy_reply_http refusal; /* route NULL: the answer, once the body has gone by */
    size_t passed;                /* bytes of it that have */
};

static enum MHD_Result send_reply(struct MHD_Connection *c, struct gy_reply_http *r)
{
    if (gy_buf_failed(&r->body)) {
        r->status = 500; /* with an empty body: there was no memory to say more */
    }
    struct MHD_Response *m = http.create_response_from_buffer(
        gy_buf_size(&r->body), r->body.data ? r->body.data + r->body.off : (void *)"",
        MHD_RESPMEM_MUST_COPY);
    enum MHD_Result ok = MHD_NO;
    if (m) {
        http.add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
        http.add_response_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        http.add_response_header(m, "X-Content-Type-Options", "nosniff");
        if (r->allow) {
            http.add_response_header(m, MHD_HTTP_HEADER_ALLOW, r->allow);
        }
        ok = http.queue_response(c, r->status, m);
        http.destroy_response(m);
    }
    gy_buf_fini(&r->body);
    return ok;
}

/* "127.0.0.1:8080", "[::1]:8080", "localhost": what no attacker's name server can hand out. */
static bool host_is_literal(const char *host)
{
    size_t n = strcspn(host, ":");
    if (host[0] == '[') {
        return true; /* no name has a bracket */
    }
    return (n == 9 && strncmp(host, "localhost", n) == 0) ||
           (n > 0 && strspn(host, "0123456789.") >= n);
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    return http.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* True: the request may go on. False: r says why not. */
static bool admit(const struct gy_admin *a, struct MHD_Connection *c,
                  const struct gy_route_http *route, struct gy_reply_http *r)
{
    const char *host = header(c, MHD_HTTP_HEADER_HOST);
    const char *length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (!a->door.is_unix && (!host || !host_is_literal(host))) {
        gy_reply_problem(r, 403, "FORBIDDEN",
                         "the Host header must be a literal address or localhost");
        return false;
    }
    if (gy_admin_route_changes(route)) {
        const char *mark = header(c, "X-Gyre");
        if (!mark || strcmp(mark, "1") != 0) {
            gy_reply_problem(r, 403, "FORBIDDEN",
                             "a change needs the header X-Gyre: 1 (a web page cannot send it)");
            return false;
        }
    }
    if (length && strtoull(length, NULL, 10) > gy_admin_route_body(route)) {
        char text[96];
        snprintf(text, sizeof text, "the body is larger than the %zu bytes this path takes",
                 gy_admin_route_body(route));
        gy_reply_problem(r, 413, "TOO_LARGE", text);
        return false;
    }
    return true;
}

static struct peer *peer_of(struct MHD_Connection *c)
{
    return http.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void append(struct gy_admin *a, struct peer *p)
{
    p->next = NULL;
    p->link = a->last;
    *a->last = p;
    a->last = &p->next;
}

static void unlink_peer(struct gy_admin *a, struct peer *p)
{
    *p->link = p->next;
    if (p->next) {
        p->next->link = p->link;
    } else {
        a->last = p->link;
    }
}

static void set_busy(struct peer *p, bool busy)
{
    p->busy = busy;
    http.set_connection_option(p->conn, MHD_CONNECTION_OPTION_TIMEOUT,
                               (unsigned)(busy ? IDLE_SECONDS : SILENT_SECONDS));
}

/* Whoever only holds connections open must not keep an operator out: the oldest goes, one without a
 * request if there is any. libmicrohttpd closes it when it sees the end. */
static void make_room(struct gy_admin *a)
{
    struct peer *oldest = NULL;
    for (struct peer *p = a->peers; p && (!oldest || oldest->busy); p = p->next) {
        if (!p->leaving && (!oldest || !p->busy)) {
            oldest = p;
        }
    }
    if (!oldest) {
        return;
    }
    oldest->leaving = true;
    a->npeers--;
    shutdown(http.get_connection_info(oldest->conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
             SHUT_RDWR);
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **slot,
                          enum MHD_ConnectionNotificationCode what)
{
    struct gy_admin *a = ctx;
    struct peer *p = *slot;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (p) {
            unlink_peer(a, p);
            a->npeers -= !p->leaving;
            free(p);
        }
        return;
    }
    if (a->npeers >= CROWDED) {
        make_room(a);
    }
    p = calloc(1, sizeof *p);
    if (p) { /* without: it is not counted, and goes by its time-out */
        p->conn = c;
        append(a, p);
        a->npeers++;
        *slot = p;
    }
}

/* The headers are there, the body is not yet. A client that is still sending when we answer and
 * close would see a broken pipe in place of the answer: so a refused body is let go by, unless it
 * is too large even for that. */
static enum MHD_Result begin(const struct gy_admin *a, struct MHD_Connection *c, const char *method,
                             const char *url, void **slot)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q) {
        return MHD_NO;
    }
    *slot = q;
    struct peer *p = peer_of(c);
    if (p) {
        set_busy(p, true);
    }
    q->route = gy_admin_route(method, url, &q->refusal);
    if (q->route && !admit(a, c, q->route, &q->refusal)) {
        q->route = NULL;
    }
    return !q->route && q->refusal.status == 413 ? send_reply(c, &q->refusal) : MHD_YES;
}

/* Only a body without Content-Length can outgrow its bound here; HTTP gives no moment for an answer
 * in the middle of one, so the connection is closed. */
static enum MHD_Result gather(struct gy_admin *a, struct request *q, const char *data, size_t *n)
{
    size_t most = q->route ? gy_admin_route_body(q->route) : GY_ADMIN_BODY_MAX;
    if (q->passed + *n > most || a->held + *n > BODIES_HELD) {
        return MHD_NO;
    }
    q->passed += *n;
    if (q->route) {
        gy_buf_add(&q->body, data, *n);
        if (gy_buf_failed(&q->body)) {
            return MHD_NO;
        }
        a->held += *n;
    }
    *n = 0;
    return MHD_YES;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *n, void **slot)
{
    struct gy_admin *a = ctx;
    if (!*slot) {
        return begin(a, c, method, url, slot);
    }
    struct request *q = *slot;
    if (*n > 0) {
        return gather(a, q, data, n);
    }
    if (!q->route) {
        return send_reply(c, &q->refusal);
    }
    struct gy_reply_http r = {0};
    gy_admin_answer(q->route, &a->ops, gy_buf_head(&q->body), gy_buf_size(&q->body), &r);
    return send_reply(c, &r);
}

static void on_done(void *ctx, struct MHD_Connection *c, void **slot,
                    enum MHD_RequestTerminationCode why)
{
    struct gy_admin *a = ctx;
    struct request *q = *slot;
    struct peer *p = peer_of(c);
    if (p) {
        unlink_peer(a, p);
        append(a, p);
        set_busy(p, false);
    }
    if (q) {
        a->held -= gy_buf_size(&q->body);
        gy_buf_fini(&q->body);
        gy_buf_fini(&q->refusal.body);
        free(q);
        *slot = NULL;
    }
}

__attribute__((format(printf, 2, 0))) static void on_log(void *ctx, const char *fmt, va_list ap)
{
    char line[512];
    vsnprintf(line, sizeof line, fmt, ap);
    line[strcspn(line, "\r\n")] = '\0';
    gy_debug("admin: %s", line);
}

static struct MHD_Daemon *start_daemon(struct gy_admin *a)
{
    /* Signals are for the thread that waits for them: the new one inherits a full mask. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *d = http.start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, on_request, a, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET,
        a->door.fd, MHD_OPTION_NOTIFY_COMPLETED, on_done, a, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_SECONDS,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, a, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_BYTES, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return d;
}

int gy_admin_prepare(gyre_error_t *e)
{
    char why[256];
    return find_http(why, sizeof why)
               ? GYRE_OK
               : gy_admin_fail(e, GYRE_IO, "admin: it needs libmicrohttpd: %s", why);
}

int gy_admin_start(const char *address, const struct gy_admin_ops *ops, struct gy_admin **out,
                   gyre_error_t *e)
{
    *out = NULL;
    struct gy_admin *a = calloc(1, sizeof *a);
    if (!a) {
        return gy_admin_fail(e, GYRE_NOMEM, "out of memory");
    }
    a->ops = *ops;
    a->last = &a->peers;
    int err = gy_admin_prepare(e);
    err = err ? err : gy_door_open(address, &a->door, e);
    if (err != GYRE_OK) {
        free(a);
        return err;
    }
    a->daemon = start_daemon(a);
    if (!a->daemon) {
        err = gy_admin_fail(e, GYRE_IO, "admin: the HTTP server did not start on %s", address);
        gy_door_unlink(&a->door);
        free(a); /* the socket is left open: libmicrohttpd closes it on some failures only */
        return err;
    }
    *out = a;
    return GYRE_OK;
}

void gy_admin_stop(struct gy_admin *a)
{
    if (!a) {
        return;
    }
    /* The file goes first, so that nobody connects to a socket about to close. */
    gy_door_unlink(&a->door);
    http.stop_daemon(a->daemon);
    free(a);
}

const char *gy_admin_address(const struct gy_admin *a)
{
    return a->door.address;
}
