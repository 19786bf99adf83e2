/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.c - see dispatch.h. */
#include "proxy/dispatch.h"

#include "base/alloc.h"
#include "base/log.h"
#include "proxy/proxy.h"
#include "proxy/task.h"

#include <stdlib.h>
#include <strings.h>

#define KEYS_ON_STACK 64

/* Shown in errors: a name or argument cut to a sane length, unprintable bytes as '?'. */
static void show(char *out, size_t cap, struct gy_slice s)
{
    size_t n = s.n < cap - 1 ? s.n : cap - 1;
    for (size_t i = 0; i < n; i++) {
        out[i] = s.p[i] < 0x20 || s.p[i] > 0x7e ? '?' : (char)s.p[i];
    }
    out[n] = 0;
}

/* The first words of an HTTP request. A page in somebody's browser must not be able to talk to us
 * line by line (cross-protocol scripting); Redis hangs up on these two words as well. */
static bool is_http(struct gy_slice word)
{
    return (word.n == 4 && memcmp(word.p, "POST", 4) == 0) ||
           (word.n == 5 && strncasecmp((const char *)word.p, "host:", 5) == 0);
}

static void unknown(struct gy_client *c, const struct gy_request *rq)
{
    if (is_http(rq->argv[0])) {
        gy_warn("client closed id=%llu why=\"it speaks HTTP\"", (unsigned long long)c->id);
        gy_req_error(gy_req_new(c), "ERR this port speaks the Redis protocol, not HTTP");
        c->closing = true;
        return;
    }
    char name[129], args[257] = "", arg[65];
    show(name, sizeof name, rq->argv[0]);
    for (uint32_t i = 1; i < rq->argc && strlen(args) < 128; i++) {
        show(arg, sizeof arg, rq->argv[i]);
        size_t at = strlen(args);
        snprintf(args + at, sizeof args - at, "'%s' ", arg);
    }
    gy_req_error(gy_req_new(c), "ERR unknown command '%s', with args beginning with: %s", name,
                 args);
}

/* "ERR 'BLPOP' needs ...": the reason comes from the table. */
static void not_carried(struct gy_client *c, const struct gy_command *cmd, const char *why)
{
    char name[64];
    size_t n = 0;
    for (const char *s = cmd->name; *s && n < sizeof name - 1; s++) {
        name[n++] = *s == '|' ? ' ' : *s >= 'a' && *s <= 'z' ? (char)(*s - 32) : *s;
    }
    name[n] = 0;
    gy_req_error(gy_req_new(c), "ERR '%s' %s", name, why);
}

static bool reserved(const struct gy_worker *w, struct gy_slice key)
{
    struct gy_slice prefix = w->proxy->prefix;
    return key.n >= prefix.n && memcmp(key.p, prefix.p, prefix.n) == 0;
}

/* All keys of one hash input? (0a.13: also while two keys happen to share a node, or the answer
 * would depend on the fleet.) */
static bool one_input(const struct gy_worker *w, const struct gy_request *rq, const uint32_t *pos,
                      uint32_t nkeys)
{
    const void *first, *part;
    size_t first_len, len;
    const gyre_map_t *map = w->view->map;
    gyre_map_hash_input(map, rq->argv[pos[0]].p, rq->argv[pos[0]].n, &first, &first_len);
    for (uint32_t i = 1; i < nkeys; i++) {
        gyre_map_hash_input(map, rq->argv[pos[i]].p, rq->argv[pos[i]].n, &part, &len);
        if (len != first_len || memcmp(part, first, len) != 0) {
            return false;
        }
    }
    return true;
}

static void task_done(void *owner, uint32_t tag, struct gy_slice reply)
{
    (void)tag;
    struct gy_req *r = owner;
    if (r->client) {
        r->client->tasks--;
    }
    gy_req_bytes(r, reply.p, reply.n);
    gy_req_finish(r);
}

/* The unit of the key is on the move: the steps are the task's. */
static void by_task(struct gy_client *c, const struct gy_command *cmd, const struct gy_request *rq,
                    const uint32_t *pos, uint32_t nkeys)
{
    struct gy_task *t = gy_task_new(c->worker, cmd);
    gy_task_command(t, rq->argv, rq->argc, pos, nkeys);
    t->done = task_done;
    t->owner = gy_req_new(c);
    c->tasks++;
    gy_task_start(t);
}

bool gy_route_settled(const struct gy_route *r, uint32_t *server)
{
    static const enum {
        SRC,
        DST,
        TASK
    } where[GY_UNIT_STATE_COUNT] = {
        [GY_UNIT_STABLE] = SRC,         [GY_UNIT_PREPARE] = TASK,
        [GY_UNIT_FLIPPING] = TASK,      [GY_UNIT_MIGRATING] = TASK,
        [GY_UNIT_COMPLETING] = TASK,    [GY_UNIT_COMPLETE] = DST,
        [GY_UNIT_CLEANING] = DST,       [GY_UNIT_MOVED] = DST,
        [GY_UNIT_ABORT_PREPARE] = TASK, [GY_UNIT_ABORT_FLIPPING] = TASK,
        [GY_UNIT_ABORTING] = TASK,      [GY_UNIT_PURGING] = SRC,
        [GY_UNIT_RETURNED] = SRC,
    };
    if (r->unit == GY_NO_UNIT) {
        *server = r->src;
        return true;
    }
    *server = where[r->state] == DST ? r->dst : r->src;
    return where[r->state] != TASK;
}

