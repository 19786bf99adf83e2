/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.c - see sync.h. One rule matters most: after a time-out the server may still execute what
 * was sent, so the connection is never used again and the next one kills it at the server first
 * (migration.md 3.6, race 7). Threads: one thread an object.
 */
#include "net/sync.h"

#include "base/utf8.h"
#include "lib/error.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define READ_CHUNK 65536
#define KEEP_BYTES (1u << 20) /* memory kept by an idle connection's buffers */
#define SHOWN      40         /* bytes of an answer that is none */
#define TLS_ALERT  0x15
#define LINE_COST  64 /* about what an element takes in memory, however short it is */

struct gy_sync {
    int fd;
    int timeout_ms, whole_ms;
    size_t most;
    bool broken;
    struct gy_buf out, in;
    size_t taken; /* bytes of `in` that belong to the reply handed out last */
    struct gy_greet greet;
    char where[300]; /* for messages */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int fail_io(struct gy_sync *s, gyre_error_t *e, const char *what, int err)
{
    s->broken = true;
    return gy_fail(e, GYRE_IO, "%s: %s: %s", s->where, what, strerror(err));
}

/* Waits for events. 0: the time is over. */
static int wait_for(struct gy_sync *s, short events, int timeout_ms, short *got)
{
    struct pollfd p = {.fd = s->fd, .events = events};
    int64_t end = now_ms() + timeout_ms;
    for (;;) {
        int64_t left = end - now_ms();
        int rc = poll(&p, 1, left > 0 ? (int)left : 0);
        if (rc >= 0 || errno != EINTR) {
            *got = p.revents;
            return rc;
        }
    }
}

static int open_socket(struct gy_sync *s, const struct gy_addr *addr, int connect_ms,
                       gyre_error_t *e)
{
    struct sockaddr_storage sa;
    socklen_t len;
    int rc = gy_addr_resolve(addr, &sa, &len, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    s->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0) {
        return fail_io(s, e, "socket", errno);
    }
    if (!addr->is_unix) {
        int one = 1;
        (void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        (void)setsockopt(s->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    }
    if (connect(s->fd, (struct sockaddr *)&sa, len) == 0) {
        return GYRE_OK;
    }
    if (errno != EINPROGRESS) {
        return fail_io(s, e, "cannot connect", errno);
    }
    short got;
    rc = wait_for(s, POLLOUT, connect_ms, &got);
    if (rc <= 0) {
        s->broken = true;
        return gy_fail(e, GYRE_TIMEOUT, "%s: no connection within %d ms", s->where, connect_ms);
    }
    int err = 0;
    socklen_t elen = sizeof err;
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &err, &elen) != 0 || err != 0) {
        return fail_io(s, e, "cannot connect", err ? err : errno);
    }
    return GYRE_OK;
}

void gy_sync_add(struct gy_sync *s, size_t argc, const struct gy_slice *argv)
{
    gy_resp_command(&s->out, argc, argv);
}

static void add_va(struct gy_sync *s, va_list ap)
{
    struct gy_slice argv[16];
    size_t argc = 0;
    const char *arg;
    while (argc < 16 && (arg = va_arg(ap, const char *)) != NULL) {
        argv[argc++] = gy_str(arg);
    }
    gy_sync_add(s, argc, argv);
}

void gy_sync_cmd(struct gy_sync *s, ...)
{
    va_list ap;
    va_start(ap, s);
    add_va(s, ap);
    va_end(ap);
}

size_t gy_sync_queued(const struct gy_sync *s)
{
    return gy_buf_size(&s->out);
}

/* Writes what the socket takes. */
static int push(struct gy_sync *s, gyre_error_t *e)
{
    while (gy_buf_size(&s->out) > 0) {
        ssize_t n = send(s->fd, gy_buf_head(&s->out), gy_buf_size(&s->out), MSG_NOSIGNAL);
        if (n >= 0) {
            gy_buf_consume(&s->out, (size_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return GYRE_OK;
        } else if (errno != EINTR) {
            return fail_io(s, e, "write", errno);
        }
    }
    gy_buf_trim(&s->out, KEEP_BYTES);
    return GYRE_OK;
}

/* Reads what has come, at most one chunk. */
static int pull(struct gy_sync *s, gyre_error_t *e)
{
    if (!gy_buf_reserve(&s->in, READ_CHUNK)) {
        s->broken = true;
        return gy_fail_nomem(e);
    }
    ssize_t n = recv(s->fd, s->in.data + s->in.len, s->in.cap - s->in.len, 0);
    if (n > 0) {
        s->in.len += (size_t)n;
        return GYRE_OK;
    }
    if (n == 0) {
        s->broken = true;
        return gy_fail(e, GYRE_IO, "%s: the server closed the connection", s->where);
    }
    return errno == EAGAIN || errno == EINTR ? GYRE_OK : fail_io(s, e, "read", errno);
}

/* Moves bytes both ways until something arrived or the time is over. */
static int turn(struct gy_sync *s, gyre_error_t *e)
{
    size_t had = s->in.len;
    while (s->in.len == had) {
        int rc = push(s, e);
        if (rc != GYRE_OK) {
            return rc;
        }
        short got;
        bool writing = gy_buf_size(&s->out) > 0;
        int n = wait_for(s, (short)(POLLIN | (writing ? POLLOUT : 0)), s->timeout_ms, &got);
        if (n < 0) {
            return fail_io(s, e, "poll", errno);
        }
        if (n == 0) {
            s->broken = true;
            return gy_fail(e, GYRE_TIMEOUT, "%s: no answer within %d ms", s->where, s->timeout_ms);
        }
        if (got & (POLLIN | POLLHUP | POLLERR)) {
            rc = pull(s, e);
            if (rc != GYRE_OK) {
                return rc;
            }
        }
    }
    return GYRE_OK;
}

/* Lines of an answer that is no bulk: as many elements at most. */
static size_t lines_of(const struct gy_sync *s, size_t n)
{
    const uint8_t *p = gy_buf_head(&s->in), *end = p + n;
    size_t lines = 0;
    while (n && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        lines++;
        p++;
    }
    return lines;
}

/* What came, and what it says is still to come, beside what the one who asked will take. */
static int check_size(struct gy_sync *s, const struct gy_reply_scan *scan, size_t seen,
                      gyre_error_t *e)
{
    if (!s->most || (seen <= s->most && scan->skip <= s->most)) {
        return GYRE_OK;
    }
    s->broken = true;
    return gy_fail(e, GYRE_IO, "%s: its answer has more than %zu MB", s->where, s->most >> 20);
}

static int check_elements(struct gy_sync *s, const struct gy_reply_scan *scan, size_t n,
                          gyre_error_t *e)
{
    if (!s->most || scan->first == '$' || lines_of(s, n) <= s->most / LINE_COST) {
        return GYRE_OK;
    }
    s->broken = true;
    return gy_fail(e, GYRE_IO, "%s: its answer has more than %zu parts", s->where,
                   s->most / LINE_COST);
}

/* How it begins tells which other kind of server it is; a TLS alert is not to be read. */
static int fail_foreign(struct gy_sync *s, gyre_error_t *e)
{
    char q[GY_QUOTE];
    struct gy_slice in = {gy_buf_head(&s->in), gy_buf_size(&s->in)};
    in.n = in.n < SHOWN ? in.n : SHOWN;
    s->broken = true;
    return gy_fail(e, GYRE_IO, "%s: the answer is not RESP: %s%s", s->where, gy_utf8_quote(q, in),
                   in.n && *in.p == TLS_ALERT ? " (is this a TLS port?)" : "");
}

int gy_sync_read(struct gy_sync *s, struct gy_reply **out, gyre_error_t *e)
{
    struct gy_reply_scan scan;
    int64_t end = s->whole_ms ? now_ms() + s->whole_ms : INT64_MAX;
    size_t seen = 0;
    *out = NULL;
    if (gy_buf_failed(&s->out)) {
        s->broken = true;
        return gy_fail_nomem(e);
    }
    if (s->broken) {
        return gy_fail(e, GYRE_IO, "%s: the connection is broken", s->where);
    }
    gy_buf_consume(&s->in, s->taken);
    gy_buf_trim(&s->in, KEEP_BYTES);
    s->taken = 0;
    gy_reply_scan_init(&scan);
    for (;;) {
        size_t used = 0, n = gy_buf_size(&s->in) - seen;
        enum gy_parse p =
            n ? gy_reply_scan(&scan, gy_buf_head(&s->in) + seen, n, &used) : GY_PARSE_MORE;
        seen += used;
        if (p == GY_PARSE_DONE) {
            break;
        }
        if (p == GY_PARSE_ERROR) {
            return fail_foreign(s, e);
        }
        int rc = check_size(s, &scan, seen, e);
        if (rc == GYRE_OK && now_ms() > end) {
            s->broken = true;
            rc = gy_fail(e, GYRE_TIMEOUT, "%s: its answer was not whole within %d ms", s->where,
                         s->whole_ms);
        }
        rc = rc ? rc : turn(s, e);
        if (rc != GYRE_OK) {
            return rc;
        }
    }
    int rc = check_elements(s, &scan, seen, e);
    if (rc != GYRE_OK) {
        return rc;
    }
    s->taken = seen;
    *out = gy_reply_parse(gy_buf_head(&s->in), seen);
    if (!*out) {
        s->broken = true;
        return gy_fail_nomem(e);
    }
    return GYRE_OK;
}

static int read_ok(struct gy_sync *s, struct gy_reply **out, gyre_error_t *e)
{
    int rc = gy_sync_read(s, out, e);
    if (rc == GYRE_OK && (*out)->type == '-') {
        rc = gy_fail(e, GYRE_REFUSED, "%s: %.*s", s->where, (int)(*out)->text.n,
                     (const char *)(*out)->text.p);
        gy_reply_free(*out);
        *out = NULL;
    }
    return rc;
}

int gy_sync_call(struct gy_sync *s, struct gy_reply **out, gyre_error_t *e, ...)
{
    va_list ap;
    va_start(ap, e);
    add_va(s, ap);
    va_end(ap);
    return read_ok(s, out, e);
}

int gy_sync_do(struct gy_sync *s, gyre_error_t *e, ...)
{
    struct gy_reply *r;
    va_list ap;
    va_start(ap, e);
    add_va(s, ap);
    va_end(ap);
    int rc = read_ok(s, &r, e);
    gy_reply_free(r);
    return rc;
}

struct gy_slice gy_info_field(struct gy_slice info, const char *field)
{
    size_t len = strlen(field);
    const uint8_t *p = info.p, *end = info.n ? info.p + info.n : info.p;
    while (p < end) {
        const uint8_t *eol = memchr(p, '\n', (size_t)(end - p));
        const uint8_t *stop = eol ? eol : end;
        if ((size_t)(stop - p) > len && memcmp(p, field, len) == 0 && p[len] == ':') {
            p += len + 1;
            while (stop > p && (stop[-1] == '\r' || stop[-1] == ' ')) {
                stop--;
            }
            return (struct gy_slice){p, (size_t)(stop - p)};
        }
        p = stop + 1;
    }
    return (struct gy_slice){NULL, 0};
}

/* AUTH, then who we are and who the server is, then the dead are buried. */
static int greet(struct gy_sync *s, const struct gy_sync_opts *o, gyre_error_t *e)
{
    struct gy_greet *g = &s->greet;
    enum gy_greeting state = GY_GREETING_MORE;
    int rc = GYRE_OK;
    *g = (struct gy_greet){.user = o->user,
                           .password = o->password,
                           .name = o->client_name,
                           .fence = o->fence,
                           .look = o->look,
                           .kill_id = o->kill_id,
                           .kill_run_id = o->kill_run_id};
    gy_greet_begin(g, &s->out);
    while (state == GY_GREETING_MORE && rc == GYRE_OK) {
        struct gy_reply *r;
        rc = gy_sync_read(s, &r, e);
        if (rc == GYRE_OK) {
            state = gy_greet_take(g, r, &s->out);
            gy_reply_free(r);
        }
    }
    if (o->made && g->made) {
        *o->made = true;
    }
    if (state == GY_GREETING_FAILED) {
        rc = gy_fail(e, GYRE_REFUSED, "%s: %s", s->where, g->why);
    }
    gy_greet_fini(g);
    return rc;
}

int gy_sync_connect(const struct gy_addr *addr, const struct gy_sync_opts *opts,
                    struct gy_sync **out, gyre_error_t *e)
{
    *out = NULL;
    struct gy_sync *s = calloc(1, sizeof *s);
    if (!s) {
        return gy_fail_nomem(e);
    }
    s->fd = -1;
    s->timeout_ms = opts->timeout_ms;
    s->whole_ms = opts->whole_ms;
    s->most = opts->most;
    if (addr->is_unix) {
        snprintf(s->where, sizeof s->where, "unix:%s", addr->host);
    } else {
        bool v6 = strchr(addr->host, ':') != NULL;
        snprintf(s->where, sizeof s->where, v6 ? "[%s]:%u" : "%s:%u", addr->host, addr->port);
    }
    int rc = open_socket(s, addr, opts->connect_ms, e);
    if (rc == GYRE_OK) {
        rc = greet(s, opts, e);
    }
    if (rc != GYRE_OK) {
        gy_sync_close(s);
        return rc;
    }
    *out = s;
    return GYRE_OK;
}

void gy_sync_close(struct gy_sync *s)
{
    if (!s) {
        return;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    gy_buf_fini(&s->out);
    gy_buf_fini(&s->in);
    free(s);
}

void gy_sync_timeout(struct gy_sync *s, int timeout_ms)
{
    s->timeout_ms = timeout_ms;
}

bool gy_sync_broken(const struct gy_sync *s)
{
    return s->broken;
}

int64_t gy_sync_client_id(const struct gy_sync *s)
{
    return s->greet.client_id;
}

const char *gy_sync_run_id(const struct gy_sync *s)
{
    return s->greet.run_id;
}

const struct gy_greet *gy_sync_greeting(const struct gy_sync *s)
{
    return &s->greet;
}
