/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_client.c - see move_client.h. libcurl does the HTTP; an environment's http_proxy is not
 * asked, since the admin is on this machine or on one named plainly.
 */
#include "cli/move_client.h"

#include "base/late.h"
#include "base/utf8.h"
#include "cli/out.h"
#include "formats/address.h"
#include "formats/config.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is used of libcurl: found at the first request. */
/* clang-format off */
#define CURL_FUNCTIONS(X) \
    X(easy_cleanup) X(easy_getinfo) X(easy_init) X(easy_perform) X(easy_setopt) \
    X(slist_append) X(slist_free_all)
/* clang-format on */

static struct {
#define FIELD(f) __typeof__(curl_##f) *f;
    CURL_FUNCTIONS(FIELD)
#undef FIELD
} curl;

static bool find_curl(char *why, size_t size)
{
#define NAME(f) "curl_" #f,
    static const char *const names[] = {CURL_FUNCTIONS(NAME)};
#undef NAME
    return gy_late_load(GYRE_SONAME_CURL, names, sizeof names / sizeof names[0], &curl, why, size);
}

enum {
    CONNECT_MS = 5000,
    GET_SECONDS = 60,
    POST_SECONDS = 3600, /* the pre-checks of a move may scan a full node */
};
#define ANSWER_MAX (64u << 20)

static int fail(gyre_error_t *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(gyre_error_t *e, int code, const char *fmt, ...)
{
    *e = (gyre_error_t){.code = code};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->message, sizeof e->message, fmt, ap);
    va_end(ap);
    return code;
}

#define HOW_TO_SAY \
    "give --admin ADDRESS (unix:/path or host:port), --config TOPOLOGY, or set GYRE_ADMIN"

static int find_in_file(const char *path, char **address, gyre_error_t *e)
{
    struct gy_config *conf = NULL;
    gy_complain_about(path);
    int err = gy_config_load(path, &conf, e);
    if (err != GYRE_OK) {
        return err;
    }
    if (!conf->proxy.admin) {
        err = fail(e, GYRE_INVALID, "%s has no proxy.admin; " HOW_TO_SAY, path);
    } else if (!(*address = strdup(conf->proxy.admin))) {
        err = fail(e, GYRE_NOMEM, "out of memory");
    }
    gy_config_free(conf);
    return err;
}

int gy_client_find(const char *admin, const char *config, char **address, gyre_error_t *e)
{
    *address = NULL;
    if (!admin && config) {
        return find_in_file(config, address, e);
    }
    if (!admin) {
        admin = getenv("GYRE_ADMIN");
    }
    if (!admin || !*admin) {
        return fail(e, GYRE_INVALID, "which proxy? " HOW_TO_SAY);
    }
    *address = strdup(admin);
    return *address ? GYRE_OK : fail(e, GYRE_NOMEM, "out of memory");
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    struct gy_client *c = ctx;
    if (gy_buf_size(&c->body) + n > ANSWER_MAX) {
        return 0;
    }
    gy_buf_add(&c->body, data, n);
    return gy_buf_failed(&c->body) ? 0 : n;
}

static int on_progress(void *ctx, curl_off_t dltotal, curl_off_t dlnow, curl_off_t ultotal,
                       curl_off_t ulnow)
{
    const struct gy_client *c = ctx;
    return c->stop && *c->stop;
}

/* The path of "unix:/path", NULL for another address. */
static const char *unix_path(const char *address)
{
    return strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
}

/* "unix:/path", "host:port", "http://host:port". */
static int set_address(struct gy_client *c, gyre_error_t *e)
{
    static const char scheme[] = "http://";
    const char *where = c->address;
    if (strncmp(where, scheme, strlen(scheme)) == 0) {
        where += strlen(scheme);
    }
    char why[GY_ADDRESS_WHY], q[GY_QUOTE];
    if (!gy_address_check(gy_str(where), false, why)) {
        /* A wrong port is told with the port; the forms then stand here. */
        return fail(e, GYRE_INVALID, "the admin address %s %s%s",
                    gy_utf8_quote(q, gy_str(c->address)), why,
                    strstr(why, "unix:/path") ? "" : " (unix:/path, host:port or [ipv6]:port)");
    }
    bool is_unix = unix_path(where);
    size_t n = strlen(where) + sizeof "http://gyre";
    c->base = malloc(n);
    if (!c->base) {
        return fail(e, GYRE_NOMEM, "out of memory");
    }
    if (is_unix) {
        snprintf(c->base, n, "http://gyre");
        if (curl.easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, where + 5) != CURLE_OK) {
            return fail(e, GYRE_NOMEM, "out of memory");
        }
    } else {
        snprintf(c->base, n, "http://%s", where);
    }
    return GYRE_OK;
}

