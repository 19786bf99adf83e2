/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - see live.h. redis://[[USER]:PASSWORD@]HOST[:PORT]; without a password REDISCLI_AUTH is
 * used, as redis-cli does, which no list of processes shows. Only questions are asked: CLUSTER
 * NODES, and of a server that is no cluster, INFO.
 */
#include "cli/live.h"
#include "cli/term.h"
#include "formats/mark.h"
#include "formats/redis_info.h"

#include <stdio.h>
#include <stdlib.h>

#define SCHEME     "redis://"
#define PORT       6379
#define CONNECT_MS 3000
#define ANSWER_MS  10000
#define WHOLE_MS   30000
#define ANSWER_MAX ((size_t)16 << 20) /* the view of a hundred thousand nodes */
#define URL_MAX    1024

struct url {
    char text[URL_MAX]; /* its parts, each ended by NUL */
    const char *user, *password, *host;
};

bool gy_live_is(const char *path)
{
    return strncmp(path, SCHEME, strlen(SCHEME)) == 0 || strncmp(path, "rediss://", 9) == 0;
}

static const char *after_password(const char *url)
{
    const char *rest = strstr(url, "://");
    const char *at = rest ? strrchr(rest, '@') : NULL;
    return at ? at + 1 : rest ? rest + 3 : url;
}

void gy_live_name(const char *url, char *out, size_t size)
{
    const char *host = after_password(url);
    snprintf(out, size, SCHEME "%.*s", (int)strcspn(host, "/?"), host);
}

/* Percent-encoding off one part; false when it is broken, or hides a NUL, which would end it. */
static bool plain(char *part)
{
    size_t n = strlen(part);
    bool good = gy_term_decode((uint8_t *)part, &n) && !memchr(part, 0, n);
    part[good ? n : 0] = 0;
    return good;
}

static int parse(const char *url, const char *shown, struct url *out, gyre_error_t *e)
{
    *out = (struct url){.password = getenv("REDISCLI_AUTH")};
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0) {
        return gy_format_fail(e, GYRE_UNSUPPORTED, shown,
                              "TLS is not spoken here: save what redis-cli --tls says of "
                              "'cluster nodes', and give that file");
    }
    if (strlen(url) >= sizeof out->text) {
        return gy_format_fail(e, GYRE_INVALID, shown, "longer than an address can be");
    }
    snprintf(out->text, sizeof out->text, "%s", url + strlen(SCHEME));
    char *host = strrchr(out->text, '@'), *colon = strchr(out->text, ':');
    if (host) {
        *host++ = 0;
        if (colon && colon < host) {
            *colon++ = 0;
            out->password = colon;
            out->user = *out->text ? out->text : NULL;
        } else {
            out->password = out->text;
            colon = out->text;
        }
        if (!plain(colon) || (out->user && !plain(out->text))) {
            return gy_format_fail(e, GYRE_INVALID, shown,
                                  "in user and password a '%%' must be followed by two hex digits, "
                                  "and not by 00");
        }
    }
    out->host = host ? host : out->text;
    out->text[(size_t)(out->host - out->text) + strcspn(out->host, "/?")] = 0;
    if (!*out->host) {
        return gy_format_fail(e, GYRE_INVALID, NULL,
                              "redis:// names no host: write redis://HOST:PORT");
    }
    if (strcmp(out->host, "unix:") == 0) {
        return gy_format_fail(e, GYRE_INVALID, NULL,
                              "redis:// asks over TCP: of a socket, save what redis-cli -s says of "
                              "'cluster nodes' or 'info', and give that file");
    }
    return GYRE_OK;
}

/* What to do about it, where the server's own words do not say so. */
static void advise(gyre_error_t *e)
{
    static const struct {
        const char *word, *todo;
    } all[] = {
        {"NOAUTH", "put the password into REDISCLI_AUTH, or write redis://USER:PASSWORD@HOST:PORT"},
        {"WRONGPASS", "it has another user or password"},
        {"NOPERM", "the user needs +cluster|nodes +info +client|id there"},
        {"LOADING", "it still reads its data; ask again when it is up"},
        {"BUSY ", "a script keeps it; ask again, or see SCRIPT KILL"},
        {"MOVED ", "the cluster changes just now; ask again"},
        {"unknown command", "is it a proxy? Ask a Redis server itself"},
    };
    size_t used = strlen(e->message);
    for (size_t i = 0; e->code == GYRE_REFUSED && i < sizeof all / sizeof all[0]; i++) {
        if (strstr(e->message, all[i].word)) {
            snprintf(e->message + used, sizeof e->message - used, " (%s)", all[i].todo);
            return;
        }
    }
}

