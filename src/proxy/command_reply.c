/* SPDX-License-Identifier: Apache-2.0 */
/* command_reply.c - COMMAND and its subcommands, from the table: clients learn here what is
 * carried. */
#include "proxy/info.h"

#include "proxy/proxy.h"
#include "wire/command.h"

#include <stdlib.h>

static bool carried(const struct gy_command *c)
{
    return (c->klass == GY_CMD_KEYED || c->klass == GY_CMD_SPLIT || c->klass == GY_CMD_LOCAL) &&
           !strchr(c->name, '|');
}

/* The six fields that every Redis version has: name, arity, flags, first key, last key, step. */
static void describe(struct gy_buf *out, const struct gy_command *c)
{
    bool movable = c->flags & (GY_CMDF_NUMKEYS | GY_CMDF_STREAMS);
    gy_resp_array(out, 6);
    gy_resp_bulk_str(out, c->name);
    gy_resp_int(out, c->arity);
    gy_resp_array(out, movable ? 2 : 1);
    gy_resp_simple(out, c->flags & GY_CMDF_WRITE ? "write" : "readonly");
    if (movable) {
        gy_resp_simple(out, "movablekeys");
    }
    gy_resp_int(out, c->first);
    gy_resp_int(out, c->last);
    gy_resp_int(out, c->step);
}

static size_t count_carried(void)
{
    size_t n = 0;
    for (size_t i = 0; i < gy_command_count(); i++) {
        n += carried(gy_command_at(i));
    }
    return n;
}

void gy_command_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    (void)rq;
    gy_resp_array(out, count_carried());
    for (size_t i = 0; i < gy_command_count(); i++) {
        if (carried(gy_command_at(i))) {
            describe(out, gy_command_at(i));
        }
    }
}

void gy_command_count_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    (void)rq;
    gy_resp_int(out, (int64_t)count_carried());
}

/* No texts are kept here; an empty answer is what redis-cli and the others take for "no
 * documentation". */
void gy_command_docs_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    (void)rq;
    gy_resp_array(out, 0);
}

void gy_command_getkeys_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    const struct gy_slice *argv = rq->argv + 2;
    size_t argc = rq->argc - 2;
    const struct gy_command *cmd = gy_command_find(argv, argc);
    if (!cmd) {
        gy_resp_error(out, "ERR Invalid command specified");
        return;
    }
    int n = gy_command_keys(cmd, argv, argc, NULL, 0);
    uint32_t *pos = n > 0 ? calloc((size_t)n, sizeof *pos) : NULL;
    if (!pos) {
        gy_resp_error(out, n < 0 ? "ERR Invalid arguments specified for command"
                                 : "ERR The command has no key arguments");
        return;
    }
    n = gy_command_keys(cmd, argv, argc, pos, (size_t)n);
    gy_resp_array(out, (size_t)n);
    for (int i = 0; i < n; i++) {
        gy_resp_bulk(out, argv[pos[i]].p, argv[pos[i]].n);
    }
    free(pos);
}

void gy_command_info_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    if (rq->argc == 2) {
        gy_command_reply(c, rq, out);
        return;
    }
    gy_resp_array(out, rq->argc - 2);
    for (uint32_t i = 2; i < rq->argc; i++) {
        const struct gy_command *cmd = gy_command_find(rq->argv + i, 1);
        if (cmd && carried(cmd)) {
            describe(out, cmd);
        } else {
            gy_buf_puts(out, "*-1\r\n");
        }
    }
}

void gy_command_list_reply(struct gy_client *c, const struct gy_request *rq, struct gy_buf *out)
{
    (void)c;
    if (rq->argc > 2) {
        gy_resp_error(out, "ERR COMMAND LIST takes no filter here");
        return;
    }
    gy_resp_array(out, count_carried());
    for (size_t i = 0; i < gy_command_count(); i++) {
        if (carried(gy_command_at(i))) {
            gy_resp_bulk_str(out, gy_command_at(i)->name);
        }
    }
}