int gy_client_init(struct gy_client *c, char *address, gyre_error_t *e)
{
    *c = (struct gy_client){.address = address};
    struct curl_slist *headers = NULL;
    char why[256];
    if (!find_curl(why, sizeof why)) {
        return fail(e, GYRE_IO, "requests to a proxy need libcurl: %s", why);
    }
    /* Expect would cost a round trip of waiting; X-Gyre is what marks us as no web page. */
    static const char *const lines[] = {"X-Gyre: 1", "Content-Type: application/json", "Expect:"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct curl_slist *more = curl.slist_append(headers, lines[i]);
        if (!more) {
            curl.slist_free_all(headers);
            return fail(e, GYRE_NOMEM, "out of memory");
        }
        headers = more;
    }
    c->headers = headers;
    c->curl = curl.easy_init();
    if (!c->curl) {
        return fail(e, GYRE_NOMEM, "out of memory");
    }
    curl.easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl.easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
    curl.easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http");
    curl.easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl.easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl.easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
    curl.easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl.easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    curl.easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    return set_address(c, e);
}

void gy_client_fini(struct gy_client *c)
{
    if (c->curl) {
        curl.easy_cleanup(c->curl);
    }
    if (c->headers) {
        curl.slist_free_all(c->headers);
    }
    gy_buf_fini(&c->body);
    free(c->base);
    free(c->address);
    *c = (struct gy_client){0};
}

static int code_by_name(const char *name)
{
    static const struct {
        const char *name;
        int code;
    } known[] = {
#define NAMED(name, value, text) {#name, GYRE_##name},
        GYRE_ERRORS(NAMED)
#undef NAMED
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].code;
        }
    }
    return GYRE_INVALID; /* NOT_FOUND, METHOD, ...: we asked what this proxy does not know */
}

/* The answer was not 2xx: its body should say why. */
static int refused(struct gy_client *c, long status, gyre_error_t *e)
{
    json_t *root = json_loadb(gy_buf_cstr(&c->body), gy_buf_size(&c->body), 0, NULL);
    const char *code = NULL, *message = NULL;
    int line = 0, column = 0;
    int err;
    if (root && json_unpack(root, "{s:{s:s,s:s,s?i,s?i}}", "error", "code", &code, "message",
                            &message, "line", &line, "column", &column) == 0) {
        err = fail(e, code_by_name(code), "%s", message);
        if (err == GYRE_OK) { /* an error that calls itself none is none of ours */
            err = e->code = GYRE_INVALID;
        }
        e->line = line > 0 ? (unsigned)line : 0;
        e->column = column > 0 ? (unsigned)column : 0;
    } else {
        err = fail(e, GYRE_INVALID, "%s answered HTTP %ld, which gyre's admin does not: %s",
                   c->address, status, "is this the proxy's admin address?");
    }
    json_decref(root);
    return err;
}

/* Who may: "it belongs to redis, mode 0600". */
static void put_owner(struct gy_buf *out, const char *what, const struct stat *st)
{
    const struct passwd *owner = getpwuid(st->st_uid);
    gy_buf_printf(out, "%s belongs to ", what);
    if (owner) {
        gy_buf_puts(out, owner->pw_name);
    } else {
        gy_buf_printf(out, "user %u", (unsigned)st->st_uid);
    }
    gy_buf_printf(out, ", mode %04o", (unsigned)st->st_mode & 07777);
}

/* The folder on the way that lets us no further. */
static void put_folder(struct gy_buf *out, const char *path)
{
    char folder[PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; (slash = strrchr(folder, '/')) && slash > folder;) {
        *slash = 0;
        if (stat(folder, &st) == 0) {
            gy_buf_puts(out, "the folder ");
            put_owner(out, folder, &st);
            return;
        }
    }
    gy_buf_puts(out, "a folder on the way may not be entered");
}

/* A socket file says more than a connection that failed. */
static bool why_unix(const char *path, int err, struct gy_buf *out)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        err = errno;
    } else if (!S_ISSOCK(st.st_mode)) {
        gy_buf_puts(out, "that file is no socket");
        return true;
    } else if (err == EACCES || err == EPERM) {
        gy_buf_puts(out, "permission denied: ");
        put_owner(out, "the socket", &st);
        gy_buf_puts(out, "; run this as its owner");
        return true;
    }
    if (err == EACCES) {
        gy_buf_puts(out, "permission denied: ");
        put_folder(out, path);
        gy_buf_puts(out, "; run this as the proxy's user");
    } else if (err == ENOENT || err == ENOTDIR) {
        gy_buf_puts(out, "there is no such socket file (is the proxy running?)");
    } else if (err == ECONNREFUSED) {
        gy_buf_puts(out, "the socket file is there, but nobody listens: the proxy has stopped");
    } else {
        return false;
    }
    return true;
}