static bool forward(struct gy_client *c, uint32_t server, const struct gy_request *rq,
                    struct gy_slice raw)
{
    struct gy_backend *b = gy_worker_backend(c->worker, server);
    if (gy_backend_behind(b)) {
        gy_client_await(c, b);
        return false;
    }
    struct gy_buf *out = gy_backend_begin(b);
    struct gy_req *r = gy_req_new(c);
    if (!out) {
        struct gy_buf text = {0};
        gy_backend_error(&text, b, false, b->why);
        c->worker->stats.errors++;
        gy_req_buf(r, &text);
        gy_buf_fini(&text);
        return true;
    }
    if (rq->is_inline) {
        gy_resp_command(out, rq->argc, rq->argv);
    } else {
        gy_buf_add(out, raw.p, raw.n);
    }
    gy_backend_expect(b, &r->sink);
    return true;
}

/* Every key is known to be moved: its destination takes the command as it is. */
static bool all_known(struct gy_worker *w, const struct gy_route *r, const struct gy_request *rq,
                      const uint32_t *pos, uint32_t nkeys)
{
    for (uint32_t i = 0; i < nkeys; i++) {
        if (!gy_known_has(w, w->view, r, rq->argv[pos[i]])) {
            return false;
        }
    }
    w->stats.known++;
    return true;
}

static bool keyed(struct gy_client *c, const struct gy_command *cmd, const struct gy_request *rq,
                  struct gy_slice raw, const uint32_t *pos, uint32_t nkeys)
{
    struct gy_worker *w = c->worker;
    if (nkeys > 1 && !one_input(w, rq, pos, nkeys)) {
        if (cmd->klass == GY_CMD_SPLIT) {
            return gy_split(c, cmd, rq, pos, nkeys);
        }
        gy_req_error(gy_req_new(c),
                     "CROSSSLOT Keys of one command must share a hash tag, as in {user1}.cart "
                     "{user1}.name: only then are they on one node");
        return true;
    }
    struct gy_slice key = rq->argv[pos[0]];
    struct gy_route route = gy_view_route(w->view, key.p, key.n);
    uint32_t server;
    if (route.src == GYRE_NONE) {
        gy_req_error(gy_req_new(c), "ERR no node takes keys: every weight is 0");
    } else if (gy_route_settled(&route, &server)) {
        return forward(c, server, rq, raw);
    } else if (all_known(w, &route, rq, pos, nkeys)) {
        return forward(c, route.dst, rq, raw);
    } else {
        by_task(c, cmd, rq, pos, nkeys);
    }
    return true;
}

static bool with_keys(struct gy_client *c, const struct gy_command *cmd,
                      const struct gy_request *rq, struct gy_slice raw)
{
    uint32_t stack[KEYS_ON_STACK], *pos = stack;
    bool taken = true;
    int n = gy_command_keys(cmd, rq->argv, rq->argc, pos, KEYS_ON_STACK);
    if (n > KEYS_ON_STACK) {
        pos = gy_xcalloc((size_t)n, sizeof *pos);
        n = gy_command_keys(cmd, rq->argv, rq->argc, pos, (size_t)n);
    }
    if (n < 0 && cmd->step > 1) {
        gy_req_error(gy_req_new(c), "ERR wrong number of arguments for '%s' command", cmd->name);
    } else if (n < 0) {
        gy_req_error(gy_req_new(c),
                     "ERR syntax error: the keys of '%s' cannot be told from its arguments",
                     cmd->name);
    } else if (n == 0) {
        gy_req_error(gy_req_new(c),
                     "ERR '%s' without a key: the proxy cannot tell which node it is for",
                     cmd->name);
    } else {
        bool ours = false;
        for (int i = 0; i < n; i++) {
            ours |= reserved(c->worker, rq->argv[pos[i]]);
        }
        if (ours) {
            gy_req_error(gy_req_new(c),
                         "ERR keys that begin with '%.*s' are the proxy's own records",
                         (int)c->worker->proxy->prefix.n, (const char *)c->worker->proxy->prefix.p);
        } else {
            taken = keyed(c, cmd, rq, raw, pos, (uint32_t)n);
        }
    }
    if (pos != stack) {
        free(pos);
    }
    return taken;
}

bool gy_dispatch(struct gy_client *c, const struct gy_request *rq, struct gy_slice raw)
{
    const struct gy_command *cmd = gy_command_find(rq->argv, rq->argc);
    if (!cmd) {
        unknown(c, rq);
        return true;
    }
    if (!gy_command_arity_ok(cmd, rq->argc)) {
        gy_req_error(gy_req_new(c), "ERR wrong number of arguments for '%s' command", cmd->name);
        return true;
    }
    switch ((enum gy_cmd_class)cmd->klass) {
    case GY_CMD_KEYED:
    case GY_CMD_SPLIT: {
        const char *why = gy_command_refusal(cmd, rq->argv, rq->argc);
        if (!why) {
            return with_keys(c, cmd, rq, raw);
        }
        not_carried(c, cmd, why);
        break;
    }
    case GY_CMD_LOCAL:
        gy_local(c, cmd, rq);
        break;
    case GY_CMD_PINNED:
    case GY_CMD_FANOUT:
    case GY_CMD_REFUSED:
        not_carried(c, cmd, cmd->why);
        break;
    }
    return true;
}