/* One question, whose answer is text. */
static int ask(struct gy_sync *s, const char *where, struct gy_buf *text, gyre_error_t *e,
               const char *word, const char *more)
{
    struct gy_reply *reply = NULL;
    int rc = gy_sync_call(s, &reply, e, word, more, NULL);
    if (!rc && (reply->type != '$' || !reply->text.n)) {
        rc = gy_format_fail(e, GYRE_REFUSED, where,
                            "it answers %s with no text: not a Redis server?", word);
    }
    if (!rc) {
        gy_buf_add(text, reply->text.p, reply->text.n);
        rc = text->failed ? gy_format_fail(e, GYRE_NOMEM, NULL, "out of memory") : GYRE_OK;
    }
    gy_reply_free(reply);
    return rc;
}

static int ask_all(struct gy_sync *s, struct gy_buf *text, const char **format,
                   const char *asked_at, gyre_error_t *e)
{
    *format = "redis-nodes";
    int rc = ask(s, asked_at, text, e, "CLUSTER", "NODES");
    if (rc == GYRE_REFUSED && strstr(e->message, "cluster support disabled")) {
        *format = "redis-info";
        gy_buf_printf(text, GY_INFO_ASKED_AT ":%s\n", asked_at);
        rc = ask(s, asked_at, text, e, "INFO", NULL);
    }
    return rc;
}

static int connect_to(const char *url, const char *address, size_t most, struct gy_sync **out,
                      struct gy_addr *addr, gyre_error_t *e)
{
    char shown[256];
    struct url u;
    *out = NULL;
    gy_live_name(url, shown, sizeof shown);
    int rc = parse(url, shown, &u, e);
    rc = rc ? rc : gy_addr_parse(address ? address : u.host, PORT, addr, e);
    if (!rc && address && addr->is_unix) {
        /* A server said so: it must not choose which socket here is told the password. */
        rc = gy_format_fail(e, GYRE_REFUSED, address,
                            "a server names a socket of this machine; only HOST:PORT is asked");
    }
    if (!rc) {
        struct gy_sync_opts opts = {.user = u.user,
                                    .password = u.password && *u.password ? u.password : NULL,
                                    .connect_ms = CONNECT_MS,
                                    .timeout_ms = ANSWER_MS,
                                    .whole_ms = WHOLE_MS,
                                    .most = most};
        rc = gy_sync_connect(addr, &opts, out, e);
    }
    return rc;
}

int gy_live_connect(const char *url, const char *address, size_t most, struct gy_sync **out,
                    gyre_error_t *e)
{
    struct gy_addr addr;
    int rc = connect_to(url, address, most, out, &addr, e);
    if (rc) {
        advise(e);
    }
    return rc;
}

int gy_live_nodes(const char *url, const char *address, struct gy_buf *text, gyre_error_t *e)
{
    struct gy_addr addr;
    struct gy_sync *s = NULL;
    int rc = connect_to(url, address, ANSWER_MAX, &s, &addr, e);
    rc = rc ? rc : ask(s, address, text, e, "CLUSTER", "NODES");
    if (rc) {
        advise(e);
    }
    gy_sync_close(s);
    return rc;
}

int gy_live_read(const char *url, struct gy_buf *text, const char **format, gyre_error_t *e)
{
    char asked_at[300];
    struct gy_addr addr;
    struct gy_sync *s = NULL;
    int rc = connect_to(url, NULL, ANSWER_MAX, &s, &addr, e);
    if (!rc) {
        bool brackets = !addr.is_unix && strchr(addr.host, ':');
        snprintf(asked_at, sizeof asked_at, brackets ? "[%s]:%u" : "%s:%u", addr.host, addr.port);
        rc = ask_all(s, text, format, asked_at, e);
    }
    gy_sync_close(s);
    if (rc) {
        advise(e);
    }
    return rc;
}