static void why_tcp(int err, struct gy_buf *out)
{
    if (err == ECONNREFUSED) {
        gy_buf_puts(out, "connection refused: nobody listens there (is the proxy running?)");
    } else if (err) {
        gy_buf_printf(out, "cannot connect: %s", strerror(err));
    } else {
        gy_buf_puts(out, "cannot connect");
    }
}

/* In our words: the library speaks of its own options. Any other code: it was no HTTP. */
static const struct {
    CURLcode code;
    const char *text;
} SILENCES[] = {
    {CURLE_COULDNT_RESOLVE_HOST, "no host of that name is known"},
    {CURLE_OPERATION_TIMEDOUT, "no answer in time (is it reachable, and is it the proxy?)"},
    {CURLE_OUT_OF_MEMORY, "out of memory"},
    {CURLE_GOT_NOTHING, "the connection was closed before an answer came"},
    {CURLE_RECV_ERROR, "the connection was closed before an answer came"},
    {CURLE_SEND_ERROR, "the connection was closed before an answer came"},
    {CURLE_PARTIAL_FILE, "the connection was closed before an answer came"},
};

static void why_silent(const struct gy_client *c, CURLcode rc, struct gy_buf *out)
{
    long err = 0;
    const char *path = unix_path(c->address);
    if (rc == CURLE_COULDNT_CONNECT) {
        curl.easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &err);
        if (!path || !why_unix(path, (int)err, out)) {
            why_tcp((int)err, out);
        }
        return;
    }
    for (size_t i = 0; i < sizeof SILENCES / sizeof SILENCES[0]; i++) {
        if (SILENCES[i].code == rc) {
            gy_buf_puts(out, SILENCES[i].text);
            return;
        }
    }
    gy_buf_puts(out, "what answers there is not gyre's admin");
}

static int unanswered(const struct gy_client *c, CURLcode rc, gyre_error_t *e)
{
    struct gy_buf why = {0};
    why_silent(c, rc, &why);
    int code = fail(e, rc == CURLE_OPERATION_TIMEDOUT ? GYRE_TIMEOUT : GYRE_IO,
                    "the proxy's admin at %s: %s; if it is elsewhere, " HOW_TO_SAY, c->address,
                    gy_buf_cstr(&why));
    gy_buf_fini(&why);
    return code;
}

static int request(struct gy_client *c, const char *path, const char *body, gyre_error_t *e)
{
    char url[512];
    gy_buf_reset(&c->body);
    c->reached = false;
    snprintf(url, sizeof url, "%s%s", c->base, path);
    curl.easy_setopt(c->curl, CURLOPT_TIMEOUT, body ? (long)POST_SECONDS : (long)GET_SECONDS);
    if (body) {
        curl.easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
        curl.easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
    } else {
        curl.easy_setopt(c->curl, CURLOPT_HTTPGET, 1L);
    }
    if (curl.easy_setopt(c->curl, CURLOPT_URL, url) != CURLE_OK) {
        return fail(e, GYRE_NOMEM, "out of memory");
    }
    CURLcode rc = curl.easy_perform(c->curl);
    if (rc != CURLE_OK) {
        return unanswered(c, rc, e);
    }
    long status = 0;
    curl.easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    c->reached = true;
    return status >= 200 && status < 300 ? GYRE_OK : refused(c, status, e);
}

int gy_client_get(struct gy_client *c, const char *path, gyre_error_t *e)
{
    return request(c, path, NULL, e);
}

int gy_client_post(struct gy_client *c, const char *path, const char *body, gyre_error_t *e)
{
    return request(c, path, body, e);
}

int gy_client_exit(const struct gy_client *c, int err)
{
    switch (err) {
    case GYRE_OK:
        return 0;
    case GYRE_INVALID:
    case GYRE_SYNTAX:
    case GYRE_UNKNOWN:
    case GYRE_RANGE:
    case GYRE_DUPLICATE:
    case GYRE_EMPTY:
    case GYRE_UNSUPPORTED:
        return 2;
    default:
        return c->reached ? 1 : 3;
    }
}
