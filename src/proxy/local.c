/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - commands that the proxy answers itself; see dispatch.h. COMMAND: command_reply.c. INFO:
 * info.c. */
#include "proxy/dispatch.h"

#include "base/alloc.h"
#include "proxy/info.h"
#include "proxy/proxy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/time.h>

static bool is(struct gy_slice s, const char *word)
{
    return s.n == strlen(word) && strncasecmp((const char *)s.p, word, s.n) == 0;
}

static void ping(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    if (rq->argc > 2) {
        gy_resp_error(out, "ERR wrong number of arguments for 'ping' command");
    } else if (rq->argc == 2) {
        gy_resp_bulk(out, rq->argv[1].p, rq->argv[1].n);
    } else {
        gy_resp_simple(out, "PONG");
    }
}

static void echo(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    gy_resp_bulk(out, rq->argv[1].p, rq->argv[1].n);
}

static void quit(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)rq;
    gy_resp_simple(out, "OK");
    c->closing = true;
}

static void replace(char **slot, struct gy_slice s)
{
    free(*slot);
    *slot = NULL;
    if (s.n) {
        *slot = gy_xcalloc(1, s.n + 1);
        memcpy(*slot, s.p, s.n);
    }
}

static void reset(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)rq;
    replace(&c->name, (struct gy_slice){NULL, 0});
    gy_resp_simple(out, "RESET");
}

static void select_db(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    if (gy_slice_eq(rq->argv[1], GY_LIT("0"))) {
        gy_resp_simple(out, "OK");
    } else {
        gy_resp_error(out, "ERR the proxy carries database 0 only");
    }
}

static void tell_time(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    (void)rq;
    struct timeval tv;
    char text[24];
    gettimeofday(&tv, NULL);
    gy_resp_array(out, 2);
    snprintf(text, sizeof text, "%lld", (long long)tv.tv_sec);
    gy_resp_bulk_str(out, text);
    snprintf(text, sizeof text, "%lld", (long long)tv.tv_usec);
    gy_resp_bulk_str(out, text);
}

static void auth(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    (void)rq;
    gy_resp_error(
        out,
        "ERR AUTH called, but the proxy asks its clients for no password (the nodes' own password is the "
        "proxy's affair: proxy.backend.password_file)");
}

/* Names stand in CLIENT LIST lines: printable and without blanks, as Redis asks. */
static bool name_ok(struct gy_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '!' || s.p[i] > '~') {
            return false;
        }
    }
    return s.n <= 1024;
}

static void client_setname(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    if (!name_ok(rq->argv[2])) {
        gy_resp_error(out,
                      "ERR Client names cannot contain spaces, newlines or special characters.");
        return;
    }
    replace(&c->name, rq->argv[2]);
    gy_resp_simple(out, "OK");
}

static void client_setinfo(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    char **slot = is(rq->argv[2], "lib-name")  ? &c->lib_name
                  : is(rq->argv[2], "lib-ver") ? &c->lib_ver
                                               : NULL;
    if (!slot) {
        gy_resp_error(out, "ERR Unrecognized option: LIB-NAME and LIB-VER are known");
    } else if (!name_ok(rq->argv[3])) {
        gy_resp_error(out, "ERR %s cannot contain spaces, newlines or special characters.",
                      slot == &c->lib_name ? "lib-name" : "lib-ver");
    } else {
        replace(slot, rq->argv[3]);
        gy_resp_simple(out, "OK");
    }
}

static void client_getname(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)rq;
    if (c->name) {
        gy_resp_bulk_str(out, c->name);
    } else {
        gy_resp_nil(out);
    }
}

static void client_id(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)rq;
    gy_resp_int(out, (int64_t)c->id);
}

static void client_info(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)rq;
    struct gy_buf line = {0};
    gy_buf_printf(&line, "id=%" PRIu64 " name=%s db=0 resp=2 lib-name=%s lib-ver=%s\n", c->id,
                  c->name ? c->name : "", c->lib_name ? c->lib_name : "",
                  c->lib_ver ? c->lib_ver : "");
    gy_resp_bulk(out, gy_buf_head(&line), gy_buf_size(&line));
    gy_buf_fini(&line);
}

/* HELLO [2 [AUTH user password] [SETNAME name]] (Redis 7.0 networking.c helloCommand) */
static void hello(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    struct gy_slice name = {NULL, 0};
    bool named = false;
    if (rq->argc > 1 && !gy_slice_eq(rq->argv[1], GY_LIT("2"))) {
        bool number = rq->argv[1].n && rq->argv[1].p[0] >= '0' && rq->argv[1].p[0] <= '9';
        gy_resp_error(out, number ? "NOPROTO unsupported protocol version: this proxy speaks RESP2"
                                  : "ERR Protocol version is not an integer or out of range");
        return;
    }
    for (uint32_t i = 2; i < rq->argc;) {
        if (is(rq->argv[i], "AUTH") && i + 2 < rq->argc) {
            auth(c, rq, out);
            return;
        }
        if (!is(rq->argv[i], "SETNAME") || i + 1 >= rq->argc) {
            gy_resp_error(out, "ERR Syntax error in HELLO option '%.*s'",
                          rq->argv[i].n < 64 ? (int)rq->argv[i].n : 64,
                          (const char *)rq->argv[i].p);
            return;
        }
        name = rq->argv[i + 1];
        named = true;
        i += 2;
    }
    if (named && !name_ok(name)) {
        gy_resp_error(out,
                      "ERR Client names cannot contain spaces, newlines or special characters.");
        return;
    }
    if (named) {
        replace(&c->name, name);
    }
    gy_resp_array(out, 14);
    gy_resp_bulk_str(out, "server");
    gy_resp_bulk_str(out, "redis");
    gy_resp_bulk_str(out, "version");
    gy_resp_bulk_str(out, GY_REDIS_VERSION);
    gy_resp_bulk_str(out, "proto");
    gy_resp_int(out, 2);
    gy_resp_bulk_str(out, "id");
    gy_resp_int(out, (int64_t)c->id);
    gy_resp_bulk_str(out, "mode");
    gy_resp_bulk_str(out, "standalone");
    gy_resp_bulk_str(out, "role");
    gy_resp_bulk_str(out, "master");
    gy_resp_bulk_str(out, "modules");
    gy_resp_array(out, 0);
}

static const struct {
    const char *name;
    void (*answer)(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out);
} locals[] = {
    {"ping", ping},
    {"echo", echo},
    {"quit", quit},
    {"reset", reset},
    {"select", select_db},
    {"time", tell_time},
    {"auth", auth},
    {"hello", hello},
    {"info", gy_info_reply},
    {"client|setname", client_setname},
    {"client|setinfo", client_setinfo},
    {"client|getname", client_getname},
    {"client|id", client_id},
    {"client|info", client_info},
    {"command", gy_command_reply},
    {"command|count", gy_command_count_reply},
    {"command|docs", gy_command_docs_reply},
    {"command|getkeys", gy_command_getkeys_reply},
    {"command|info", gy_command_info_reply},
    {"command|list", gy_command_list_reply},
};

void gy_local(struct gy_client *c, const struct gy_command *cmd, const struct gy_request *rq)
{
    struct gy_req *r = gy_req_new(c);
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++) {
        if (strcmp(locals[i].name, cmd->name) == 0) {
            struct gy_buf out = {0};
            locals[i].answer(c, rq, &out);
            gy_req_buf(r, &out);
            gy_buf_fini(&out);
            return;
        }
    }
    gy_req_error(r, "ERR '%s' is not answered by this proxy", cmd->name);
}
